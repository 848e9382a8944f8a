"""Randomised away steps: on matchings, and on least squares over the ℓ1-ball and the simplex."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Lasso

from aligner.errors import SettingError
from aligner.losses.hinge import MatchingProblem
from aligner.problem import BlockDefaults, Corners
from aligner.solvers import Stop, make_solver, solve
from aligner.solvers.block import Block
from aligner.solvers.constrained_least_squares import Domain, Fit, LeastSquares, least_squares
from aligner.solvers.orders import Permuted, Uniform
from aligner.solvers.randomized_away import RandomizedAway
from aligner.solvers.steps import Away

MakeProblem = Callable[..., MatchingProblem]


def regression(rows: int, columns: int, nonzeros: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    matrix = np.asfortranarray(rng.standard_normal((rows, columns)))
    x = np.zeros(columns)
    x[rng.choice(columns, nonzeros, replace=False)] = rng.standard_normal(nonzeros)
    return matrix, matrix @ x + 0.5 * rng.standard_normal(rows)


def objective(matrix: np.ndarray, target: np.ndarray, x: np.ndarray) -> float:
    return float(0.5 * np.sum((matrix @ x - target) ** 2))


def by_quadratic_program(matrix: np.ndarray, target: np.ndarray, domain: Domain, radius: float) -> float:
    """The minimum by a general solver; for the ℓ1-ball on positive and negative parts of x."""
    ball = domain is Domain.L1_BALL
    both = np.hstack([matrix, -matrix]) if ball else matrix
    answer = minimize(
        lambda x: objective(both, target, x),
        np.full(both.shape[1], radius / both.shape[1]),
        jac=lambda x: both.T @ (both @ x - target),
        bounds=[(0, None)] * both.shape[1],
        constraints={"type": "ineq" if ball else "eq", "fun": lambda x: radius - x.sum()},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert answer.success, answer.message
    return float(answer.fun)


def check_feasible(fit: Fit, domain: Domain, radius: float) -> None:
    assert np.abs(fit.x).sum() <= radius * (1 + 1e-12)
    if domain is Domain.SIMPLEX:
        assert fit.x.min() >= 0
        assert fit.x.sum() == pytest.approx(radius, rel=1e-12)


@pytest.fixture(scope="module")
def lasso() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A problem of 10,000 features: matrix, target, and scikit-learn's solution with its penalty."""
    matrix, target = regression(600, 10_000, 50)
    penalty = 0.05 * np.abs(matrix.T @ target).max() / len(target)
    return matrix, target, Lasso(penalty, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(matrix, target).coef_


def test_lasso_with_10_000_features_is_as_accurate_as_that_of_scikit_learn(
    lasso: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    matrix, target, theirs = lasso
    radius = float(np.abs(theirs).sum())
    fit = least_squares(matrix, target, Domain.L1_BALL, radius)
    check_feasible(fit, Domain.L1_BALL, radius)
    reference = objective(matrix, target, theirs)
    assert fit.objective == pytest.approx(objective(matrix, target, fit.x), rel=1e-12)
    assert fit.objective == pytest.approx(reference, rel=1e-9)
    assert -1e-9 <= fit.gap <= 1e-6 * reference
    np.testing.assert_allclose(fit.x, theirs, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("order", [Uniform(), Permuted()])
def test_the_gap_of_the_lasso_falls_linearly(
    order: Uniform | Permuted, lasso: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> None:
    """log(gap) is a line of the passes over ten orders of magnitude: one line explains nearly all of it."""
    matrix, target, theirs = lasso
    stop = Stop(gap=1e-12, passes=300, audit_growth=1.0)
    solver = RandomizedAway(order, 0.05)
    trace = least_squares(matrix, target, Domain.L1_BALL, float(np.abs(theirs).sum()), solver=solver, stop=stop).trace
    gaps = np.array([point.gap for point in trace])
    digits = np.log10(gaps[(gaps < 1e-2 * gaps[0]) & (gaps > 1e-10 * gaps[0])])
    assert len(digits) >= 10
    slope, intercept = np.polyfit(np.arange(len(digits)), digits, 1)
    explained = 1 - np.var(digits - slope * np.arange(len(digits)) - intercept) / np.var(digits)
    assert slope < 0
    assert explained > 0.97
    assert gaps[-1] <= 1e-10 * gaps[0]


@pytest.mark.parametrize("radius", [0.5, 3.0, 50.0])
@pytest.mark.parametrize("domain", Domain)
def test_the_optimum_is_that_of_a_quadratic_program(domain: Domain, radius: float) -> None:
    matrix, target = regression(12, 30, 4, seed=2)
    fit = least_squares(matrix, target, domain, radius, solver=RandomizedAway(sample=0.2))
    check_feasible(fit, domain, radius)
    accuracy = 2e-9 * max(1.0, fit.trace[-1].primal)
    assert fit.gap <= accuracy
    assert fit.objective == pytest.approx(by_quadratic_program(matrix, target, domain, radius), abs=accuracy + 1e-6)


@pytest.mark.parametrize("domain", Domain)
@pytest.mark.parametrize("passes", [0, 1, 3])
def test_the_gap_is_a_certificate_however_early_it_ends(domain: Domain, passes: int) -> None:
    matrix, target = regression(12, 30, 4, seed=3)
    best = by_quadratic_program(matrix, target, domain, 2.0)
    fit = least_squares(matrix, target, domain, 2.0, solver=RandomizedAway(sample=0.1), stop=Stop(0.0, passes))
    check_feasible(fit, domain, 2.0)
    assert best - 1e-9 <= fit.objective
    assert fit.objective - fit.gap <= best + 1e-9
    assert fit.gap == pytest.approx(fit.trace[-1].gap, rel=1e-9)


@pytest.mark.parametrize("domain", Domain)
def test_columns_that_are_equal_opposite_or_zero(domain: Domain) -> None:
    matrix, target = regression(8, 5, 2, seed=4)
    matrix = np.hstack([matrix[:, :1], np.zeros((8, 1)), matrix, matrix, -matrix])
    fit = least_squares(matrix, target, domain, 1.5, solver=RandomizedAway(sample=0.3))
    check_feasible(fit, domain, 1.5)
    assert fit.gap <= 1e-7
    assert fit.objective == pytest.approx(by_quadratic_program(matrix, target, domain, 1.5), abs=1e-6)


def test_a_target_of_zero_is_met_at_the_start() -> None:
    fit = least_squares(np.eye(3), np.zeros(3), Domain.L1_BALL, 1.0)
    assert (fit.objective, fit.gap) == (0.0, 0.0)
    np.testing.assert_array_equal(fit.x, np.zeros(3))


def away_steps(matrix: np.ndarray, target: np.ndarray, radius: float, steps: int) -> np.ndarray:
    """[LJ15 Alg. 1] over the ℓ1-ball from 0, on x itself: its atoms are signed columns, and 0 at the start."""
    p = matrix.shape[1]
    atoms = radius * np.vstack([np.eye(p), -np.eye(p), np.zeros(p)])
    weights = np.zeros(2 * p + 1)
    weights[-1] = 1.0
    for _ in range(steps):
        x = weights @ atoms
        gradient = matrix.T @ (matrix @ x - target)
        values = atoms @ gradient
        best = int(np.argmin(values[:-1]))
        worst = int(np.argmax(np.where(weights > 0, values, -np.inf)))
        if gradient @ x - values[best] >= values[worst] - gradient @ x:
            change = -weights.copy()
            change[best] += 1.0
            longest = 1.0
        else:
            change = weights.copy()
            change[worst] -= 1.0
            longest = weights[worst] / (1 - weights[worst])
        moved = matrix @ (change @ atoms)
        gamma = min(longest, -float(gradient @ (change @ atoms)) / float(moved @ moved))
        weights = weights + gamma * change
        if gamma == longest:
            weights[worst if longest != 1.0 else weights < 1e-12] = 0.0
    return weights @ atoms


@pytest.mark.parametrize("passes", [1, 2, 5, 30])
def test_a_sample_of_everything_is_the_deterministic_method(passes: int) -> None:
    matrix, target = regression(10, 20, 4, seed=5)
    fit = least_squares(matrix, target, Domain.L1_BALL, 3.0, solver=RandomizedAway(sample=1.0), stop=Stop(0.0, passes))
    np.testing.assert_allclose(fit.x, away_steps(matrix, target, 3.0, passes), atol=1e-9)


@pytest.mark.parametrize("name", ["frank-wolfe", "cutting-plane", "bcfw-pairwise"])
def test_other_solvers_solve_the_same_problem(name: str) -> None:
    matrix, target = regression(12, 30, 4, seed=6)
    problem = LeastSquares.of(matrix, target, Domain.SIMPLEX, 2.0)
    theirs = solve(problem, make_solver(name), stop=Stop(1e-3, 2000)).trace[-1]
    ours = solve(problem, RandomizedAway(), stop=Stop(1e-8, 2000)).trace[-1]
    assert theirs.dual - 1e-9 <= ours.primal
    assert ours.dual <= theirs.primal + 1e-9
    assert theirs.relative_gap <= 1e-3
    assert ours.relative_gap <= 1e-8


@dataclass
class Watched(BlockDefaults):
    """A problem that notes which atoms it was asked about."""

    problem: LeastSquares
    asked: list[np.ndarray] = field(default_factory=list)

    n_blocks = 1
    regularization = 1.0
    n_features = property(lambda self: self.problem.n_features)
    n_atoms = property(lambda self: self.problem.n_atoms)

    def best_of(self, atoms: np.ndarray, w: np.ndarray) -> Corners:
        self.asked.append(atoms)
        return self.problem.best_of(atoms, w)

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        raise AssertionError("asked about all atoms")

    def exact_corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        return self.problem.exact_corners(blocks, w)


@pytest.mark.parametrize("sample", [0.001, 0.25, 0.4, 1.0])
def test_only_a_sample_is_looked_at(sample: float) -> None:
    watched = Watched(LeastSquares.of(*regression(8, 40, 4), Domain.L1_BALL, 2.0))
    trace = solve(watched, RandomizedAway(sample=sample), stop=Stop(0.0, 1)).trace
    assert {len(atoms) for atoms in watched.asked[:-1]} <= {max(1, round(40 * sample))}
    np.testing.assert_array_equal(np.sort(np.concatenate(watched.asked)), np.arange(40))
    assert trace[-1].oracle_calls == 1


def test_the_best_of_a_sample_is_that_of_a_plain_search() -> None:
    problem = LeastSquares.of(*regression(8, 40, 4), Domain.L1_BALL, 2.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        atoms, w = rng.choice(40, 7, replace=False), rng.standard_normal(8)
        corner = problem.best_of(atoms, w)
        signed = 2.0 * np.vstack([problem.columns[atoms], -problem.columns[atoms]])
        values = signed @ (problem.target - w)
        np.testing.assert_allclose(corner.psi[0], signed[np.argmax(values)])
        assert corner.losses[0] - corner.psi[0] @ w == pytest.approx(values.max())
    everything = problem.best_of(np.arange(40), w)
    np.testing.assert_array_equal(everything.psi, problem.exact_corners(np.zeros(1, np.int64), w).psi)


def test_blocks_that_were_not_asked_step_too(make_problem: MakeProblem) -> None:
    """That is all the difference to block away steps where one block is asked at a time, and it saves oracle calls."""
    problem = make_problem(n=60, d=6, largest=8, regularization=0.01)
    calls = {
        solver.signature: solve(problem, solver, stop=Stop(1e-5, 3000), seed=1).trace[-1].oracle_calls
        for solver in (RandomizedAway(Uniform(), 1 / 60), Block(Uniform(), Away()))
    }
    randomized, block = calls.values()
    assert randomized < 0.75 * block


def test_the_gap_falls_linearly_on_matchings(make_problem: MakeProblem) -> None:
    trace = solve(
        make_problem(n=30, d=6, largest=7, regularization=0.05),
        RandomizedAway(Uniform(), 0.1),
        stop=Stop(1e-11, 1000, audit_growth=1.0),
    ).trace
    digits = np.log10([point.gap for point in trace if point.gap > 1e-12])
    slope, intercept = np.polyfit(np.arange(len(digits)), digits, 1)
    explained = 1 - np.var(digits - slope * np.arange(len(digits)) - intercept) / np.var(digits)
    assert trace[-1].relative_gap <= 1e-11
    assert slope < 0
    assert explained > 0.9


def test_settings_that_cannot_work() -> None:
    for sample in (0.0, -0.1, 1.1, float("nan")):
        with pytest.raises(SettingError, match="sample must be a share"):
            RandomizedAway(sample=sample)
    matrix, target = regression(4, 6, 2)
    for radius in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(SettingError, match="radius must be a number above 0"):
            least_squares(matrix, target, Domain.SIMPLEX, radius)
    with pytest.raises(ValueError, match="do not fit"):
        least_squares(matrix, target[1:], Domain.SIMPLEX, 1.0)
    with pytest.raises(ValueError, match="do not fit"):
        least_squares(matrix[:, :0], target, Domain.SIMPLEX, 1.0)
    with pytest.raises(ValueError, match="must be finite"):
        least_squares(matrix, np.full(4, np.nan), Domain.SIMPLEX, 1.0)
