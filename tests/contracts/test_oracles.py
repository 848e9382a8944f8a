"""Every oracle under the same laws, for one link a word and for several: the optimum by trying all, and by others."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from aligner.errors import ScoreError, SettingError
from aligner.matching import ORACLES, best_matching, best_matchings, get_oracle
from corpora.ragged import F64, Lists

EXACT = [name for name in ORACLES if get_oracle(name).exact]
NONE = np.zeros(0)
Case = tuple[F64, F64, F64]
every_oracle = pytest.mark.parametrize("oracle", ORACLES)
seeds = given(seed=st.integers(0, 10**6))


def value(case: Case, links: np.ndarray) -> float:
    """The sum of scores and rewards; −∞ if a word has too many links."""
    scores, *rewards = case
    total = float(scores[links].sum())
    for steps, degrees in zip(rewards, (links.sum(axis=1), links.sum(axis=0)), strict=True):
        if degrees.max(initial=0) > len(steps) + 1:
            return -np.inf
        total += sum(float(steps[: max(0, degree - 1)].sum()) for degree in degrees)
    return total


def brute_force(case: Case) -> float:
    """The greatest value over all sets of links, also such of negative score."""
    every = product([False, True], repeat=case[0].size)
    return max(value(case, np.array(chosen).reshape(case[0].shape)) for chosen in every)


def random_case(seed: int, largest: int, oracle: str = "assignment", least: int = 0) -> Case:
    """Scores and rewards of up to three links a word, where the oracle has several; half of the cases have ties."""
    rng = np.random.default_rng(seed)
    (J, K), most = rng.integers(least, largest + 1, 2), 3 if get_oracle(oracle).several else 1
    capacities = rng.integers(1, most + 1, 2)
    if rng.random() < 0.5:
        scores = rng.integers(-2, 4, (J, K)).astype(float)
        steps = [rng.integers(0, 2, c - 1) for c in capacities]
    else:
        scores = 2 * rng.standard_normal((J, K))
        steps = [rng.exponential(0.4, c - 1) for c in capacities]
    return scores, -np.cumsum(steps[0], dtype=float), -np.cumsum(steps[1], dtype=float)


def solve(case: Case, oracle: str = "assignment") -> np.ndarray:
    scores, *rewards = case
    return best_matchings(scores.ravel(), Lists.of_all([scores.shape]), *rewards, oracle=oracle).reshape(scores.shape)


@pytest.mark.parametrize("oracle", EXACT)
@settings(deadline=None, max_examples=50)
@seeds
def test_exact_oracles_find_what_brute_force_finds(oracle: str, seed: int) -> None:
    case = random_case(seed, 3, oracle, least=1)
    assert value(case, solve(case, oracle)) == pytest.approx(brute_force(case), abs=1e-9)


def test_assignment_equals_networkx_on_500_problems() -> None:
    several = 0
    for seed in range(500):
        case = random_case(seed, 9)
        ours = solve(case)
        assert value(case, ours) == pytest.approx(value(case, solve(case, "flow")), abs=1e-9)
        several += ours.sum(axis=1).max(initial=0) > 1
    assert several > 100


@settings(deadline=None, max_examples=60)
@seeds
def test_greedy_keeps_its_bound(seed: int) -> None:
    case = random_case(seed, 6)
    best = value(case, solve(case))
    assert best / 2 - 1e-9 <= value(case, solve(case, "greedy")) <= best + 1e-9


@settings(deadline=None, max_examples=60)
@seeds
def test_greedy_takes_the_best_edge_first(seed: int) -> None:
    """By its definition; which need not be best."""
    rng = np.random.default_rng(seed)
    scores = rng.permutation(30).reshape(5, 6) - 3.0  # no ties
    links, left = np.zeros(scores.shape, bool), scores.copy()
    while left.max() > 0:
        j, k = np.unravel_index(left.argmax(), left.shape)
        links[j, k] = True
        left[j, :] = left[:, k] = -1.0
    np.testing.assert_array_equal(best_matching(scores, oracle="greedy"), links)
    costly = np.array([[10.0, 9.0], [9.0, 0.0]])
    assert costly[best_matching(costly, oracle="greedy")].sum() == 10 < costly[best_matching(costly)].sum()


def test_greedy_takes_what_adds_most() -> None:
    """The second link of row 0 adds 4 - 3; the first of row 1 adds 2 and comes first."""
    case = np.array([[5.0, 4.0], [0.0, 2.0]]), np.array([-3.0]), NONE
    assert solve(case, "greedy").tolist() == [[True, False], [False, True]]


KINDS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "mostly negative": lambda rng, n: rng.standard_normal(n) - 2,
    "ties": lambda rng, n: rng.integers(-1, 3, n).astype(float),
    "equal": lambda rng, n: np.ones(n),
    "negative": lambda rng, n: -rng.random(n),
    "large": lambda rng, n: 1e9 * rng.standard_normal(n),
}


@pytest.mark.parametrize("kind", KINDS)
def test_assignment_equals_scipy_on_sentences(kind: str) -> None:
    rng = np.random.default_rng(7)
    sizes = [*zip(rng.integers(5, 41, 200), rng.integers(5, 46, 200), strict=True), (400, 500), (1, 30), (30, 1)]
    scores = KINDS[kind](rng, sum(J * K for J, K in sizes))
    linked, edge = best_matchings(scores, Lists.of_all(sizes)), 0
    for J, K in sizes:
        block = np.maximum(scores[edge : edge + J * K].reshape(J, K), 0.0)
        links = linked[edge : edge + J * K].reshape(J, K)
        assert value((block, NONE, NONE), links) == pytest.approx(
            block[linear_sum_assignment(block, maximize=True)].sum(), rel=1e-12
        )
        edge += J * K


@pytest.mark.parametrize("oracle", [name for name in EXACT if name != "assignment"])
def test_reference_oracles_agree_on_sentences(oracle: str) -> None:
    rng = np.random.default_rng(3)
    for J, K in [(1, 30), (30, 1), (12, 9), (20, 25)]:
        scores = rng.standard_normal((J, K))
        ours = scores[best_matching(scores)].sum()
        assert scores[best_matching(scores, oracle=oracle)].sum() == pytest.approx(ours, rel=1e-7)


@every_oracle
@settings(deadline=None, max_examples=25)
@seeds
def test_an_edge_that_is_not_listed_scores_minus_infinity(oracle: str, seed: int) -> None:
    """And pairs of a batch, empty ones among them, have what they have alone."""
    rng = np.random.default_rng(seed)
    shapes = [*rng.integers(0, 6, (4, 2)).tolist(), (0, 4), (3, 0)]
    every = Lists.of_all(shapes)
    kept = rng.random(len(every.source)) < 0.5
    lists = Lists(every.source[kept], every.target[kept], every.shapes, np.append(0, np.cumsum(kept))[every.offsets])
    scores = np.where(kept, rng.standard_normal(len(kept)) + 0.5, -np.inf)
    rewards = [-rng.random(1), -np.cumsum(rng.random(2))] if get_oracle(oracle).several else []
    found = np.zeros(len(kept), bool)
    found[kept] = best_matchings(scores[kept], lists, *rewards, oracle=oracle)
    np.testing.assert_array_equal(found, best_matchings(scores, every, *rewards, oracle=oracle))
    alone = [
        best_matchings(own, Lists.of_all([shape]), *rewards, oracle=oracle)
        for shape, own in zip(shapes, np.split(scores, every.offsets[1:-1]), strict=True)
    ]
    np.testing.assert_array_equal(found, np.concatenate(alone))


@every_oracle
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_finite_are_refused(oracle: str, bad: float) -> None:
    rewards = ([0.0], [0.0]) if get_oracle(oracle).several else ()
    with pytest.raises(ScoreError, match="pair 1"):
        best_matchings([1.0, 2.0, bad], Lists.of_all([(1, 2), (1, 1)]), *rewards, oracle=oracle)


def test_wrong_calls_are_named() -> None:
    one = Lists.of_all([(1, 1)])
    with pytest.raises(SettingError, match="unknown oracle 'magic'"):
        best_matching(np.ones((2, 2)), oracle="magic")
    with pytest.raises(ValueError, match="must be a matrix"):
        best_matching(np.ones(3))
    with pytest.raises(ValueError, match="lists that need"):
        best_matchings(np.ones(3), Lists.of_all([(2, 2)]))
    with pytest.raises(SettingError, match=r"scipy oracle has one link a word only \(choose from assignment, flow"):
        best_matchings([1.0], one, [0.0], [0.0], oracle="scipy")
    for bad in ([[0.0]], [0.5], [-2.0, -1.0], [np.nan], [-np.inf]):
        with pytest.raises(ValueError, match="source rewards must be finite, at most 0"):
            best_matchings([1.0], one, bad, [0.0])
