"""Candidates: which edges are listed, by trying them one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from corpora import SettingError
from corpora.alignment import Links
from features.batch import EncodedText
from features.candidates import count_unlisted
from features.extractor import FeatureSet

if TYPE_CHECKING:
    from tests.features.conftest import Case


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


def test_other_candidates_are_refused() -> None:
    with pytest.raises(SettingError, match=r"unknown candidates 'some'.*likely, all"):
        FeatureSet(candidates="some")
