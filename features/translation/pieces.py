"""The units that a lexicon is of: words, or pieces of words, whose posteriors are gathered to those of words."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from corpora.bitext import Text, Vocabulary, count_ids
from corpora.compiled import compiled
from corpora.ragged import F32, F64, I32, I64, Bools, edge_offsets
from corpora.threads import shared_property
from features.word_pairs import Pairs, U, runs

LETTERS = 4
"""Least letters of a piece, but for the last one of a word."""

MOST = 8
"""Pieces of a word; what is left of a longer one is in the last."""

MOST_EDGES = 1 << 22
"""Edges of the pieces of a sentence pair. In a longer one each word is its first piece alone, which bounds memory."""

_WORDS_AT_ONCE = 1 << 16
"""Words of a text that are cut at once."""

_GOES_ON = "\x01"
"""Before all pieces but the first: what begins a word is another unit than what ends one."""


_WHOLE = re.compile("[\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Han and kana: each says as much as a piece."""

_VIRAMA = 9
"""The combining class of the marks after which the next consonant belongs to the same conjunct."""


def cut_word(word: str) -> list[str]:
    r"""The pieces of a word: LETTERS letters or more, as no piece begins with a mark, or within a conjunct.

    Accents are no letters. A Hangul syllable has two or three letters; a Han character or a kana counts as LETTERS.

    >>> cut_word("straße"), cut_word("학생들이"), cut_word("東京")
    (['stra', '\x01ße'], ['학생', '\x01들이'], ['東', '\x01京'])
    """
    if word.isascii():
        ends = [*range(LETTERS, len(word), LETTERS)]
    else:
        ends, letters, conjunct = [], 0, False
        for at, c in enumerate(word):
            of_c, mark, virama = _letters(c)
            if letters >= LETTERS and not (mark or conjunct):
                ends.append(at)
                letters = 0
            letters += of_c
            conjunct = virama
    ends = [*ends[: MOST - 1], len(word)]
    return [word[: ends[0]], *(_GOES_ON + word[a:b] for a, b in pairwise(ends))]


@cache
def _letters(c: str) -> tuple[int, bool, bool]:
    """As how many letters a character counts, whether it is a mark, and whether the next one belongs to it."""
    parts = unicodedata.normalize("NFD", c)
    letters = LETTERS if _WHOLE.match(c) else sum(not unicodedata.combining(part) for part in parts)
    return letters, unicodedata.category(c)[0] == "M", unicodedata.combining(c) == _VIRAMA


@dataclass(frozen=True, eq=False)
class Units:
    """The units of each word of a vocabulary.

    names: in order of first appearance.  of_words: units of all words, one after the other.  offsets: (V + 1,).
    """

    names: Sequence[str]
    of_words: I32
    offsets: I64

    @classmethod
    def of(cls, words: Sequence[str], whole: bool) -> "Units":
        """whole: the words themselves, else their pieces."""
        if whole:
            return cls(words, np.arange(len(words), dtype=np.int32), np.arange(len(words) + 1))
        index: dict[str, int] = {}
        pieces = [[index.setdefault(piece, len(index)) for piece in cut_word(word)] for word in words]
        sizes = np.fromiter(map(len, pieces), np.int64, len(pieces))
        flat = np.fromiter((unit for of_word in pieces for unit in of_word), np.int32, int(sizes.sum()))
        return cls(list(index), flat, np.append(0, np.cumsum(sizes)))

    @property
    def whole(self) -> bool:
        return len(self.of_words) == len(self.names) == len(self.offsets) - 1

    @shared_property
    def sizes(self) -> I64:
        """(V,) how many units each word has."""
        return np.diff(self.offsets)

    def occurrences(self, counts: I64) -> F64:
        """(len(names),) occurrences of the units in a text, by its words; counts: (V or fewer,)."""
        times = np.repeat(counts, self.sizes[: len(counts)])
        found = np.bincount(self.of_words[: len(times)], times, len(self.names))
        return found.astype(np.float64)

    def cut(self, tokens: I32, first_alone: Bools | None = None) -> tuple[I32, I64]:
        """The units of some words, and where each word's begin.  first_alone: (n,) words that are cut short."""
        sizes = self.sizes.take(tokens)
        if first_alone is not None:
            sizes[first_alone] = 1
        bounds = np.append(0, np.cumsum(sizes))
        places = np.repeat(self.offsets.take(tokens) - bounds[:-1], sizes)
        places += np.arange(len(places))
        return self.of_words.take(places), bounds

    def text(self, text: Text) -> Text:
        """A text of units in place of its words."""
        if self.whole:
            return text
        return _UnitText(text.ids, text.offsets, Vocabulary(list(self.names)), text.language, self)


@dataclass(frozen=True, eq=False)
class _UnitText(Text):
    """A text of units that are cut when they are asked for, as all of them would take more memory than their words.

    ids, offsets: of its words.
    """

    units: Units

    @shared_property
    def bounds(self) -> I64:
        """(n + 1,) where the units of each sentence begin and those of the last one end."""
        bounds = np.zeros(len(self) + 1, np.int64)
        for first, last in runs(self.offsets, _WORDS_AT_ONCE):
            tokens, ends = super().cut(first, last)
            before = np.append(bounds[first], self.units.sizes.take(tokens)).cumsum()
            bounds[first + 1 : last + 1] = before[ends[1:]]
        return bounds

    @property
    def lengths(self) -> I64:
        return np.diff(self.bounds)

    @property
    def occurrences(self) -> I64:
        return self.units.occurrences(count_ids(self.ids, len(self.units.sizes))).astype(np.int64)

    def cut(self, first: int, last: int) -> tuple[I32, I64]:
        bounds = self.bounds[first : last + 1] - self.bounds[first]
        units = np.empty(bounds[-1], np.int32)
        for a, b in runs(self.offsets[first : last + 1], _WORDS_AT_ONCE):
            units[bounds[a] : bounds[b]], _ = self.units.cut(super().cut(first + a, first + b)[0])
        return units, bounds


def cut_pairs(pairs: Pairs, source: Units, target: Units) -> tuple[Pairs, I64, I64]:
    """Sentence pairs of units, and where the units of each source and of each target word begin."""
    sides = (source, pairs.source, pairs.source_offsets), (target, pairs.target, pairs.target_offsets)
    counts = [np.append(0, np.cumsum(units.sizes.take(tokens)))[offsets] for units, tokens, offsets in sides]
    long = np.diff(counts[0]) * np.diff(counts[1]) > MOST_EDGES
    (of_source, source_bounds), (of_target, target_bounds) = (
        units.cut(tokens, np.repeat(long, np.diff(offsets))) for units, tokens, offsets in sides
    )
    offsets = source_bounds[pairs.source_offsets], target_bounds[pairs.target_offsets]
    edges = edge_offsets(np.stack([np.diff(offsets[0]), np.diff(offsets[1])], axis=1))
    return Pairs(of_source, of_target, *offsets, edges), source_bounds, target_bounds


def gather(found: F32, units: Pairs, pairs: Pairs, source_bounds: I64, target_bounds: I64) -> F32:
    """Compute posteriors (2, E) of words from the posteriors of their units, (2, edges of units).

    The probability that a word translates another is the mean, over its units, of the probability that the unit
    translates any unit of the other.
    """
    out = np.zeros((2, pairs.edge_offsets[-1]), np.float32)
    offsets = pairs.source_offsets, pairs.target_offsets, pairs.edge_offsets, units.edge_offsets
    _gather(found, *offsets, source_bounds, target_bounds, out)
    return np.minimum(out, np.float32(1.0), out=out)  # a mean is rounded, too


@compiled
def _gather(found, source_offsets, target_offsets, edges, unit_edges, source_bounds, target_bounds, out):
    for i in range(len(edges) - 1):
        first, last = U(target_offsets[i]), U(target_offsets[i + 1])
        at, edge = U(unit_edges[i]), U(edges[i])
        for j in range(source_offsets[i], source_offsets[i + 1]):
            height = source_bounds[j + 1] - source_bounds[j]
            for _ in range(height):
                for k in range(first, last):
                    size = target_bounds[k + U(1)] - target_bounds[k]
                    forward = reverse = np.float32(0.0)
                    for _ in range(size):
                        forward += found[U(0), at]
                        reverse += found[U(1), at]
                        at += U(1)
                    out[U(0), edge + k - first] += forward / np.float32(size)
                    out[U(1), edge + k - first] += reverse / np.float32(height)
            edge += last - first
