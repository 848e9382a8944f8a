"""Exponentiated gradient, which is projected gradient by divergence: its step, and a dual that never falls."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from label_sequences import random_chains
from solver_configurations import Multiclass

from aligner.errors import SettingError
from aligner.problem import TargetOnly
from aligner.solvers import ChainProblem, make_solver, solve
from aligner.solvers.gap import dual_value
from aligner.solvers.orders import Cyclic, Permuted
from aligner.solvers.projected_gradient import GradientStep, ProjectedGradient
from aligner.solvers.saddle import Projection

PROBLEMS = {"multiclass": Multiclass.random(), "chains": random_chains()}
on_problems = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
STEPS = ProjectedGradient(Permuted(), GradientStep.LIPSCHITZ, Projection.ENTROPIC)


def test_a_step_is_that_of_its_definition() -> None:
    """α_i(y) ∝ α_i(y) exp(η (L_i(y) + w·φ(x_i, y))), one class after the other, with w at once that of the new α."""
    problem = Multiclass.random(6)
    state = STEPS.init(problem, np.random.default_rng(0))
    alpha = state.point.z.reshape(6, -1).copy()
    scale = problem.regularization * problem.n_blocks
    state.point.curvatures[:] = scale / 1e-3  # η, which no line search shortens
    for i in Cyclic().draw(6, np.random.default_rng(0)).tolist():
        STEPS._step(problem, state, i, scale)
        w = sum(alpha[j, y] * problem.psi(j, y) for j in range(6) for y in range(problem.classes)) / scale
        for y in range(problem.classes):
            alpha[i, y] *= np.exp(1e-3 * (float(y != problem.labels[i]) - w @ problem.psi(i, y)))
        alpha[i] /= alpha[i].sum()
    np.testing.assert_allclose(state.point.z, alpha.ravel(), rtol=1e-9)


@on_problems
def test_no_step_lowers_the_dual(problem: Multiclass | ChainProblem) -> None:
    """However long it is."""
    state = STEPS.init(problem, np.random.default_rng(0))
    state.point.curvatures[:] *= 1e-5
    duals = []
    for _ in range(3):
        for block in range(problem.n_blocks):
            STEPS._step(problem, state, block, problem.regularization * problem.n_blocks)
            loss = STEPS._settle(problem, state)
            duals.append(dual_value(problem, state.point.v, loss))
    assert all(after >= before - 1e-12 for before, after in pairwise(duals))
    assert duals[-1] > duals[0]


@pytest.mark.parametrize("name", ["exponentiated-gradient", "excessive-gap"])
def test_problems_without_marginals_are_refused(name: str) -> None:
    with pytest.raises(SettingError, match=f"{name} needs a problem with marginals in entropic geometry"):
        solve(TargetOnly(2, 0.1), make_solver(name))
    problem = Multiclass.random()
    problem.geometries = ("euclidean",)  # type: ignore[misc, assignment]
    with pytest.raises(SettingError, match="marginals in entropic geometry"):
        solve(problem, make_solver(name))
