"""b-matching of the default oracle: its proof of the optimum, its limits, its threads, and when it searches paths."""

from __future__ import annotations

import numpy as np
import pytest

from aligner.errors import ScoreError
from aligner.matching import _path_kernels as kernels
from aligner.matching import best_matchings
from corpora.ragged import Lists

NONE = np.zeros(0)


def solve(scores: np.ndarray, source_rewards: np.ndarray = NONE, target_rewards: np.ndarray = NONE) -> np.ndarray:
    lists = Lists.of_all([scores.shape])
    return best_matchings(scores.ravel(), lists, source_rewards, target_rewards).reshape(scores.shape)


@pytest.mark.parametrize("seed", range(60))
def test_duals_prove_the_optimum(seed: int) -> None:
    """Dual variables of words, with the profit of each link and edge they leave, add up to the matching's score."""
    rng = np.random.default_rng(seed)
    J, K, B, C = (*rng.integers(0, 9, 2), *rng.integers(1, 4, 2))
    scores = 2 * rng.standard_normal((J, K)) if seed % 2 else rng.integers(-2, 4, (J, K)).astype(float)
    source, target = (-np.cumsum(rng.integers(0, 2, size - 1), dtype=float) for size in (B, C))
    lists = Lists.of_all([(J, K)])
    flow = kernels.make_flow(lists, 0, 1, len(target) + 1)
    linked = np.empty(J * K, np.bool_)
    kernels.bmatch_block(scores.ravel(), lists.source, lists.target, J, K, source, target, flow, linked)
    u, v, links = flow.price[:J], flow.price[J : J + K], linked.reshape(J, K)
    assert u.min(initial=0.0) >= 0.0 <= v.min(initial=0.0)
    bound, total = np.maximum(scores - u[:, None] - v, 0).sum(), scores[links].sum()
    for duals, rewards, axis in ((u, source, 1), (v, target, 0)):
        bound += np.maximum(duals[:, None] + np.append(0.0, rewards), 0).sum()
        total += sum(rewards[: max(0, degree - 1)].sum() for degree in links.sum(axis=axis))
    assert bound == pytest.approx(total, abs=1e-9)


def test_a_second_link_that_costs_all_is_not_taken() -> None:
    scores = np.random.default_rng(3).standard_normal((9, 11))
    np.testing.assert_array_equal(solve(scores, np.full(2, -1e6), np.full(1, -1e6)), solve(scores))
    as_many_as_words = solve(scores, np.zeros(10), np.zeros(8))
    np.testing.assert_array_equal(as_many_as_words, scores > 0)


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    shapes = rng.integers(1, 9, (60, 2))
    scores = rng.standard_normal(shapes.prod(axis=1).sum())
    rewards = [-rng.random(1), -rng.random(1)]
    lists = Lists.of_all(shapes)
    one = best_matchings(scores, lists, *rewards)
    monkeypatch.setattr("aligner.matching.bmatching._EDGES_WORTH_A_THREAD", 100)
    monkeypatch.setattr("aligner.matching.bmatching.cores", lambda: 3)
    np.testing.assert_array_equal(best_matchings(scores, lists, *rewards), one)
    scores[-1] = np.nan
    with pytest.raises(ScoreError, match="pair 59"):
        best_matchings(scores, lists, *rewards)


def test_kernels_are_compiled_for_one_kind_of_arrays() -> None:
    """Whether an array may be written to or not."""
    scores, lists, rewards = np.ones(6), Lists.of_all([(2, 3)]), np.array([-0.5])
    expected = best_matchings(scores, lists, rewards, rewards)
    compiled = len(kernels.bmatch_blocks.signatures)
    for array in (scores, rewards):
        array.flags.writeable = False
    assert np.array_equal(best_matchings(scores, lists, rewards, rewards), expected)
    assert len(kernels.bmatch_blocks.signatures) == compiled


def test_paths_are_searched_only_where_words_of_both_sides_contend(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("aligner.matching.bmatching.bmatch_blocks", refuse)
    crowded_row = np.array([[3.0, 2.0, 0.4], [-1.0, -1.0, -1.0]])
    assert solve(crowded_row).tolist() == [[True, False, False], [False] * 3]
    assert solve(crowded_row.T).tolist() == [[True, False], [False] * 2, [False] * 2]
    for rewards in (np.zeros(1), np.full(2, -0.5)):
        assert solve(crowded_row, rewards).tolist() == [[True, True, False], [False] * 3]
    both = np.array([[3.0, 2.0], [2.5, -1.0]])
    assert solve(both, np.zeros(1), np.zeros(1)).tolist() == [[True, True], [True, False]]
    with pytest.raises(AssertionError):
        solve(both)
