"""Kernelised BCFW on matchings: BCFW in the feature space of its kernel, to the float32 of edges' features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from solver_configurations import Multiclass, gram, run

from aligner.errors import SettingError
from aligner.losses.hinge import MatchingProblem, Prior
from aligner.losses.kernel_functions import RBF, Kernel, Linear, Polynomial
from aligner.solvers import Average, Block, Cyclic, Forward, Permuted, Uniform, make_solver, solve
from aligner.solvers import kernel as kernel_solver
from aligner.solvers.kernel import KernelBlock

MakeProblem = Callable[..., MatchingProblem]

every_kernel = pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), RBF()], ids=str)


def products_of_two(x: np.ndarray) -> np.ndarray:
    """Φ(x) of (1 + x·y)² / 2: 1/√2, x, x_a² / √2, and x_a x_b."""
    d = x.shape[1]
    pairs = [x[:, a] * x[:, b] for a in range(d) for b in range(a)]
    return np.hstack([np.full((len(x), 1), 0.5**0.5), x, x**2 * 0.5**0.5, np.stack(pairs, axis=1)])


@pytest.mark.parametrize(
    ("order", "step", "average"),
    [
        (Uniform(), Forward(), Average.NONE),
        (Permuted(), Forward(), Average.WEIGHTED),
        (Cyclic(), Forward(line_search=False), Average.SUFFIX),
    ],
)
@pytest.mark.parametrize(
    ("kernel", "explicit"), [(Linear(), lambda x: x), (Polynomial(2), products_of_two)], ids=["linear", "degree 2"]
)
def test_it_is_bcfw_on_the_kernels_features(
    kernel: Kernel, explicit: Any, order: Any, step: Forward, average: Average, make_problem: MakeProblem
) -> None:
    """Iterate by iterate, and call by call; its coefficients are the expansion of the weights."""
    problem = make_problem(n=20, d=3, largest=4)
    features = explicit(problem.edges.features.astype(np.float64))
    ours = run(problem, KernelBlock(kernel, order, step, average), gap=0.0, passes=9)
    theirs = run(problem.with_features(features), Block(order, step, average), gap=0.0, passes=9)
    np.testing.assert_allclose(features.T @ ours.w, theirs.w, rtol=1e-3, atol=1e-4)
    for our, their in zip(ours.trace, theirs.trace, strict=True):
        assert our.primal == pytest.approx(their.primal, rel=1e-4)
        assert our.dual == pytest.approx(their.dual, rel=1e-4, abs=1e-9)
        assert (our.passes, our.oracle_calls, our.audit_calls) == (their.passes, their.oracle_calls, their.audit_calls)


@every_kernel
def test_audits_are_exact(kernel: Kernel, make_problem: MakeProblem) -> None:
    """The primal by linear programs, from the coefficients alone, and a gap that no dual value exceeds."""
    problem = make_problem(n=15)
    edges = problem.edges
    result = run(problem, KernelBlock(kernel), gap=0.0, passes=4)
    scores = gram(kernel, edges.features, edges.features) @ result.w
    targets, hinges = problem.labels == 2, []
    for i, (J, K) in enumerate(edges.lists.shapes.tolist()):
        rows = slice(edges.lists.offsets[i], edges.lists.offsets[i + 1])
        limits = np.concatenate([np.kron(np.eye(J), np.ones(K)), np.kron(np.ones(J), np.eye(K))])
        answer = linprog(-(scores[rows] + problem.costs[rows]), A_ub=limits, b_ub=np.ones(J + K))
        hinges.append(-answer.fun - problem.target_costs[i] - scores[rows] @ targets[rows])
    primal = 0.5 * problem.regularization * result.w @ scores + np.mean(hinges)
    assert result.primal == pytest.approx(primal, rel=1e-5)
    tight = run(problem, KernelBlock(kernel), gap=1e-2, passes=300)
    assert result.dual <= tight.primal
    assert tight.trace[-1].relative_gap <= 1e-2


def test_another_regularization_keeps_the_dual_point(make_problem: MakeProblem) -> None:
    """D = ℓ − λ/2 ‖w‖² at the same point, where ‖w‖ is as 1/λ; from there fewer passes are needed."""
    problem, solver = make_problem(n=25), KernelBlock()
    first = run(problem, solver, gap=1e-2, passes=500)
    other = replace(problem, regularization=0.7 * problem.regularization)
    warm = solve(other, solver, gap=1e-2, start=first)
    point = first.dual_point
    assert point is not None
    x = problem.edges.features
    half_norm = 0.5 * problem.regularization * point.v @ gram(RBF(), x, x) @ point.v
    assert warm.trace[0].dual == pytest.approx(point.loss - half_norm / 0.7, rel=1e-5)
    assert warm.trace[-1].passes < solve(other, solver, gap=1e-2).trace[-1].passes


def test_what_it_cannot_solve(make_problem: MakeProblem, monkeypatch: pytest.MonkeyPatch) -> None:
    prior = make_problem(prior=Prior(np.ones(5)))
    for problem, message in (
        (Multiclass.random(), "features of single edges"),
        (make_problem(capacity=2), "one link a word only"),
        (prior, "no prior weights"),
    ):
        with pytest.raises(SettingError, match=message):
            run(problem, KernelBlock(), passes=1)
    monkeypatch.setattr(kernel_solver, "_MOST_BYTES", 1 << 10)
    with pytest.raises(SettingError, match=r"each two of .* different edges .*KernelFeatures"):
        run(make_problem(), KernelBlock(), passes=1)


def test_kernels_by_options() -> None:
    assert make_solver("kernel-bcfw") == KernelBlock()
    assert make_solver("kernel-bcfw", kernel="rbf", bandwidth=0.5, order="uniform") == KernelBlock(RBF(0.5), Uniform())
    for wrong, message in (
        ({"kernel": "x"}, "unknown kernel"),
        ({"degree": 2}, "the rbf kernel has no degree"),
        ({"kernel": "linear", "bandwidth": 2.0}, "the linear kernel has no bandwidth"),
        ({"order": "gap"}, "unknown order"),
        ({"step": "away"}, "unknown step"),
        ({"cache": True}, "kernel-bcfw has no option cache"),
    ):
        with pytest.raises(SettingError, match=message):
            make_solver("kernel-bcfw", **wrong)
