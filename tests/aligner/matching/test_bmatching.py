"""b-matching: the optimum by trying everything and by networkx, its certificate, and what it has in common with 1-1."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligner.errors import ScoreError, SettingError
from aligner.matching import ORACLES, best_matchings, get_oracle
from aligner.matching import _path_kernels as kernels
from corpora.ragged import F64, Lists

ABLE = [name for name in ORACLES if get_oracle(name).several]
EXACT = [name for name in ABLE if get_oracle(name).exact]


def value(scores: np.ndarray, links: np.ndarray, source_rewards: np.ndarray, target_rewards: np.ndarray) -> float:
    total = float(scores[links].sum())
    for rewards, degrees in ((source_rewards, links.sum(axis=1)), (target_rewards, links.sum(axis=0))):
        total += sum(float(rewards[: max(0, degree - 1)].sum()) for degree in degrees)
    return total


def inside(links: np.ndarray, source_rewards: np.ndarray, target_rewards: np.ndarray) -> bool:
    return bool(
        links.sum(axis=1).max(initial=0) <= len(source_rewards) + 1
        and links.sum(axis=0).max(initial=0) <= len(target_rewards) + 1
    )


def brute_force(scores: np.ndarray, source_rewards: np.ndarray, target_rewards: np.ndarray) -> float:
    """The greatest value over all sets of links, also such of negative score."""
    best = 0.0
    for chosen in product([False, True], repeat=scores.size):
        links = np.array(chosen).reshape(scores.shape)
        if inside(links, source_rewards, target_rewards):
            best = max(best, value(scores, links, source_rewards, target_rewards))
    return best


def random_case(rng: np.random.Generator, largest: int, least: int = 0) -> tuple[F64, F64, F64]:
    """Scores and rewards of up to three links a word; half of the cases have many ties."""
    (J, K), capacities = rng.integers(least, largest + 1, 2), rng.integers(1, 4, 2)
    if rng.random() < 0.5:
        scores = rng.integers(-2, 4, (J, K)).astype(float)
        steps = [rng.integers(0, 2, c - 1) for c in capacities]
    else:
        scores = 2 * rng.standard_normal((J, K))
        steps = [rng.exponential(0.4, c - 1) for c in capacities]
    return scores, -np.cumsum(steps[0], dtype=float), -np.cumsum(steps[1], dtype=float)


def solve(case: tuple[F64, F64, F64], oracle: str = "assignment") -> np.ndarray:
    scores, *rewards = case
    lists = Lists.of_all([scores.shape])
    return best_matchings(scores.ravel(), lists, *rewards, oracle=oracle).reshape(scores.shape)


def test_it_equals_networkx_on_500_problems() -> None:
    rng = np.random.default_rng(1)
    several = 0
    for _ in range(500):
        case = random_case(rng, 9)
        ours, reference = solve(case), solve(case, "flow")
        assert inside(ours, *case[1:])
        assert value(case[0], ours, *case[1:]) == pytest.approx(value(case[0], reference, *case[1:]), abs=1e-9)
        several += ours.sum(axis=1).max(initial=0) > 1
    assert several > 100


@pytest.mark.parametrize("oracle", EXACT)
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_exact_oracles_find_what_brute_force_finds(oracle: str, seed: int) -> None:
    case = random_case(np.random.default_rng(seed), 3, least=1)
    links = solve(case, oracle)
    assert inside(links, *case[1:])
    assert value(case[0], links, *case[1:]) == pytest.approx(brute_force(*case), abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_greedy_keeps_its_bound(seed: int) -> None:
    case = random_case(np.random.default_rng(seed), 6)
    links, best = solve(case, "greedy"), value(case[0], solve(case), *case[1:])
    assert inside(links, *case[1:])
    assert best / 2 - 1e-9 <= value(case[0], links, *case[1:]) <= best + 1e-9


def test_greedy_takes_what_adds_most() -> None:
    """The second link of row 0 adds 4 - 3; the first of row 1 adds 2 and comes first."""
    scores, source = np.array([[5.0, 4.0], [0.0, 2.0]]), np.array([-3.0])
    assert solve((scores, source, np.zeros(0)), "greedy").tolist() == [[True, False], [False, True]]


@settings(deadline=None, max_examples=100)
@given(seed=st.integers(0, 10**6))
def test_duals_prove_the_optimum(seed: int) -> None:
    """Prices of words, with the profit of each link and edge that they leave, add up to the score of the matching."""
    case = scores, source, target = random_case(np.random.default_rng(seed), 8)
    J, K = scores.shape
    lists = Lists.of_all([(J, K)])
    flow = kernels.make_flow(lists, 0, 1, len(target) + 1)
    linked = np.empty(J * K, np.bool_)
    kernels.bmatch_block(scores.ravel(), lists.source, lists.target, J, K, source, target, flow, linked)
    u, v = flow.price[:J], flow.price[J : J + K]
    assert (u >= 0).all()
    assert (v >= 0).all()
    bound = np.maximum(scores - u[:, None] - v, 0).sum()
    for duals, rewards in ((u, source), (v, target)):
        bound += np.maximum(duals[:, None] + np.append(0.0, rewards), 0).sum()
    links = linked.reshape(J, K)
    assert bound == pytest.approx(value(scores, links, *case[1:]), abs=1e-9)


@pytest.mark.parametrize("oracle", ORACLES)
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_an_edge_that_is_not_listed_scores_minus_infinity(oracle: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = rng.integers(0, 6, (4, 2))
    every = Lists.of_all(shapes)
    kept = rng.random(len(every.source)) < 0.5
    offsets = np.append(0, np.cumsum(kept))[every.offsets]
    lists = Lists(every.source[kept], every.target[kept], shapes, offsets)
    scores = rng.standard_normal(len(kept)) + 0.5
    rewards = [-rng.random(1), -np.cumsum(rng.random(2))] if get_oracle(oracle).several else []
    found = np.zeros(len(kept), bool)
    found[kept] = best_matchings(scores[kept], lists, *rewards, oracle=oracle)
    forbidden = best_matchings(np.where(kept, scores, -np.inf), every, *rewards, oracle=oracle)
    np.testing.assert_array_equal(found, forbidden)


def test_a_second_link_that_costs_all_is_not_taken() -> None:
    rng = np.random.default_rng(3)
    scores = rng.standard_normal((9, 11))
    dear = [np.full(2, -1e6), np.full(1, -1e6)]
    single = solve((scores, np.zeros(0), np.zeros(0)))
    np.testing.assert_array_equal(solve((scores, *dear)), single)
    free = [np.zeros(10), np.zeros(8)]  # as many links as there are words
    np.testing.assert_array_equal(solve((scores, *free)), scores > 0)


@pytest.mark.parametrize("oracle", ABLE)
def test_the_batch_is_its_parts(oracle: str) -> None:
    rng = np.random.default_rng(4)
    sizes = [(3, 5), (0, 2), (6, 2), (2, 0), (1, 1)]
    blocks = [rng.standard_normal(size) for size in sizes]
    rewards = -rng.random(1), -np.cumsum(rng.random(2))
    scores = np.concatenate([block.ravel() for block in blocks])
    together = best_matchings(scores, Lists.of_all(sizes), *rewards, oracle=oracle)
    apart = [best_matchings(block.ravel(), Lists.of_all([block.shape]), *rewards, oracle=oracle) for block in blocks]
    np.testing.assert_array_equal(together, np.concatenate(apart))


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


@pytest.mark.parametrize("oracle", ABLE)
def test_scores_that_are_not_finite_are_refused(oracle: str) -> None:
    with pytest.raises(ScoreError, match="pair 1"):
        best_matchings([1.0, 2.0, np.inf], Lists.of_all([(1, 2), (1, 1)]), [0.0], [0.0], oracle=oracle)
    forbidden = best_matchings([-np.inf, 1.0], Lists.of_all([(1, 2)]), [0.0], [0.0], oracle=oracle)
    assert forbidden.tolist() == [False, True]


def test_wrong_calls_are_named() -> None:
    with pytest.raises(SettingError, match=r"scipy oracle has one link a word only \(choose from assignment, flow"):
        best_matchings([1.0], Lists.of_all([(1, 1)]), [0.0], [0.0], oracle="scipy")
    for bad in ([[0.0]], [0.5], [-2.0, -1.0], [np.nan], [-np.inf]):
        with pytest.raises(ValueError, match="source rewards must be finite, at most 0"):
            best_matchings([1.0], Lists.of_all([(1, 1)]), bad, [0.0])


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

    none, worse = np.empty(0), np.array([-0.5])
    monkeypatch.setattr("aligner.matching.bmatching.bmatch_blocks", refuse)
    crowded_row = np.array([[3.0, 2.0, 0.4], [-1.0, -1.0, -1.0]])
    assert solve((crowded_row, none, none)).tolist() == [[True, False, False], [False] * 3]
    assert solve((crowded_row.T, none, none)).tolist() == [[True, False], [False] * 2, [False] * 2]
    assert solve((crowded_row, np.zeros(1), none)).tolist() == [[True, True, False], [False] * 3]
    assert solve((crowded_row, worse.repeat(2), none)).tolist() == [[True, True, False], [False] * 3]
    both = np.array([[3.0, 2.0], [2.5, -1.0]])
    assert solve((both, np.zeros(1), np.zeros(1))).tolist() == [[True, True], [True, False]]
    with pytest.raises(AssertionError):
        solve((both, none, none))
