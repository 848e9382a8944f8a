"""Kernelised BCFW is BCFW in the feature space of its kernel: the laws of all solvers, there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from solver_configurations import Multiclass, gram

from aligner.errors import ScoreError, SettingError
from aligner.losses.hinge import MatchingProblem
from aligner.losses.kernel_functions import RBF, Kernel, Linear, Polynomial, expand
from aligner.matching import Match, Oracle, Task, best_matchings, get_oracle
from aligner.solvers import Result, Solver, Status, Stop, make_solver, solve
from aligner.solvers.averages import Average
from aligner.solvers.block import Block
from aligner.solvers.kernel import KernelBlock
from aligner.solvers.orders import Cyclic, Permuted, Uniform, Visiting
from aligner.solvers.steps import DECREASING, Forward
from corpora.links import Links, PairLinks
from corpora.ragged import Lists
from features.table import EdgeTable

MakeProblem = Callable[..., MatchingProblem]

KERNELS: list[Kernel] = [Linear(), Polynomial(1), Polynomial(2), RBF()]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def in_feature_space(problem: MatchingProblem, kernel: Kernel) -> MatchingProblem:
    """The same problem with features whose products are the kernel's values on its edges: a root of their matrix."""
    values, vectors = np.linalg.eigh(gram(kernel, problem.edges.features, problem.edges.features))
    root = np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)), np.float32)
    edges = EdgeTable(root, problem.edges.lists, tuple(f"x{c}" for c in range(len(root))))
    pair = edges.lists.pairs
    gold = np.zeros((problem.n_blocks, len(root)))
    np.add.at(gold, pair[problem.labels == 2], root[problem.labels == 2])
    return replace(problem, edges=edges, gold=gold)


def run(problem: Any, solver: Solver[Any, Any], **limits: Any) -> Result:
    return solve(problem, solver, stop=Stop(**limits), seed=3)


@pytest.mark.parametrize("order", [Uniform(), Permuted(), Cyclic()], ids=lambda order: order.name)
@pytest.mark.parametrize("step", [Forward(), DECREASING], ids=lambda step: step.name)
@pytest.mark.parametrize("average", [Average.NONE, Average.WEIGHTED])
def test_with_the_linear_kernel_it_is_bcfw(
    order: Visiting, step: Forward, average: Average, make_problem: MakeProblem
) -> None:
    """Iterate by iterate; its coefficients are the expansion of the weights."""
    problem = make_problem(n=40, d=6)
    for passes in (1, 2, 5, 12):
        ours = run(problem, KernelBlock(Linear(), order, step, average), gap=0.0, passes=passes)
        theirs = run(problem, Block(order, step, average), gap=0.0, passes=passes)
        w = problem.edges.features.astype(np.float64).T @ ours.w
        np.testing.assert_allclose(w, theirs.w, rtol=1e-8, atol=1e-8)
        for our, their in zip(ours.trace, theirs.trace, strict=True):
            assert our.primal == pytest.approx(their.primal, rel=1e-8)
            assert our.dual == pytest.approx(their.dual, rel=1e-8, abs=1e-12)
            assert (our.passes, our.oracle_calls, our.audit_calls) == (
                their.passes,
                their.oracle_calls,
                their.audit_calls,
            )


@every_kernel
def test_audits_are_exact(kernel: Kernel, make_problem: MakeProblem) -> None:
    """Primal by linear programs, and the dual of a point that is feasible, from the coefficients alone."""
    problem = make_problem(n=15)
    edges, regularization = problem.edges, problem.regularization
    result = run(problem, KernelBlock(kernel), gap=0.0, passes=4)
    scores = gram(kernel, edges.features, edges.features) @ result.w
    half_norm = 0.5 * regularization * result.w @ scores
    targets = (problem.labels == 2).astype(float)
    marginals = targets - regularization * problem.n_blocks * result.w
    hinges, losses = [], []
    for i, (J, K) in enumerate(edges.lists.shapes.tolist()):
        rows = slice(edges.lists.offsets[i], edges.lists.offsets[i + 1])
        limits = np.concatenate([np.kron(np.eye(J), np.ones(K)), np.kron(np.ones(J), np.eye(K))])
        assert (limits @ marginals[rows] <= 1 + 1e-12).all()
        assert (marginals[rows] >= -1e-12).all()
        costs = problem.costs[rows]
        losses.append(costs @ marginals[rows] - problem.target_costs[i])
        answer = linprog(-(scores[rows] + costs), A_ub=limits, b_ub=np.ones(J + K))
        hinges.append(-answer.fun - problem.target_costs[i] - scores[rows] @ targets[rows])
    best = min(result.trace, key=lambda point: point.primal)
    assert best.primal == pytest.approx(half_norm + np.mean(hinges), rel=1e-8)
    assert best.dual == pytest.approx(np.mean(losses) - half_norm, rel=1e-8)


@every_kernel
def test_gaps_are_certificates(kernel: Kernel, make_problem: MakeProblem) -> None:
    problem = make_problem(n=25)
    trace = run(problem, KernelBlock(kernel), gap=1e-2, passes=300).trace
    assert min(p.gap for p in trace) >= -1e-12
    assert max(p.dual for p in trace) <= min(p.primal for p in trace) + 1e-12
    assert trace[-1].relative_gap <= 1e-2
    duals = np.array([p.dual for p in trace])
    assert (np.diff(duals) >= -1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@every_kernel
def test_the_optimum_is_that_of_the_explicit_features(kernel: Kernel, seed: int, make_problem: MakeProblem) -> None:
    problem = make_problem(n=6, d=3, largest=4, seed=seed)
    ours = run(problem, KernelBlock(kernel), gap=2e-3, passes=2000)
    explicit = in_feature_space(problem, kernel)
    theirs = run(explicit, make_solver("bcfw-pairwise"), gap=1e-5, passes=20_000)
    assert ours.trace[-1].relative_gap <= 2e-3
    assert theirs.trace[-1].relative_gap <= 1e-5
    assert ours.trace[-1].dual - 1e-5 <= theirs.trace[-1].dual <= ours.trace[-1].primal + 1e-5
    # λ/2 ‖w - w*‖² <= P(w) - P*: strong convexity bounds how far the scores may be from the best ones.
    difference = explicit.edges.features.astype(np.float64).T @ ours.w - theirs.w
    allowed = ours.trace[-1].gap + theirs.trace[-1].gap + 1e-5
    assert 0.5 * problem.regularization * difference @ difference <= 2 * allowed


def products_of_two(x: np.ndarray) -> np.ndarray:
    """Φ(x) of (1 + x·y)² / 2: 1/√2, x, x_a² / √2, and x_a x_b."""
    d = x.shape[1]
    pairs = [x[:, a] * x[:, b] for a in range(d) for b in range(a)]
    return np.hstack([np.full((len(x), 1), 0.5**0.5), x, x**2 * 0.5**0.5, np.stack(pairs, axis=1)])


def test_degree_two_learns_what_bcfw_learns_from_products_of_features(make_problem: MakeProblem) -> None:
    problem = make_problem(n=12, d=3, largest=4)
    expanded = np.ascontiguousarray(products_of_two(problem.edges.features.astype(np.float64)), np.float32)
    table = replace(problem.edges, features=expanded, names=tuple(f"x{c}" for c in range(expanded.shape[1])))
    gold = np.zeros((problem.n_blocks, expanded.shape[1]))
    np.add.at(gold, table.lists.pairs[problem.labels == 2], expanded[problem.labels == 2])
    explicit = replace(problem, edges=table, gold=gold)
    ours = run(problem, make_solver("kernel-bcfw", kernel="polynomial", degree=2), gap=1e-2, passes=500)
    theirs = run(explicit, Block(), gap=1e-2, passes=500)
    assert ours.trace[-1].relative_gap <= 1e-2
    for our, their in zip(ours.trace, theirs.trace, strict=True):  # the explicit features are rounded to float32
        assert our.primal == pytest.approx(their.primal, rel=1e-4)
        assert our.dual == pytest.approx(their.dual, rel=1e-4, abs=1e-9)
    np.testing.assert_allclose(expanded.T @ ours.w, theirs.w, rtol=1e-3, atol=1e-4)


def exclusive_or(n: int = 12, size: int = 4) -> MatchingProblem:
    """A link is where exactly one of two features is 1: no weights can say so."""
    rng = np.random.default_rng(0)
    shapes = np.full((n, 2), size)
    offsets = Lists.of_all(shapes).offsets
    features = np.zeros((offsets[-1], 3), np.float32)
    links = []
    for i in range(n):
        column_of_row = rng.permutation(size)
        for j in range(size):
            for k in range(size):
                first = rng.integers(2)
                second = 1 - first if column_of_row[j] == k else first
                features[offsets[i] + j * size + k] = (first, second, 1)
        links.append(PairLinks(frozenset((j, int(k)) for j, k in enumerate(column_of_row))))
    edges = EdgeTable(features, Lists.of_all(shapes), ("first", "second", "bias"))
    return MatchingProblem.from_links(edges, Links.from_pairs(links), regularization=1e-3)


@pytest.mark.slow
def test_a_kernel_learns_what_weights_cannot() -> None:
    problem = exclusive_or()
    errors = {}
    for kernel in KERNELS:
        solver = KernelBlock(kernel)
        result = run(problem, solver, gap=1e-2, passes=300)
        scores = expand(kernel, problem.edges.features, result.w, problem.edges.features)
        found = best_matchings(scores, problem.edges.lists)
        errors[kernel] = (found != (problem.labels == 2)).mean(), result.trace[-1].primal
    for kernel in (Polynomial(2), RBF()):
        assert errors[kernel][0] == 0
        assert errors[kernel][1] < 0.1 * errors[Linear()][1]
    assert min(errors[Linear()][0], errors[Polynomial(1)][0]) > 0.1


@dataclass
class Counting:
    """An oracle that counts the matchings it is asked for, and finds fault with all after some."""

    match: Match
    calls: int = 0
    after: float = np.inf

    def __call__(self, task: Task, linked: np.ndarray) -> None:
        self.calls += len(task.lists.shapes)
        if self.calls > self.after:
            raise ScoreError("enough")
        self.match(task, linked)


@pytest.fixture
def unrehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oracle is asked by solving alone."""
    monkeypatch.setattr(MatchingProblem, "rehearsal", lambda _: None)


@every_kernel
@pytest.mark.usefixtures("unrehearsed")
def test_oracle_calls_are_counted(kernel: Kernel, make_problem: MakeProblem) -> None:
    counting = Counting(get_oracle("assignment").match)
    problem = replace(make_problem(n=9), oracle=Oracle("counting", True, False, counting))
    last = run(problem, KernelBlock(kernel), gap=0.0, passes=5).trace[-1]
    assert last.oracle_calls + last.audit_calls == counting.calls
    assert last.oracle_calls == 5 * 9


@every_kernel
@pytest.mark.usefixtures("unrehearsed")
def test_not_a_number_ends_it_with_finite_coefficients(kernel: Kernel, make_problem: MakeProblem) -> None:
    counting = Counting(get_oracle("assignment").match, after=60)
    result = run(
        replace(make_problem(n=10), oracle=Oracle("counting", True, False, counting)),
        KernelBlock(kernel),
        gap=0.0,
        passes=50,
    )
    assert result.status is Status.NOT_FINITE
    assert np.isfinite(result.w).all()
    assert result.w.any()


def test_scores_that_overflow_are_not_finite(make_problem: MakeProblem) -> None:
    for seed in range(5):  # to either infinity, and to NaN
        problem = make_problem(n=5, seed=seed)
        problem.edges.features[:] *= 1e30
        assert run(problem, KernelBlock(Polynomial(9)), gap=0.0, passes=5).status is Status.NOT_FINITE


def test_an_approximate_oracle_is_certified_exactly(make_problem: MakeProblem) -> None:
    problem = make_problem(n=20, oracle="greedy")
    solver = KernelBlock(RBF())
    result = run(problem, solver, gap=0.0, passes=30)
    exact = solve(make_problem(n=20), solver, stop=Stop(gap=1e-4, passes=2000)).trace[-1]
    assert min(p.gap for p in result.trace) >= -1e-12
    assert result.trace[-1].primal >= exact.dual - 1e-12
    assert result.trace[-1].dual <= exact.primal + 1e-12
    assert any("certified with exact matchings" in note for note in result.notes)


@pytest.mark.slow
@every_kernel
def test_resuming_keeps_the_dual_point(kernel: Kernel, make_problem: MakeProblem) -> None:
    """D = ℓ - λ/2 ‖w‖² at the same marginals, where ‖w‖ is as 1/λ; from there fewer passes are needed."""
    problem, solver = make_problem(n=25), KernelBlock(kernel)
    state = solver.init(problem, np.random.default_rng(0))
    first = solve(problem, solver, stop=Stop(gap=1e-2, passes=500), start=state)
    w = solver.audit(problem, state).w
    other = replace(problem, regularization=0.7 * problem.regularization)
    solver.resume(other, state)
    warm = solve(other, solver, stop=Stop(gap=1e-2, passes=500), start=state)
    half_norm = 0.5 * problem.regularization * w @ gram(kernel, problem.edges.features, problem.edges.features) @ w
    loss = first.trace[-1].dual + half_norm
    assert warm.trace[0].dual == pytest.approx(loss - half_norm / 0.7, rel=1e-9)
    cold = solve(other, solver, stop=Stop(gap=1e-2, passes=500))
    assert warm.status is cold.status is Status.CONVERGED
    assert warm.trace[-1].passes < cold.trace[-1].passes


def test_only_what_the_oracle_answered_is_kept(make_problem: MakeProblem) -> None:
    problem = make_problem(n=30, largest=12)
    result = run(problem, KernelBlock(RBF()), gap=0.0, passes=1)
    largest = problem.edges.lists.shapes.min(axis=1).sum()  # links of an answer
    assert 0 < np.count_nonzero(result.w) <= largest + (problem.labels == 2).sum()
    assert largest + (problem.labels == 2).sum() < len(result.w)


@every_kernel
def test_support_vectors_are_counted(kernel: Kernel, make_problem: MakeProblem) -> None:
    """No more than steps, enough for the edges that have weight; and R is the longest ψ of any audit."""
    problem, solver = make_problem(n=25, largest=8), KernelBlock(kernel)
    state = solver.init(problem, np.random.default_rng(3))
    audited: list[np.ndarray] = []
    result = solve(
        problem,
        solver,
        stop=Stop(gap=1e-2, passes=200, audit_growth=9.0),
        start=state,
        measure=lambda w: audited.append(w) or 0.0,
    )
    counts, lists = np.array([len(answers) for answers in state.answers]), problem.edges.lists
    assert 0 < counts.sum() <= result.trace[-1].oracle_calls
    weighted = np.bincount(lists.pairs, state.moved != 0.0, len(counts))
    targets = np.bincount(lists.pairs, problem.labels == 2, len(counts))
    assert (weighted <= targets + counts * lists.shapes.min(axis=1)).all()
    within = in_feature_space(problem, kernel)
    x = within.edges.features.astype(float)
    every = [within.corners(np.arange(25), w @ x).psi for w in audited]
    longest = max(float((psi**2).sum(axis=1).max()) for psi in every)
    assert state.squared_radius == pytest.approx(longest, rel=1e-4)
    assert any(f"by {counts.sum():,} matchings" in note for note in result.notes)


def test_pairs_without_words() -> None:
    shapes = np.array([[0, 3], [2, 2], [2, 0], [0, 0]])
    edges = EdgeTable(np.eye(4, dtype=np.float32), Lists.of_all(shapes), tuple("abcd"))
    nothing = PairLinks(frozenset())
    links = Links.from_pairs([nothing, PairLinks(frozenset({(0, 1)})), nothing, nothing])
    problem = MatchingProblem.from_links(edges, links, regularization=0.1)
    ours, theirs = (run(problem, s, gap=0.0, passes=9).trace for s in (KernelBlock(Linear()), Block()))
    assert ours[0].dual < ours[-1].dual <= ours[-1].primal < ours[0].primal
    assert [p.primal for p in ours] == pytest.approx([p.primal for p in theirs])


def test_it_needs_the_features_of_edges() -> None:
    with pytest.raises(SettingError, match="features of single edges"):
        run(Multiclass.random(), KernelBlock(), passes=1)


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
