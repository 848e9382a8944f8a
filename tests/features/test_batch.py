"""What batches know of their edges, and which edges are candidates, against plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

from corpora.bitext import Bitext
from corpora.links import Links
from features.batch import EdgeBatch, EncodedText
from features.candidates import count_unlisted
from features.statistics import CorpusStatistics

if TYPE_CHECKING:
    from tests.features.conftest import Case


MakeBitext = Callable[..., Bitext]
MakeStatistics = Callable[[Bitext, float], CorpusStatistics]


def word_pairs(batch: EdgeBatch, bitext: Bitext) -> list[tuple[str, str]]:
    pairs = [bitext[i] for i in batch.pairs]
    return [(e, f) for pair in pairs for e in pair.source_words for f in pair.target_words]


def test_dice_is_that_of_a_pruned_table(case: Case, make_statistics: MakeStatistics) -> None:
    statistics = make_statistics(case.counted, 0.3)
    batch = EncodedText.of(case.bitext, statistics).batch(0, len(case.bitext))
    source, target, both = case.counts
    kept = {(e, f) for (e, f), n in both.items() if 2 * n >= 0.3 * (source[e] + target[f])}
    expected = [case.dice(e, f) if (e, f) in kept else 0.0 for e, f in word_pairs(batch, case.bitext)]
    assert np.array_equal(batch.dice, np.array(expected, np.float32))
    assert (batch.dice != case.batch.dice).any()


def test_word_pairs_are_the_distinct_ones(case: Case) -> None:
    batch, expected = case.batch, word_pairs(case.batch, case.bitext)
    source, target, of_edge = batch.rectangles
    words = case.bitext.source.vocabulary.words, case.bitext.target.vocabulary.words
    found = [(words[0][e], words[1][f]) for e, f in zip(source.tolist(), target.tolist(), strict=True)]
    assert [found[pair] for pair in of_edge.tolist()] == expected
    assert sorted(found) == sorted(set(expected))
    assert (np.diff(source) >= 0).all()  # those of a source word in one run
    assert len(found) < len(expected)


@pytest.mark.parametrize("known", [3, 4000])
def test_dice_of_words_with_long_and_short_rows(
    make_bitext: MakeBitext, make_statistics: MakeStatistics, known: int
) -> None:
    """Rows that are read ahead of the search, and rows that are not."""
    words = [f"w{i}" for i in range(known)]
    counted = make_bitext([(["a", "b"], words), (["a"], words[::2])])
    statistics = make_statistics(counted, 0.0)
    batch = EncodedText.of(make_bitext([(["a", "c", "b"], ["x", *words[:7], words[-1]])]), statistics).batch(0, 1)
    expected = [0, *(1 if i % 2 == 0 else np.float32(2 / 3) for i in [0, 1, 2, 3, 4, 5, 6, known - 1][:8])]
    if known == 3:
        expected = [0, 1, np.float32(2 / 3), 1, 1]
    assert batch.dice.reshape(3, -1)[0].tolist() == pytest.approx(expected)
    assert not batch.dice.reshape(3, -1)[1].any()


def best_two(line: np.ndarray) -> np.ndarray:
    """Which values of a line are above 0 and among its two highest, or equal to these."""
    return np.asarray((line > 0) & (line >= np.sort(line)[-2:][0]))


@pytest.mark.parametrize("posteriors", [True, False])
def test_listed_edges_are_those_of_the_rule(case: Case, posteriors: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    least = 0.7  # posteriors of so short sentences are high
    monkeypatch.setattr("features.batch.LEAST_DICE", least)
    monkeypatch.setattr("features.batch.LEAST", least)
    chosen = Links.from_sets([{(0, 0)} if es and fs else set() for es, fs, _ in case.matrices()])
    batch = EncodedText.of(case.bitext, case.statistics, posteriors=posteriors, others=[chosen]).batch(
        0, len(case.bitext)
    )
    expected: list[bool] = []
    signal, highest = case.batch.dice, case.batch.dice
    if posteriors:
        hmm = case.batch.posteriors.hmm
        signal, highest = case.batch.soft, np.maximum(hmm.forward, hmm.reverse)
    for es, fs, rows in case.matrices():
        if not es or not fs:
            continue
        matrix, most = (values[rows].reshape(len(es), len(fs)) for values in (signal, highest))
        likely = np.array([best_two(row) for row in matrix]) | np.array([best_two(column) for column in matrix.T]).T
        likely |= (most > least) | np.equal.outer(np.array(es, object), np.array(fs, object))
        likely[0, 0] = True
        expected += likely.ravel().tolist()
    marks = np.zeros(len(case.batch.dice), bool)
    marks[batch.cells] = True
    assert marks.tolist() == expected
    assert count_unlisted(batch.lists, chosen) == 0
    grids = ({(j, k) for j in range(len(es)) for k in range(len(fs))} for es, fs, _ in case.matrices())
    everywhere = Links.from_sets(grids)
    assert count_unlisted(batch.lists, everywhere) == np.count_nonzero(~marks)
    places = case.batch.lists.find(batch.lists.pairs, batch.lists.source, batch.lists.target)
    assert np.array_equal(places, batch.cells)
    assert 0.2 < marks.mean() < 0.9
    words, of_all = batch.word_pairs, batch.rectangles
    for side in (0, 1):
        assert np.array_equal(words[side][words.of_edge], of_all[side][of_all.of_edge][batch.cells])
        assert np.array_equal(words[side], of_all[side][batch.kept])
