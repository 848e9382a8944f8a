"""Batch Frank-Wolfe: its steps, its gap and its use of audits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from aligner.losses.hinge import MatchingProblem
from aligner.solvers import Stop, solve
from aligner.solvers.averages import Average
from aligner.solvers.corrective import Corrective
from aligner.solvers.frank_wolfe import FrankWolfe
from aligner.solvers.gap import Answers, ask_all, dual_value, primal_value
from aligner.solvers.steps import Forward

MakeProblem = Callable[..., MatchingProblem]


def best_on_the_way(problem: MatchingProblem, w: np.ndarray, loss: float, corner: Answers) -> float:
    """The greatest D on the segment from (w, loss) to the batch corner, by scipy."""

    def fall(gamma: float) -> float:
        mixed_w = (1 - gamma) * w + gamma * corner.corner_w
        return -dual_value(problem, mixed_w, (1 - gamma) * loss + gamma * corner.corner_loss)

    return float(-minimize_scalar(fall, bounds=(0, 1), method="bounded", options={"xatol": 1e-12}).fun)


def test_line_search_finds_the_greatest_dual_on_its_way(make_problem: MakeProblem) -> None:
    problem = make_problem(n=15)
    solver = FrankWolfe()
    state = solver.init(problem, np.random.default_rng(0))
    for _ in range(8):
        best = best_on_the_way(problem, state.v, state.loss, ask_all(problem, state.v))
        solver.sweep(problem, state)
        assert dual_value(problem, state.v, state.loss) == pytest.approx(best, rel=1e-9)


def test_the_gap_is_that_of_the_batch_corner(make_problem: MakeProblem) -> None:
    """P − D = λ (w − w_s)·w − ℓ + ℓ_s  [LJSP13], from the corner alone."""
    problem = make_problem(n=15)
    solver = FrankWolfe()
    state = solver.init(problem, np.random.default_rng(0))
    for _ in range(5):
        solver.sweep(problem, state)
        corner = ask_all(problem, state.v)
        gap = problem.regularization * (state.v - corner.corner_w) @ state.v - state.loss + corner.corner_loss
        audit = solver.audit(problem, state)
        assert audit.primal - audit.dual == pytest.approx(gap, rel=1e-9)


@pytest.mark.parametrize("step", [Forward(True), Forward(False)], ids=["line-search", "decreasing"])
def test_suboptimality_falls_as_theory_promises(step: Forward, make_problem: MakeProblem) -> None:
    """D* − D_k ≤ 2C / (k + 2) with C = λ · (diameter of all w)²  [Jaggi 2013 Thm. 1], here with ‖w_s‖ ≤ R/λ."""
    problem = make_problem(n=20)
    best = solve(problem, Corrective(), stop=Stop(gap=1e-9, passes=500)).trace[-1].primal
    largest = np.zeros(problem.n_features)  # Σ_i of the largest each entry of ψ_i can be
    for i in range(problem.n_blocks):
        rows = slice(problem.edges.lists.offsets[i], problem.edges.lists.offsets[i + 1])
        links = min(problem.edges.lists.shapes[i])
        largest += np.abs(problem.gold[i]) + links * np.abs(problem.edges.features[rows]).max(axis=0)
    diameter = 2 * np.linalg.norm(largest) / (problem.regularization * problem.n_blocks)
    constant = problem.regularization * diameter**2
    for point in solve(problem, FrankWolfe(step), stop=Stop(gap=0.0, passes=300)).trace[1:]:
        assert best - point.dual <= 2 * constant / (point.passes + 2)


def test_audits_of_the_iterate_are_its_next_pass(make_problem: MakeProblem) -> None:
    """Audited after every pass, the last iterate costs one pass of calls a step; an average costs another."""
    problem = make_problem(n=9)
    stop = Stop(gap=0.0, passes=6, audit_growth=1.0)
    last = solve(problem, FrankWolfe(), stop=stop).trace[-1]
    assert (last.oracle_calls, last.audit_calls) == (9 * 7, 0)
    averaged = solve(problem, FrankWolfe(average=Average.WEIGHTED), stop=stop).trace[-1]
    assert (averaged.oracle_calls, averaged.audit_calls) == (9 * 6, 9 * 6)


def test_average_is_that_of_its_iterates(make_problem: MakeProblem) -> None:
    """Σ_k k w_k / Σ_k k, and its ℓ in the same proportions."""
    problem = make_problem(n=9)
    plain, averaged = FrankWolfe(), FrankWolfe(average=Average.WEIGHTED)
    state, other = (solver.init(problem, np.random.default_rng(0)) for solver in (plain, averaged))
    iterates, losses = [], []
    for _ in range(7):
        plain.sweep(problem, state)
        averaged.sweep(problem, other)
        iterates.append(state.v)
        losses.append(state.loss)
    weights = np.arange(1, 8)
    np.testing.assert_allclose(other.mean_v, np.average(iterates, axis=0, weights=weights), rtol=1e-10)
    assert other.mean_loss == pytest.approx(np.average(losses, weights=weights), rel=1e-12)
    audit = averaged.audit(problem, other)
    assert audit.primal == primal_value(problem, other.mean_v, ask_all(problem, other.mean_v))
    assert audit.dual == dual_value(problem, other.mean_v, other.mean_loss)
