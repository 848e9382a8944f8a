"""The lattice of one sentence against enumeration of all alignments and a plain twin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from features._lattice_kernels import (
    END,
    INSIDE,
    N_JUMPS,
    START,
    WIDTHS,
    WINDOW,
    Jumps,
    JumpWeights,
    count_jumps,
    forward_backward,
    make_lattice,
    mix,
    padded,
    prepare,
)
from features.jumps import even_jumps, fit_jumps, frequent_words, new_jumps, weigh_jumps, with_groups

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
            rng.random(N_JUMPS) + 0.01, rng.random((self.groups, WIDTHS)) + 0.01,
            rng.integers(self.groups, size=5).astype(np.int32),
        )  # fmt: skip
        self.words = rng.integers(5, size=self.S).astype(np.int32)
        self.group = self.jumps.groups[self.words]
        S, u = self.S, self.uniform
        reach = np.arange(S)
        self.windowed = np.zeros((S, S))
        for s in range(S):
            for r in range(S):
                if abs(r - s) <= WINDOW:
                    self.windowed[s, r] = self.jumps.inside[self.group[s], WINDOW + r - s]
        self.total = self.windowed.sum(axis=1)
        self.windowed *= (1 - u) / self.total[:, None]
        start = np.where(reach < WINDOW, self.jumps.shared[START + np.minimum(reach, WINDOW - 1)], 0.0)
        end = np.where(reach < WINDOW, self.jumps.shared[END + np.minimum(reach, WINDOW - 1)], 0.0)
        self.start_windowed = (1 - u) * start / start.sum()
        self.end_windowed = ((1 - u) * end / end.sum())[::-1]

    def run(self) -> tuple[np.ndarray, np.ndarray, float, Jumps]:
        """Posteriors (T, S), those of NULL (T,), log likelihood and expected jumps by the kernels."""
        # Space for larger sentences, full of what others have left there.
        lattice = make_lattice(self.T + 3, self.S + 17)
        for array in lattice:
            array[:] = 7.0
        P = padded(self.S)
        emission = np.zeros((self.T, P), np.float32)
        emission[:, : self.S] = self.emission
        lattice.emission[: emission.size] = emission.ravel()
        lattice.null[: self.T] = self.null
        prepare(lattice, self.words, self.jumps, self.uniform, self.p0)
        log_likelihood = forward_backward(lattice, self.T, self.S, self.uniform, self.p0)
        jumps = new_jumps(self.groups)
        count_jumps(lattice, self.T, self.words, self.jumps.groups, self.uniform, self.p0, jumps)
        posterior = lattice.posterior[: self.T * P].reshape(self.T, P)[:, : self.S].copy()
        return posterior, lattice.null_posterior[: self.T].copy(), log_likelihood, jumps

    def enumerate(self) -> tuple[np.ndarray, np.ndarray, float, Jumps]:
        """The same from all (S + 1)^T alignments."""
        S, u = self.S, self.uniform
        w = min(S, WINDOW)
        posterior, null = np.zeros((self.T, S)), np.zeros(self.T)
        jumps = new_jumps(self.groups)
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
                    group, reach = (
                        self.group[left],
                        np.abs(np.arange(WIDTHS) - WINDOW + left - (S - 1) / 2) <= (S - 1) / 2,
                    )
                    jumps.inside[group, weight - INSIDE] += chance * share
                    jumps.needs[group, reach] += chance * share / self.total[left]
        return posterior / total, null / total, np.log(total), Jumps(*(array / total for array in jumps))


@pytest.mark.parametrize(("T", "S"), SHAPES)
def test_posteriors_and_expected_jumps_are_those_of_all_alignments(T: int, S: int) -> None:
    chain = Chain(T, S, seed=T * 100 + S)
    *found, jumps = chain.run()
    *expected, true_jumps = chain.enumerate()
    for mine, true in zip([*found, *jumps], [*expected, *true_jumps], strict=True):
        np.testing.assert_allclose(mine, true, rtol=2e-5, atol=1e-6)


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


def test_model_1_is_bayes_rule() -> None:
    chain = Chain(6, 11, seed=3)
    lattice = make_lattice(6, 11)
    lattice.emission.reshape(6, -1)[:, :11] = chain.emission
    lattice.null[:] = chain.null
    log_likelihood = mix(lattice, 6, 11, 0.3)
    joint = np.hstack([0.7 / 11 * chain.emission, 0.3 * chain.null[:, None]])
    total = joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(lattice.posterior.reshape(6, -1)[:, :11], (joint / total)[:, :-1], rtol=1e-5)
    np.testing.assert_allclose(lattice.null_posterior, (joint / total)[:, -1], rtol=1e-5)
    assert log_likelihood == pytest.approx(np.log(total).sum(), rel=1e-5)


def expected_log_likelihood(jumps: np.ndarray, contexts: np.ndarray, weights: np.ndarray) -> float:
    """Of the jumps in the window, given how often each width was chosen and in which contexts."""
    total = float(jumps @ np.log(weights))
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
    weights = even_jumps()
    before = expected_log_likelihood(jumps.counts, jumps.contexts, weights)
    for _ in range(200):
        weights = fit_jumps(jumps, weights)
        after = expected_log_likelihood(jumps.counts, jumps.contexts, weights)
        assert after >= before - 1e-9 * abs(before)
        before = after
    for _ in range(20):
        other = weights * np.exp(0.05 * rng.standard_normal(N_JUMPS))
        assert expected_log_likelihood(jumps.counts, jumps.contexts, other) <= before + 1e-4


def test_jumps_that_were_never_seen_stay_possible() -> None:
    jumps = new_jumps(1)
    assert (fit_jumps(jumps, even_jumps()) == even_jumps()).all()
    jumps.counts[INSIDE + WINDOW + 1] = 5.0
    jumps.contexts[1, WINDOW, WINDOW] = 5.0
    weights = fit_jumps(jumps, even_jumps())
    assert (weights > 0.0).all()
    assert weights[INSIDE : INSIDE + WIDTHS].argmax() == WINDOW + 1


FREQUENT = np.array([2, 0], np.int32)


@pytest.mark.parametrize("pseudo_count", [0.0, 1.0, 50.0])
def test_weights_of_a_group_are_likelier_than_those_it_jumped_by(pseudo_count: float) -> None:
    """With the pseudo-counts as more jumps: choices among all widths."""
    chains = [Chain(4, S, seed=S, groups=1) for S in range(2, 30)]
    inside = np.random.default_rng(0).random((1, WIDTHS))
    for chain in chains:
        chain.jumps = chain.jumps._replace(inside=inside / inside.sum())
    jumps = total_jumps(chains)
    shared = fit_jumps(jumps, even_jumps())
    mean = shared[INSIDE : INSIDE + WIDTHS] / shared[INSIDE : INSIDE + WIDTHS].sum()
    counts, contexts = jumps.counts.copy(), jumps.contexts.copy()
    counts[INSIDE : INSIDE + WIDTHS] += pseudo_count * mean
    contexts[1, WINDOW, WINDOW] += pseudo_count

    def likelihood(inside: np.ndarray) -> float:
        weights = even_jumps()
        weights[INSIDE : INSIDE + WIDTHS] = inside
        return expected_log_likelihood(counts, contexts, weights)

    found = weigh_jumps(jumps, shared, FREQUENT[:0], 3, pseudo_count)
    assert found.inside.sum() == pytest.approx(1.0)
    assert likelihood(found.inside[0]) > likelihood(chains[0].jumps.inside[0])


def test_a_group_that_never_jumped_jumps_as_all_do() -> None:
    jumps = with_groups(new_jumps(1), 3)
    jumps.inside[1], jumps.needs[1] = np.arange(WIDTHS), 1.0
    shared = np.random.default_rng(0).random(N_JUMPS)
    mean = shared[INSIDE : INSIDE + WIDTHS] / shared[INSIDE : INSIDE + WIDTHS].sum()
    for pseudo_count in (0.0, 30.0):
        found = weigh_jumps(jumps, shared, FREQUENT, 4, pseudo_count)
        np.testing.assert_allclose(found.inside[[0, 2]], [mean, mean])
        assert found.inside[1].argmax() == WIDTHS - 1
    assert found.groups.tolist() == [2, 0, 1, 0]
    assert (found.shared == shared).all()


def test_words_that_are_frequent_stay_groups_of_their_own() -> None:
    occurrences = np.array([100.0, 1.0, 10.0, 0.0, 9.0])
    assert frequent_words(occurrences, FREQUENT[:0]).tolist() == [0, 2]
    assert frequent_words(occurrences, np.array([4, 2], np.int32)).tolist() == [4, 2, 0]
