"""Statistics and words survive the arrays of a model file; arrays that do not fit are refused before a kernel reads."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from readings import cases

from corpora.bitext import Bitext
from corpora.normalize import romanized
from features.statistics import CorpusStatistics
from features.words import NUMERIC, PUNCTUATION, WordTable


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
    cases(
        """
        cooccurrence.row_offsets ¦ 0 2 2 4
        cooccurrence.row_offsets ¦ 0 2 4 4 4000
        cooccurrence.row_offsets ¦ 0 4 2 4 4
        cooccurrence.row_offsets ¦ 1 2 4 4 4
        cooccurrence.row_offsets ¦
        cooccurrence.counts ¦ 1 1
        cooccurrence.source_counts ¦ 1 1
        cooccurrence.target_counts ¦ 1
        source_words.offsets ¦ 0 1 6 7 800
        source_words.plain_offsets ¦ 0 1 6 7
        target_words.letters ¦ 97
        target_words.flags ¦ 0
        """
    ),
)
def test_what_does_not_fit_is_refused(statistics: CorpusStatistics, name: str, wrong: str) -> None:
    arrays = statistics.to_arrays()
    arrays[name] = np.array(wrong.split(), arrays[name].dtype)
    with pytest.raises(ValueError, match=r"offsets|counts|numbers of words"):
        CorpusStatistics.from_arrays(arrays)
    del arrays[name]
    with pytest.raises(KeyError):
        CorpusStatistics.from_arrays(arrays)


words = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=12)
ODD = ["", "a", "e\u0301te\u0301", "\u00e9t\u00e9", "\U0001d518\U0001f600", "中文", "\u0301", "a\u00a0b", "\x00", "Œ"]


def same(a: WordTable, b: WordTable) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in vars(a))


@given(words)
@example([])
@example(ODD)
def test_words_come_back_and_letters_are_code_points(given: list[str]) -> None:
    table = WordTable.from_words(given)
    assert table.words() == given
    assert len(table) == len(given)
    assert table.letters.tolist() == [ord(c) for word in given for c in word]
    assert table.plain_letters.tolist() == [ord(c) for word in given for c in romanized(word)]
    assert np.diff(table.offsets).tolist() == [len(word) for word in given]
    assert np.diff(table.plain_offsets).tolist() == [len(romanized(word)) for word in given]
    assert [a.dtype.name for a in (table.letters, table.offsets, table.flags)] == ["int32", "int64", "uint8"]


def test_half_a_surrogate_pair_is_a_letter() -> None:
    # Python gives such strings for undecodable bytes; they are no reason to refuse a sentence.
    assert WordTable.from_words(["a\udcff"]).letters.tolist() == [97, 0xDCFF]


@pytest.mark.parametrize(
    ("flags", "words"), [(0, "chat l' 中 !a"), (NUMERIC, "1990 1,990 x9 ٣ ½"), (PUNCTUATION, ". « $ ...")]
)
def test_flags(flags: int, words: str) -> None:
    assert WordTable.from_words(words.split()).flags.tolist() == [flags] * len(words.split())
