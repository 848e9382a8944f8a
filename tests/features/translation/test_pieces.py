"""Laws of cutting words into pieces, in any script."""

import unicodedata
from collections import Counter
from collections.abc import Callable
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.bitext import Bitext
from features.cooccurrence import count_cooccurrences
from features.translation import pieces
from features.translation.pieces import LETTERS, MOST, Units, cut_word

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


def test_a_text_of_pieces_is_cut_where_it_is_looked_at(
    make_bitext: Callable[..., Bitext], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "_WORDS_AT_ONCE", 3)
    sentences = [["maison", "les"], [], ["les"], ["x" * 100, "maison", "étéé", "écolesécoles", "les"], [], ["日本語"]]
    bitext = make_bitext([(sentence, sentence[::-1]) for sentence in sentences])
    expected = [[piece for word in sentence for piece in cut_word(word)] for sentence in sentences]
    text = Units.of(bitext.source.vocabulary.words, whole=False).text(bitext.source)
    names = text.vocabulary.words
    for first in range(len(sentences)):
        assert [names[i] for i in text.sentence(first).tolist()] == expected[first]
        for last in range(first, len(sentences) + 1):
            ids, offsets = text.cut(first, last)
            assert [names[i] for i in ids.tolist()] == [*chain(*expected[first:last])]
            assert np.diff(offsets).tolist() == [*map(len, expected[first:last])]
    assert text.lengths.tolist() == [*map(len, expected)]
    assert dict(zip(names, text.occurrences.tolist(), strict=True)) == Counter(chain(*expected))
    some = text.take(np.array([3, 4, 0]))
    assert [names[i] for i in some.cut(0, 3)[0].tolist()] == expected[3] + expected[0]
    assert some.lengths.tolist() == [len(expected[3]), 0, len(expected[0])]
    of_pieces = make_bitext([(sentence, sentence) for sentence in expected])
    one, other = count_cooccurrences(Bitext(text, text)), count_cooccurrences(of_pieces)
    assert one.targets.tolist() == other.targets.tolist()
    assert one.counts.tolist() == other.counts.tolist()
