"""Tokens of sentence pairs, and their distinct word pairs, whose values `spread` copies to the edges.

Rows of word pairs are compressed by source word, with ascending target words.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from corpora.bitext import Bitext
from corpora.compiled import compiled
from corpora.ragged import I32, I64, edge_offsets

WORDS_AT_ONCE = 1 << 22
"""Source words of a long text that are looked at together."""

U = np.uint64  # numba tests whether a signed index counts from the end
_WALKED = 16
"""A row with at most so many cells for each word that is looked for is walked, not searched."""


class Pairs(NamedTuple):
    """Tokens of sentence pairs: pair i has tokens offsets[i] .. offsets[i + 1], and edges from edge_offsets[i] on.

    Edge (j, k) of pair i is row edge_offsets[i] + j * K + k.
    """

    source: I32
    target: I32
    source_offsets: I64
    target_offsets: I64
    edge_offsets: I64

    @classmethod
    def cut(cls, bitext: Bitext, first: int, last: int) -> "Pairs":
        """Cut pairs first .. last out of a bitext."""
        (source, of_source), (target, of_target) = bitext.source.cut(first, last), bitext.target.cut(first, last)
        shapes = np.stack([np.diff(of_source), np.diff(of_target)], axis=1)
        return cls(source, target, of_source, of_target, edge_offsets(shapes))

    @property
    def directions(self) -> tuple[tuple[I32, I64, I32, I64], ...]:
        """Forward and in reverse: the generated words and their offsets, then the given words and theirs."""
        source, target = (self.source, self.source_offsets), (self.target, self.target_offsets)
        return (*target, *source), (*source, *target)

    @property
    def shapes(self) -> I64:
        """The numbers of source and target words of each pair, (n, 2)."""
        return np.stack([np.diff(self.source_offsets), np.diff(self.target_offsets)], axis=1)


def runs(offsets: I64, at_once: int) -> Iterator[tuple[int, int]]:
    """Yield (first, last + 1) of rows to take at once: by their offsets at most `at_once` elements, or a single row."""
    first = 0
    while first < len(offsets) - 1:
        last = int(np.searchsorted(offsets, offsets[first] + at_once, side="right")) - 1
        last = min(max(last, first + 1), len(offsets) - 1)
        yield first, last
        first = last


class WordPairs(NamedTuple):
    """The m distinct word pairs of sentence pairs, for each of which what depends on words alone is computed once.

    source, target: (m,) int32 words; the pairs of a source word are consecutive.
    of_edge: (E,) int32, the word pair of each edge.
    """

    source: I32
    target: I32
    of_edge: I32

    @classmethod
    def of(cls, pairs: Pairs, n_source: int, n_target: int) -> "WordPairs":
        """Find the word pairs of sentence pairs whose vocabularies have n_source and n_target words."""
        return cls(*_find(*pairs, n_source, n_target))

    def part(self, edges: I64) -> "tuple[WordPairs, I64]":
        """The word pairs of some edges alone, (n,) indices, and their places among all word pairs."""
        of_edge = self.of_edge.take(edges)
        used = np.zeros(len(self.source), np.bool_)
        used[of_edge] = True
        kept, numbers = np.flatnonzero(used), np.cumsum(used, dtype=np.int32) - np.int32(1)
        return WordPairs(self.source.take(kept), self.target.take(kept), numbers.take(of_edge)), kept


@compiled
def _find(source_tokens, target_tokens, source_offsets, target_offsets, offsets, n_source, n_target):
    starts, pair_of, place = list_occurrences(source_tokens, source_offsets, n_source)
    of_edge = np.empty(offsets[-1], np.int32)
    source = np.empty(offsets[-1] + 1, np.int32)  # one more than there can be: a pair is written before it is new
    target = np.empty(offsets[-1] + 1, np.int32)
    latest = np.empty(n_target, np.int32)  # the last word pair with this target word
    latest[:] = -1
    m = np.int32(0)
    for e in range(n_source):
        of_word = m
        for t in range(U(starts[e]), U(starts[e + 1])):
            i = U(pair_of[t])
            first, last = U(target_offsets[i]), U(target_offsets[i + U(1)])
            edge = U(offsets[i]) + U(place[t]) * (last - first)
            for k in range(first, last):
                f = U(target_tokens[k])
                known = latest[f]
                new = known < of_word
                pair = m if new else known
                of_edge[edge] = pair
                latest[f] = pair
                source[U(m)] = e
                target[U(m)] = f
                m += np.int32(new)  # without a branch, whose outcome could not be predicted
                edge += U(1)
    return source[:m].copy(), target[:m].copy(), of_edge


@compiled
def find_cells(source, target, source_known, target_known, row_offsets, targets):
    """The cells (m,) of word pairs in rows of ascending targets, -1 for a pair without one.

    source, target: (m,) words; pairs of one source word are consecutive.  source_known, target_known: the row, and the
    number in `targets`, of each word, or -1.

    A row is walked, noting where the cell of each target is, or, if it is long, searched by halves for all its words at
    once: what they read is far apart, and is fetched at the same time.
    """
    cells = np.empty(len(source), np.int64)
    wanted = np.empty(len(source), np.int32)
    places = np.empty(len(source), np.int32)
    most = np.int32(-1)
    for x in range(len(source)):
        wanted[x] = target_known[U(target[x])]  # unknown words, -1, are in no row
        most = max(most, wanted[x])
    cell_of = np.empty(most + 2, np.int64)  # of target f at f + 1, as far as any row has had it
    cell_of[:] = -1
    first, end = U(0), U(len(source))
    while first < end:
        last = first + U(1)
        while last < end and source[last] == source[first]:
            last += U(1)
        row = source_known[U(source[first])]
        low, high = (row_offsets[row], row_offsets[row + 1]) if row >= 0 else (0, 0)
        if high - low < _WALKED * np.int64(last - first):
            for cell in range(U(low), U(high)):
                if targets[cell] > most:
                    break
                cell_of[U(targets[cell] + 1)] = cell
            for x in range(first, last):
                cell = cell_of[U(wanted[x] + 1)]
                cells[x] = cell if low <= cell < high else -1
        else:
            for x in range(first, last):
                places[x] = 0
            left = U(high - low)
            while left > U(1):
                half = left >> U(1)
                step = np.int32(half)
                for x in range(first, last):
                    place = places[x]  # without a branch, whose outcome could not be predicted
                    places[x] = place + (step if targets[U(low) + half + U(place)] <= wanted[x] else np.int32(0))
                left -= half
            for x in range(first, last):
                cell = low + places[x]
                cells[x] = cell if targets[U(cell)] == wanted[x] else -1
        first = last
    return cells


@compiled
def spread(of_pairs, of_edge, out):
    """out[e] = of_pairs[of_edge[e]]: copy the value of each word pair to its edges."""
    for edge in range(len(of_edge)):
        out[edge] = of_pairs[of_edge[edge]]


@compiled
def sort_row(row):
    """Sort in place: a shell sort, as NumPy's takes seconds to compile."""
    gap = len(row)
    while gap > 1:
        gap = max(1, gap * 4 // 9)
        for x in range(gap, len(row)):
            value = row[x]
            while x >= gap and row[x - gap] > value:
                row[x] = row[x - gap]
                x -= gap
            row[x] = value


@compiled
def list_occurrences(tokens, offsets, n_words):
    """List the occurrences of each word in some sentences.

    Word w has the occurrences starts[w] : starts[w + 1], in order, each in sentence pair_of at position place.
    """
    n = len(tokens)
    starts = np.empty(n_words + 1, np.int64)
    starts[:] = 0
    for t in range(U(n)):
        starts[U(tokens[t]) + U(1)] += 1
    for w in range(n_words):
        starts[w + 1] += starts[w]
    pair_of = np.empty(n, np.int32)
    place = np.empty(n, np.int32)
    free = starts[:-1].copy()
    for i in range(len(offsets) - 1):
        for t in range(U(offsets[i]), U(offsets[i + 1])):
            word = U(tokens[t])
            at = U(free[word])
            pair_of[at] = i
            place[at] = t - U(offsets[i])
            free[word] += 1
    return starts, pair_of, place
