"""The tables and the figure of docs/solvers.md: all solvers on one problem, as in [LJSP13 Fig. 1].

    python scripts/solvers.py --write                          # 2,000 pairs, 3 seeds, 1.5 s a run, λ 1e-3
    python scripts/solvers.py --write --full                   # 5,000 pairs, 10 seeds, 4 s a run
    python scripts/solvers.py --only bcfw bcfw-gap --regularization 1e-4

Hansards pairs labelled by the default model. An optimum is certified by a long run; then every solver runs with several
seeds, and each audit tells how far its primal value is from the optimum. The figure (`pip install '.[plot]'`) shows
these iterates as they are, not the best so far. Extragradient runs within ‖w‖ <= ‖w*‖ as well.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tables import ROOT, markdown, parser_of, publish

if TYPE_CHECKING:
    from aligner.solvers import Result, TracePoint
    from aligner.svm.hinge import MatchingProblem

    Trace = tuple[TracePoint, ...]

PAGE, FIGURE = "docs/solvers.md", ROOT / "docs" / "solvers.png"
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
WITHOUT_SEEDS = 3
"""Times as long as a run with a seed a solver may take that runs only once."""


@dataclass(frozen=True)
class Contender:
    """A solver as it takes part.  random: whether the seed matters.  projects: instead of asking the oracle."""

    name: str
    options: tuple[tuple[str, Any], ...] = ()
    random: bool = True
    projects: bool = False

    @property
    def label(self) -> str:
        return ", ".join([self.name, *(f"{key} {value}" for key, value in self.options)])

    def effective_passes(self, point: TracePoint, n: int) -> float:
        """Oracle calls of solving, in passes; sweeps for the solvers that project."""
        return float(point.passes) if self.projects else point.oracle_calls / n


CONTENDERS = (
    Contender("frank-wolfe", random=False),
    Contender("away-frank-wolfe", random=False),
    Contender("pairwise-frank-wolfe", random=False),
    Contender("cutting-plane", random=False),
    Contender("subgradient", random=False),
    Contender("subgradient", (("average", "weighted"),), random=False),
    Contender("stochastic-subgradient", (("order", "uniform"), ("average", "none"))),
    Contender("stochastic-subgradient", (("order", "uniform"), ("average", "weighted"))),
    Contender("bcfw"),
    Contender("bcfw", (("order", "uniform"),)),
    Contender("bcfw", (("order", "uniform"), ("average", "weighted"))),
    Contender("bcfw-gap"),
    Contender("bcfw-gap", (("cache", False),)),
    Contender("bcfw-away"),
    Contender("bcfw-pairwise"),
    Contender("randomized-away"),
    Contender("projected-gradient", projects=True),
    Contender("extragradient", random=False, projects=True),
    Contender("extragradient", (("restarts", True),), random=False, projects=True),
    Contender("extragradient", (("projection", "entropic"),), random=False, projects=True),
)


def best_known(problem: MatchingProblem, seconds: float) -> tuple[Result, float, float]:
    """(A result near the optimum, a lower value of the optimum, the relative gap between)."""
    from aligner.solvers import Stop, make_solver, solve

    result = solve(problem, make_solver("bcfw-pairwise"), stop=Stop(gap=1e-8, passes=1_000_000, seconds=seconds))
    return result, result.dual, result.trace[-1].relative_gap


def race(problem: MatchingProblem, contender: Contender, seeds: int, seconds: float) -> list[Trace]:
    from aligner.solvers import Stop, make_solver, solve

    solver = make_solver(contender.name, **dict(contender.options))
    limit = seconds if contender.random else WITHOUT_SEEDS * seconds
    stop = Stop(gap=TOLERANCES[-1], passes=100_000, seconds=limit, audit_growth=1.1)
    return [solve(problem, solver, stop=stop, seed=seed).trace for seed in range(seeds if contender.random else 1)]


def memory_of(problem: MatchingProblem, contender: Contender) -> int:
    """Peak bytes that at most five sweeps allocate beside the problem."""
    from aligner.solvers import Stop, make_solver, solve

    tracemalloc.start()
    try:
        solver = make_solver(contender.name, **dict(contender.options))
        solve(problem, solver, stop=Stop(gap=0.0, passes=5, seconds=1.0))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def cell(contender: Contender, traces: Sequence[Trace], tolerance: float, n: int) -> str:
    """Median effective passes and seconds to a gap, or a dash where not all seeds reached it."""
    reached = [next((point for point in trace if point.relative_gap <= tolerance), None) for trace in traces]
    points = [point for point in reached if point is not None]
    if len(points) < len(traces):
        return "–"
    passes = np.median([contender.effective_passes(point, n) for point in points])
    return f"{passes:.3g} / {np.median([point.seconds for point in points]):.2g}"


def draw(curves: Mapping[str, tuple[Contender, Sequence[Trace]]], best: float, n: int, title: str) -> None:
    """Relative primal suboptimality of the iterates, against passes and seconds: median and range of the seeds."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(14, 6), sharey=True, layout="constrained")
    colours = plt.get_cmap("tab20")
    for number, (label, (contender, traces)) in enumerate(curves.items()):
        for panel, axis in zip(panels, ("effective passes", "seconds of solving"), strict=True):
            runs = []
            for trace in traces:
                passes = [contender.effective_passes(point, n) for point in trace]
                places = passes if axis == "effective passes" else [point.seconds for point in trace]
                above = [max(1e-12, (point.primal - best) / max(1.0, abs(best))) for point in trace]
                runs.append((np.array(places), np.array(above)))
            start = min(min((x for x in places if x > 0), default=1e-3) for places, _ in runs)
            grid = np.geomspace(start, max(places[-1] for places, _ in runs) + 1e-12, 300)
            values = [above[np.maximum(np.searchsorted(places, grid, side="right") - 1, 0)] for places, above in runs]
            panel.plot(grid, np.median(values, axis=0), color=colours(number % 20), label=label)
            panel.fill_between(
                grid, np.min(values, axis=0), np.max(values, axis=0), color=colours(number % 20), alpha=0.2, linewidth=0
            )
            panel.set(xscale="log", yscale="log", xlabel=axis)
            panel.grid(alpha=0.3)
    panels[0].set(ylabel="primal suboptimality of the iterate, relative", ylim=(1e-7, 10))
    figure.suptitle(title)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
    figure.savefig(FIGURE, dpi=80)
    print(f"figure written to {FIGURE}")


def extragradient(problem: MatchingProblem, best: Result, iterations: int) -> list[list[str]]:
    """Curves within ‖w‖ <= ‖w*‖, where the least hinge is that of w*."""
    from aligner.solvers import Stop, make_solver, solve

    radius = float(np.linalg.norm(best.w))
    hinge = best.primal - problem.regularization / 2 * radius**2
    scale = max(1.0, hinge)
    rows = []
    for projection in ("euclidean", "entropic"):
        for form, restarts in (("memory-efficient", False), ("with restarts", True)):
            solver = make_solver("extragradient", projection=projection, radius=radius, restarts=restarts)
            stop = Stop(gap=1e-3, passes=iterations, audit_growth=1.7)
            start = time.process_time()
            result = solve(problem, solver, stop=stop)
            spent = time.process_time() - start
            point = result.trace[-1]
            bound = "" if point.bound is None else f"{point.bound / scale:.1e}"
            above = f"{(result.primal - hinge) / scale:.1e}"
            rows.append(
                [
                    f"{projection}, {form}",
                    f"{point.passes:g}",
                    above,
                    f"{point.gap / scale:.1e}",
                    bound,
                    f"{spent:.0f}",
                ]
            )
    return rows


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--regularization", type=float, default=1e-3, help="λ")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.5, help="of solving, a run")
    parser.add_argument("--iterations", type=int, default=200, help="of extragradient, on a tenth of the pairs")
    parser.add_argument("--only", nargs="*", help="names of the solvers to run")
    parser.add_argument("--full", action="store_true", help="5,000 pairs, 10 seeds, 4 s a run, 1,000 iterations")
    options = parser.parse_args()
    if options.write and find_spec("matplotlib") is None:
        parser.error("the figure needs matplotlib (pip install '.[plot]')")
    if options.full:
        options.pairs, options.seeds, options.seconds, options.iterations = 5000, 10, 4.0, 1000

    from gold import hansards_problem

    problem = hansards_problem(Path(options.data), options.pairs, options.regularization)
    n, result = problem.n_blocks, best_known(problem, 20 * options.seconds)
    title = (
        f"{n:,} pairs, {len(problem.edges.features) / n:.0f} edges a pair, {problem.n_features} features, "
        f"λ {options.regularization:g}; {options.seeds} seeds, at most {options.seconds:g} s a run, "
        f"{WITHOUT_SEEDS} times that without seeds; optimum certified to {result[2]:.0e}"
    )
    print(title)
    curves: dict[str, tuple[Contender, Sequence[Trace]]] = {}
    rows = []
    for contender in CONTENDERS:
        if options.only and contender.name not in options.only:
            continue
        traces = race(problem, contender, options.seeds, options.seconds)
        curves[contender.label] = contender, traces
        last = np.median([trace[-1].relative_gap for trace in traces])
        cells = [cell(contender, traces, tolerance, n) for tolerance in TOLERANCES]
        rows.append([contender.label, *cells, f"{last:.0e}", f"{memory_of(problem, contender) / 2**20:.1f}"])
        print(*rows[-1], sep=" | ", flush=True)
    header = ["solver", *(f"gap {tolerance:.0e}" for tolerance in TOLERANCES), "last gap", "MiB"]
    content = f"{markdown(header, rows)}\n\n{title}."
    if options.write:
        draw(curves, result[1], n, title)
        content += f"\n\n![How far the iterates of each solver are from the optimum]({FIGURE.name})"
    publish("solvers", content, pages=[PAGE], write=options.write)
    if not options.only or "extragradient" in options.only:
        some = problem.take(np.arange(n // 10))
        best = best_known(replace(some), 20 * options.seconds)[0]
        header = [f"{some.n_blocks:,} pairs", "iterations", "upper value above", "gap", "bound of theory", "CPU s"]
        rows = extragradient(some, best, options.iterations)
        publish("extragradient", markdown(header, rows), pages=[PAGE], write=options.write)


if __name__ == "__main__":
    main()
