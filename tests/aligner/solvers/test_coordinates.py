"""Weights of given signs, against a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from solver_configurations import MakeProblem, Multiclass, run

from aligner.errors import SettingError
from aligner.solvers import PerCoordinate, check_problem, make_solver


def optimum(problem: Multiclass, bounds: list[tuple[float | None, float | None]]) -> float:
    """min λ/2 ‖w‖² + 1/n Σ_i ξ_i  s.t.  ξ_i >= L_i(y) − w·ψ_i(y) for all y, and w within bounds."""
    d, n = problem.n_features, problem.n_blocks
    corners = [(i, problem.psi(i, y), y != problem.labels[i]) for i in range(n) for y in range(problem.classes)]
    matrix = np.array([np.concatenate([psi, np.eye(n)[i]]) for i, psi, _ in corners])
    losses = np.array([float(loss) for *_, loss in corners])
    mean = np.concatenate([np.zeros(d), np.full(n, 1.0 / n)])
    answer = minimize(
        lambda x: 0.5 * problem.regularization * x[:d] @ x[:d] + mean @ x,
        np.concatenate([np.zeros(d), np.ones(n)]),
        jac=lambda x: np.concatenate([problem.regularization * x[:d], np.zeros(n)]) + mean,
        bounds=[*bounds, *[(None, None)] * n],
        constraints={"type": "ineq", "fun": lambda x: matrix @ x - losses, "jac": lambda x: matrix},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert answer.success, answer.message
    return float(answer.fun)


@pytest.mark.parametrize("name", ["bcfw", "bcfw-pairwise", "cutting-plane", "stochastic-subgradient"])
def test_the_optimum_is_that_of_a_quadratic_program(name: str) -> None:
    inner = Multiclass.random(20)
    free = run(inner, make_solver("bcfw-pairwise"), gap=1e-6, passes=2000).w
    least, second, *_, greatest = np.argsort(free).tolist()
    positive, negative = (least, second), (greatest,)  # they would have the other sign
    problem = PerCoordinate(inner, positive, negative)
    check_problem(problem)
    result = run(problem, make_solver(name), gap=1e-3, passes=5000)
    w = problem.weights(result.w)
    assert w[list(positive)].min() >= 0
    assert w[list(negative)].max() <= 0
    bounds = [(0.0 if c in positive else None, 0.0 if c in negative else None) for c in range(inner.n_features)]
    assert result.dual - 1e-6 <= optimum(inner, bounds) <= result.primal + 1e-6


def test_weights_that_were_not_above_zero_stay_so(make_problem: MakeProblem) -> None:
    inner = make_problem(n=6, d=3, capacity=2)
    problem = PerCoordinate(inner, positive=(1,))
    w = problem.weights(run(problem, make_solver("bcfw"), gap=1e-3, passes=2000).w)
    assert w[1] >= 0
    assert (w[3:] <= 0).all()


@pytest.mark.parametrize("columns", [((0,), (0,)), ((8,), ()), ((), (-1,))])
def test_columns_that_cannot_be_are_told(columns: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    with pytest.raises(SettingError, match="different ones below 8"):
        PerCoordinate(Multiclass.random(), *columns)


def test_both_signs_are_none(make_problem: MakeProblem) -> None:
    with pytest.raises(SettingError, match="different ones"):
        PerCoordinate(make_problem(d=3, capacity=2), positive=(3,))
