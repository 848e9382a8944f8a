"""The tables and figures of docs/solvers.md: all solvers on chains and matchings, as in [LJSP13 Fig. 1-5, Table 1].

    python scripts/bench_solvers.py --write                       # about an hour of one core
    python scripts/bench_solvers.py --write --draw runs.jsonl     # from the runs of before
    python scripts/bench_solvers.py --quick                       # a rehearsal, without corpora

Three problems, each at λ 0.01, 0.001 and 1/n: letters of OCR words, chunks of CoNLL-2000 sentences, and Hansards pairs
labelled by the default model. Every registered solver runs that knows the problem, with its defaults, and the variants
that the figures show; those of Fig. 1 with three seeds, the others with one. The runs go to a file, one a line of JSON,
of which all figures and tables are made but two small ones. Figures need `pip install '.[plot]'`.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tables import ROOT, markdown, parser_of, publish

if TYPE_CHECKING:
    from solver_problems import Field

    from aligner.losses.hinge import MatchingProblem

PAGE, IMAGES = "docs/solvers.md", ROOT / "docs" / "images"


def measure(options: Any) -> Field:
    """Write all runs; the last problem, the matchings."""
    from solver_figures import PAPER
    from solver_runs import Limits, race

    def seeds(line: str) -> int:
        return options.seeds if line in PAPER else 1

    with Path(options.runs).open("w", encoding="utf-8") as file:
        for field in fields(options):
            n = field.at(1.0).n_blocks
            values = [1.0 / n] if options.quick else sorted({0.01, 0.001, 1.0 / n}, reverse=True)
            for number, regularization in enumerate(values):
                start, memory = time.process_time(), number == len(values) // 2
                limits = Limits(options.passes, options.seconds, options.more, options.long, options.optimum, memory)
                for run in race(field, regularization, seeds, limits):
                    file.write(json.dumps(asdict(run)) + "\n")
                    file.flush()
                spent = time.process_time() - start
                print(f"{field.name}, λ {regularization:.2g}: {spent:.0f} CPU seconds", flush=True)
    return field


def fields(options: Any) -> Iterator[Field]:
    import solver_problems as problems

    n, data = options.size, None if options.quick else options.data
    yield problems.letters_field(n, data)
    yield problems.chunks_field(n, data)
    yield problems.matchings_field(n, data)


def extragradient(problem: MatchingProblem, iterations: int) -> str:
    """Curves within ‖w‖ <= ‖w*‖, where the least hinge is that of w*."""
    from aligner.solvers import Stop, make_solver, solve

    best = solve(problem, make_solver("bcfw-pairwise"), stop=Stop(gap=1e-6, passes=10_000, seconds=10.0))
    radius = float(np.linalg.norm(best.w))
    hinge = best.primal - problem.regularization / 2 * radius**2
    rows = []
    for projection in ("euclidean", "entropic"):
        for form, restarts in (("memory-efficient", False), ("with restarts", True)):
            solver = make_solver("extragradient", projection=projection, radius=radius, restarts=restarts)
            start = time.process_time()
            result = solve(problem, solver, stop=Stop(gap=1e-3, passes=iterations, audit_growth=1.7))
            spent, point = time.process_time() - start, result.trace[-1]
            bound = "" if point.bound is None else f"{point.bound / hinge:.1e}"
            above = f"{(result.primal - hinge) / hinge:.1e}"
            label = f"{projection}, {form}"
            rows.append([label, f"{point.passes:g}", above, f"{point.gap / hinge:.1e}", bound, f"{spent:.0f}"])
    header = [f"{problem.n_blocks:,} pairs", "iterations", "upper value above", "gap", "bound of theory", "CPU s"]
    return markdown(header, rows)


def support(problem: MatchingProblem, gaps: tuple[float, ...] = (0.5, 0.1, 0.02)) -> str:
    """Support vectors of kernelised BCFW at gaps of ε, beside R²/(λε)  [LJSP13 App. B.5]."""
    from aligner.solvers import Stop, make_solver, solve

    rows = []
    for name, options in (("linear", {}), ("polynomial", {"degree": "2"}), ("rbf", {"bandwidth": "2"})):
        solver = make_solver("kernel-bcfw", kernel=name, **options)
        state = solver.init(problem, np.random.default_rng(0))
        for gap in gaps:
            result = solve(problem, solver, stop=Stop(gap=gap, passes=100, seconds=20.0), start=state)
            bound = state.squared_radius / (problem.regularization * result.trace[-1].gap)
            edges = f"{np.count_nonzero(state.moved):,}"
            rows.append([name, f"{result.trace[-1].gap:.2g}", f"{state.support_vectors:,}", edges, f"{bound:,.0f}"])
    pairs = f"{problem.n_blocks:,} pairs, λ {problem.regularization:g}"
    return markdown([pairs, "gap ε", "matchings", "edges", "R² / (λε)"], rows)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--size", type=int, default=5000, help="pairs, and sequences of a rehearsal")
    parser.add_argument("--passes", type=int, default=300, help="of a run, at most")
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="of the processor, of the first run of each, at most"
    )
    parser.add_argument("--more", type=float, default=0.7, help="seconds of the runs with other seeds")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--long", type=float, default=30.0, help="seconds of the first run of bcfw and its averages")
    parser.add_argument("--optimum", type=float, default=8.0, help="seconds of the run that finds the optimum")
    parser.add_argument("--iterations", type=int, default=200, help="of extragradient, on a tenth of the pairs")
    parser.add_argument("--runs", default=str(Path(tempfile.gettempdir()) / "solver-runs.jsonl"), help="file to write")
    parser.add_argument("--draw", type=Path, metavar="FILE", help="draw from this file of runs, and measure nothing")
    parser.add_argument("--quick", action="store_true", help="small problems, short runs, two seeds")
    options = parser.parse_args()
    if options.write and find_spec("matplotlib") is None:
        parser.error("the figures need matplotlib (pip install '.[plot]')")
    if options.quick:
        options.size, options.seeds, options.iterations = 40, 2, 20
        options.seconds, options.more, options.long, options.optimum = 0.03, 0.03, 0.03, 0.1
    field = measure(options) if options.draw is None else None

    import solver_figures as figures
    import solver_tables as tables
    from solver_runs import read_races

    races = read_races(options.draw or Path(options.runs))
    names = list(dict.fromkeys(name for name, _ in races))
    contents = {
        "advice": tables.advice(races),
        "solvers": "\n\n".join(tables.compared(races, name) for name in names),
        "rates": tables.rates(tables.sorted_races(races)[0]),
    }
    for name, content in contents.items():
        publish(name, content, pages=[PAGE], write=options.write)
    if find_spec("matplotlib") is not None:
        folder = IMAGES if options.write else Path(options.runs).parent
        for name in figures.FIGURES:
            figures.draw(name, races, folder / f"solvers-{name}.png")
        figures.draw_dependencies(folder / "solvers-dependencies.png")
        figures.draw_zig_zag(folder / "solvers-zig-zag.png")
    if field is not None:
        tenth, few = np.arange(options.size // 10), np.arange(min(50, options.size // 4))
        content = extragradient(field.at(0.001).take(tenth), options.iterations)
        publish("extragradient", content, pages=[PAGE], write=options.write)
        publish("support", support(field.at(0.01).take(few)), pages=[PAGE], write=options.write)


if __name__ == "__main__":
    main()
