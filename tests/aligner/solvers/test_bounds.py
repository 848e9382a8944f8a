"""Block-coordinate Frank-Wolfe stays within every bound of its paper, on average over seeds  [LJSP13 App. C]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, log
from typing import Any

import numpy as np
import pytest
from label_sequences import diameters, random_chains
from solver_configurations import Multiclass

from aligner.solvers import Result, Stop, make_solver, solve

N, SEEDS = 15, 8
PASSES = 17  # 255 = 2⁸ − 1 steps: the average since the last power of 2 is that of the last half


@dataclass(frozen=True)
class Theory:
    """n blocks, C⊗ = Σ_i D_i²/(λn²), h₀: how far the start is below the optimum of the dual."""

    n: int
    curvature: float
    start: float

    @property
    def first_phase(self) -> int:
        """k₀: with line search the error falls geometrically until then."""
        return max(0, ceil(log(2 * self.start / self.curvature) / -log(1 - 1 / self.n)))

    def error(self, k: int) -> float:
        """Thm. C.1."""
        return 2 * self.n / (k + 2 * self.n) * (self.curvature + self.start)

    def gap(self, k: int) -> float:
        """Thm. C.3: of one of the iterates up to k, of the weighted average, of the average of the last half."""
        return 6 * self.n / (k + 1) * (self.curvature + self.start)

    def error_by_line_search(self, k: int) -> float:
        """Thm. C.4."""
        if k <= self.first_phase:
            return (1 - 1 / self.n) ** k * self.start + self.curvature / 2
        return 2 * self.n * self.curvature / (k - self.first_phase + 2 * self.n)

    def gap_by_line_search(self, k: int) -> float:
        """Thm. C.5, from 5 k₀ on: of one of the iterates, of the average of the last half."""
        return 6 * self.n * self.curvature / (k + 2) if k >= 5 * self.first_phase else np.inf


def mean(results: list[Result], name: str) -> np.ndarray:
    return np.mean([[getattr(point, name) for point in result.trace] for result in results], axis=0)


@pytest.mark.parametrize("regularization", [0.1, 5.0])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_errors_and_gaps_stay_within_the_bounds(kind: str, regularization: float) -> None:
    problem: Any = Multiclass.random(N) if kind == "dense" else random_chains(N)
    problem = replace(problem, regularization=regularization)
    assert problem.sparse == (kind == "sparse")
    best = solve(problem, make_solver("cutting-plane"), stop=Stop(gap=1e-9, passes=3000)).dual
    of_blocks = problem.diameters() if kind == "dense" else diameters(problem)
    theory = Theory(N, float((of_blocks**2).sum()) / (regularization * N**2), best)  # D = 0 at the start
    steps = N * np.arange(1, PASSES + 1)

    def run(**options: str) -> list[Result]:
        solver = make_solver("bcfw", order="uniform", **options)
        stop = Stop(gap=0.0, passes=PASSES, audit_growth=1.0)
        return [solve(problem, solver, stop=stop, seed=seed) for seed in range(SEEDS)]

    def within(found: np.ndarray, bound: Callable[[int], float]) -> None:
        assert (found[1:] <= [bound(k) for k in steps]).all()

    for step in ("decreasing", "line-search"):
        plain, weighted, suffix = (run(step=step, average=average) for average in ("none", "weighted", "suffix"))
        least = np.mean([np.minimum.accumulate([p.primal - p.dual for p in result.trace]) for result in plain], axis=0)
        gaps = [mean(results, "primal") - mean(results, "dual") for results in (weighted, suffix)]
        gaps[1][1:-1] = 0.0  # only the last one is the average of the last half
        within(best - mean(plain, "dual"), theory.error)
        for found in (least, *gaps):
            within(found, theory.gap)
    within(best - mean(plain, "dual"), theory.error_by_line_search)
    for found in (least, gaps[1]):
        within(found, theory.gap_by_line_search)
    assert theory.gap_by_line_search(steps[-1]) < theory.gap(steps[-1])
