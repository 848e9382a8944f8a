"""The expectation step and posteriors of whole bitexts against all alignments of each sentence pair, one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from whole_texts import posteriors

from corpora.bitext import Bitext
from features.translation import counting, expectation
from features.translation._lattice_kernels import END, LEAVING, N_JUMPS, REACHING, START, WINDOW, JumpWeights
from features.translation._translation_kernels import Chain, Counts, DirectionCounts, Emissions
from features.translation.cells import Cells
from features.translation.expectation import LexiconStart, LexiconTraining, Pass, Settings
from features.translation.jumps import new_jumps
from features.translation.lexicon import KINDS, Table
from features.translation.training import train_translation

U, P0 = 0.15, 0.3


@pytest.fixture(scope="module")
def corpus(make_bitext: Callable[..., Bitext]) -> Bitext:
    rng = np.random.default_rng(0)
    words = "chat chats château chien cab a".split()
    pairs = [tuple(rng.choice(words, n).tolist() for n in lengths) for lengths in rng.integers(0, 5, (25, 2)).tolist()]
    return make_bitext([*pairs, (["a"] * 2, ["a", "b"] * 2), (["chien"], ["x"])])


def jump(jumps: JumpWeights, states: np.ndarray, before: int | None, after: int | None) -> float:
    """p(after | before) but for NULL; before the sentence, and after it, there is None.  states: (S,) words."""
    S = len(states)
    reach = range(S)
    if before is None and after is None:
        return 1.0 / S
    if before is None:
        weights = {s: jumps.shared[START + s] for s in reach if s < WINDOW}
    elif after is None:
        before, after = None, S - 1 - before
        weights = {s: jumps.shared[END + s] for s in reach if s < WINDOW}
    else:
        group = jumps.groups[states]
        weights = {
            s: jumps.inside[LEAVING, group[before], WINDOW + s - before]
            * jumps.inside[REACHING, group[s], WINDOW + s - before]
            for s in reach
            if abs(s - before) <= WINDOW
        }
    return (1 - U) * weights.get(after, 0.0) / sum(weights.values()) + U / S


def all_alignments(
    emission: np.ndarray, null: np.ndarray, states: np.ndarray, jumps: JumpWeights | None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Posteriors (T, S), those of NULL (T,) and the log likelihood; without jumps of Model 1."""
    T, S = emission.shape
    posterior, nulls, total = np.zeros((T, S)), np.zeros(T), 0.0
    for alignment in product([None, *range(S)], repeat=T):
        chance, at = 1.0, None
        for t, s in enumerate(alignment):
            if s is None:
                chance *= P0 * null[t]
                continue
            chance *= (1 - P0) * (1.0 / S if jumps is None else jump(jumps, states, at, s)) * emission[t, s]
            at = s
        if jumps is not None:
            chance *= jump(jumps, states, at, None)
        total += chance
        for t, s in enumerate(alignment):
            if s is None:
                nulls[t] += chance
            else:
                posterior[t, s] += chance
    return posterior / total, nulls / total, math.log(total)


def settings(**changes: Any) -> Settings:
    plain = {
        "iterations_1": 2, "iterations_hmm": 2, "agreement": True, "p0": P0, "uniform": U, "smoothing": 1.0,
        "minimum_dice": 0.0, "minimum_count": 0.0,
    }  # fmt: skip
    return Settings(**{**plain, **changes})


def begin(corpus: Bitext, settings: Settings) -> LexiconTraining:
    return LexiconTraining("words", LexiconStart("words", corpus, settings), settings)


def cell_of(cells: Cells | Table) -> dict[tuple[int, int], int]:
    sources = np.repeat(np.arange(len(cells.row_offsets) - 1), np.diff(cells.row_offsets))
    return {pair: cell for cell, pair in enumerate(zip(sources.tolist(), cells.targets.tolist(), strict=True))}


@pytest.mark.parametrize("hmm", [False, True])
@pytest.mark.parametrize("agreement", [False, True])
@pytest.mark.parametrize("chunk", [1 << 8, 1 << 24])
def test_expected_counts_are_those_of_all_alignments(
    corpus: Bitext, agreement: bool, hmm: bool, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_CHUNK_BYTES", chunk)
    training = begin(corpus, settings(agreement=agreement))
    rng = np.random.default_rng(1)
    n_source, n_target = len(corpus.source.vocabulary), len(corpus.target.vocabulary)
    table = rng.random((len(training.cells) + 1, 2)).astype(np.float32)
    null_source, null_target = rng.random(n_source).astype(np.float32), rng.random(n_target).astype(np.float32)
    ones = np.ones(n_source, np.float32), np.ones(n_target, np.float32)
    emissions = Emissions(table, *ones, *ones, null_source, null_target)
    assert all(0 < jumps.groups.max() < len(jumps.groups) - 1 for jumps in training.jumps)  # some words, not all
    training.jumps = tuple(
        JumpWeights(rng.random(N_JUMPS), rng.random(jumps.inside.shape), jumps.groups) for jumps in training.jumps
    )
    training.count(emissions, hmm, None)
    found = training.counts

    cells = cell_of(training.cells)
    counts = np.zeros((len(cells), 1 if agreement else 2))
    nulls, likelihoods = (np.zeros(n_source), np.zeros(n_target)), np.zeros(2)
    for pair in corpus:
        if len(pair.source) == 0 or len(pair.target) == 0:
            continue
        places = np.array([[cells[e, f] for f in pair.target.tolist()] for e in pair.source.tolist()])
        forward, into, one = all_alignments(
            table[places.T, 0], null_target[pair.target], pair.source, training.jumps[0] if hmm else None
        )
        reverse, back, other = all_alignments(
            table[places, 1], null_source[pair.source], pair.target, training.jumps[1] if hmm else None
        )
        likelihoods += one, other
        np.add.at(nulls[1], pair.target, into)
        np.add.at(nulls[0], pair.source, back)
        if agreement:
            np.add.at(counts[:, 0], places, forward.T * reverse)
        else:
            np.add.at(counts[:, 0], places, forward.T)
            np.add.at(counts[:, 1], places, reverse)
    np.testing.assert_allclose(found.cells[:-1], counts, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.reverse.null, nulls[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.forward.null, nulls[1], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.log_likelihoods, likelihoods, rtol=1e-5)


@pytest.mark.parametrize("agreement", [False, True])
def test_training_begins_with_an_even_pass(corpus: Bitext, agreement: bool) -> None:
    """As a pass of Model 1 in which all words are as likely, whatever they translate."""
    training = begin(corpus, settings(agreement=agreement))
    found = training.counts.cells[:-1].copy(), training.counts.forward.null.copy(), training.counts.reverse.null.copy()
    source, target = (len(text.vocabulary) for text in (corpus.source, corpus.target))
    table = np.tile(np.float32([1 / target, 1 / source]), (len(training.cells) + 1, 1))
    even = [np.full(n, 1 / n, np.float32) for n in (source, target)]
    ones = [np.ones(n, np.float32) for n in (source, target)]
    training.count(Emissions(table, *ones, *ones, *even), False, None)
    counts = training.counts
    for one, other in zip(found, (counts.cells[:-1], counts.forward.null, counts.reverse.null), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_batches_are_averaged_so_that_later_ones_count_more(corpus: Bitext) -> None:
    def count(training: LexiconTraining, *batches: int) -> list[np.ndarray]:
        table = np.random.default_rng(1).random((len(training.cells) + 1, 2)).astype(np.float32)
        ones = [np.ones(len(text.vocabulary), np.float32) for text in (corpus.source, corpus.target) * 3]
        for batch in batches:
            training.count(Emissions(table, *ones), True, batch)
        counts = training.counts
        return [counts.cells, *(a for d in (counts.forward, counts.reverse) for a in (d.null, *d.jumps))]

    def fresh() -> LexiconTraining:
        training = begin(corpus, settings(batches=3))
        training.counts.cells[:] = 0.0
        for direction in (training.counts.forward, training.counts.reverse):
            direction.null[:] = 0.0
        return training

    shares = [(k + 2) ** -expectation._FORGETTING for k in range(3)]
    alone = [count(fresh(), batch) for batch in range(3)]
    for found, *parts in zip(count(fresh(), 0, 1, 2), *alone, strict=True):
        mean = np.zeros_like(found)
        for share, part in zip(shares, parts, strict=True):
            mean = (1.0 - share) * mean + share * part / shares[0]
        np.testing.assert_allclose(found, mean, rtol=1e-5, atol=1e-5)
    assert 0.0 < shares[-1] < shares[0] < 1.0


@pytest.mark.parametrize("hmm", [False, True])
def test_sums_are_the_same_in_whatever_order_and_groups(
    corpus: Bitext, hmm: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_CHUNK_BYTES", 1 << 8)
    rng = np.random.default_rng(3)
    training = begin(corpus, settings())
    table = rng.random((len(training.cells) + 1, 2)).astype(np.float32)
    words = [len(text.vocabulary) for text in (corpus.source, corpus.target) * 3]
    emissions = Emissions(table, *(rng.random(n).astype(np.float32) for n in words))
    weights = [jumps._replace(inside=rng.random(jumps.inside.shape)) for jumps in training.jumps]
    chunks = counting.cut_chunks(corpus)
    assert len(chunks) > 10

    def count(*groups: np.ndarray) -> list[bytes]:
        total: list[np.ndarray] = []
        for group in groups:
            sums = [
                DirectionCounts(np.zeros(n), new_jumps(w.groups)) for n, w in zip(words[1::-1], weights, strict=True)
            ]
            counts = Counts(np.zeros((len(table), 1)), *sums, np.zeros(2))
            part = counting.Chunks(corpus, [chunks[i] for i in group.tolist()], 1)
            part.use(training.cells)
            part.add(emissions, Chain(*weights, U, P0), hmm, None, counts)
            arrays = [counts.cells, counts.log_likelihoods, *(a for d in counts[1:3] for a in (d.null, *d.jumps))]
            total = [a + b for a, b in zip(total, arrays, strict=True)] if total else arrays
        return [array.tobytes() for array in total]

    whole = count(np.arange(len(chunks)))
    for _ in range(5):
        order = rng.permutation(len(chunks))
        assert count(order) == count(*np.array_split(order, 3)) == whole


@pytest.mark.parametrize("lexicons", [["words"]])
def test_posteriors_are_those_of_all_alignments(corpus: Bitext, lexicons: list[str]) -> None:
    model = train_translation(
        corpus, Settings(p0=P0, uniform=U, minimum_dice=0.0, minimum_count=0.0), lexicons=lexicons
    )
    found = posteriors(model, corpus)
    classes = {
        name: [
            [model.classes[name][0][side][word] for word in text.vocabulary.words]
            for side, text in enumerate((corpus.source, corpus.target))
        ]
        for name in model.tables
    }
    for i, pair in enumerate(corpus):
        J, K = len(pair.source), len(pair.target)
        if J == 0 or K == 0:
            continue
        forward, reverse = np.zeros((J, K)), np.zeros((J, K))
        for name, tables in model.tables.items():
            cells, table = cell_of(tables.levels[0]), tables.levels[0].cells
            es = [classes[name][0][e] for e in pair.source.tolist()]
            fs = [classes[name][1][f] for f in pair.target.tolist()]
            places = np.array([[cells[e, f] for f in fs] for e in es])
            forward += all_alignments(table[places.T, 0], tables.null_target[fs], np.array(es), tables.chain.forward)[
                0
            ].T
            reverse += all_alignments(table[places, 1], tables.null_source[es], np.array(fs), tables.chain.reverse)[0]
        edges = slice(found.offsets[i], found.offsets[i + 1])
        np.testing.assert_allclose(found.forward[edges].reshape(J, K), forward / len(lexicons), rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(found.reverse[edges].reshape(J, K), reverse / len(lexicons), rtol=1e-3, atol=1e-5)


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
        assert set(every) == set(zip(*map(list, np.nonzero(one | other)), strict=True))
        assert list(every) == sorted(every)
        assert [every[pair] for pair in cell_of(cells[0])] == places.tolist()


def test_time_that_is_up_leaves_one_pass_of_each_kind(corpus: Bitext) -> None:
    def kinds(seconds: float) -> list[tuple[str, bool]]:
        passes: list[Pass] = []
        train_translation(corpus, Settings(iterations_1=3, iterations_hmm=4, seconds=seconds), on_pass=passes.append)
        return [(found.lexicon, found.hmm) for found in passes]

    assert kinds(0.0) == [(name, hmm) for name in KINDS for hmm in (False, True)]
    every = [(name, hmm) for name in KINDS for hmm in [False] * (3 + KINDS[name].passes) + [True] * 4]
    assert kinds(3600.0) == kinds(math.inf) == every
