"""The expectation step and posteriors of whole bitexts against the textbook recursions, pair by pair."""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from whole_texts import posteriors

from corpora.bitext import Bitext
from features.translation import counting, expectation
from features.translation.cells import Cells
from features.translation.counting import Chunks, Engine
from features.translation.expectation import Emissions, LexiconStart, LexiconTraining, Pass, Settings
from features.translation.jumps import LEAVING, REACHING, WIDTHS, WINDOW, Jumps, JumpWeights, fit_jumps, new_jumps
from features.translation.lexicon import KINDS, Table
from features.translation.training import train_translation

MakeBitext = Callable[..., Bitext]
U, P0 = 0.15, 0.3
WORDS = "chat chats château chien cab a b c x y z w".split()
SHAPES = [
    (0, 0), (0, 2), (2, 0), (1, 1), (1, 5), (5, 1), (2, 2), (4, 3), (3, 8), (2, 9), (3, 19), (24, 2), (30, 25),
    (25, 41), (60, 60), (3, 100), (100, 3), (1, 2), (3, 3), (2, 1),
]  # fmt: skip
"""About the window of jumps, and far beyond it."""


@pytest.fixture(scope="module")
def corpus(make_bitext: MakeBitext) -> Bitext:
    rng, often = np.random.default_rng(0), 0.5 ** np.arange(len(WORDS))
    return make_bitext([[rng.choice(WORDS, n, p=often / often.sum()).tolist() for n in shape] for shape in SHAPES])


def recursions(
    emission: np.ndarray, null: np.ndarray, words: np.ndarray, weights: JumpWeights | None
) -> tuple[np.ndarray, np.ndarray, float, Jumps | None]:
    """Posteriors (T, S), those of NULL (T,), the log likelihood and expected jumps; without weights of Model 1.

    States are the positions, as many NULLs that remember them, and the start, at which NULLs stay.
    """
    T, S = emission.shape
    if weights is None:
        both = np.hstack([(1 - P0) / S * emission, P0 * null[:, None]])
        totals = both.sum(axis=1)
        both /= totals[:, None]
        return both[:, :S], both[:, S], float(np.log(totals).sum()), None
    at, n = np.arange(S), min(S, WINDOW)
    width, group = np.minimum(np.abs(at - at[:, None]), WINDOW) * np.sign(at - at[:, None]) + WINDOW, weights.groups
    inside = weights.inside[LEAVING, group[words][:, None], width] * weights.inside[REACHING, group[words], width]
    inside *= np.abs(at - at[:, None]) <= WINDOW
    inside /= inside.sum(axis=1, keepdims=True)
    start, end = np.zeros(S), np.zeros(S)
    start[:n], end[:n] = weights.shared[:n], weights.shared[-WINDOW:][:n]
    start, end = start / start.sum(), end[::-1] / end.sum()
    leave, enter, final = ((1 - U) * chances + U / S for chances in (inside, start, end))
    moves = np.zeros((2 * S + 1, 2 * S + 1))
    moves[:, :S] = (1 - P0) * np.vstack([leave, leave, enter])
    moves[at, S + at] = moves[S + at, S + at] = moves[-1, -1] = P0
    emit = np.hstack([emission, np.repeat(null[:, None], S + 1, axis=1)])
    forward, backward = np.zeros((T + 1, 2 * S + 1)), np.zeros((T + 1, 2 * S + 1))
    forward[0, -1], likelihood = 1.0, 0.0
    for t in range(T):
        forward[t + 1] = forward[t] @ moves * emit[t]
        likelihood += math.log(forward[t + 1].sum())
        forward[t + 1] /= forward[t + 1].sum()
    backward[T] = *final, *final, 1.0 / S
    likelihood += math.log(forward[T] @ backward[T])
    moved = np.zeros_like(moves)
    for t in range(T - 1, -1, -1):
        step = forward[t][:, None] * moves * (emit[t] * backward[t + 1])
        moved += step / step.sum()
        backward[t] = moves @ (emit[t] * backward[t + 1])
        backward[t] /= backward[t].sum()
    found = forward[1:] * backward[1:]
    found /= found.sum(axis=1, keepdims=True)
    jumped = (moved[:S, :S] + moved[S:-1, :S]) * (1 - U) * inside / leave
    started = moved[-1, :S] * (1 - U) * start / enter
    ended = (found[-1, :S] + found[-1, S:-1]) * (1 - U) * end / final
    jumps, middle = new_jumps(group), np.bincount(width.ravel(), jumped.ravel(), WIDTHS)
    jumps.counts[:] = *np.resize(started, WINDOW), *middle, *np.resize(ended[::-1], WINDOW)
    jumps.counts[n:WINDOW] = jumps.counts[len(jumps.counts) - WINDOW + n :] = 0.0
    jumps.contexts[[0, 2], 0, n] = started.sum(), ended.sum()
    np.add.at(jumps.contexts[1], (np.minimum(at, WINDOW), np.minimum(S - 1 - at, WINDOW)), jumped.sum(axis=1))
    for side, groups in ((LEAVING, group[words][:, None]), (REACHING, group[words])):
        np.add.at(jumps.inside[side], (groups, width), jumped)
        np.add.at(jumps.needs[side], (groups, width), jumped.sum(axis=1, keepdims=True) * inside)
    return found[:, :S], found[:, S:].sum(axis=1), likelihood, jumps


def begin(corpus: Bitext, **changes: Any) -> LexiconTraining:
    plain = {"p0": P0, "uniform": U, "minimum_dice": 0.0, "minimum_count": 0.0}
    settings = Settings(**{**plain, **changes})
    return LexiconTraining("words", LexiconStart("words", corpus, settings), settings)


def emissions_of(training: LexiconTraining, seed: int, power: int = 1, null: float | None = None) -> Emissions:
    """Random ones of every word pair of the text."""
    rng = np.random.default_rng(seed)
    sizes = [training.cells.n_sources, training.cells.n_targets] * 3
    table, *others = (rng.random(size) ** power for size in ((len(training.cells) + 1, 2), *sizes))
    others[-2:] = (of if null is None else np.full(len(of), null) for of in others[-2:])
    return Emissions(*(array.astype(np.float32) for array in (table, *others)))


def cell_of(cells: Cells | Table) -> dict[tuple[int, int], int]:
    sources = np.repeat(np.arange(len(cells.row_offsets) - 1), np.diff(cells.row_offsets))
    return {pair: cell for cell, pair in enumerate(zip(sources.tolist(), cells.targets.tolist(), strict=True))}


@pytest.mark.parametrize("hmm", [False, True])
@pytest.mark.parametrize(("agreement", "chunk"), [(False, 1 << 8), (True, 1 << 24)])
def test_expected_counts_are_those_of_the_recursions(
    corpus: Bitext, agreement: bool, hmm: bool, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_CHUNK_BYTES", chunk)
    training, rng = begin(corpus, agreement=agreement, minimum_dice=0.3), np.random.default_rng(1)
    emissions = emissions_of(training, 1, power=3)
    assert all(1 < jumps.groups.max() + 1 < len(jumps.groups) for jumps in training.jumps)  # some words, not all
    training.jumps = tuple(
        JumpWeights(*(rng.random(array.shape) + 0.01 for array in jumps[:2]), jumps.groups) for jumps in training.jumps
    )
    training.count(emissions, hmm, None)
    found, cells = training.counts, cell_of(training.cells)
    counts = np.zeros((len(cells) + 1, 1 if agreement else 2))
    directions = [
        (np.zeros_like(one.null), new_jumps(w.groups)) for one, w in zip(found[1:3], training.jumps, strict=True)
    ]
    likelihoods, some = np.zeros(2), 0
    for pair in corpus:
        if len(pair.source) == 0 or len(pair.target) == 0:
            continue
        places = np.array([[cells.get((e, f), len(cells)) for f in pair.target.tolist()] for e in pair.source.tolist()])
        ours, theirs = pair.source[:, None], pair.target
        of_others = (  # which have no cell
            emissions.target_background[theirs] * emissions.source_scale[ours],
            emissions.source_background[ours] * emissions.target_scale[theirs],
        )
        some += np.count_nonzero(places == len(cells))
        links = []
        for side, (words, others) in enumerate([(pair.target, pair.source), (pair.source, pair.target)]):
            null = (emissions.null_target, emissions.null_source)[side][words].astype(float)
            table = np.where(places == len(cells), of_others[side], emissions.cells[places, side]).astype(float)
            table = table.T if side == 0 else table
            posterior, nulls, likelihood, jumps = recursions(table, null, others, training.jumps[side] if hmm else None)
            links.append(posterior.T if side == 0 else posterior)
            likelihoods[side] += likelihood
            np.add.at(directions[side][0], words, nulls)
            for total, array in zip(directions[side][1], jumps or (), strict=jumps is not None):
                total += array
        np.add.at(counts, places, np.stack([links[0] * links[1]] if agreement else links, axis=-1))
    assert some > 0
    np.testing.assert_allclose(found.cells[:-1], counts[:-1], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.log_likelihoods, likelihoods, rtol=1e-5)
    for one, (nulls, jumps), weights in zip(found[1:3], directions, training.jumps, strict=True):
        np.testing.assert_allclose(one.null, nulls, rtol=1e-4, atol=1e-5)
        if hmm:
            needs = one.jumps.needs * weights.inside
            for mine, true in zip(one.jumps._replace(needs=needs), jumps, strict=True):
                np.testing.assert_allclose(mine, true, rtol=1e-4, atol=2e-5)


def test_posteriors_are_those_of_the_recursions(corpus: Bitext) -> None:
    settings = Settings(p0=P0, uniform=U, minimum_dice=0.0, minimum_count=0.0)
    model = train_translation(corpus, settings, lexicons=["words"])
    found, tables = posteriors(model, corpus), model.tables["words"]
    cells, table = cell_of(tables.levels[0]), tables.levels[0].cells
    for i, pair in enumerate(corpus):
        J, K = len(pair.source), len(pair.target)
        if J == 0 or K == 0:
            continue
        places = np.array([[cells[e, f] for f in pair.target.tolist()] for e in pair.source.tolist()])
        edges = slice(found.offsets[i], found.offsets[i + 1])
        for side, (mine, at, null, words, chain) in enumerate(
            [
                (found.forward, places.T, tables.null_target[pair.target], pair.source, tables.chain.forward),
                (found.reverse, places, tables.null_source[pair.source], pair.target, tables.chain.reverse),
            ]
        ):
            posterior, _, likelihood, _ = recursions(table[at, side].astype(float), null.astype(float), words, chain)
            expected = posterior.T if side == 0 else posterior
            np.testing.assert_allclose(mine[edges].reshape(J, K), expected, rtol=1e-3, atol=1e-5)
            assert found.log_likelihoods[side, i] == pytest.approx(likelihood, rel=1e-4)


def test_very_long_sentences_and_tiny_probabilities_stay_finite(make_bitext: MakeBitext) -> None:
    text = make_bitext([([f"e{n}" for n in range(50)], [f"f{n}" for n in range(2000)])])
    training = begin(text, agreement=False)
    training.count(emissions_of(training, 1, power=40, null=1e-30), True, None)
    counts = training.counts
    for one, words, links in ((counts.forward, 2000, counts.cells[:, 0]), (counts.reverse, 50, counts.cells[:, 1])):
        assert links.sum() + one.null.sum() == pytest.approx(words, rel=1e-3)
        assert all(np.isfinite(array).all() for array in one.jumps)
    assert np.isfinite(counts.log_likelihoods).all()


def of_jumps(jumps: Jumps, weights: np.ndarray) -> float:
    """The log likelihood of jumps in the window, whatever their words, given how often and where each was chosen."""
    total = float(jumps.counts @ np.log(weights))
    start, inside, end = np.split(weights, [WINDOW, WINDOW + WIDTHS])
    for n in range(1, WINDOW + 1):
        total -= jumps.contexts[0, 0, n] * np.log(start[:n].sum()) + jumps.contexts[2, 0, n] * np.log(end[:n].sum())
    for left, right in product(range(WINDOW + 1), repeat=2):
        total -= jumps.contexts[1, left, right] * np.log(inside[WINDOW - left : WINDOW + right + 1].sum())
    return total


def test_fitted_jumps_are_likelier_and_a_fixed_point_is_a_maximum(make_bitext: MakeBitext) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        pairs = [[rng.choice(WORDS, n).tolist() for n in (S, 4)] for S in rng.integers(1, 30, 40).tolist()]
        training = begin(make_bitext(pairs))
        training.count(emissions_of(training, seed, power=3), True, None)
        jumps, weights = training.counts.forward.jumps, training.jumps[0]
        before = of_jumps(jumps, weights.shared)
        for _ in range(200):
            weights = fit_jumps(jumps, weights, 0.0)
            after = of_jumps(jumps, weights.shared)
            assert after >= before - 1e-9 * abs(before)
            before = after
        for _ in range(20):
            other = weights.shared * np.exp(0.05 * rng.standard_normal(len(weights.shared)))
            assert of_jumps(jumps, other) <= before + 1e-4


@pytest.mark.parametrize("agreement", [False, True])
def test_training_begins_with_an_even_pass(corpus: Bitext, agreement: bool) -> None:
    """As a pass of Model 1 in which all words are as likely, whatever they translate."""
    training = begin(corpus, agreement=agreement)
    found = [array.copy() for array in (training.counts.cells, *(one.null for one in training.counts[1:3]))]
    source, target = training.cells.n_sources, training.cells.n_targets
    even = [np.full(n, 1 / n, np.float32) for n in (source, target)]
    table = np.tile(np.float32([1 / target, 1 / source]), (len(training.cells) + 1, 1))
    training.count(Emissions(table, *even, *even, *even), False, None)
    counts = training.counts
    for one, other in zip(found, (counts.cells, counts.forward.null, counts.reverse.null), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_batches_are_averaged_so_that_later_ones_count_more(corpus: Bitext) -> None:
    def count(*batches: int) -> list[np.ndarray]:
        training = begin(corpus, batches=3)
        for array in (training.counts.cells, *(one.null for one in training.counts[1:3])):
            array[:] = 0.0
        for batch in batches:
            training.count(emissions_of(training, 1), True, batch)
        counts = training.counts
        return [counts.cells, *(a for d in (counts.forward, counts.reverse) for a in (d.null, *d.jumps))]

    shares = [(k + 2) ** -expectation._FORGETTING for k in range(3)]
    alone = [count(batch) for batch in range(3)]
    for found, *parts in zip(count(0, 1, 2), *alone, strict=True):
        mean = np.zeros_like(found)
        for share, part in zip(shares, parts, strict=True):
            mean = (1.0 - share) * mean + share * part / shares[0]
        np.testing.assert_allclose(found, mean, rtol=1e-5, atol=1e-4)
    assert 0.0 < shares[-1] < shares[0] < 1.0


class Shuffled(Engine):
    """Counts the chunks of a text in another order."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def expectation(self, bitext: Bitext, batches: int) -> Chunks:
        chunks = counting.cut_chunks(bitext)
        assert len(chunks) > 10
        return Chunks(bitext, [chunks[i] for i in self.rng.permutation(len(chunks)).tolist()], batches)


def test_sums_are_the_same_in_whatever_order(corpus: Bitext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_CHUNK_BYTES", 1 << 8)
    settings = Settings(batches=1, iterations_1=2)
    whole = train_translation(corpus, settings).to_arrays()
    for seed in range(3):
        found = train_translation(corpus, settings, engine=Shuffled(seed)).to_arrays()
        assert all(found[name].tobytes() == array.tobytes() for name, array in whole.items())


def test_merged_cells_are_those_of_both() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        n_source, n_target = rng.integers(1, 9, 2).tolist()
        one, other = rng.random((2, n_source, n_target)) < rng.random()
        cells = [
            Cells(np.append(0, np.cumsum(some.sum(axis=1))), np.nonzero(some)[1].astype(np.int32), n_target)
            for some in (one, other)
        ]
        merged, places = cells[0].merge(cells[1])
        every = cell_of(merged)
        assert list(every) == list(zip(*(axis.tolist() for axis in np.nonzero(one | other)), strict=True))
        assert [every[pair] for pair in cell_of(cells[0])] == places.tolist()


def test_time_that_is_up_leaves_one_pass_of_each_kind(corpus: Bitext) -> None:
    def kinds(seconds: float) -> list[tuple[str, bool]]:
        passes: list[Pass] = []
        train_translation(corpus, Settings(iterations_1=3, iterations_hmm=4, seconds=seconds), on_pass=passes.append)
        return [(found.lexicon, found.hmm) for found in passes]

    assert kinds(0.0) == [(name, hmm) for name in KINDS for hmm in (False, True)]
    every = [(name, hmm) for name in KINDS for hmm in [False] * (3 + KINDS[name].passes) + [True] * 4]
    assert kinds(3600.0) == kinds(math.inf) == every
