"""The cutting-plane method, fully corrective Frank-Wolfe, and its quadratic program on the simplex."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize

from aligner.losses.hinge import MatchingProblem
from aligner.solvers import CuttingPlane, FrankWolfe, Stop, solve
from aligner.solvers.gap import ask_all
from aligner.solvers.simplex import Mixture, best_mixture

MakeProblem = Callable[..., MatchingProblem]


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
    ours = solve(problem, CuttingPlane(), stop=Stop(gap=0.0, passes=14, audit_growth=1.0)).trace
    theirs = one_slack_cutting_plane(problem, 14)
    assert len(ours) > 8, "it ends at the optimum"
    np.testing.assert_allclose([p.dual for p in ours[1:]], theirs[: len(ours) - 1], rtol=0, atol=1e-8)


@pytest.mark.parametrize("regularization", [0.3, 0.03])
def test_fully_corrective_dominates_frank_wolfe(regularization: float, make_problem: MakeProblem) -> None:
    problem = make_problem(n=30, regularization=regularization)
    stop = Stop(gap=0.0, passes=25, audit_growth=1.0)
    plain = solve(problem, FrankWolfe(), stop=stop).trace
    corrective = solve(problem, CuttingPlane(), stop=stop).trace
    assert all(ours.dual >= theirs.dual - 1e-12 for ours, theirs in zip(corrective, plain, strict=False)), (
        "the first is exact earlier"
    )
    assert corrective[-1].gap < 0.1 * plain[-1].gap


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
