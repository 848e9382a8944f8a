"""What spelling features need to know of each word of a vocabulary, as flat arrays."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from corpora.normalize import unaccented
from corpora.threads import shared_property

NUMERIC = 1
"""Flag: the word contains a digit."""
PUNCTUATION = 2
"""Flag: the word has no letter and no digit."""


@dataclass(frozen=True, eq=False)
class WordTable:
    """Letters and kinds of V words.

    letters: (L,) int32 code points of all words, one after another;  offsets: (V + 1,) int64.
    plain_letters, plain_offsets: the same words without accents.  flags: (V,) uint8, NUMERIC | PUNCTUATION.
    """

    letters: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    plain_letters: npt.NDArray[np.int32]
    plain_offsets: npt.NDArray[np.int64]
    flags: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.flags)

    @classmethod
    def from_words(cls, words: Sequence[str]) -> WordTable:
        letters, offsets = _code_points(words)
        plain_letters, plain_offsets = _code_points([unaccented(word) for word in words])
        flags = np.fromiter((_flags(word) for word in words), np.uint8, len(words))
        return cls(letters, offsets, plain_letters, plain_offsets, flags)

    @shared_property
    def accented(self) -> npt.NDArray[np.bool_]:
        """(V,) whether the word differs from itself without accents."""
        sizes = np.diff(self.offsets)
        differs: npt.NDArray[np.bool_] = sizes != np.diff(self.plain_offsets)
        letters = self.letters[np.repeat(~differs, sizes)]
        plain = self.plain_letters[np.repeat(~differs, np.diff(self.plain_offsets))]
        owners = np.repeat(np.flatnonzero(~differs), sizes[~differs])
        differs[owners[letters != plain]] = True
        return differs

    def words(self) -> list[str]:
        """The words as strings."""
        text = self.letters.astype("<u4").tobytes().decode("utf-32-le")
        bounds = self.offsets.tolist()
        return [text[start:end] for start, end in pairwise(bounds)]

    def take(self, ids: npt.NDArray[np.int64], others: WordTable) -> WordTable:
        """Words by id; ids below 0 take word ``-1 - id`` of the other table."""
        letters, offsets = _take_ragged(self.letters, self.offsets, others.letters, others.offsets, ids)
        plain_letters, plain_offsets = _take_ragged(
            self.plain_letters, self.plain_offsets, others.plain_letters, others.plain_offsets, ids
        )
        both = np.concatenate([self.flags[ids[ids >= 0]], others.flags[-1 - ids[ids < 0]]])
        flags = np.empty(len(ids), np.uint8)
        flags[np.concatenate([np.flatnonzero(ids >= 0), np.flatnonzero(ids < 0)])] = both
        return WordTable(letters, offsets, plain_letters, plain_offsets, flags)


def _code_points(words: Sequence[str]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    offsets = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=offsets[1:])
    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), "<i4").astype(np.int32)
    return letters, offsets


def _flags(word: str) -> int:
    if word.isalpha():
        return 0
    categories = {unicodedata.category(letter)[0] for letter in word}
    if "N" in categories:
        return NUMERIC
    return 0 if "L" in categories else PUNCTUATION


def _take_ragged(
    values: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64], other_values: npt.NDArray[np.int32],
    other_offsets: npt.NDArray[np.int64], ids: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:  # fmt: skip
    """Rows by id, one after the other, and their offsets; ids below 0 take row ``-1 - id`` of the others."""
    first = np.concatenate([offsets[:-1], other_offsets[-2::-1] + len(values)])  # read from the end: ids below 0
    sizes = np.concatenate([np.diff(offsets), np.diff(other_offsets)[::-1]])[ids]
    taken = np.zeros(len(ids) + 1, np.int64)
    np.cumsum(sizes, out=taken[1:])
    places = np.repeat(first[ids] - taken[:-1], sizes) + np.arange(taken[-1])
    return np.concatenate([values, other_values])[places], taken
