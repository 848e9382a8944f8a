"""A word table gives back its words, and knows what kinds they are of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpora.normalize import romanized
from features.words import NUMERIC, PUNCTUATION, WordTable

words = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=12)
ODD = ["", "a", "e\u0301te\u0301", "\u00e9t\u00e9", "\U0001d518\U0001f600", "中文", "\u0301", "a\u00a0b", "\x00", "Œ"]


def same(a: WordTable, b: WordTable) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in vars(a))


@settings(deadline=None)
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
    ("word", "flags"),
    [
        ("chat", 0), ("l'", 0), ("1990", NUMERIC), ("1,990", NUMERIC), ("x9", NUMERIC), ("٣", NUMERIC),
        ("½", NUMERIC), (".", PUNCTUATION), ("«", PUNCTUATION), ("$", PUNCTUATION), ("...", PUNCTUATION), ("中", 0),
        ("!a", 0),
    ],
)  # fmt: skip
def test_flags(word: str, flags: int) -> None:
    assert WordTable.from_words([word]).flags.tolist() == [flags]
