"""Laws of cutting words into pieces, in any script."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.translation.pieces import LETTERS, MOST, cut_word

SCRIPTS = "az", "áß", "аяё", "את", "اَي", "कख़ािु्", "กิ", "가힣", "ァん", "一龥", "\u1100\u1161\u11a8"
ALPHABET = sorted({chr(c) for ends in SCRIPTS for c in range(ord(min(ends)), ord(max(ends)) + 1)} | {"़", "्", "'"})


@given(st.text(st.sampled_from(ALPHABET), max_size=60))
def test_pieces_are_the_word_and_never_split_a_letter_from_its_marks(word: str) -> None:
    first, *others = cut_word(word)
    assert all(piece.startswith("\x01") for piece in others)
    pieces = [first, *(piece[1:] for piece in others)]
    assert "".join(pieces) == word
    assert len(pieces) <= MOST
    for before, piece in pairwise(pieces):
        assert not unicodedata.category(piece[0]).startswith("M")
        assert unicodedata.combining(before[-1]) != 9


@given(st.text("abcxyz", max_size=60))
def test_ascii_is_cut_by_letters(word: str) -> None:
    pieces = [piece.removeprefix("\x01") for piece in cut_word(word)]
    assert all(len(piece) == LETTERS for piece in pieces[: MOST - 1][:-1])
    assert "".join(pieces) == word


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("maison", ["mais", "on"]), ("les", ["les"]), ("étéé", ["étéé"]), ("e\u0301coles", ["e\u0301col", "es"]),
        ("日本語", ["日", "本", "語"]), ("カメラ", ["カ", "メ", "ラ"]), ("東ab", ["東", "ab"]),
        ("대통령은", ["대통", "령은"]), ("학교", ["학교"]), ("किताबें", ["किता", "बें"]),
        ("x" * 1000, ["xxxx"] * 7 + ["x" * 972]),
    ],
)  # fmt: skip
def test_words_of_many_scripts(word: str, pieces: list[str]) -> None:
    assert [piece.removeprefix("\x01") for piece in cut_word(word)] == pieces
