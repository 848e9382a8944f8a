"""Every oracle under the same laws: the optimum of every other, matchings only, NaN refused."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from aligner.errors import ScoreError, SettingError
from aligner.matching import ORACLES, best_matching, best_matchings
from corpora.ragged import Lists

EXACT = [name for name in ORACLES if name != "greedy"]


def brute_force(scores: np.ndarray) -> float:
    """The greatest sum of positive scores over all matchings, by trying all of them."""
    if scores.shape[0] > scores.shape[1]:
        scores = scores.T
    rows = range(scores.shape[0])
    gains = np.maximum(scores, 0.0)
    choices = permutations(range(scores.shape[1]), len(rows))
    return max(sum(gains[j, k] for j, k in zip(rows, chosen, strict=True)) for chosen in choices)


def is_matching(links: np.ndarray) -> bool:
    return links.sum(axis=0).max(initial=0) <= 1 and links.sum(axis=1).max(initial=0) <= 1


shapes = st.tuples(st.integers(1, 6), st.integers(1, 6))
smooth = arrays(np.float64, shapes, elements=st.floats(-5, 5, width=32))
tied = arrays(np.float64, shapes, elements=st.sampled_from([-1.0, 0.0, 1.0, 1.0, 2.0]))


@pytest.mark.parametrize("oracle", EXACT)
@settings(deadline=None, max_examples=40)
@given(scores=smooth | tied)
def test_exact_oracles_find_what_brute_force_finds(oracle: str, scores: np.ndarray) -> None:
    links = best_matching(scores, oracle=oracle)
    assert links.shape == scores.shape
    assert is_matching(links)
    assert (scores[links] > 0).all()
    assert scores[links].sum() == pytest.approx(brute_force(scores), abs=1e-6)


@settings(deadline=None, max_examples=60)
@given(scores=smooth | tied)
def test_greedy_keeps_its_bound(scores: np.ndarray) -> None:
    links = best_matching(scores, oracle="greedy")
    assert is_matching(links)
    assert (scores[links] > 0).all()
    best = brute_force(scores)
    assert best / 2 - 1e-9 <= scores[links].sum() <= best + 1e-9


def best_edge_first(scores: np.ndarray) -> np.ndarray:
    """The greedy matching by its definition."""
    links, left = np.zeros(scores.shape, bool), scores.copy()
    while left.size and left.max() > 0:
        j, k = np.unravel_index(left.argmax(), left.shape)
        links[j, k] = True
        left[j, :] = left[:, k] = -1.0
    return links


@settings(deadline=None, max_examples=60)
@given(shape=shapes, seed=st.integers(0, 10**6))
def test_greedy_takes_the_best_edge_first(shape: tuple[int, int], seed: int) -> None:
    scores = np.random.default_rng(seed).permutation(shape[0] * shape[1]).reshape(shape) - 3.0  # no ties
    np.testing.assert_array_equal(best_matching(scores, oracle="greedy"), best_edge_first(scores))


def test_greedy_is_not_exact() -> None:
    """It takes the best edge first, even where that costs two good ones."""
    scores = np.array([[10.0, 9.0], [9.0, 0.0]])
    assert scores[best_matching(scores, oracle="greedy")].sum() == 10
    assert scores[best_matching(scores)].sum() == 18


def batch(rng: np.random.Generator, n: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.stack([rng.integers(5, 41, n), rng.integers(5, 46, n)], axis=1)
    edges = int(sizes.prod(axis=1).sum())
    scores = {
        "normal": lambda: rng.standard_normal(edges),
        "uniform": lambda: rng.random(edges),
        "mostly negative": lambda: rng.standard_normal(edges) - 2,
        "ties": lambda: rng.integers(-1, 3, edges).astype(float),
        "equal": lambda: np.ones(edges),
        "negative": lambda: -rng.random(edges),
        "large": lambda: 1e9 * rng.standard_normal(edges),
    }[kind]()
    return scores, sizes


@pytest.mark.parametrize("kind", ["normal", "uniform", "mostly negative", "ties", "equal", "negative", "large"])
def test_assignment_equals_scipy_on_batches(kind: str) -> None:
    scores, sizes = batch(np.random.default_rng(7), 300, kind)
    linked, edge = best_matchings(scores, Lists.of_all(sizes)), 0
    for J, K in sizes:
        block = np.maximum(scores[edge : edge + J * K].reshape(J, K), 0.0)
        links = linked[edge : edge + J * K].reshape(J, K)
        assert is_matching(links)
        reference = linear_sum_assignment(block, maximize=True)
        assert block[links].sum() == pytest.approx(block[reference].sum(), rel=1e-12)
        edge += J * K


@pytest.mark.parametrize("oracle", [name for name in EXACT if name != "assignment"])
def test_reference_oracles_agree_on_sentences(oracle: str) -> None:
    rng = np.random.default_rng(3)
    for J, K in [(1, 30), (30, 1), (12, 9), (20, 25)]:
        scores = rng.standard_normal((J, K))
        ours = scores[best_matching(scores)].sum()
        assert scores[best_matching(scores, oracle=oracle)].sum() == pytest.approx(ours, rel=1e-7)


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_finite_are_refused(oracle: str, bad: float) -> None:
    with pytest.raises(ScoreError, match="pair 1"):
        best_matchings([1.0, 2.0, bad], Lists.of_all([(1, 2), (1, 1)]), oracle=oracle)


@pytest.mark.parametrize("oracle", ORACLES)
def test_minus_infinity_forbids_an_edge(oracle: str) -> None:
    links = best_matching([[-np.inf, 1.0], [2.0, 3.5]], oracle=oracle)
    assert not links[0, 0]


@pytest.mark.parametrize("oracle", ORACLES)
def test_empty_sides_have_empty_matchings(oracle: str) -> None:
    assert best_matchings(np.zeros(0), Lists.of_all([(0, 4), (3, 0)]), oracle=oracle).tolist() == []
    assert best_matching(np.zeros((0, 3)), oracle=oracle).shape == (0, 3)


@pytest.mark.parametrize("oracle", ORACLES)
def test_the_batch_is_its_parts(oracle: str) -> None:
    rng = np.random.default_rng(11)
    sizes = [(3, 5), (0, 2), (6, 2), (1, 1)]
    blocks = [rng.standard_normal(size) for size in sizes]
    together = best_matchings(np.concatenate([b.ravel() for b in blocks]), Lists.of_all(sizes), oracle=oracle)
    apart = [best_matchings(b.ravel(), Lists.of_all([b.shape]), oracle=oracle) for b in blocks]
    np.testing.assert_array_equal(together, np.concatenate(apart))


def test_wrong_calls_are_named() -> None:
    with pytest.raises(SettingError, match="unknown oracle 'magic'"):
        best_matching(np.ones((2, 2)), oracle="magic")
    with pytest.raises(ValueError, match="must be a matrix"):
        best_matching(np.ones(3))
    with pytest.raises(ValueError, match="lists that need"):
        best_matchings(np.ones(3), Lists.of_all([(2, 2)]))


def test_a_large_pair_is_solved() -> None:
    scores = np.random.default_rng(5).standard_normal((400, 500))
    reference = linear_sum_assignment(np.maximum(scores, 0), maximize=True)
    assert scores[best_matching(scores)].sum() == pytest.approx(np.maximum(scores, 0)[reference].sum(), rel=1e-12)
