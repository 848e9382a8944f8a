"""The auction and its certificate; and what prices certify of any matching."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from aligner.errors import SettingError
from aligner.matching import ORACLES, answer, get_oracle, make_task
from aligner.matching.prices import price_bounds, total_scores
from corpora.ragged import F64, Bools, Lists


def auctioned(scores: F64, lists: Lists, errors: F64) -> tuple[Bools, F64]:
    """(E,) links and (E,) prices."""
    task = make_task(scores, lists)._replace(errors=errors, prices=np.full(len(scores), np.nan))
    linked = answer(task, "auction")
    assert task.prices is not None
    return linked, task.prices


def certificate(scores: np.ndarray, links: np.ndarray, prices: np.ndarray) -> float:
    """Σ prices − value of one matching (J, K), by the definition: no price below 0, none of a pair below its score."""
    v = prices.max(axis=0, initial=0.0)
    assert (prices == v).all(), "a column has one price"
    assert (v >= 0).all()
    u = np.maximum(scores - v, 0.0).max(axis=1, initial=0.0)
    return float(u.sum() + v.sum() - scores[links].sum())


KINDS = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "mostly negative": lambda rng, size: rng.standard_normal(size) - 2,
    "ties": lambda rng, size: rng.integers(-1, 3, size).astype(float),
    "nearly equal": lambda rng, size: 1 + 1e-6 * rng.random(size),
    "geometric": lambda rng, size: 2.0 ** -rng.integers(0, 40, size),
    "products": lambda rng, size: np.outer(*map(rng.random, size)),
    "large": lambda rng, size: 1e9 * rng.standard_normal(size),
}


@pytest.mark.parametrize("kind", KINDS)
def test_prices_certify_the_error_that_was_asked_for(kind: str) -> None:
    """No pair is further from scipy's optimum than its prices say, nor these further than it was asked for."""
    rng = np.random.default_rng(2)
    shapes = rng.integers(1, 31, (120, 2))
    blocks = [KINDS[kind](rng, tuple(shape)) for shape in shapes]
    errors = 10.0 ** rng.uniform(-12, 0.5, 120) * [np.abs(block).max() for block in blocks]
    lists = Lists.of_all(shapes)
    linked, prices = auctioned(np.concatenate([block.ravel() for block in blocks]), lists, errors)
    off = []
    for i, block in enumerate(blocks):
        part, gains = slice(*lists.offsets[i : i + 2]), np.maximum(block, 0.0)
        links = linked[part].reshape(block.shape)
        assert max(links.sum(axis=0).max(), links.sum(axis=1).max()) <= 1
        assert (block[links] > 0).all()
        best, largest = gains[linear_sum_assignment(gains, maximize=True)].sum(), gains.max()
        certified = certificate(block, links, prices[part].reshape(block.shape))
        rounding = 1e-12 * largest * len(block)
        off.append(best - block[links].sum())
        assert -rounding <= off[-1] <= certified + rounding
        assert certified <= max(errors[i], 1e-9 * largest) + rounding
    if kind in ("normal", "products"):
        assert max(off / errors) > 0.01, "errors are made use of"


def brute_force(scores: np.ndarray, columns: frozenset[int], row: int = 0) -> float:
    """The greatest score of the rows from this one on, with these columns."""
    if row == len(scores):
        return 0.0
    ways = [scores[row, k] + brute_force(scores, columns - {k}, row + 1) for k in columns]
    return max([brute_force(scores, columns, row + 1), *ways])


@settings(max_examples=60)
@given(shape=st.tuples(*[st.integers(1, 5)] * 2), seed=st.integers(0, 10**6), error=st.sampled_from([0, 0.3, 2, 50]))
def test_the_auction_is_within_its_error_of_brute_force(shape: tuple[int, int], seed: int, error: float) -> None:
    scores = np.random.default_rng(seed).integers(-4, 7, shape) / 2.0
    linked, prices = auctioned(scores.ravel(), Lists.of_all([shape]), np.array([float(error)]))
    links = linked.reshape(shape)
    best = brute_force(scores, frozenset(range(shape[1])))
    certified = certificate(scores, links, prices.reshape(shape))
    assert best - scores[links].sum() <= certified + 1e-12
    assert certified <= max(error, 1e-9 * scores.max()) + 1e-12


@pytest.mark.parametrize("oracle", [name for name in ORACLES if get_oracle(name).prices])
def test_a_certificate_is_that_of_the_library(oracle: str) -> None:
    rng = np.random.default_rng(5)
    lists = Lists.of_all([(4, 6), (0, 2), (7, 3)])
    scores = rng.standard_normal(45)
    task = make_task(scores, lists)._replace(prices=np.empty(45))
    linked = answer(task, oracle)
    assert task.prices is not None
    found = price_bounds(task, task.prices) - total_scores(task, linked)
    blocks = [
        [x[slice(*part)].reshape(shape) for x in (scores, linked, task.prices)]
        for part, shape in zip(pairwise(lists.offsets), lists.shapes, strict=True)
    ]
    np.testing.assert_allclose(found, [certificate(*block) for block in blocks], atol=1e-12)
    np.testing.assert_allclose(found, 0.0, atol=1e-8)


def test_an_oracle_without_prices_has_none_to_give() -> None:
    task = make_task([1.0], Lists.of_all([(1, 1)]))._replace(prices=np.empty(1))
    with pytest.raises(SettingError, match=r"the greedy oracle has no prices \(choose from assignment, auction\)"):
        answer(task, "greedy")
