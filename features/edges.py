"""EdgeBatch: a run of sentence pairs, laid out as the feature families need it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numba as nb
import numpy as np
import numpy.typing as npt

from corpora.bitext import Bitext, Text, Vocabulary
from features._search_kernels import search_together
from features.posteriors import Beliefs, Decoder
from features.statistics import CorpusStatistics
from features.table import edge_offsets
from features.words import WordTable

I64 = npt.NDArray[np.int64]

_TWIN_SLOTS = 1 << 16


@dataclass(frozen=True, eq=False)
class Words:
    """The vocabulary of some text, known to the corpus statistics or not.

    index: id of each word.  table: its spelling.  known: (V,) int64, its id in the statistics or -1.
    counts: (V,) int64, sentence pairs of the corpus that contain it.
    """

    index: Mapping[str, int]
    table: WordTable
    known: I64
    counts: I64

    @classmethod
    def look_up(
        cls, vocabulary: Vocabulary, ids: Mapping[str, int], table: WordTable, counts: npt.NDArray[np.int32]
    ) -> Words:
        words = vocabulary.words
        known = np.fromiter(map(ids.get, words, repeat(-1)), np.int64, len(words))
        unknown = np.flatnonzero(known < 0)
        rows = known.copy()
        rows[unknown] = -1 - np.arange(len(unknown))
        spelled = table.take(rows, WordTable.from_words([words[i] for i in unknown.tolist()]))
        found = np.zeros(len(words), np.int64)
        found[known >= 0] = counts[known[known >= 0]]
        return cls(vocabulary.index, spelled, known, found)


@dataclass(frozen=True, eq=False)
class EdgeBatch:
    """Pairs first .. last of a bitext.  Edge (j, k) of pair i is row offsets[i] + j * K + k.

    source_tokens, target_tokens: word of each position, an index into source_words or target_words;
    source_offsets, target_offsets: (n + 1,) first position of each pair.  pairs: indices into the bitext.
    decoder: makes, or has, the decoder of the whole bitext; it is asked for by the families that need posteriors.
    """

    pairs: range
    source_tokens: npt.NDArray[np.int32]
    target_tokens: npt.NDArray[np.int32]
    source_offsets: I64
    target_offsets: I64
    source_words: Words
    target_words: Words
    statistics: CorpusStatistics
    decoder: Callable[[], Decoder]

    @cached_property
    def shapes(self) -> I64:
        """(n, 2) numbers of source and target words."""
        return np.stack([np.diff(self.source_offsets), np.diff(self.target_offsets)], axis=1)

    @cached_property
    def offsets(self) -> I64:
        return edge_offsets(self.shapes)

    @cached_property
    def twins(self) -> npt.NDArray[np.int32]:
        """(E,) an earlier edge of the batch between the same two words, or -1 where none is known.

        The same word pairs come again and again, and what depends on the words alone need not be found twice.
        """
        out = np.empty(self.offsets[-1], np.int32)
        _find_twins(
            self.source_tokens, self.target_tokens, self.source_offsets, self.target_offsets, self.offsets,
            len(self.target_words.table), out,
        )  # fmt: skip
        return out

    @cached_property
    def dice(self) -> npt.NDArray[np.float32]:
        """(E,) Dice of every edge: the signal that several families look at."""
        table = self.statistics.cooccurrence
        out = np.empty(self.offsets[-1], np.float32)
        _look_up_dice(
            self.source_tokens, self.target_tokens, self.source_offsets, self.target_offsets, self.offsets, self.twins,
            self.source_words.known, self.target_words.known, table.source_counts, table.target_counts,
            table.row_offsets, table.targets, table.counts, out,
        )  # fmt: skip
        return out

    @cached_property
    def mutual_best(self) -> npt.NDArray[np.float32]:
        """(E,) 1 where the edge's Dice is above 0 and nothing in its row or column is higher, else 0."""
        out = np.empty(self.offsets[-1], np.float32)
        fill_mutual_best(self.dice, self.shapes, self.offsets, out)
        return out

    @cached_property
    def beliefs(self) -> Beliefs:
        """What the translation models say of the edges."""
        return self.decoder().beliefs(self.pairs.start, self.pairs.stop)

    @cached_property
    def soft(self) -> npt.NDArray[np.float32]:
        """(E,) geometric mean of both directions' posteriors by the HMM: the strongest signal that there is."""
        return self.beliefs.hmm.soft


class Encoded:
    """A bitext with its vocabularies looked up once, from which batches are cut."""

    def __init__(self, bitext: Bitext, statistics: CorpusStatistics) -> None:
        table = statistics.cooccurrence
        self.bitext = bitext
        self.statistics = statistics
        self.source_words = Words.look_up(
            bitext.source.vocabulary,
            statistics.source_ids,
            statistics.source_words,
            table.source_counts,
        )
        self.target_words = Words.look_up(
            bitext.target.vocabulary,
            statistics.target_ids,
            statistics.target_words,
            table.target_counts,
        )
        self.shapes = np.stack([np.diff(bitext.source.offsets), np.diff(bitext.target.offsets)], axis=1)

    @cached_property
    def decoder(self) -> Decoder:
        """Of the whole bitext.  Raises ValueError where the statistics have no translation models."""
        if self.statistics.translation is None:
            raise ValueError("the corpus statistics have no translation models")
        return Decoder(self.bitext, self.statistics.translation)

    def batch(self, first: int, last: int) -> EdgeBatch:
        source_tokens, source_offsets = _slice(self.bitext.source, first, last)
        target_tokens, target_offsets = _slice(self.bitext.target, first, last)
        return EdgeBatch(
            range(first, last), source_tokens, target_tokens, source_offsets, target_offsets,
            self.source_words, self.target_words, self.statistics, lambda: self.decoder,
        )  # fmt: skip


def _slice(text: Text, first: int, last: int) -> tuple[npt.NDArray[np.int32], I64]:
    offsets = text.offsets[first : last + 1]
    return text.ids[offsets[0] : offsets[-1]], offsets - offsets[0]


@nb.njit(cache=True, nogil=True)
def _find_twins(source_tokens, target_tokens, source_offsets, target_offsets, offsets, n_target_words, out):
    # A direct-mapped memory of the last edge of each word pair, by a hash of the two words.
    seen_pair = np.full(_TWIN_SLOTS, -1, np.int64)
    seen_edge = np.empty(_TWIN_SLOTS, np.int32)
    for i in range(len(offsets) - 1):
        edge = offsets[i]
        for j in range(source_offsets[i], source_offsets[i + 1]):
            first = np.int64(source_tokens[j]) * n_target_words
            for k in range(target_offsets[i], target_offsets[i + 1]):
                pair = first + target_tokens[k]
                slot = ((pair * 0x9E3779B97F4A7C1) >> 20) & (_TWIN_SLOTS - 1)
                if seen_pair[slot] == pair:
                    out[edge] = seen_edge[slot]
                else:
                    out[edge] = -1
                    seen_pair[slot] = pair
                    seen_edge[slot] = edge
                edge += 1


@nb.njit(cache=True, nogil=True)
def _look_up_dice(
    source_tokens, target_tokens, source_offsets, target_offsets, offsets, twins, source_known, target_known,
    source_counts, target_counts, row_offsets, cell_targets, cell_counts, out,
):  # fmt: skip
    widest = 0
    for i in range(len(offsets) - 1):
        widest = max(widest, target_offsets[i + 1] - target_offsets[i])
    fs = np.empty(widest, np.int64)
    f_counts = np.empty(widest, np.int64)
    columns = np.empty(widest, np.int64)
    wanted = np.empty(widest, np.int32)
    places = np.empty(widest, np.int32)
    for i in range(len(offsets) - 1):
        K = target_offsets[i + 1] - target_offsets[i]
        for k in range(K):
            fs[k] = target_known[target_tokens[target_offsets[i] + k]]
            f_counts[k] = target_counts[fs[k]] if fs[k] >= 0 else 0
        base = offsets[i]
        for j in range(source_offsets[i], source_offsets[i + 1]):
            e = source_known[source_tokens[j]]
            found = 0
            for k in range(K):
                twin = twins[base + k]
                known = (twin >= 0) & (twin < base)  # one of this row is not found yet
                out[base + k] = out[twin] if known else 0.0
                wanted[found] = fs[k]
                columns[found] = k
                found += (not known) & (fs[k] >= 0) & (e >= 0)
            if found > 0:
                search_together(cell_targets[row_offsets[e] : row_offsets[e + 1]], wanted[:found], places)
            for x in range(found):
                if places[x] >= 0:
                    k = columns[x]
                    out[base + k] = 2.0 * cell_counts[row_offsets[e] + places[x]] / (source_counts[e] + f_counts[k])
            base += K


@nb.njit(cache=True, nogil=True)
def fill_mutual_best(values, shapes, offsets, out):
    """1 where a value is above 0 and nothing in its row or column is higher, else 0."""
    widest = 1
    for i in range(len(shapes)):
        widest = max(widest, shapes[i, 1])
    column_best = np.empty(widest, np.float32)
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        column_best[:K] = 0.0
        for j in range(J):
            for k in range(K):
                column_best[k] = max(column_best[k], values[offsets[i] + j * K + k])
        for j in range(J):
            row_best = np.float32(0.0)
            first = offsets[i] + j * K
            for k in range(K):
                row_best = max(row_best, values[first + k])
            for k in range(K):
                value = values[first + k]
                out[first + k] = value > 0.0 and value == row_best and value == column_best[k]
