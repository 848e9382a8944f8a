"""Away, pairwise and fully corrective Frank-Wolfe, and the quadratic program on the simplex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from aligner.losses.hinge import MatchingProblem
from aligner.problem import BlockDefaults, Corners
from aligner.solvers import Stop, solve
from aligner.solvers.corrective import Correction, Corrective, shift_weight
from aligner.solvers.frank_wolfe import FrankWolfe
from aligner.solvers.gap import ask_all
from aligner.solvers.simplex import Mixture, best_mixture

MakeProblem = Callable[..., MatchingProblem]


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


def one_slack_cutting_plane(problem: MatchingProblem, rounds: int) -> list[float]:
    """Optima of min λ/2 ‖w‖² + ξ under the constraints ξ ≥ L̄ − w·ψ̄ met so far, in the primal  [JFY09 Alg. 3].

    The first constraint is ξ ≥ 0; each round adds that which w violates most. Solved by scipy in (√λ w, ξ); weights
    that must not be above 0 are bounded.
    """
    d, root = problem.n_features, np.sqrt(problem.regularization)
    rows, right = [np.eye(d + 1)[d]], [0.0]
    x = np.zeros(d + 1)
    values = []
    above = [None] * (d - problem.n_nonpositive) + [0.0] * problem.n_nonpositive + [None]
    for _ in range(rounds):
        corners = problem.corners(np.arange(problem.n_blocks), x[:d] / root)
        rows.append(np.append(corners.psi.mean(axis=0) / root, 1.0))
        right.append(float(corners.losses.mean()))
        matrix, bounds = np.array(rows), np.array(right)
        for _ in range(3):  # from where it stopped, with a fresh model of the curvature, as long as that helps
            x[d] = (bounds - matrix[:, :d] @ x[:d]).max()
            x = minimize(
                lambda x: 0.5 * x[:d] @ x[:d] + x[d],
                x,
                jac=lambda x: np.append(x[:d], 1.0),
                bounds=[(None, bound) for bound in above],
                constraints={
                    "type": "ineq",
                    "fun": lambda x, matrix=matrix, bounds=bounds: matrix @ x - bounds,
                    "jac": lambda x, matrix=matrix: matrix,
                },
                method="SLSQP",
                options={"maxiter": 1000, "ftol": 1e-16},
            ).x
        values.append(float(0.5 * x[:d] @ x[:d] + x[d]))
    return values


@pytest.mark.parametrize(("seed", "capacity"), [(0, 1), (1, 1), (3, 1), (0, 2), (1, 2)])
def test_fully_corrective_is_the_one_slack_cutting_plane(seed: int, capacity: int, make_problem: MakeProblem) -> None:
    """After every outer iteration the dual over the corners so far is the optimum of the restricted primal program.

    On these problems the oracle has no ties; where two corners in use differ in one block only it has, and both
    methods are right to name different corners from there on.
    """
    problem = make_problem(n=10, d=4, seed=seed, capacity=capacity)
    ours = solve(problem, Corrective(Correction.FULL), stop=Stop(gap=0.0, passes=14, audit_growth=1.0)).trace
    theirs = one_slack_cutting_plane(problem, 14)
    assert len(ours) > 8, "it ends at the optimum"
    np.testing.assert_allclose([p.dual for p in ours[1:]], theirs[: len(ours) - 1], rtol=0, atol=1e-8)


@pytest.mark.parametrize("regularization", [0.3, 0.03])
def test_fully_corrective_dominates_frank_wolfe(regularization: float, make_problem: MakeProblem) -> None:
    problem = make_problem(n=30, regularization=regularization)
    stop = Stop(gap=0.0, passes=25, audit_growth=1.0)
    plain = solve(problem, FrankWolfe(), stop=stop).trace
    corrective = solve(problem, Corrective(Correction.FULL), stop=stop).trace
    assert all(ours.dual >= theirs.dual - 1e-12 for ours, theirs in zip(corrective, plain, strict=False)), (
        "the first is exact earlier"
    )
    assert corrective[-1].gap < 0.1 * plain[-1].gap


@pytest.mark.parametrize("seed", [1, 3, 4])
@pytest.mark.parametrize("correction", [Correction.AWAY, Correction.PAIRWISE])
def test_gaps_fall_on_a_line(correction: Correction, seed: int) -> None:
    """Each factor of 100 in the gap takes about the passes of the one before, where plain steps have hardly begun.

    The optimum is inside a face: plain steps zigzag between its corners  [LJ15 §1].
    """
    problem = polytopes(seed, n=1, m=8, d=5)
    stop = Stop(gap=1e-9, passes=400, audit_growth=1.0)
    trace = solve(problem, Corrective(correction), stop=stop).trace
    reached = [next(p.passes for p in trace if p.gap <= gap) for gap in (1e-2, 1e-4, 1e-6, 1e-8)]
    each = np.diff(reached)
    assert each.max() <= 2 * each.min()
    plain = solve(problem, FrankWolfe(), stop=Stop(gap=1e-9, passes=int(reached[-1]), audit_growth=1.0)).trace
    assert min(p.gap for p in plain) > 1e-4


@pytest.mark.parametrize("correction", Correction)
def test_weights_stay_a_mixture_of_what_the_oracle_named(correction: Correction) -> None:
    """Its w and ℓ are those of the mixture, whose corners are distinct and among all the product has."""
    problem = polytopes(1, n=2, m=3, d=2)
    every = {
        (*(problem.psi[0, a] + problem.psi[1, b]) / 2.0, (problem.losses[0, a] + problem.losses[1, b]) / 2.0)
        for a in range(3)
        for b in range(3)
    }
    solver = Corrective(correction)
    state = solver.init(problem, np.random.default_rng(0))
    for _ in range(30):
        solver.sweep(problem, state)
        mixture = state.mixture
        assert mixture.weights.min() >= 0
        assert mixture.weights.sum() == pytest.approx(1.0, abs=1e-12)
        if correction is not Correction.FULL:
            assert mixture.weights.min() > 0
        named = [(*point, loss) for point, loss in zip(mixture.points, mixture.losses, strict=True)]
        assert len(set(named)) == len(named)
        assert all(min(np.abs(np.subtract(corner, known)).max() for known in every) < 1e-12 for corner in named)


def value(mixture: Mixture, weights: np.ndarray, regularization: float) -> float:
    """D of some weights of the points of a mixture."""
    w = weights @ mixture.points
    return float(weights @ mixture.losses - 0.5 * regularization * w @ w)


def best_on_the_way(mixture: Mixture, direction: np.ndarray, regularization: float) -> float:
    """The greatest D in this direction, as far as all weights stay at or above 0, by scipy."""
    shrinking = direction < 0
    longest = float((mixture.weights[shrinking] / -direction[shrinking]).min())
    return float(
        -minimize_scalar(
            lambda length: -value(mixture, mixture.weights + length * direction, regularization),
            bounds=(0, longest),
            method="bounded",
            options={"xatol": 1e-12},
        ).fun
    )


LENGTHS = {
    Correction.AWAY: {(True, -1), (True, 0), (False, 1)},
    Correction.PAIRWISE: {(False, -1), (False, 0), (False, 1)},
    Correction.BLENDED: {(False, -1), (False, 0), (False, 1)},
}
"""Whether a step is away, and how many corners more have weight after it, of what must happen."""


@pytest.mark.parametrize("correction", LENGTHS)
def test_a_shift_is_the_best_on_its_way(correction: Correction) -> None:
    """Of random mixtures, along the direction of [LJ15 Alg. 1 and 2; TTP22 Alg. 1]."""
    rng = np.random.default_rng(0)
    kinds = set()
    for _ in range(100):
        weights = np.append(rng.dirichlet(np.full(4, 0.5)), 0.0)
        mixture = Mixture(rng.standard_normal((5, 3)), rng.uniform(0, 2, 5), weights)
        gradient = mixture.losses - 0.7 * mixture.points @ mixture.w
        corner, worst = gradient.argmax(), np.where(weights > 0, gradient, np.inf).argmin()
        top = np.where(weights > 0, gradient, -np.inf).argmax()
        forward, away = np.eye(5)[corner] - weights, weights - np.eye(5)[worst]
        direction = {
            Correction.AWAY: max(forward, away, key=gradient.dot),
            Correction.PAIRWISE: forward + away,
            Correction.BLENDED: max(np.eye(5)[top] - np.eye(5)[worst], forward, key=gradient.dot),
        }[correction]
        best = best_on_the_way(mixture, direction, 0.7)
        shift_weight(mixture, int(corner), 0.7, correction)
        assert value(mixture, mixture.weights, 0.7) == pytest.approx(best, abs=1e-7)
        assert mixture.weights.min() > 1e-15
        kinds.add((direction is away, len(mixture.weights) - np.count_nonzero(weights)))
    assert kinds >= LENGTHS[correction]


@pytest.mark.parametrize("size", [1, 2, 7, 20])
@pytest.mark.parametrize("rank", [0, 1, 3, 30])
def test_best_mixture_is_that_of_a_general_solver(size: int, rank: int) -> None:
    """Random programs, singular ones and those with the same point twice among them; scipy from the middle."""
    rng = np.random.default_rng(size + 100 * rank)
    for copies in (1, 2):
        points = np.tile(rng.standard_normal((size, rank)), (copies, 1))
        gram, gains = points @ points.T, np.tile(rng.standard_normal(size) * 3, copies)
        start = np.zeros(size * copies)
        start[0] = 1.0
        weights = best_mixture(gram, gains, start)
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        gradient = gains - gram @ weights
        assert gradient.max() - weights @ gradient <= 1e-9
        answer = minimize(
            lambda x, gram=gram, gains=gains: 0.5 * x @ gram @ x - gains @ x,
            np.full(size * copies, 1.0 / (size * copies)),
            jac=lambda x, gram=gram, gains=gains: gram @ x - gains,
            bounds=[(0, 1)] * (size * copies),
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1.0, "jac": np.ones_like},
            method="SLSQP",
            options={"maxiter": 2000, "ftol": 1e-14},
        )
        value = gains @ weights - 0.5 * weights @ gram @ weights
        assert value == pytest.approx(-answer.fun, rel=1e-8, abs=1e-8)
        assert start[0] == 1.0


def test_best_mixture_of_points_of_very_different_size() -> None:
    """The first corners of a problem with small λ are huge: their rounding must not spoil the small ones."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((60, 8)) * 10.0 ** rng.uniform(-3, 3, (60, 1))
    gains = rng.uniform(0, 3, 60)
    weights = best_mixture(points @ points.T, gains, np.eye(60)[0])
    gradient = gains - points @ (weights @ points)
    assert gradient.max() - weights @ gradient <= 1e-6


@pytest.mark.parametrize("size", [1.0, 30.0])
@pytest.mark.parametrize("n_nonpositive", [0, 1, 3, 6])
def test_the_mixture_is_optimal_where_w_is_clipped(n_nonpositive: int, size: float) -> None:
    """Its gap, from the gradient computed here, is rounding; with nothing to clip it is the best mixture."""
    rng = np.random.default_rng(n_nonpositive)
    active = 0
    for _ in range(30):
        points, losses = size * rng.standard_normal((25, 6)), rng.uniform(0, 2, 25)
        mixture = Mixture(points, losses, np.eye(25)[0], n_nonpositive)
        mixture.optimise(0.7)
        weights = mixture.weights
        v = weights @ points
        w = np.append(v[: 6 - n_nonpositive], np.minimum(v[6 - n_nonpositive :], 0.0))
        active += int((w != v).any())
        gradient = losses - 0.7 * points @ w
        assert gradient.max() - weights @ gradient <= 1e-8 * size
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1.0)
        if n_nonpositive == 0:
            plain = best_mixture(0.7 * points @ points.T, losses, np.eye(25)[0])
            np.testing.assert_allclose(v, plain @ points, atol=1e-8 * size)
    assert active > 5 or n_nonpositive == 0


def test_points_met_again_are_one(make_problem: MakeProblem) -> None:
    problem = make_problem(n=6)
    mixture = Mixture.of_target(problem.n_features)
    answers = ask_all(problem, np.zeros(problem.n_features))
    assert mixture.find(np.zeros(problem.n_features), 0.0) == 0
    assert mixture.find(answers.corner_w, answers.corner_loss) == 1
    again = ask_all(problem, np.zeros(problem.n_features))
    assert mixture.find(again.corner_w, again.corner_loss) == 1
    assert mixture.find(again.corner_w, again.corner_loss + 1.0) == 2
    assert mixture.w.tolist() == [0.0] * problem.n_features
