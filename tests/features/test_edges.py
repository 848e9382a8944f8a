"""What batches know of their edges, against plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

from corpora.bitext import Bitext
from features import edges
from features.edges import EdgeBatch, Encoded
from features.statistics import CorpusStatistics

if TYPE_CHECKING:
    from tests.features.conftest import Case

MakeBitext = Callable[..., Bitext]


def word_pairs(batch: EdgeBatch, bitext: Bitext) -> list[tuple[str, str]]:
    pairs = [bitext[i] for i in batch.pairs]
    return [(e, f) for pair in pairs for e in pair.source_words for f in pair.target_words]


def test_vocabulary_of_the_batch(case: Case) -> None:
    ids = {word: i for i, word in enumerate(case.counted.source.vocabulary.words)}
    words, table = case.bitext.source.vocabulary.words, case.batch.source_words
    assert table.table.words() == words
    assert table.known.tolist() == [ids.get(word, -1) for word in words]
    assert table.counts.tolist() == [case.counts[0][word] for word in words]
    assert (table.known >= 0).any()
    assert (table.known < 0).any()


def test_dice_of_every_edge(case: Case) -> None:
    expected = [case.dice(e, f) for e, f in word_pairs(case.batch, case.bitext)]
    assert np.array_equal(case.batch.dice, np.array(expected, np.float32))
    assert len(set(expected)) > 5


def test_dice_is_that_of_a_pruned_table(case: Case) -> None:
    statistics = CorpusStatistics.from_bitext(case.counted, minimum_dice=0.3)
    batch = Encoded(case.bitext, statistics).batch(0, len(case.bitext))
    table = statistics.cooccurrence
    expected = [
        table.dice(statistics.source_ids[e], statistics.target_ids[f])
        if e in statistics.source_ids and f in statistics.target_ids
        else 0.0
        for e, f in word_pairs(batch, case.bitext)
    ]
    assert np.array_equal(batch.dice, np.array(expected, np.float32))
    assert (batch.dice != case.batch.dice).any()


@pytest.mark.parametrize("slots", [1, 2, 8, edges._TWIN_SLOTS])
def test_twins_are_earlier_edges_of_the_same_words(case: Case, monkeypatch: pytest.MonkeyPatch, slots: int) -> None:
    batch, expected = case.batch, word_pairs(case.batch, case.bitext)
    out = np.empty(len(expected), np.int32)
    whole = edges._TWIN_SLOTS
    monkeypatch.setattr(edges, "_TWIN_SLOTS", slots)  # so few that word pairs push each other out
    with np.errstate(over="ignore"):
        edges._find_twins.py_func(  # type: ignore[no-untyped-call]
            batch.source_tokens, batch.target_tokens, batch.source_offsets, batch.target_offsets, batch.offsets,
            len(batch.target_words.table), out,
        )  # fmt: skip
    twins = np.flatnonzero(out >= 0).tolist()
    assert all(out[t] < t and expected[out[t]] == expected[t] for t in twins)
    if slots == whole:
        assert np.array_equal(out, batch.twins)
        # Nothing is pushed out of a memory this large: every edge but the first of its words has a twin.
        assert len(twins) == len(expected) - len(set(expected))


def test_twins_when_word_pairs_push_each_other_out(make_bitext: MakeBitext) -> None:
    words = [f"w{i}" for i in range(300)]
    bitext = make_bitext([(words, words), (words, words)])
    batch = Encoded(bitext, CorpusStatistics.from_bitext(bitext)).batch(0, 2)
    expected = np.arange(300 * 300)  # edges of the second pair have the words of the first's
    second = batch.twins[300 * 300 :]
    found = second >= 0
    assert np.array_equal(second[found], expected[found])
    assert (batch.twins[: 300 * 300] == -1).all()
    assert not found.all()
    assert np.array_equal(batch.dice, np.ones(2 * 300 * 300, np.float32))


def test_mutual_best(case: Case) -> None:
    for es, fs, rows in case.matrices():
        dice = case.dice_matrix(es, fs)
        expected = [
            dice[j, k] > 0 and dice[j, k] >= dice[j].max() and dice[j, k] >= dice[:, k].max()
            for j in range(len(es))
            for k in range(len(fs))
        ]
        assert case.batch.mutual_best[rows].tolist() == expected
    assert 0 < case.batch.mutual_best.mean() < 1


@pytest.mark.parametrize("first", [0, 3, 9, 12])
def test_a_batch_in_the_middle(case: Case, first: int) -> None:
    last = len(case.bitext) - 2
    batch = Encoded(case.bitext, case.statistics).batch(first, last)
    rows = slice(case.batch.offsets[first], case.batch.offsets[last])
    assert np.array_equal(batch.shapes, case.batch.shapes[first:last])
    assert batch.offsets[0] == 0
    assert np.array_equal(batch.dice, case.batch.dice[rows])
    assert np.array_equal(batch.mutual_best, case.batch.mutual_best[rows])
