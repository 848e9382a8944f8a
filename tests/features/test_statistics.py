"""Statistics survive a model file's arrays, and arrays that do not fit are refused before a kernel reads them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from corpora.bitext import Bitext
from features.statistics import CorpusStatistics


@pytest.fixture
def statistics(make_bitext: Callable[..., Bitext]) -> CorpusStatistics:
    return CorpusStatistics.from_bitext(make_bitext([(["a", "house"], ["une", "maison"]), (["é", "1"], [])]))


def test_round_trip(statistics: CorpusStatistics, make_bitext: Callable[..., Bitext]) -> None:
    assert statistics.source_ids == {"a": 0, "house": 1, "é": 2, "1": 3}, "ids are rows"
    assert statistics.target_ids == {"une": 0, "maison": 1}
    for one in (statistics, CorpusStatistics.from_bitext(make_bitext([]))):
        arrays = one.to_arrays()
        again = CorpusStatistics.from_arrays(arrays)
        assert (again.source_ids, again.target_ids) == (one.source_ids, one.target_ids)
        assert again.cooccurrence.pairs == one.cooccurrence.pairs
        for name, array in again.to_arrays().items():
            assert array.dtype == arrays[name].dtype
            assert np.array_equal(array, arrays[name])


@pytest.mark.parametrize("nothing", [[], [(["a", "new"], [])], [([], ["neuf"]), ([], [])]])
def test_text_without_words_on_a_side_adds_nothing(
    nothing: list[tuple[list[str], list[str]]], statistics: CorpusStatistics, make_bitext: Callable[..., Bitext]
) -> None:
    updated = statistics.updated(make_bitext(nothing))
    arrays = CorpusStatistics.from_arrays(updated.to_arrays()).to_arrays()
    for name, array in statistics.to_arrays().items():
        assert np.array_equal(array, arrays[name]), name


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("cooccurrence.row_offsets", [0, 2, 2, 4]), ("cooccurrence.row_offsets", [0, 2, 4, 4, 4000]),
        ("cooccurrence.row_offsets", [0, 4, 2, 4, 4]), ("cooccurrence.row_offsets", [1, 2, 4, 4, 4]),
        ("cooccurrence.row_offsets", []), ("cooccurrence.counts", [1, 1]), ("cooccurrence.source_counts", [1, 1]),
        ("cooccurrence.target_counts", [1]), ("source_words.offsets", [0, 1, 6, 7, 800]),
        ("source_words.plain_offsets", [0, 1, 6, 7]), ("target_words.letters", [97]), ("target_words.flags", [0]),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(statistics: CorpusStatistics, name: str, wrong: list[int]) -> None:
    arrays = statistics.to_arrays()
    arrays[name] = np.array(wrong, arrays[name].dtype)
    with pytest.raises(ValueError, match=r"offsets|counts|numbers of words"):
        CorpusStatistics.from_arrays(arrays)
    del arrays[name]
    with pytest.raises(KeyError):
        CorpusStatistics.from_arrays(arrays)
