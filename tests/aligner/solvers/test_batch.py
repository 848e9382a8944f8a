"""Batch Frank-Wolfe, the steps of `Block` on all blocks together: its steps, its gap, its rates and use of audits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from aligner.losses.hinge import MatchingProblem
from aligner.problem import BlockDefaults, Corners
from aligner.solvers import Average, Away, Blended, CuttingPlane, Forward, FrankWolfe, Pairwise, Stop, solve
from aligner.solvers.gap import ask_all
from aligner.solvers.steps import STEPS, BlockStep

MakeProblem = Callable[..., MatchingProblem]
every_step = pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)


@dataclass(frozen=True, eq=False)
class Polytopes(BlockDefaults):
    """n blocks, each with the corners that are listed.  psi: (n, m, d).  losses: (n, m)."""

    psi: np.ndarray
    losses: np.ndarray
    regularization: float = 1.0

    n_blocks = property(lambda self: self.psi.shape[0])
    n_features = property(lambda self: self.psi.shape[2])

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        best = (self.losses[blocks] - self.psi[blocks] @ w).argmax(axis=1)
        return Corners(self.psi[blocks, best], self.losses[blocks, best])


def polytopes(seed: int, n: int, m: int, d: int) -> Polytopes:
    """Random ones; the first corner of each block is its target, with ψ = 0 and no loss."""
    rng = np.random.default_rng(seed)
    psi, losses = rng.standard_normal((n, m, d)), rng.uniform(0.5, 2.0, (n, m))
    psi[:, 0], losses[:, 0] = 0.0, 0.0
    return Polytopes(psi, losses)


@dataclass
class Mixed:
    """Batch corners (m, d) and their losses and weights (m,): the mixture of a dual point."""

    points: np.ndarray
    losses: np.ndarray
    weights: np.ndarray

    def value(self, weights: np.ndarray) -> float:
        """D of other weights, λ being 1."""
        w = weights @ self.points
        return float(weights @ self.losses - 0.5 * w @ w)

    def directions(self, corner: int, step: BlockStep) -> list[np.ndarray]:
        """The directions [LJ15 Alg. 1 and 2; TTP22 Alg. 1], of which rounding chooses where corners are alike."""
        gradient = self.losses - self.points @ (self.weights @ self.points)
        used, unit = self.weights > 0, np.eye(len(gradient))
        worst = [c for c in np.flatnonzero(used) if gradient[c] < gradient[used].min() + 1e-9]
        top = [c for c in np.flatnonzero(used) if gradient[c] > gradient[used].max() - 1e-9]
        forward, mean = unit[corner] - self.weights, self.weights @ gradient
        match step:
            case Forward():
                return [forward]
            case Away():
                aways = [self.weights - unit[c] for c in worst]
                return [max(forward, away, key=gradient.dot) for away in aways]
            case Pairwise():
                return [unit[corner] - unit[c] for c in worst]
            case _:
                swaps = [unit[t] - unit[c] for t in top for c in worst]
                return swaps if gradient[used].max() - gradient[worst[0]] >= gradient[corner] - mean else [forward]

    def best_along(self, direction: np.ndarray) -> float:
        """The greatest D in this direction, as far as all weights stay at or above 0, by scipy."""
        shrinking = direction < 0
        longest = float((self.weights[shrinking] / -direction[shrinking]).min(initial=1e9))
        return -float(
            minimize_scalar(
                lambda length: -self.value(self.weights + length * direction),
                bounds=(0, longest),
                method="bounded",
                options={"xatol": 1e-12},
            ).fun
        )


@every_step
def test_a_step_is_the_best_on_its_way(step: BlockStep) -> None:
    """And the mixture is one of distinct corners, all of which the product has."""
    if step == Forward(line_search=False):
        pytest.skip("it takes no best step")
    problem = polytopes(1, n=2, m=5, d=4)
    every = (problem.psi[0][:, None] + problem.psi[1][None]).reshape(-1, 4) / 2.0
    solver = FrankWolfe(step)
    state = solver.init(problem, np.random.default_rng(0))
    before = Mixed(np.zeros((1, 4)), np.zeros(1), np.ones(1))
    for _ in range(25):
        point = solver.dual_point(problem, state)
        if point.active is not None:
            before = Mixed(point.active.v, point.active.losses, point.active.weights)
            assert before.weights.min() > 0
            assert before.weights.sum() == pytest.approx(1.0, abs=1e-12)
            assert len(np.unique(before.points, axis=0)) == len(before.points)
            assert all(np.abs(every - corner).max(axis=1).min() < 1e-12 for corner in before.points)
        else:
            before = Mixed(point.v[None].copy(), np.array([point.loss]), np.ones(1))
        named = ask_all(problem, point.v)
        corner = len(before.weights)
        before = Mixed(
            np.vstack([before.points, named.corner_w]),
            np.append(before.losses, named.corner_loss),
            np.append(before.weights, 0.0),
        )
        expected = [before.best_along(direction) for direction in before.directions(corner, step)]
        solver.sweep(problem, state)
        after = solver.dual_point(problem, state)
        reached = after.loss - 0.5 * after.v @ after.v
        assert min(abs(reached - best) for best in expected) < 1e-7


def test_the_gap_is_that_of_the_batch_corner(make_problem: MakeProblem) -> None:
    """P − D = λ (w − w_s)·w − ℓ + ℓ_s  [LJSP13], from the corner alone."""
    problem = make_problem(n=15)
    solver = FrankWolfe()
    state = solver.init(problem, np.random.default_rng(0))
    for _ in range(5):
        solver.sweep(problem, state)
        point = solver.dual_point(problem, state)
        corner = ask_all(problem, point.v)
        gap = problem.regularization * (point.v - corner.corner_w) @ point.v - point.loss + corner.corner_loss
        audit = solver.audit(problem, state)
        assert audit.primal - audit.dual == pytest.approx(gap, rel=1e-9)


@pytest.mark.parametrize("step", [Forward(True), Forward(False)], ids=["line-search", "decreasing"])
def test_suboptimality_falls_as_theory_promises(step: Forward, make_problem: MakeProblem) -> None:
    """D* − D_k ≤ 2C / (k + 2) with C = λ · (diameter of all w)²  [Jaggi 2013 Thm. 1], here with ‖w_s‖ ≤ R/λ."""
    problem = make_problem(n=20)
    best = solve(problem, CuttingPlane(), stop=Stop(gap=1e-9, passes=500)).trace[-1].primal
    largest = np.zeros(problem.n_features)  # Σ_i of the largest each entry of ψ_i can be
    for i in range(problem.n_blocks):
        rows = slice(problem.edges.lists.offsets[i], problem.edges.lists.offsets[i + 1])
        links = min(problem.edges.lists.shapes[i])
        largest += np.abs(problem.gold[i]) + links * np.abs(problem.edges.features[rows]).max(axis=0)
    diameter = 2 * np.linalg.norm(largest) / (problem.regularization * problem.n_blocks)
    constant = problem.regularization * diameter**2
    for point in solve(problem, FrankWolfe(step), stop=Stop(gap=0.0, passes=300)).trace[1:]:
        assert best - point.dual <= 2 * constant / (point.passes + 2)


@pytest.mark.parametrize("seed", [1, 3, 4])
@pytest.mark.parametrize("step", [Away(), Pairwise(), Blended()], ids=lambda step: step.name)
def test_gaps_fall_on_a_line(step: BlockStep, seed: int) -> None:
    """Each factor of 100 in the gap takes about the passes of the one before, where plain steps have hardly begun.

    The optimum is inside a face: plain steps zigzag between its corners  [LJ15 §1].
    """
    problem = polytopes(seed, n=1, m=8, d=5)
    trace = solve(problem, FrankWolfe(step), stop=Stop(gap=1e-9, passes=400, audit_growth=1.0)).trace
    reached = [next(p.passes for p in trace if p.gap <= gap) for gap in (1e-2, 1e-4, 1e-6, 1e-8)]
    each = np.diff(reached)
    assert each.max() <= 2 * each.min()
    plain = solve(problem, FrankWolfe(), stop=Stop(gap=1e-9, passes=int(reached[-1]), audit_growth=1.0)).trace
    assert min(p.gap for p in plain) > 1e-4


@every_step
def test_audits_of_the_iterate_are_its_next_pass(step: BlockStep, make_problem: MakeProblem) -> None:
    """Audited after every pass, the last iterate costs one pass of calls a step; an average costs another."""
    problem = make_problem(n=9)
    stop = Stop(gap=0.0, passes=6, audit_growth=1.0)
    last = solve(problem, FrankWolfe(step), stop=stop).trace[-1]
    assert (last.oracle_calls, last.audit_calls) == (9 * 7, 0)
    averaged = solve(problem, FrankWolfe(step, Average.WEIGHTED), stop=stop).trace[-1]
    assert (averaged.oracle_calls, averaged.audit_calls) == (9 * 6, 9 * 6)
