"""Rewards for neighbouring links: the optimum by trying everything and by HiGHS, bounds, and what it has in common
with b-matching."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligner.errors import ScoreError
from aligner.matching import F64, best_bmatchings
from aligner.matching._quadratic_references import quadratic_program
from aligner.matching.quadratic import QuadraticAnswer, best_quadratic, neighbouring_links


@dataclass(frozen=True, eq=False)
class Case:
    """One pair, all (J, K) but for the rewards of further links."""

    scores: F64
    source: F64
    target: F64
    parallel: F64
    swapped: F64

    @property
    def rewards(self) -> tuple[F64, F64, F64, F64]:
        return self.source, self.target, self.parallel, self.swapped

    def times(self, scale: float) -> Case:
        return Case(scale * self.scores, *(scale * rewards for rewards in self.rewards))


def random_case(rng: np.random.Generator, shape: tuple[int, int], *, several: bool) -> Case:
    """Half of the cases have many ties, and several links a word if asked for."""
    capacities = rng.integers(1, 4, 2) if several else (1, 1)
    if rng.random() < 0.5:
        scores, rewards = rng.integers(-2, 3, shape).astype(float), rng.integers(0, 3, (2, *shape)).astype(float)
        steps = [rng.integers(0, 2, (n, c - 1)) for n, c in zip(shape, capacities, strict=True)]
    else:
        scores, rewards = rng.standard_normal(shape) - 0.3, rng.exponential(rng.choice([0.2, 1.0]), (2, *shape))
        steps = [rng.exponential(0.4, (n, c - 1)) for n, c in zip(shape, capacities, strict=True)]
    if rng.random() < 0.2:
        scores[rng.random(shape) < 0.3] = -np.inf
    return Case(scores, -np.cumsum(steps[0], axis=1), -np.cumsum(steps[1], axis=1), *rewards)


def realistic_case(rng: np.random.Generator, shape: tuple[int, int]) -> Case:
    """Clear links near the diagonal, some wrong ones, and pairs of words that look alike: the copies of a word."""
    J, K = shape
    scores = rng.normal(-1.6, 0.1, shape)
    for j in range(J):
        if rng.random() < 0.9:
            k = int(np.clip(round(j * K / J + rng.normal(0, 1)), 0, K - 1))
            scores[j, k] = rng.normal(1.5, 0.8)
            if rng.random() < 0.3:
                scores[j, rng.integers(K)] = scores[j, k]
    return Case(scores, np.zeros((J, 0)), np.zeros((K, 0)), np.full(shape, 0.3), np.full(shape, 0.1))


def solve(case: Case, **settings: int) -> QuadraticAnswer:
    rewards = (case.source, case.target, case.parallel.ravel(), case.swapped.ravel())
    return best_quadratic(case.scores.ravel(), [case.scores.shape], *rewards, **settings)


def links_of(answer: QuadraticAnswer, case: Case) -> np.ndarray:
    links = np.zeros(case.scores.shape, bool)
    for j, slots in enumerate(answer.mates.reshape(len(links), -1)):
        columns = slots[slots >= 0]
        assert (slots[len(columns) :] == -1).all()
        assert (np.diff(columns) > 0).all()
        links[j, columns] = True
    return links


def value(case: Case, links: np.ndarray) -> float:
    """-inf outside of the capacities."""
    total = float(case.scores[links].sum())
    for rewards, degrees in ((case.source, links.sum(axis=1)), (case.target, links.sum(axis=0))):
        if degrees.max(initial=0) > rewards.shape[1] + 1:
            return -np.inf
        total += sum(float(row[: max(0, degree - 1)].sum()) for row, degree in zip(rewards, degrees, strict=True))
    total += float((case.parallel[:-1, :-1] * (links[:-1, :-1] & links[1:, 1:])).sum())
    return total + float((case.swapped[:-1, :-1] * (links[:-1, 1:] & links[1:, :-1])).sum())


def matchings(J: int, K: int) -> np.ndarray:
    """(m, J, K) all of them."""
    found = []
    for columns in product(range(-1, K), repeat=J):
        taken = [k for k in columns if k >= 0]
        if len(set(taken)) == len(taken):
            found.append(np.array(columns)[:, None] == np.arange(K))
    return np.array(found)


def brute_force(case: Case, candidates: np.ndarray) -> float:
    """The greatest value over matchings (m, J, K), without further links."""
    z = candidates.astype(float)
    totals = np.einsum("mjk,jk->m", z, np.maximum(case.scores, -1e9))
    totals += np.einsum("mjk,mjk,jk->m", z[:, :-1, :-1], z[:, 1:, 1:], case.parallel[:-1, :-1])
    totals += np.einsum("mjk,mjk,jk->m", z[:, :-1, 1:], z[:, 1:, :-1], case.swapped[:-1, :-1])
    return float(totals.max())


def check(case: Case, answer: QuadraticAnswer, best: float) -> None:
    """The laws of an answer, given the optimum."""
    (got,), (bound,), (exact,) = answer.value, answer.bound, answer.exact
    assert got == pytest.approx(value(case, links_of(answer, case)), abs=1e-9)
    assert got <= best + 1e-9
    assert bound >= best - 1e-9
    assert not exact or got == pytest.approx(best, abs=1e-8)


def test_it_equals_brute_force_on_400_problems_of_four_by_four() -> None:
    rng = np.random.default_rng(1)
    candidates = matchings(4, 4)
    certified = 0
    for _ in range(400):
        case = random_case(rng, (4, 4), several=False)
        best, answer = brute_force(case, candidates), solve(case)
        check(case, answer, best)
        certified += answer.exact[0]
    assert certified == 400


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_several_links_a_word_agree_with_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    J, K = rng.integers(1, 4, 2).tolist()
    case = random_case(rng, (J, K), several=True)
    subsets = (np.array(chosen).reshape(J, K) for chosen in product([False, True], repeat=J * K))
    check(case, solve(case), max(value(case, links) for links in subsets))


def test_programs_agree_with_it() -> None:
    """Relaxed and with whole links; without branches the bound ends at the relaxation, whose dual it is."""
    rng = np.random.default_rng(2)
    for trial in range(40):
        shape = tuple(rng.integers(2, 7, 2).tolist())
        case = random_case(rng, shape, several=trial % 2 == 0)
        relaxed, _ = quadratic_program(case.scores, *case.rewards, whole=False)
        best, links = quadratic_program(case.scores, *case.rewards, whole=True)
        assert relaxed >= best - 1e-6
        assert value(case, links > 0.5) == pytest.approx(best, abs=1e-6)
        answer = solve(case, iterations=2000, branches=0)
        assert relaxed - 1e-6 <= answer.bound[0] <= relaxed + 1e-2 * max(1.0, relaxed)
        assert answer.value[0] <= best + 1e-6
        if relaxed <= best + 1e-9:
            assert answer.value[0] == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("capacity", [1, 2])
def test_without_rewards_it_is_a_b_matching(capacity: int) -> None:
    rng = np.random.default_rng(3)
    shapes = rng.integers(0, 12, (60, 2))
    scores = rng.standard_normal(shapes.prod(axis=1).sum())
    rewards = [-rng.random((size, capacity - 1)) for size in shapes.sum(axis=0)]
    answer = best_quadratic(scores, shapes, *rewards, 0.0, 0.0, iterations=1)
    assert answer.exact.all()
    np.testing.assert_array_equal(answer.mates, best_bmatchings(scores, shapes, *rewards))
    np.testing.assert_array_equal(answer.bound, answer.value)


def test_links_that_are_nothing_alone_may_be_worth_it_together() -> None:
    scores = np.array([[-0.2, -9.0, -9.0], [-9.0, -0.2, -9.0], [-9.0, -9.0, -0.2]])
    single, nothing = (np.zeros((3, 0)),) * 2, np.zeros((3, 3))
    diagonal = Case(scores, *single, np.full((3, 3), 0.4), nothing)
    answer = solve(diagonal)
    assert (answer.mates.tolist(), answer.exact.tolist()) == ([0, 1, 2], [True])
    assert answer.value[0] == pytest.approx(2 * 0.4 - 3 * 0.2)
    crossed = solve(Case(scores[:, ::-1].copy(), *single, nothing, np.full((3, 3), 0.4)))
    assert (crossed.mates.tolist(), crossed.exact.tolist()) == ([2, 1, 0], [True])
    assert solve(replace(diagonal, parallel=np.full((3, 3), 0.29))).mates.tolist() == [-1, -1, -1]


def test_rewards_outside_of_the_matrix_count_for_nothing() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        case = random_case(rng, (4, 5), several=False)
        parallel, swapped = case.parallel.copy(), case.swapped.copy()
        for rewards in (parallel, swapped):
            rewards[-1], rewards[:, -1] = 50.0, 70.0
        same, other = solve(case), solve(replace(case, parallel=parallel, swapped=swapped))
        np.testing.assert_array_equal(same.mates, other.mates)
        np.testing.assert_array_equal(same.bound, other.bound)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), exponent=st.integers(-60, 60))
def test_scale_changes_nothing_else(seed: int, exponent: int) -> None:
    """Powers of two are exact in floating point."""
    case, scale = random_case(np.random.default_rng(seed), (6, 5), several=True), 2.0**exponent
    one, other = solve(case), solve(case.times(scale))
    np.testing.assert_array_equal(one.mates, other.mates)
    np.testing.assert_array_equal(one.exact, other.exact)
    np.testing.assert_array_equal(one.bound * scale, other.bound)
    np.testing.assert_array_equal(one.value * scale, other.value)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_both_sides_may_change_places(seed: int) -> None:
    """Transposed, the same optimum: q(j,k) stays where it is, as its two links change places."""
    case = random_case(np.random.default_rng(seed), (5, 7), several=True)
    turned = Case(case.scores.T.copy(), case.target, case.source, case.parallel.T.copy(), case.swapped.T.copy())
    one, other = solve(case), solve(turned)
    assert one.value[0] <= other.bound[0] + 1e-9
    assert other.value[0] <= one.bound[0] + 1e-9
    if one.exact[0] and other.exact[0]:
        assert one.value[0] == pytest.approx(other.value[0], abs=1e-8)


def test_more_iterations_are_no_worse() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        case = random_case(rng, (7, 7), several=False)
        answers = [solve(case, iterations=limit, branches=0) for limit in (1, 2, 5, 20, 100)]
        assert (np.diff([answer.value[0] for answer in answers]) >= 0).all()
        assert (np.diff([answer.bound[0] for answer in answers]) <= 0).all()


def test_most_realistic_pairs_are_certified() -> None:
    rng = np.random.default_rng(6)
    cases = [realistic_case(rng, tuple(rng.integers(3, 30, 2).tolist())) for _ in range(150)]
    assert np.mean([solve(case, branches=0).exact[0] for case in cases]) >= 0.95
    assert np.mean([solve(case).exact[0] for case in cases]) >= 0.98


def test_the_batch_is_its_parts_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    shapes = [(3, 5), (0, 2), (6, 2), (2, 0), (1, 1), (7, 7), (4, 6)]
    cases = [random_case(rng, shape, several=False) for shape in shapes]
    cases = [
        replace(case, source=-rng.random((J, 1)), target=-rng.random((K, 1)))
        for case, (J, K) in zip(cases, shapes, strict=True)
    ]
    scores, parallel, swapped = (
        np.concatenate([getattr(case, name).ravel() for case in cases]) for name in ("scores", "parallel", "swapped")
    )
    further = [np.concatenate([getattr(case, side) for case in cases]) for side in ("source", "target")]
    apart = [solve(case) for case in cases]
    for threads in (1, 3):
        monkeypatch.setattr("aligner.matching.assignment._EDGES_WORTH_A_THREAD", 20)
        monkeypatch.setattr("aligner.matching.assignment.cores", lambda threads=threads: threads)
        together = best_quadratic(scores, shapes, *further, parallel, swapped)
        for name in ("mates", "value", "bound", "exact"):
            expected = np.concatenate([getattr(answer, name) for answer in apart])
            np.testing.assert_array_equal(getattr(together, name), expected)
    scores[-1] = np.nan
    with pytest.raises(ScoreError, match="pair 6"):
        best_quadratic(scores, shapes, *further, parallel, swapped)


def test_neighbouring_links_are_those_that_are_rewarded() -> None:
    rng = np.random.default_rng(8)
    cases = [random_case(rng, shape, several=True) for shape in [(3, 5), (4, 4), (0, 3), (1, 6), (5, 1)]]
    cases = [replace(case, scores=np.maximum(case.scores, -9.0)) for case in cases]
    links = [rng.random(case.scores.shape) < 0.5 for case in cases]
    parallel, swapped = neighbouring_links(
        np.concatenate([z.ravel() for z in links]), [case.scores.shape for case in cases]
    )
    rewards = parallel @ np.concatenate([case.parallel.ravel() for case in cases])
    rewards += swapped @ np.concatenate([case.swapped.ravel() for case in cases])
    free = [
        replace(case, source=np.zeros((len(z), z.shape[1])), target=np.zeros((z.shape[1], len(z))))
        for case, z in zip(cases, links, strict=True)
    ]
    total = sum(value(case, z) - case.scores[z].sum() for case, z in zip(free, links, strict=True))
    assert rewards == pytest.approx(total)


def test_wrong_calls_are_named() -> None:
    words = [np.zeros((1, 0)), np.zeros((2, 0))]
    with pytest.raises(ValueError, match=r"parallel rewards of shape \(3,\) for 2 edges"):
        best_quadratic([1.0, 1.0], [(1, 2)], *words, np.zeros(3), 0.0)
    for bad in (-0.1, np.nan, np.inf):
        with pytest.raises(ValueError, match="swapped rewards must be finite and at least 0"):
            best_quadratic([1.0, 1.0], [(1, 2)], *words, 0.0, bad)
    with pytest.raises(ValueError, match="at least 1"):
        best_quadratic([1.0, 1.0], [(1, 2)], *words, 0.0, 0.0, iterations=0)
    with pytest.raises(ValueError, match="at least 1 and 0"):
        best_quadratic([1.0, 1.0], [(1, 2)], *words, 0.0, 0.0, branches=-1)
    with pytest.raises(ScoreError, match="pair 0"):
        best_quadratic([1.0, np.inf], [(1, 2)], *words, 0.0, 0.0)
