"""Every solver under the same laws, against an independent quadratic program."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from aligner._kernels import POSSIBLE, SURE
from aligner.errors import SettingError
from aligner.matching import ORACLES
from aligner.problem import Corners, MatchingProblem
from aligner.solvers import SOLVERS, Result, Status, Stop, TracePoint, make_solver, solve
from aligner.solvers.block import Block
from aligner.solvers.driver import audit_at
from aligner.solvers.frank_wolfe import FrankWolfe
from aligner.solvers.orders import Permuted, Uniform
from aligner.solvers.steps import Average, Forward
from corpora.alignment import Links, PairLinks
from features.table import EdgeTable

MakeProblem = Callable[..., MatchingProblem]

CONFIGURATIONS = [
    *(
        Block(order, Forward(search), average)
        for order in (Uniform(), Permuted())
        for search in (True, False)
        for average in Average
    ),
    *(FrankWolfe(Forward(search), average) for search in (True, False) for average in Average),
]
names = {"ids": lambda solver: solver.signature}


@dataclass
class Plain:
    """A problem with corners only, so that solvers take their generic path; it counts the oracle calls."""

    problem: MatchingProblem
    calls: int = 0

    n_blocks = property(lambda self: self.problem.n_blocks)
    n_features = property(lambda self: self.problem.n_features)
    regularization = property(lambda self: self.problem.regularization)
    signature = property(lambda self: self.problem.signature)

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        self.calls += len(blocks)
        return self.problem.corners(blocks, w)

    def exact_corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        return self.corners(blocks, w)


def hinge_by_linear_program(problem: MatchingProblem, w: np.ndarray) -> float:
    """Mean of max_z H_i(z; w), each a linear program over the matching polytope."""
    total = 0.0
    for i in range(problem.n_blocks):
        J, K = problem.edges.shapes[i]
        rows = slice(problem.edges.offsets[i], problem.edges.offsets[i + 1])
        scores = problem.edges.features[rows].astype(float) @ w + problem.costs[problem.labels[rows]]
        limits = np.concatenate([np.kron(np.eye(J), np.ones(K)), np.kron(np.ones(J), np.eye(K))])
        answer = linprog(-scores, A_ub=limits, b_ub=np.ones(J + K))
        total += -answer.fun - problem.gold[i] @ w + problem.miss_cost * problem.sure[i]
    return total / problem.n_blocks


def quadratic_program(problem: MatchingProblem) -> float:
    """The optimum of P by a general solver, on the formulation with duals of the matching as variables.

    min λ/2 ‖w‖² + 1/n Σ_i (1·a_i + 1·b_i − w·f_i(y_i) + c⁺|S_i|)  s.t.  F_iᵀw + c_i ≤ a_i,j + b_i,k;  a, b ≥ 0.
    """
    n, d = problem.n_blocks, problem.n_features
    sides = problem.edges.shapes.sum(axis=1)
    starts = d + np.concatenate([[0], np.cumsum(sides)])
    size = int(starts[-1])
    constraints, limits = [], []
    for i in range(n):
        J, K = problem.edges.shapes[i]
        for j in range(J):
            for k in range(K):
                edge = problem.edges.offsets[i] + j * K + k
                row = np.zeros(size)
                row[:d] = -problem.edges.features[edge]
                row[starts[i] + j] = row[starts[i] + J + k] = 1.0
                constraints.append(row)
                limits.append(-problem.costs[problem.labels[edge]])
    matrix, right = np.array(constraints), np.array(limits)
    linear = np.full(size, 1.0 / n)
    linear[:d] = -problem.gold.sum(axis=0) / n
    constant = problem.miss_cost * problem.sure.sum() / n
    start = np.zeros(size)
    start[d:] = problem.miss_cost + problem.false_cost
    answer = minimize(
        lambda x: 0.5 * problem.regularization * x[:d] @ x[:d] + linear @ x + constant,
        start,
        jac=lambda x: np.concatenate([problem.regularization * x[:d], np.zeros(size - d)]) + linear,
        bounds=[(None, None)] * d + [(0, None)] * (size - d),
        constraints={"type": "ineq", "fun": lambda x: matrix @ x + right, "jac": lambda x: matrix},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert answer.success, answer.message
    return float(answer.fun)


def run(problem: object, solver: object, **limits: float) -> Result:
    return solve(problem, solver, stop=Stop(**limits), seed=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("solver", CONFIGURATIONS, **names)
def test_gaps_are_certificates(solver: object, make_problem: MakeProblem) -> None:
    """No audit ever has a negative gap, or a dual above any primal; and the audited objective is the true one."""
    problem = make_problem(n=20)
    points = run(problem, solver, gap=0.0, passes=40).trace
    assert len(points) > 10
    assert min(p.gap for p in points) >= -1e-12
    assert max(p.dual for p in points) <= min(p.primal for p in points) + 1e-12
    result = run(problem, solver, gap=0.0, passes=3)
    by_program = hinge_by_linear_program(problem, result.w) + 0.05 * result.w @ result.w
    assert result.trace[-1].primal == pytest.approx(by_program, rel=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("solver", CONFIGURATIONS, **names)
def test_the_optimum_is_that_of_a_quadratic_program(solver: object, seed: int, make_problem: MakeProblem) -> None:
    problem = make_problem(n=5, d=3, largest=4, seed=seed)
    point = run(problem, solver, gap=1e-3, passes=5000).trace[-1]
    best = optimum(problem, seed)
    assert point.relative_gap <= 1e-3
    assert point.dual - 1e-6 <= best <= point.primal + 1e-6


_optima: dict[int, float] = {}


def optimum(problem: MatchingProblem, seed: int) -> float:
    return _optima.setdefault(seed, quadratic_program(problem))


@pytest.mark.parametrize(
    "solver", [s for s in CONFIGURATIONS if s.step.line_search and s.average is Average.NONE], **names
)
def test_line_search_never_lowers_the_dual(solver: object, make_problem: MakeProblem) -> None:
    trace = run(make_problem(n=30), solver, gap=1e-6, passes=60).trace
    assert all(later.dual >= earlier.dual - 1e-12 for earlier, later in pairwise(trace))
    assert trace[-1].dual > trace[0].dual


@pytest.mark.parametrize("solver", CONFIGURATIONS, **names)
def test_same_seed_same_bits_and_the_problem_is_untouched(solver: object, make_problem: MakeProblem) -> None:
    problem = make_problem(n=20)
    before = [array.copy() for array in (problem.edges.features, problem.labels, problem.gold)]
    first, second = (run(problem, solver, gap=0.0, passes=7) for _ in range(2))
    assert first.w.tobytes() == second.w.tobytes()
    assert [(p.primal, p.dual, p.oracle_calls) for p in first.trace] == [
        (p.primal, p.dual, p.oracle_calls) for p in second.trace
    ]
    for array, copy in zip((problem.edges.features, problem.labels, problem.gold), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("solver", [s for s in CONFIGURATIONS if isinstance(s, Block)], **names)
def test_compiled_and_generic_passes_are_equal(solver: Block, make_problem: MakeProblem) -> None:
    problem = make_problem(n=25, d=7)
    compiled, generic = (
        run(problem, solver, gap=0.0, passes=6),
        run(Plain(problem), solver, gap=0.0, passes=6),
    )
    np.testing.assert_allclose(compiled.w, generic.w, rtol=1e-10, atol=1e-12)
    for ours, theirs in zip(compiled.trace, generic.trace, strict=True):
        assert ours.primal == pytest.approx(theirs.primal, rel=1e-10)
        assert ours.dual == pytest.approx(theirs.dual, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("solver", CONFIGURATIONS, **names)
def test_oracle_calls_are_counted(solver: object, make_problem: MakeProblem) -> None:
    counted = Plain(make_problem(n=9))
    result = run(counted, solver, gap=0.0, passes=5)
    assert result.trace[-1].oracle_calls == counted.calls


def test_one_block_makes_bcfw_the_batch_method(make_problem: MakeProblem) -> None:
    problem = make_problem(n=1, d=4, largest=8, regularization=0.5)
    for step in (Forward(True), Forward(False)):
        block = run(problem, Block(Permuted(), step), gap=0.0, passes=9)
        batch = run(problem, FrankWolfe(step), gap=0.0, passes=9)
        np.testing.assert_allclose(block.w, batch.w, rtol=1e-9)


@pytest.mark.parametrize("average", [Average.WEIGHTED, Average.SUFFIX])
def test_averages_are_those_of_their_definition(average: Average, make_problem: MakeProblem) -> None:
    """Recomputed from all iterates: Σ k w_k / Σ k, and the mean since the last power of 2."""
    problem = make_problem(n=1, d=4, largest=8)
    iterates = [run(problem, Block(), gap=-1.0, passes=k).w for k in range(1, 12)]
    averaged = run(problem, Block(average=average), gap=-1.0, passes=11).w
    if average is Average.WEIGHTED:
        expected = np.average(iterates, axis=0, weights=np.arange(1, 12))
    else:
        expected = np.mean(iterates[7:], axis=0)
    np.testing.assert_allclose(averaged, expected, rtol=1e-10)


def test_stopping_rules(make_problem: MakeProblem) -> None:
    problem = make_problem(n=20)
    assert run(problem, Block(), gap=0.5, passes=99).status is Status.CONVERGED
    passes = run(problem, Block(), gap=0.0, passes=4)
    assert (passes.status, passes.trace[-1].passes) == (Status.PASSES, 4)
    assert run(problem, Block(), gap=0.0, passes=10**9, seconds=0.01).status is Status.SECONDS
    seen: list[TracePoint] = []

    def callback(point: TracePoint, w: np.ndarray) -> bool:
        seen.append(point)
        return len(seen) < 3

    result = solve(problem, Block(), stop=Stop(gap=0.0), callback=callback)
    assert result.status is Status.CALLBACK
    assert result.trace == tuple(seen)


def test_interrupt_keeps_the_last_audit(make_problem: MakeProblem) -> None:
    problem = make_problem(n=20)
    audited = []

    def callback(point: TracePoint, w: np.ndarray) -> None:
        audited.append(w.copy())
        if len(audited) == 3:
            threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()

    result = solve(problem, Block(), stop=Stop(gap=-1.0, passes=10**9), callback=callback)
    assert result.status is Status.INTERRUPTED
    np.testing.assert_array_equal(result.w, audited[-1])


@dataclass
class Poisoned(Plain):
    """A problem whose corners stop being numbers after some calls."""

    after: int = 60

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        corners = super().corners(blocks, w)
        psi = corners.psi * np.nan if self.calls > self.after else corners.psi
        return Corners(psi, corners.losses, corners.mates)


@pytest.mark.parametrize("solver", [Block(step=Forward(False)), FrankWolfe(Forward(False))], **names)
def test_not_a_number_ends_it_with_finite_weights(solver: object, make_problem: MakeProblem) -> None:
    result = run(Poisoned(make_problem(n=10)), solver, gap=0.0, passes=50)
    assert result.status is Status.NOT_FINITE
    assert np.isfinite(result.w).all()


@pytest.mark.parametrize("oracle", ORACLES)
def test_every_oracle_trains(oracle: str, make_problem: MakeProblem) -> None:
    """Exact oracles reach the optimum; with the approximate one the certificate is exact all the same."""
    reference = run(make_problem(n=6, d=3, largest=4), Block(), gap=1e-4, passes=2000).trace[-1]
    result = run(make_problem(n=6, d=3, largest=4, oracle=oracle), Block(), gap=1e-2, passes=60)
    exact = audit_at(make_problem(n=6, d=3, largest=4), result.w, 0.0)
    assert reference.dual - 1e-9 <= exact.primal
    if oracle != "greedy":
        assert result.status is Status.CONVERGED
        assert exact.primal <= reference.primal + 2e-2 * max(1.0, reference.primal)
    assert result.trace[-1].primal == pytest.approx(exact.primal, rel=1e-12)
    assert min(point.gap for point in result.trace) >= -1e-12


def test_gold_is_projected_on_matchings(make_problem: MakeProblem) -> None:
    """Of a word with two sure links the preferred one stays, the other becomes possible and is counted as lost."""
    shapes, offsets = np.array([[2, 3]]), np.array([0, 6])
    edges = EdgeTable(np.eye(6, dtype=np.float32), shapes, offsets, tuple("abcdef"))
    links = Links.from_pairs([PairLinks(frozenset({(0, 0), (0, 1), (1, 2)}), frozenset({(1, 0)}))])
    preference = np.array([0.1, 0.9, 0, 0, 0, 0.3])
    problem = MatchingProblem.from_links(edges, links, regularization=1.0, preference=preference)
    assert problem.links_lost == 1
    np.testing.assert_array_equal(problem.labels, [POSSIBLE, SURE, 0, POSSIBLE, 0, SURE])
    np.testing.assert_array_equal(problem.gold, [[0, 1, 0, 0, 0, 1]])
    assert problem.sure.tolist() == [2]
    # At w = 0 the worst matching has no sure link and two false ones: loss 2 c+ + 2 c-.
    corners = problem.corners(np.array([0]), np.zeros(6))
    assert corners.losses.tolist() == [2 * 3.0 + 2 * 1.0]


def test_links_outside_their_pair_are_refused() -> None:
    edges = EdgeTable(np.zeros((8, 1), np.float32), np.array([[2, 2], [2, 2]]), np.array([0, 4, 8]), ("x",))
    links = Links.from_pairs([PairLinks(frozenset({(0, 5)}), frozenset()), PairLinks(frozenset(), frozenset())])
    with pytest.raises(ValueError, match="pair 0 is out of range"):
        MatchingProblem.from_links(edges, links, regularization=1.0)


def test_more_sure_links_beat_any_preference() -> None:
    edges = EdgeTable(np.zeros((4, 1), np.float32), np.array([[2, 2]]), np.array([0, 4]), ("x",))
    links = Links.from_pairs([PairLinks(frozenset({(0, 0), (0, 1), (1, 0)}), frozenset())])
    problem = MatchingProblem.from_links(edges, links, regularization=1.0, preference=np.array([1.0, 0, 0, 0]))
    np.testing.assert_array_equal(problem.labels, [POSSIBLE, SURE, SURE, 0])


def test_losses_are_weighted_hamming_distances(make_problem: MakeProblem) -> None:
    """L(z) = c⁺ · missed sure links + c⁻ · links outside gold, recounted from each corner's matching."""
    problem = make_problem(n=15, miss_cost=2.5, false_cost=0.5)
    corners = problem.corners(np.arange(15), np.random.default_rng(1).standard_normal(5))
    row = 0
    for i in range(15):
        J, K = problem.edges.shapes[i]
        labels = problem.labels[problem.edges.offsets[i] : problem.edges.offsets[i + 1]].reshape(J, K)
        z = np.zeros((J, K), bool)
        mate = corners.mates[row : row + J]
        row += J
        z[np.flatnonzero(mate >= 0), mate[mate >= 0]] = True
        expected = 2.5 * ((labels == SURE) & ~z).sum() + 0.5 * ((labels == 0) & z).sum()
        assert corners.losses[i] == pytest.approx(expected)
        np.testing.assert_allclose(
            corners.psi[i],
            problem.gold[i] - problem.edges[i][z].sum(axis=0, dtype=float),
            rtol=1e-9,
            atol=1e-12,
        )


@pytest.mark.parametrize("bad", [{"regularization": 0.0}, {"miss_cost": -1.0}, {"false_cost": np.nan}])
def test_impossible_settings_are_named(bad: dict[str, float], make_problem: MakeProblem) -> None:
    with pytest.raises(SettingError, match=next(iter(bad)).replace("_", " ")):
        make_problem(**bad)


def test_solvers_by_name() -> None:
    assert [make_solver(name).signature.split("|")[0] for name in SOLVERS] == list(SOLVERS)
    assert make_solver("bcfw", order="uniform", average="suffix") == Block(Uniform(), Forward(True), Average.SUFFIX)
    for wrong in ({"name": "newton"}, {"order": "x"}, {"step": "x"}, {"average": "x"}):
        with pytest.raises(SettingError, match="unknown"):
            make_solver(**wrong)
    with pytest.raises(SettingError, match="bcfw only"):
        make_solver("frank-wolfe", order="uniform")
