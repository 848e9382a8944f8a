"""The spelling of each word of a vocabulary, as flat arrays."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from corpora.normalize import romanized
from corpora.ragged import I32, I64, U8, Array, Bools
from corpora.threads import shared_property

NUMERIC = 1
"""Flag: the word contains a digit."""
PUNCTUATION = 2
"""Flag: the word has no letter and no digit."""


@dataclass(frozen=True, eq=False)
class WordTable:
    """Letters and kinds of V words.

    letters: (L,) int32 code points of all words, one after another;  offsets: (V + 1,) int64.
    plain_letters, plain_offsets: the same words in Latin letters without accents.
    flags: (V,) uint8, NUMERIC | PUNCTUATION.
    """

    letters: I32
    offsets: I64
    plain_letters: I32
    plain_offsets: I64
    flags: U8

    def __len__(self) -> int:
        return len(self.flags)

    def check(self) -> None:
        """Raise ValueError if the arrays do not fit together."""
        check_offsets(self.offsets, len(self), self.letters)
        check_offsets(self.plain_offsets, len(self), self.plain_letters)

    @classmethod
    def from_words(cls, words: Sequence[str]) -> "WordTable":
        letters, offsets = pack_words(words)
        # Most words need no call, which takes longer than the test.
        plain_letters, plain_offsets = pack_words([word if word.isascii() else romanized(word) for word in words])
        flags = np.fromiter((0 if word.isalpha() else _flags(word) for word in words), np.uint8, len(words))
        return cls(letters, offsets, plain_letters, plain_offsets, flags)

    @shared_property
    def accented(self) -> Bools:
        """Whether each word, (V,), differs from its spelling in Latin letters without accents."""
        sizes = np.diff(self.offsets)
        differs: Bools = sizes != np.diff(self.plain_offsets)
        letters = self.letters[np.repeat(~differs, sizes)]
        plain = self.plain_letters[np.repeat(~differs, np.diff(self.plain_offsets))]
        owners = np.repeat(np.flatnonzero(~differs), sizes[~differs])
        differs[owners[letters != plain]] = True
        return differs

    def words(self) -> list[str]:
        return unpack_words(self.letters, self.offsets)

    @shared_property
    def index(self) -> Mapping[str, int]:
        """The place of each word."""
        return {word: i for i, word in enumerate(self.words())}


def check_offsets(offsets: I64, rows: int, *values: Array) -> None:
    """Raise ValueError unless the offsets divide each of the arrays into `rows` rows."""
    # Compared, not subtracted: differences of int64 wrap round.
    sound = offsets.shape == (rows + 1,) and offsets[0] == 0 and (offsets[1:] >= offsets[:-1]).all()
    if not sound or any(len(v) != offsets[-1] for v in values):
        raise ValueError("offsets do not fit what they divide")


def check_ids(ids: I32, words: int) -> None:
    """Raise ValueError unless all ids are from 0 to below the number of words."""
    if len(ids) and not (ids.min() >= 0 and ids.max() < words):
        raise ValueError("numbers of words do not fit the words")


def unpack_words(letters: I32, offsets: I64) -> list[str]:
    """The words that `pack_words` has packed."""
    text = letters.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [text[start:end] for start, end in pairwise(offsets.tolist())]


def pack_words(words: Sequence[str]) -> tuple[I32, I64]:
    """Pack words: their code points (L,), one word after another, and where each word begins, (V + 1,)."""
    offsets = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=offsets[1:])
    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), "<i4").astype(np.int32)
    return letters, offsets


def _flags(word: str) -> int:
    categories = {unicodedata.category(letter)[0] for letter in word}
    if "N" in categories:
        return NUMERIC
    return 0 if "L" in categories else PUNCTUATION
