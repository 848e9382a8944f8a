"""Block-coordinate Frank-Wolfe falls as fast as theory says, with the worst answers that it allows  [LJSP13 App. C]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from solver_configurations import Multiclass, run

from aligner.errors import SettingError
from aligner.losses.hinge import MatchingProblem
from aligner.solvers import Approximate, BlockDefaults, Corners, Result, Status, Stop, make_solver, solve

MakeProblem = Callable[..., MatchingProblem]


@dataclass
class Orthants(BlockDefaults):
    """n blocks of m corners at right angles, all ψ = e and L = loss, and the target: where Frank-Wolfe is slow.

    With no more loss than needed all m end up with the same weight.
    """

    n_blocks: int
    m: int
    regularization: float = 0.1

    n_features = property(lambda self: self.n_blocks * self.m)
    loss = property(lambda self: 2.0 / (self.regularization * self.n_features))
    best = property(lambda self: self.loss - 0.5 / (self.regularization * self.n_features))
    """D*"""

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        which = w.reshape(self.n_blocks, self.m)[blocks].argmin(axis=1)
        psi = np.zeros((len(blocks), self.n_blocks, self.m))
        psi[np.arange(len(blocks)), blocks, which] = 1.0
        return Corners(psi.reshape(len(blocks), -1), np.full(len(blocks), self.loss))

    def constant(self, error: float, share: float) -> float:
        """Q of the theorems, with C_i = 2/(λn²) and h_0 = D*."""
        return (1 + error) * 2 / (self.regularization * self.n_blocks) / share + self.best


def runs(problem: Any, passes: int, seeds: int, promise: dict[str, Any], **options: object) -> list[Result]:
    stop, solver = Stop(gap=0.0, passes=passes, audit_growth=1.0), make_solver("bcfw", order="uniform", **options)
    return [solve(Approximate(problem, seed=seed, **promise), solver, stop=stop, seed=seed) for seed in range(seeds)]


def trace(results: list[Result], name: str) -> np.ndarray:
    """(seeds, audits) of one figure."""
    return np.array([[getattr(point, name) for point in result.trace] for result in results])


PROMISES = [(0.0, 1.0), (10.0, 1.0), (0.0, 0.7), (0.0, 0.4), (10.0, 0.7)]
"""δ and ν."""


@pytest.mark.slow
@pytest.mark.parametrize(("error", "share"), PROMISES)
def test_duals_and_gaps_are_as_good_as_theory_says(error: float, share: float) -> None:
    """E[D* − D_k] <= 2n/(νk + 2n) Q and E[gap] <= 6n Q/(ν (k + 1)), of the weighted average and of the best."""
    problem, passes, promise = Orthants(4, 4), 100, {"error": error, "share": share, "diameters": np.sqrt(2.0)}
    averaged, last = (runs(problem, passes, 12, promise, average=average) for average in ("weighted", "none"))
    n, k = problem.n_blocks, problem.n_blocks * np.arange(passes + 1)
    left = problem.best - trace(last, "dual").mean(axis=0)
    assert (left <= 2 * n / (share * k + 2 * n) * problem.constant(error, share) + 1e-12).all()
    assert left[-1] > -1e-12
    bound = 6 * n / (share * (k + 1)) * problem.constant(error, share)
    gaps = [trace(results, "primal") - trace(results, "dual") for results in (averaged, last)]
    assert (gaps[0].mean(axis=0) <= bound).all()
    assert (np.minimum.accumulate(gaps[1], axis=1).mean(axis=0) <= bound).all()


@pytest.mark.parametrize("error", [1.0, 30.0])
def test_answers_are_within_their_error(error: float) -> None:
    """Of every block at weights that move ever less; and the errors are made use of."""
    inner = Multiclass.random(15)
    problem = Approximate(inner, error=error, diameters=inner.diameters())
    rng, every, w = np.random.default_rng(0), np.arange(15), np.zeros(inner.n_features)
    scale = inner.regularization * 15
    for k in range(60):
        w += rng.standard_normal(len(w)) / (1 + k) ** 2
        best, step = inner.corners(every, w), problem.steps
        found = problem.corners(every, w)
        lacks = (best.losses - best.psi @ w) - (found.losses - found.psi @ w)
        size = 2 * 15 / (step + 2 * 15)
        assert (lacks <= 0.5 * error * size * inner.diameters() ** 2 / scale + 1e-12).all()
    assert problem.asked < problem.steps == 15 * 60


def test_the_share_is_of_the_calls_and_exact_answers_change_nothing(make_problem: MakeProblem) -> None:
    inner = make_problem(n=20)
    problem = Approximate(inner, share=0.3)
    result = run(problem, make_solver("bcfw"), gap=1e-2, passes=400)
    assert result.status is Status.CONVERGED
    assert abs(problem.asked / problem.steps - 0.3) < 0.1
    best = run(inner, make_solver("bcfw-pairwise"), gap=1e-8, passes=1000)
    assert best.dual - 1e-9 <= result.primal <= best.primal + result.trace[-1].gap
    same, exact = (run(p, make_solver("bcfw"), gap=0.0, passes=5) for p in (Approximate(inner), inner))
    np.testing.assert_allclose(same.w, exact.w, rtol=1e-9)


def test_a_promise_that_cannot_be_is_refused() -> None:
    inner = Multiclass.random(5)
    for options, message in ({"share": 0.0}, "share"), ({"error": -1.0}, "error"), ({"error": 1.0}, "diameters"):
        with pytest.raises(SettingError, match=message):
            Approximate(inner, **options)
