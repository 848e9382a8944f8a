"""Corners by the codes of features are those by the features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from aligner.matching import _bmatching_kernels as several
from aligner.matching import _sparse_kernels as sparse
from aligner.solvers.block import Block
from aligner.solvers.orders import ByGap, Order, Permuted, Uniform
from aligner.solvers.steps import Average, Forward
from aligner.svm.hinge import MatchingProblem

MakeProblem = Callable[..., MatchingProblem]


def both(make_problem: MakeProblem, folder: Path, **settings: object) -> tuple[MatchingProblem, MatchingProblem]:
    """A problem whose features have codes, and the same with features in a file, which have none."""
    coded = make_problem(n=40, d=9, largest=14, grid=True, **settings)
    features = np.memmap(folder / "features", np.float32, "w+", shape=coded.edges.features.shape)
    features[:] = coded.edges.features
    plain = replace(coded, edges=replace(coded.edges, features=features))
    assert len(coded.edges.codes.starts) == 41
    assert len(plain.edges.codes.starts) == 0
    return coded, plain


def weights(problem: MatchingProblem, seed: int, size: float) -> np.ndarray:
    w = size * np.random.default_rng(seed).standard_normal(problem.n_features)
    tail = w[len(problem.edges.names) :]
    np.minimum(tail, -tail, out=tail)
    return w


@pytest.mark.parametrize("capacity", [1, 2, 3])
@pytest.mark.parametrize("possible_cost", [0.0, 10.0])
def test_corners_are_the_same(capacity: int, possible_cost: float, make_problem: MakeProblem, tmp_path: Path) -> None:
    coded, plain = both(make_problem, tmp_path, capacity=capacity, possible_cost=possible_cost)
    blocks = np.random.default_rng(1).permutation(40)
    for seed, size in enumerate([0.0, 0.1, 1.0, 10.0, 1e6, 1e35]):  # the last is beyond what float32 can hold
        w = weights(coded, seed, size)
        found, expected = coded.corners(blocks, w), plain.corners(blocks, w)
        assert np.array_equal(found.mates, expected.mates)
        assert np.array_equal(found.psi, expected.psi)  # sums of multiples of 1/128: exact
        np.testing.assert_allclose(found.losses, expected.losses, rtol=1e-12)


@pytest.mark.parametrize("capacity", [1, 2])
@pytest.mark.parametrize("order", [Uniform(), Permuted(), ByGap()])
@pytest.mark.parametrize("line_search", [True, False])
def test_passes_are_the_same(
    capacity: int, order: Order, line_search: bool, make_problem: MakeProblem, tmp_path: Path
) -> None:
    problems = both(make_problem, tmp_path, capacity=capacity, possible_cost=10.0)
    solver = Block(order, Forward(line_search), Average.WEIGHTED)
    found, expected = [solver.init(problem, np.random.default_rng(0)) for problem in problems]
    for _ in range(5):
        solver.sweep(problems[0], found)
        solver.sweep(problems[1], expected)
    for name, value in found.point._asdict().items():
        np.testing.assert_allclose(value, getattr(expected.point, name), rtol=1e-9, atol=1e-12)
    first, second = [solver.audit(p, s) for p, s in zip(problems, (found, expected), strict=True)]
    assert first.primal == pytest.approx(second.primal, rel=1e-12)
    assert first.dual == pytest.approx(second.dual, rel=1e-12)


def test_codes_follow_the_features_and_marks_the_labels(make_problem: MakeProblem) -> None:
    problem = make_problem(n=12, d=6, grid=True)
    w = weights(problem, 0, 1.0)
    expected = problem.corners(np.arange(12), w)
    pairs = np.array([7, 2, 9])
    part = problem.take(pairs)
    assert np.array_equal(part.corners(np.arange(3), w).psi, expected.psi[pairs])
    cheaper = replace(problem, regularization=1.0, false_cost=0.1)
    assert cheaper.edges.codes is problem.edges.codes
    assert not np.array_equal(cheaper.corners(np.arange(12), w).losses, expected.losses)
    relabelled = replace(problem, labels=np.zeros_like(problem.labels))
    assert (relabelled.corners(np.arange(12), w).losses >= 3.0 * problem.sure).all()


scores_of_blocks = st.integers(1, 7).flatmap(
    lambda J: st.integers(1, 7).flatmap(
        lambda K: st.lists(st.integers(-2, 4), min_size=J * K, max_size=J * K).map(
            lambda scores: np.array(scores, float).reshape(J, K)
        )
    )
)


def listed(scores: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    J, K = scores.shape
    whole, real, packed = sparse.make_lists(np.array([[J, K]]))
    padded = np.full(64, 9, np.float32)  # what is beyond the block is not looked at
    padded[: J * K] = scores.ravel()
    found = sparse.list_candidates(padded, np.float32(-0.5), 64, J * K, packed.view(np.uint8), packed, whole)
    assert np.array_equal(whole[sparse.EDGE, :found], np.flatnonzero(scores > -0.5))
    real[sparse.VALUE, :found] = scores.ravel()[whole[sparse.EDGE, :found]]
    return sparse.list_rows(found, K, whole, real), whole, real


@given(scores_of_blocks)
def test_rows_have_the_edges_that_score_above_0(scores: np.ndarray) -> None:
    rows, whole, real = listed(scores)
    size = whole[sparse.FIRST, rows]
    above = np.flatnonzero(scores > 0)
    assert np.array_equal(whole[sparse.EDGE, :size], above)
    assert np.array_equal(whole[sparse.COLUMN, :size], above % scores.shape[1])
    assert np.array_equal(real[sparse.VALUE, :size], scores.ravel()[above])
    assert np.array_equal(whole[sparse.FIRST, :rows], np.unique(above // scores.shape[1], return_index=True)[1])


@given(scores_of_blocks)
def test_matching_of_candidates_is_best(scores: np.ndarray) -> None:
    J, K = scores.shape
    rows, whole, real = listed(scores)
    sparse.match_candidates(rows, K, whole, real)
    mate = np.empty(J, np.int32)
    sparse.write_mates(rows, J, K, whole, mate)
    linked = mate[mate >= 0]
    assert len(set(linked.tolist())) == len(linked)
    best = np.maximum(scores, 0)
    assert scores[mate >= 0, linked].sum() == best[linear_sum_assignment(best, maximize=True)].sum()
    assert (scores[mate >= 0, linked] > 0).all()


@given(scores_of_blocks)
def test_flows_begin_alike_from_lists(scores: np.ndarray) -> None:
    J, K = scores.shape
    rows, whole, real = listed(scores)
    size = whole[sparse.FIRST, rows]
    dense, short = (several.make_flow(np.array([[J, K]]), 2, 2) for _ in range(2))
    several.begin(scores.ravel(), J, K, dense)
    several.begin_listed(whole[sparse.EDGE, :size], real[sparse.VALUE, :size], J, K, short)
    edges = dense.starts[J]
    assert np.array_equal(dense.starts[: J + 1], short.starts[: J + 1])
    for name in ("row", "column", "score", "linked"):
        assert np.array_equal(getattr(dense, name)[:edges], getattr(short, name)[:edges])
