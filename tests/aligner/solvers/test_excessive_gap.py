"""Excessive gap: its invariant by enumeration, its bound, and its steps as the source has them."""

from __future__ import annotations

import numpy as np
import pytest
from label_sequences import diameters, labellings, random_chains
from solver_configurations import Multiclass, run

from aligner.losses.chain import ChainProblem
from aligner.solvers import Status, Stop, solve
from aligner.solvers.excessive_gap import ExcessiveGap
from aligner.solvers.gap import dual_value

PROBLEMS: dict[str, Multiclass | ChainProblem] = {"multiclass": Multiclass.random(), "chains": random_chains()}
on_problems = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


def careful(problem: Multiclass | ChainProblem) -> ExcessiveGap:
    """With μ_0 = 2L, for which the bound holds."""
    longest = problem.diameters() if isinstance(problem, Multiclass) else diameters(problem)
    return ExcessiveGap(float(np.mean(longest**2)) / (2.0 * problem.regularization))


def hinges(problem: Multiclass | ChainProblem, w: np.ndarray) -> list[np.ndarray]:
    """L − w·ψ of all answers of each block."""
    if isinstance(problem, ChainProblem):
        return [np.array([loss - psi @ w for psi, loss in labellings(problem, i)]) for i in range(problem.n_blocks)]
    scores = problem.scores(np.arange(problem.n_blocks), w).reshape(problem.n_blocks, -1)
    return [row - row[y] for row, y in zip(scores, problem.labels, strict=True)]


def smoothed_value(problem: Multiclass | ChainProblem, w: np.ndarray, mu: float) -> float:
    """P_μ(w), with the entropy of a mean answer taken off: −Ω is largest, log of their number, for all alike."""
    each = [h.max() + mu * np.log(np.mean(np.exp((h - h.max()) / mu))) for h in hinges(problem, w)]
    return 0.5 * problem.regularization * float(w @ w) + float(np.mean(each))


@on_problems
def test_the_dual_value_stays_above_the_smoothed_objective(problem: Multiclass | ChainProblem) -> None:
    """But for what is left of the first gap: the invariant that the bound follows from."""
    solver = careful(problem)
    state = solver.init(problem, np.random.default_rng(0))
    solver.audit(problem, state)
    for _ in range(40):
        solver.sweep(problem, state)
        v, loss = state.dual(problem, state.moments)
        mu, left = state.smoothing * state.left, state.start * state.left
        assert dual_value(problem, v, loss) >= smoothed_value(problem, state.w, mu) - left - 1e-12


@on_problems
def test_the_gap_is_within_its_bound(problem: Multiclass | ChainProblem) -> None:
    stop = Stop(gap=0.0, passes=60, audit_growth=1.0)
    trace = solve(problem, careful(problem), stop=stop).trace
    assert len(trace) == 61
    for point in trace:
        assert point.bound is not None
        assert point.primal - point.dual <= point.bound
    assert trace[-1].bound == pytest.approx(trace[0].bound * 2 / (61 * 62))  # type: ignore[operator]


@on_problems
def test_the_spread_is_at_least_the_entropy_of_all_answers(problem: Multiclass | ChainProblem) -> None:
    solver = careful(problem)
    state = solver.init(problem, np.random.default_rng(0))
    most = np.mean([np.log(len(h)) for h in hinges(problem, np.zeros(problem.n_features))])
    assert most <= state.spread <= 6 * most


def test_a_step_is_that_of_the_source() -> None:
    """α̃ = argmin −τ/((1 − τ) μ) ⟨∇D(β), α⟩ + KL(α, α̂), from α̂ = z(w, μ)  [ZSV11 Alg. 1]."""
    problem = Multiclass.random(8)
    n, blocks = problem.n_blocks, np.arange(problem.n_blocks)
    solver = careful(problem)
    state = solver.init(problem, np.random.default_rng(0))
    solver.sweep(problem, state)
    tau, mu, w, alpha = 2.0 / 4.0, state.smoothing * state.left, state.w, state.moments

    def from_moments(moments: np.ndarray) -> np.ndarray:
        return (state.of_target - moments)[:-1] / problem.regularization

    answers = problem.nearest(blocks, problem.scores(blocks, w) / mu, "entropic")
    mixed = (1 - tau) * alpha + tau * problem.moments(blocks, answers) / n
    gradient = problem.scores(blocks, from_moments(mixed))
    moved = answers.reshape(n, -1) * np.exp(tau / ((1 - tau) * mu) * gradient.reshape(n, -1))
    moved /= moved.sum(axis=1, keepdims=True)
    solver.sweep(problem, state)
    np.testing.assert_allclose(state.w, (1 - tau) * w + tau * from_moments(mixed), rtol=1e-10)
    expected = (1 - tau) * alpha + tau * problem.moments(blocks, moved.ravel()) / n
    np.testing.assert_allclose(state.moments, expected, rtol=1e-9)


@on_problems
def test_adaptive_smoothing_needs_fewer_steps(problem: Multiclass | ChainProblem) -> None:
    adaptive, bound = (run(problem, way, gap=1e-2, passes=20_000) for way in (ExcessiveGap(), careful(problem)))
    assert adaptive.status is bound.status is Status.CONVERGED
    assert adaptive.trace[-1].passes < bound.trace[-1].passes / 3
    assert all(point.bound is None for point in adaptive.trace)
