"""All solvers on one problem: suboptimality against effective passes and seconds, as in [LJSP13 Fig. 1].

Problems: 5,000 Hansards pairs labelled by a model, and comtrans with the links of GIZA++. For each λ an optimum is
certified to a relative gap of 1e-8 by a long run; then every solver runs with several seeds, and for each audit is
written how far its primal value is from the optimum. An effective pass is as many oracle calls as there are pairs;
for projection methods, which ask the oracle for audits at most, it is a pass over the features.

Prints the table of README: effective passes and seconds to each relative gap, median of the seeds, and the memory that
the solver takes beside the features. Writes every audit to OUT.jsonl, and figures to OUT-*.png and OUT-*.svg.

    python scripts/bench_solvers.py [--problem hansards|comtrans] [--seeds 10] [--out solvers] [--data ../shared/data]

With one λ, --readme puts the table in place of that of README.md, and the figure into docs/.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe_machine
from plot_solvers import draw
from problems import comtrans_problem, hansards_problem

from aligner.solvers import Stop, TracePoint, make_solver, solve
from aligner.svm.hinge import MatchingProblem

TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)

WARMING = 100
"""Pairs solved beforehand, so that all is compiled."""

DETERMINISTIC = 5
"""Times as long as a run with a seed a solver may take that runs only once."""


@dataclass(frozen=True)
class Contender:
    """A solver as it takes part.  random: whether the seed matters.  projects: instead of asking the oracle."""

    label: str
    name: str
    options: tuple[tuple[str, Any], ...] = ()
    random: bool = True
    projects: bool = False


CONTENDERS = (
    Contender("frank-wolfe", "frank-wolfe", random=False),
    Contender("away-frank-wolfe", "away-frank-wolfe", random=False),
    Contender("pairwise-frank-wolfe", "pairwise-frank-wolfe", random=False),
    Contender("cutting-plane", "cutting-plane", random=False),
    Contender("subgradient", "subgradient", random=False),
    Contender("subgradient, weighted", "subgradient", (("average", "weighted"),), random=False),
    Contender("stochastic-subgradient", "stochastic-subgradient", (("order", "uniform"),)),
    Contender(
        "stochastic-subgradient, weighted", "stochastic-subgradient", (("order", "uniform"), ("average", "weighted"))
    ),
    Contender("bcfw, uniform", "bcfw", (("order", "uniform"),)),
    Contender("bcfw, uniform, weighted", "bcfw", (("order", "uniform"), ("average", "weighted"))),
    Contender("bcfw, permuted", "bcfw"),
    Contender("bcfw-gap", "bcfw-gap"),
    Contender("bcfw-gap without cache", "bcfw-gap", (("cache", False),)),
    Contender("bcfw-away", "bcfw-away"),
    Contender("bcfw-pairwise", "bcfw-pairwise"),
    Contender("randomized-away", "randomized-away"),
    Contender("projected-gradient", "projected-gradient", projects=True),
    Contender("extragradient, euclidean", "extragradient", (("projection", "euclidean"),), random=False, projects=True),
    Contender("extragradient, restarts", "extragradient", (("restarts", True),), random=False, projects=True),
    Contender("extragradient, entropic", "extragradient", (("projection", "entropic"),), random=False, projects=True),
)


def optimum(problem: MatchingProblem, seconds: float) -> tuple[float, float]:
    """(A lower value of the optimum, the relative gap that certifies it)."""
    stop = Stop(gap=1e-8, passes=1_000_000, seconds=seconds)
    trace = solve(problem, make_solver("bcfw-pairwise"), stop=stop).trace
    best = max(trace, key=lambda point: point.dual)
    primal = min(point.primal for point in trace)
    return best.dual, (primal - best.dual) / max(1.0, abs(primal))


def race(
    problem: MatchingProblem, contender: Contender, seeds: int, seconds: float
) -> Iterator[tuple[int, tuple[TracePoint, ...]]]:
    solver = make_solver(contender.name, **dict(contender.options))
    limit = seconds if contender.random else DETERMINISTIC * seconds
    stop = Stop(gap=TOLERANCES[-1], passes=100_000, seconds=limit, audit_growth=1.1)
    some = problem.take(np.arange(min(WARMING, problem.n_blocks)))
    solve(some, solver, stop=Stop(gap=0.0, passes=6))  # compiles
    for seed in range(seeds if contender.random else 1):
        yield seed, solve(problem, solver, stop=stop, seed=seed).trace


def solver_memory(problem: MatchingProblem, contender: Contender, passes: int) -> int:
    """Peak bytes that solving allocates, in this many sweeps, beside the problem."""
    solver = make_solver(contender.name, **dict(contender.options))
    tracemalloc.start()
    try:
        solve(problem, solver, stop=Stop(gap=0.0, passes=passes, seconds=5.0))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def effective_passes(contender: Contender, point: TracePoint, n: int) -> float:
    """Oracle calls of solving, in passes; sweeps for the solvers that project."""
    return float(point.passes) if contender.projects else point.oracle_calls / n


def first_within(trace: tuple[TracePoint, ...], tolerance: float) -> TracePoint | None:
    return next((point for point in trace if point.relative_gap <= tolerance), None)


def cell(contender: Contender, traces: list[tuple[TracePoint, ...]], tolerance: float, n: int) -> str:
    """Median effective passes and seconds to a gap, or a dash where not all seeds reached it."""
    reached = [first_within(trace, tolerance) for trace in traces]
    points = [point for point in reached if point is not None]
    if len(points) < len(traces):
        return "–"
    passes = np.median([effective_passes(contender, point, n) for point in points])
    seconds = np.median([point.seconds for point in points])
    return f"{passes:.3g} / {seconds:.2g}"


def write_table(readme: Path, table: list[str]) -> None:
    """Put a table in place of the one that begins alike.  ValueError where there is none."""
    lines = readme.read_text("utf-8").split("\n")
    first = lines.index(table[0])
    last = next(number for number in range(first, len(lines)) if not lines[number].startswith("|"))
    readme.write_text("\n".join([*lines[:first], *table, *lines[last:]]), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem", choices=["hansards", "comtrans"], default="hansards")
    parser.add_argument("--pairs", type=int, default=5000, help="of hansards")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--regularization", type=float, nargs="*", help="λ; 1e-1, 1e-2, 1e-3 and 1/n by default")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=10.0, help="of solving, a run")
    parser.add_argument("--optimum-seconds", type=float, default=300.0)
    parser.add_argument("--only", nargs="*", help="labels of the contenders to run")
    parser.add_argument("--out", type=Path, default=Path("solvers"))
    parser.add_argument(
        "--readme", type=Path, help="put the table of one λ, and its figure, where this README has them"
    )
    options = parser.parse_args()
    if options.readme is not None and len(options.regularization or ()) != 1:
        parser.error("--readme needs one --regularization")
    if options.problem == "hansards":
        problem = hansards_problem(options.data, options.pairs, 1.0)
    else:
        problem = comtrans_problem(options.data, 1.0)
    n = problem.n_blocks
    edges = len(problem.edges.features) / n
    print(describe_machine())
    print(f"{options.problem}: {n:,} pairs, {edges:.0f} edges a pair, {problem.n_features} features")
    print(
        f"{options.seeds} seeds, at most {options.seconds:g} s of solving a run, "
        f"{DETERMINISTIC} times that for a solver without seeds; effective passes / seconds to a gap"
    )
    records = []
    for regularization in options.regularization or (1e-1, 1e-2, 1e-3, 1 / n):
        scaled = replace(problem, regularization=regularization)
        best, certified = optimum(scaled, options.optimum_seconds)
        print(f"\nλ = {regularization:g}: optimum {best:.8g}, certified to a relative gap of {certified:.1e}")
        header = ["solver", *(f"gap {tolerance:.0e}" for tolerance in TOLERANCES), "last gap", "MiB"]
        table = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
        print("\n".join(table))
        for contender in CONTENDERS:
            if options.only and contender.label not in options.only:
                continue
            traces = []
            for seed, trace in race(scaled, contender, options.seeds, options.seconds):
                traces.append(trace)
                records += [
                    {
                        "problem": options.problem,
                        "regularization": regularization,
                        "solver": contender.label,
                        "seed": seed,
                        "passes": effective_passes(contender, point, n),
                        "oracle_calls": point.oracle_calls,
                        "seconds": point.seconds,
                        "primal": point.primal,
                        "dual": point.dual,
                        "suboptimality": (point.primal - best) / max(1.0, abs(best)),
                        "gap": point.relative_gap,
                    }
                    for point in trace
                ]
            last = np.median([trace[-1].relative_gap for trace in traces])
            memory = solver_memory(scaled, contender, 5) / 2**20
            cells = [cell(contender, traces, tolerance, n) for tolerance in TOLERANCES]
            table.append("| " + " | ".join([contender.label, *cells, f"{last:.0e}", f"{memory:.1f}"]) + " |")
            print(table[-1], flush=True)
    with options.out.with_suffix(".jsonl").open("w") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    for path in draw(records, options.out):
        print(f"figure written to {path}")
    if options.readme is not None:
        write_table(options.readme, table)
        suffix = f"{options.regularization[0]:g}.png"
        figure = options.readme.parent / "docs" / f"solvers-{options.problem}-{suffix}"
        shutil.copyfile(options.out.with_name(f"{options.out.name}-{suffix}"), figure)


if __name__ == "__main__":
    main()
