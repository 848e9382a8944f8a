"""The lattice of one sentence against enumeration of all alignments and a plain twin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from features.translation._lattice_kernels import (
    END,
    INSIDE,
    LEAVING,
    N_JUMPS,
    START,
    WIDTHS,
    WINDOW,
    Jumps,
    JumpWeights,
    add_moves,
    find_moves,
    forward_backward,
    padded,
    prepare,
)
from features.translation._translation_kernels import DirectionCounts, make_lattice, make_moves
from features.translation.expected_counts import Direction
from features.translation.jumps import first_jumps, fit_jumps, group_words, new_jumps, with_groups

GROUPS = np.array([2, 0, 1, 0], np.int32)
SHAPES = [(1, 1), (1, 5), (5, 1), (2, 2), (4, 3), (3, WINDOW), (2, WINDOW + 1), (3, 2 * WINDOW + 3), (2, 3 * WINDOW)]


@dataclass
class Chain:
    """A random sentence of T words and S positions, of words of some groups, and its jumps from the formula."""

    T: int
    S: int
    seed: int = 0
    p0: float = 0.2
    uniform: float = 0.1
    groups: int = 3

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self.emission = rng.random((self.T, self.S)) ** 3
        self.null = rng.random(self.T) ** 3
        self.jumps = JumpWeights(
            rng.random(N_JUMPS) + 0.01,
            rng.random((2, self.groups, WIDTHS)) + 0.01,
            rng.integers(self.groups, size=5).astype(np.int32),
        )
        self.words = rng.integers(5, size=self.S).astype(np.int32)
        self.group = self.jumps.groups[self.words]
        self.weigh()

    def weigh(self) -> None:
        """The chances that follow from the weights."""
        S, u = self.S, self.uniform
        reach = np.arange(S)
        self.windowed = np.zeros((S, S))
        for s in range(S):
            for r in range(S):
                if abs(r - s) <= WINDOW:
                    leaving, reaching = self.jumps.inside[:, self.group[[s, r]], WINDOW + r - s].diagonal()
                    self.windowed[s, r] = leaving * reaching
        self.windowed *= (1 - u) / self.windowed.sum(axis=1, keepdims=True)
        start = np.where(reach < WINDOW, self.jumps.shared[START + np.minimum(reach, WINDOW - 1)], 0.0)
        end = np.where(reach < WINDOW, self.jumps.shared[END + np.minimum(reach, WINDOW - 1)], 0.0)
        self.start_windowed = (1 - u) * start / start.sum()
        self.end_windowed = ((1 - u) * end / end.sum())[::-1]

    def run(self) -> tuple[np.ndarray, np.ndarray, float, Jumps]:
        """Posteriors (T, S), those of NULL (T,), log likelihood and expected jumps by the kernels."""
        # Space for larger sentences, full of what others have left there.
        lattice = make_lattice(np.array([self.T + 3]), np.array([self.S + 17]))
        for array in lattice:
            array[:] = 7.0
        P = padded(self.S)
        emission = np.zeros((self.T, P), np.float32)
        emission[:, : self.S] = self.emission
        lattice.emission[: emission.size] = emission.ravel()
        lattice.null[: self.T] = self.null
        prepare(lattice, self.words, self.jumps, self.uniform, self.p0)
        log_likelihood = forward_backward(lattice, self.T, self.S, self.uniform, self.p0)
        jumps = new_jumps(np.arange(self.groups))
        moves = make_moves(self.T, self.S, hmm=True)
        find_moves(lattice, self.T, self.S, self.uniform, self.p0, moves, 0)
        add_moves(self.words, self.jumps.groups, moves, 0, jumps)
        jumps = jumps._replace(counts=moves.counts, contexts=moves.contexts)
        posterior = lattice.posterior[: self.T * P].reshape(self.T, P)[:, : self.S].copy()
        return posterior, lattice.null_posterior[: self.T].copy(), log_likelihood, jumps

    def add_inside(self, jumps: Jumps, left: int, width: int, chance: float) -> None:
        """Count a jump of a width from a position, and what was to be expected of all in reach, times their weights."""
        for side, at in enumerate((left, left + width - WINDOW)):
            jumps.inside[side, self.group[at], width] += chance
        for reached in range(self.S):
            other = WINDOW + reached - left
            expected = chance * self.windowed[left, reached] / (1 - self.uniform)
            for side, at in enumerate((left, reached)):
                if expected > 0:
                    jumps.needs[side, self.group[at], other] += expected

    def enumerate(self) -> tuple[np.ndarray, np.ndarray, float, Jumps]:
        """The same from all (S + 1)^T alignments."""
        S, u = self.S, self.uniform
        w = min(S, WINDOW)
        posterior, null = np.zeros((self.T, S)), np.zeros(self.T)
        jumps = new_jumps(np.arange(self.groups))
        total = 0.0
        for alignment in product(range(-1, S), repeat=self.T):
            chance, at = 1.0, -1
            inside: list[tuple[tuple[int, ...], int, float, int]] = []  # context, weight, share of the window, from
            for t, s in enumerate(alignment):
                if s < 0:
                    chance *= self.p0 * self.null[t]
                    continue
                windowed = self.start_windowed[s] if at < 0 else self.windowed[at, s]
                if at < 0:
                    where, weight = (0, 0, w), START + s
                else:
                    where = (1, min(at, WINDOW), min(S - 1 - at, WINDOW))
                    weight = INSIDE + WINDOW + s - at
                chance *= (1 - self.p0) * (windowed + u / S) * self.emission[t, s]
                if windowed > 0:
                    inside.append((where, weight, windowed / (windowed + u / S), at))
                at = s
            if at < 0:
                chance *= 1.0 / S
            else:
                windowed = self.end_windowed[at]
                chance *= windowed + u / S
                if windowed > 0:
                    inside.append(((2, 0, w), END + S - 1 - at, windowed / (windowed + u / S), at))
            total += chance
            for t, s in enumerate(alignment):
                if s < 0:
                    null[t] += chance
                else:
                    posterior[t, s] += chance
            for where, weight, share, left in inside:
                jumps.counts[weight] += chance * share
                jumps.contexts[where] += chance * share
                if where[0] == 1:
                    self.add_inside(jumps, left, weight - INSIDE, chance * share)
        return posterior / total, null / total, np.log(total), Jumps(*(array / total for array in jumps))


@pytest.mark.parametrize(("T", "S"), SHAPES)
def test_posteriors_and_expected_jumps_are_those_of_all_alignments(T: int, S: int) -> None:
    chain = Chain(T, S, seed=T * 100 + S)
    *found, jumps = chain.run()
    *expected, true_jumps = chain.enumerate()
    for mine, true in zip([*found, *jumps], [*expected, *true_jumps], strict=True):
        np.testing.assert_allclose(mine, true, rtol=2e-5, atol=1e-5)


def twin(chain: Chain) -> np.ndarray:
    """Posteriors by the textbook recursions on 2 S + 1 states: positions, NULLs that remember them, and the start."""
    S, p0 = chain.S, chain.p0
    move = (1 - p0) * (chain.windowed + chain.uniform / S)
    enter = (1 - p0) * (chain.start_windowed + chain.uniform / S)
    to_real = np.vstack([move, move, enter])
    transition = np.zeros((2 * S + 1, 2 * S + 1))
    transition[:, :S] = to_real
    for s in range(S):
        transition[s, S + s] = transition[S + s, S + s] = p0
    transition[2 * S, 2 * S] = p0
    emit = np.hstack([chain.emission, np.repeat(chain.null[:, None], S + 1, axis=1)])
    end = chain.end_windowed + chain.uniform / S
    final = np.concatenate([end, end, [1.0 / S]])
    before = np.zeros(2 * S + 1)
    before[-1] = 1.0
    forward = np.zeros((chain.T, 2 * S + 1))
    for t in range(chain.T):
        before = before @ transition * emit[t]
        before /= before.sum()
        forward[t] = before
    backward = np.zeros((chain.T, 2 * S + 1))
    backward[-1] = final
    for t in range(chain.T - 1, 0, -1):
        after = transition @ (emit[t] * backward[t])
        backward[t - 1] = after / after.sum()
    both = forward * backward
    both /= both.sum(axis=1, keepdims=True)
    return both[:, :S]


@pytest.mark.parametrize(("T", "S"), [(30, 25), (25, 41), (60, 60), (3, 100), (100, 3), (300, 40)])
def test_long_sentences_equal_the_textbook_recursions(T: int, S: int) -> None:
    chain = Chain(T, S, seed=T)
    posterior, null, log_likelihood, _ = chain.run()
    np.testing.assert_allclose(posterior, twin(chain), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(posterior.sum(axis=1) + null, 1.0, atol=1e-4)
    assert np.isfinite(log_likelihood)


def test_very_long_sentences_and_tiny_probabilities_stay_finite() -> None:
    chain = Chain(2000, 50, seed=1)
    chain.emission **= 40
    chain.null[:] = 1e-30
    posterior, null, log_likelihood, jumps = chain.run()
    assert np.isfinite(log_likelihood)
    assert all(np.isfinite(array).all() for array in jumps)
    np.testing.assert_allclose(posterior.sum(axis=1) + null, 1.0, atol=1e-3)


def expected_log_likelihood(jumps: Jumps, weights: np.ndarray) -> float:
    """Of the jumps in the window, whatever their words, given how often each width was chosen and in which contexts."""
    contexts = jumps.contexts
    total = float(jumps.counts @ np.log(weights))
    for n in range(1, WINDOW + 1):
        total -= contexts[0, 0, n] * np.log(weights[START : START + n].sum())
        total -= contexts[2, 0, n] * np.log(weights[END : END + n].sum())
    middle = INSIDE + WINDOW
    for left in range(WINDOW + 1):
        for right in range(WINDOW + 1):
            total -= contexts[1, left, right] * np.log(weights[middle - left : middle + right + 1].sum())
    return total


def total_jumps(chains: Iterable[Chain]) -> Jumps:
    return Jumps(*(np.sum(arrays, axis=0) for arrays in zip(*(chain.run()[-1] for chain in chains), strict=True)))


@pytest.mark.parametrize("seed", range(5))
def test_fitted_jumps_are_likelier_and_a_fixed_point_is_a_maximum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    jumps = total_jumps(Chain(4, S, seed=S) for S in rng.integers(1, 30, 40).tolist())
    weights = first_jumps(np.arange(3, dtype=np.int32))
    before = expected_log_likelihood(jumps, weights.shared)
    for _ in range(200):
        weights = fit_jumps(jumps, weights, 0.0)
        after = expected_log_likelihood(jumps, weights.shared)
        assert after >= before - 1e-9 * abs(before)
        before = after
    for _ in range(20):
        other = weights.shared * np.exp(0.05 * rng.standard_normal(N_JUMPS))
        assert expected_log_likelihood(jumps, other) <= before + 1e-4


def test_jumps_that_were_never_seen_stay_possible() -> None:
    groups = np.zeros(1, np.int32)
    jumps = new_jumps(groups)
    for smoothing in (0.0, 1.0):
        for mine, even in zip(fit_jumps(jumps, first_jumps(groups), smoothing), first_jumps(groups), strict=True):
            np.testing.assert_allclose(mine, even)
    jumps.counts[INSIDE + WINDOW + 1] = jumps.inside[:, 0, WINDOW + 1] = 5.0
    jumps.contexts[1, WINDOW, WINDOW] = 5.0
    jumps.needs[:] = 5.0
    weights = fit_jumps(jumps, first_jumps(groups), 0.0)
    for part in (weights.shared, weights.inside):
        assert (part > 0.0).all()
    assert weights.shared[INSIDE : INSIDE + WIDTHS].argmax() == WINDOW + 1
    assert (weights.inside.argmax(axis=2) == WINDOW + 1).all()


def test_a_group_that_never_jumped_jumps_as_all_do() -> None:
    jumps, weights = new_jumps(np.zeros(1, np.int32)), first_jumps(np.zeros(1, np.int32))
    jumps.inside[:], jumps.needs[:] = np.arange(WIDTHS), 1.0
    weights = fit_jumps(jumps, weights._replace(shared=np.random.default_rng(0).random(N_JUMPS)), 1.0)
    mean = weights.shared[INSIDE : INSIDE + WIDTHS] / weights.shared[INSIDE : INSIDE + WIDTHS].sum()
    more, even = with_groups(jumps, weights, GROUPS)
    np.testing.assert_allclose(even.inside[:, 1:], np.stack([[mean, mean], np.ones((2, WIDTHS))]))
    assert (even.inside[:, 0] == weights.inside[:, 0]).all()
    assert (more.inside[:, 1:] == 0.0).all()
    for smoothing in (0.0, 1.0):
        again = fit_jumps(more, even, smoothing)
        np.testing.assert_allclose(again.inside[:, 1:], even.inside[:, 1:])


def test_weights_that_are_kept_and_their_jumps_make_the_same_weights() -> None:
    jumps = total_jumps(Chain(4, S, seed=S) for S in range(2, 40))
    weights = JumpWeights(
        first_jumps(np.zeros(1, np.int32)).shared, np.random.default_rng(0).random((2, 3, WIDTHS)), GROUPS
    )
    weights.inside[LEAVING] /= weights.inside[LEAVING].sum(axis=1, keepdims=True)
    direction = Direction.from_counts(DirectionCounts(np.ones(2), jumps), weights)
    assert direction.frequent.tolist() == [2, 0]
    kept = direction.jump_weights(len(GROUPS))
    assert kept.groups.tolist() == GROUPS.tolist()
    np.testing.assert_allclose(kept.inside, weights.inside, rtol=1e-6)
    again = direction.counts(3, kept)
    assert again.null.tolist() == [1.0, 1.0, 0.0]
    np.testing.assert_allclose(fit_jumps(again.jumps, kept, 0.0).inside, kept.inside, rtol=1e-6)


def test_words_that_are_frequent_stay_groups_of_their_own() -> None:
    occurrences = np.array([100.0, 1.0, 10.0, 0.0, 9.0])
    assert group_words(occurrences).tolist() == [1, 0, 2, 0, 0]
    assert group_words(occurrences, np.array([0, 1], np.int32)).tolist() == [2, 1, 3, 0, 0]
