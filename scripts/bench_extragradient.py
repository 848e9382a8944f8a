"""Dual extragradient within ‖w‖ <= γ = ‖w*‖, plain against restarted, in both geometries.

w* is the optimum of the λ-regularised problem by block-coordinate Frank-Wolfe; within its norm the least hinge is that
of w*. Prints, for some iterations, how far the upper value is above it, the restricted gap, both relative, the bound
that theory gives, and the CPU time.

    python scripts/bench_extragradient.py [--pairs 5000] [--regularization 1e-3] [--data ../shared/data]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from machine import describe_machine
from problems import hansards_problem

from aligner.solvers import Stop, make_solver, solve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5000)
    parser.add_argument("--regularization", type=float, default=1e-3)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    print(describe_machine())
    problem = hansards_problem(options.data, options.pairs, options.regularization)
    best = solve(problem, make_solver("bcfw-pairwise"), stop=Stop(gap=1e-7, passes=5000))
    radius = float(np.linalg.norm(best.w))
    hinge = best.trace[-1].primal - options.regularization / 2 * radius**2
    print(f"{options.pairs} pairs, λ {options.regularization:g}, γ {radius:.4g}, hinge of w* {hinge:.6g}")
    print(f"{'geometry':<12}{'form':<18}{'iterations':>10}{'upper':>10}{'gap':>10}{'bound':>10}{'CPU s':>8}")
    for projection in ("euclidean", "entropic"):
        for form, restarts in (("memory-efficient", False), ("with restarts", True)):
            solver = make_solver("extragradient", projection=projection, radius=radius, restarts=restarts)
            stop = Stop(gap=1e-3, passes=options.iterations, audit_growth=1.7)
            start, spent = time.process_time(), []
            trace = solve(
                problem,
                solver,
                stop=stop,
                callback=lambda point, w: spent.append(time.process_time() - start),  # noqa: B023
            ).trace
            for point, seconds in zip(trace[3:], spent[3:], strict=True):
                above, bound = point.primal / hinge - 1, "" if point.bound is None else f"{point.bound / hinge:.1e}"
                print(
                    f"{projection:<12}{form:<18}{point.passes:>10g}{above:>10.1e}{point.gap / hinge:>10.1e}{bound:>10}"
                    f"{seconds:>8.0f}"
                )


if __name__ == "__main__":
    main()
