"""Dual extragradient within an ℓ1-ball, by multiplicative steps: its optimum is that of a linear programme."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from label_sequences import labellings, random_chains
from scipy.optimize import linprog
from solver_configurations import Multiclass

from aligner.errors import SettingError
from aligner.solvers import Stop, make_solver, solve
from aligner.solvers.extragradient import Extragradient, Projection


@dataclass
class Signed(Multiclass):
    """The last three weights must not be above 0."""

    n_nonpositive = 3


def corners_of(problem: Any) -> list[tuple[int, np.ndarray, float]]:
    """(block, ψ, L) of all corners."""
    if isinstance(problem, Multiclass):
        every = [(i, y) for i in range(problem.n_blocks) for y in range(problem.classes)]
        return [(i, problem.psi(i, y), float(y != problem.labels[i])) for i, y in every]
    return [(i, psi, loss) for i in range(problem.n_blocks) for psi, loss in labellings(problem, i)]


def least_hinge(problem: Any, radius: float) -> float:
    """min 1/n Σ ξ_i, where ξ_i >= L − (w⁺ − w⁻)·ψ of all corners, and the halves add up to at most γ."""
    n, d = problem.n_blocks, problem.n_features
    block, psi, losses = (np.array(column) for column in zip(*corners_of(problem), strict=True))
    constraints = np.hstack([-psi, psi, -np.eye(n)[block]])
    ball = np.concatenate([np.ones(2 * d), np.zeros(n)])
    up = [(0, 0 if j >= d - problem.n_nonpositive else None) for j in range(d)]
    found = linprog(
        np.concatenate([np.zeros(2 * d), np.full(n, 1.0 / n)]),
        np.vstack([constraints, ball]),
        np.append(-losses, radius),
        bounds=[*up, *[(0, None)] * d, *[(None, None)] * n],
    )
    return float(found.fun)


PROBLEMS = {"classes": Multiclass.random(12), "signed": Signed.random(12), "chains": random_chains(6)}


@pytest.mark.parametrize("radius", [0.3, 2.0])
@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize(
    ("kind", "projection"),
    [("classes", "euclidean"), ("classes", "entropic"), ("signed", "euclidean"), ("chains", "entropic")],
)
def test_the_optimum_is_that_of_a_linear_programme(kind: str, projection: str, restarts: bool, radius: float) -> None:
    problem: Any = PROBLEMS[kind]
    solver = make_solver("extragradient", projection=projection, l1_radius=radius, restarts=restarts)
    limit = 1e-4 if restarts else 1e-2  # absolute: in a large ball the least hinge is 0
    result = solve(problem, solver, absolute_gap=limit, passes=3000)
    assert result.status.name == "CONVERGED"
    assert result.dual - 1e-9 <= least_hinge(problem, radius) <= result.primal + 1e-9
    assert np.abs(result.w).sum() <= radius * (1 + 1e-12)
    assert (result.w[problem.n_features - problem.n_nonpositive :] <= 0).all()
    hinges = np.full(problem.n_blocks, -np.inf)
    for i, psi, loss in corners_of(problem):
        hinges[i] = max(hinges[i], loss - psi @ result.w)
    assert hinges.mean() == pytest.approx(result.primal)


@pytest.mark.parametrize("projection", list(Projection), ids=lambda one: one.value)
def test_theory_bounds_the_gap(projection: Projection) -> None:
    trace = solve(PROBLEMS["classes"], Extragradient(projection, l1_radius=2.0), stop=Stop(gap=0.0, passes=200)).trace
    assert all(point.bound is not None and -1e-12 <= point.gap <= point.bound for point in trace[1:])
    assert all(point.bound * point.passes <= trace[1].bound for point in trace[1:])  # no step is shorter than 1/L


def test_steps_multiply_halves_that_add_up_to_the_radius() -> None:
    """w± ∝ w± exp(∓ τ g/γ), τ = ω/L, from all equal: against the formulas."""
    problem, gamma = PROBLEMS["classes"], 1.5
    solver = Extragradient(Projection.ENTROPIC, l1_radius=gamma)
    state = solver.init(problem, np.random.default_rng(0))
    d, n = problem.n_features, problem.n_blocks
    assert not solver.weights(problem, state.center_w).any()
    for _ in range(5):
        ahead, of_ahead, step, before = state.ahead_w, state.of_ahead, state.step, state.total
        solver.sweep(problem, state)
        step = state.total - before
        slopes = step * state.w_step / gamma * (of_ahead - state.start.of_target)[:-1] / n
        expected = ahead * np.exp(-np.concatenate([slopes, -slopes]))
        np.testing.assert_allclose(state.point_w, gamma * expected / expected.sum(), rtol=1e-10)
        assert state.point_w.shape == (2 * d,)
        assert state.point_w.sum() == pytest.approx(gamma)


def test_settings_that_exclude_each_other() -> None:
    with pytest.raises(SettingError, match="l1_radius must be a number above 0"):
        make_solver("extragradient", l1_radius="-1")
    with pytest.raises(SettingError, match="radius and l1_radius exclude each other"):
        make_solver("extragradient", radius=1.0, l1_radius=1.0)
    result = solve(PROBLEMS["classes"], Extragradient(l1_radius=0.5), stop=Stop(passes=2))
    assert "within ‖w‖₁ <= γ = 0.5," in result.notes[1]
    assert "|l1_radius:0.5|" in result.signature
