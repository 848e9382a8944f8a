"""Exponentiated gradient: its step by the definition, and a dual that never falls, step by step."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from label_sequences import random_chains
from solver_configurations import Multiclass, run

from aligner.errors import SettingError
from aligner.problem import SaddleProblem, TargetOnly
from aligner.solvers import Stop, make_solver, solve
from aligner.solvers.audit import dual_value
from aligner.solvers.exponentiated_gradient import ExponentiatedGradient
from aligner.solvers.orders import Cyclic
from aligner.svm.chain import ChainProblem

PROBLEMS: dict[str, SaddleProblem] = {"multiclass": Multiclass.random(), "chains": random_chains()}
on_problems = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


def probabilities(potentials: np.ndarray) -> np.ndarray:
    shares = np.exp(potentials - potentials.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def test_a_step_is_that_of_its_definition() -> None:
    """α_i(y) ∝ α_i(y) exp(η (L_i(y) + w·φ(x_i, y))), one class after the other, with w at once that of the new α."""
    problem = Multiclass.random(6)
    solver = ExponentiatedGradient(order=Cyclic())
    state = solver.init(problem, np.random.default_rng(0))
    state.rates[:] = 1e-3  # which no dual falls by
    potentials = state.potentials.reshape(6, -1).copy()
    scale = problem.regularization * problem.n_blocks
    solver.sweep(problem, state)
    for i in range(6):
        alpha = probabilities(potentials)
        w = sum(alpha[j, y] * problem.psi(j, y) for j in range(6) for y in range(problem.classes)) / scale
        for y in range(problem.classes):
            potentials[i, y] += 1e-3 * (float(y != problem.labels[i]) - w @ problem.psi(i, y))
    np.testing.assert_allclose(state.z, probabilities(potentials).ravel(), rtol=1e-9)


@on_problems
def test_no_step_lowers_the_dual(problem: SaddleProblem) -> None:
    """However long the first one is."""
    solver, rng = ExponentiatedGradient(order=Cyclic()), np.random.default_rng(0)
    state = solver.init(problem, rng)
    state.rates[:] = 1e6
    duals = []
    for _ in range(3):
        for block in range(problem.n_blocks):
            solver._step(problem, state, block)
            duals.append(dual_value(problem, state.v, state.loss))
    assert all(after >= before - 1e-12 for before, after in pairwise(duals))
    assert duals[-1] > duals[0]
    assert (state.rates < 1e5).any()  # which have been halved


@on_problems
def test_marginals_are_the_dual_point(problem: SaddleProblem) -> None:
    result = run(problem, make_solver("exponentiated-gradient"), gap=-1.0, passes=8)
    point = result.dual_point
    assert point is not None
    assert point.marginals is not None
    assert point.marginals.min() >= 0.0
    moved = problem.moments(np.arange(problem.n_blocks), problem.target - point.marginals)
    np.testing.assert_allclose(point.v, moved[:-1] / (problem.regularization * problem.n_blocks), atol=1e-12)
    assert point.loss == pytest.approx(-moved[-1] / problem.n_blocks)
    assert dual_value(problem, point.v, point.loss) == pytest.approx(result.trace[-1].dual)


def test_going_on_at_another_regularization_keeps_the_dual_point() -> None:
    problem: ChainProblem = random_chains()
    solver = ExponentiatedGradient()
    state = solver.init(problem, np.random.default_rng(0))
    solver.sweep(problem, state)
    other = replace(problem, regularization=0.1)
    before = state.v * problem.regularization
    solver.resume(other, state)
    np.testing.assert_allclose(state.v * other.regularization, before)
    first = solve(other, solver, stop=Stop(passes=0), state=state).trace[0]
    assert first.dual == pytest.approx(dual_value(other, before / other.regularization, state.loss))


@pytest.mark.parametrize("name", ["exponentiated-gradient", "excessive-gap"])
def test_problems_without_marginals_are_refused(name: str) -> None:
    with pytest.raises(SettingError, match=f"{name} needs a problem with marginals in entropic geometry"):
        solve(TargetOnly(2, 0.1), make_solver(name))
    problem = Multiclass.random()
    problem.geometries = ("euclidean",)  # type: ignore[misc, assignment]
    with pytest.raises(SettingError, match="marginals in entropic geometry"):
        solve(problem, make_solver(name))
