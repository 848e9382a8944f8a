"""EdgeBatch: a run of sentence pairs, laid out as the feature families need it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np

from corpora.bitext import Bitext, Text
from corpora.compiled import MAXIMA, compiled
from corpora.ragged import F32, F64, I32, I64, Lists
from corpora.threads import shared_property
from features.candidates import LEAST, LEAST_DICE, Listing, collect, find_links, mark_likely
from features.statistics import CorpusStatistics
from features.translation.posteriors import Beliefs, Decoder
from features.word_pairs import Pairs, WordPairs, spread
from features.words import WordTable

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Words:
    """The vocabulary of some text, known to the corpus statistics or not.

    index: id of each word.  table: its spelling.  known: (V,) its id in the statistics or -1.
    counts: (V,) int64, sentence pairs of the corpus that contain it.
    """

    index: Mapping[str, int]
    table: WordTable
    known: I32
    counts: I64

    @classmethod
    def look_up(cls, text: Text, ids: Mapping[str, int], counts: I32) -> Words:
        words = text.vocabulary.words
        known = np.fromiter(map(ids.get, words, repeat(-1)), np.int32, len(words))
        of_known = np.append(counts, 0)[known].astype(np.int64)  # -1 is in no sentence pair
        return cls(text.vocabulary.index, WordTable.from_words(words), known, of_known)


class Encoded:
    """A bitext with its vocabularies looked up once, from which batches are cut."""

    def __init__(self, bitext: Bitext, statistics: CorpusStatistics, listing: Listing = Listing()) -> None:  # noqa: B008
        self.bitext, self.statistics, self.listing, counts = bitext, statistics, listing, statistics.cooccurrence
        source, target = bitext.source, bitext.target
        self.source_words = Words.look_up(source, statistics.source_ids, counts.source_counts)
        self.target_words = Words.look_up(target, statistics.target_ids, counts.target_counts)
        self.edge_offsets = Pairs.cut(bitext, 0, len(bitext)).edge_offsets
        self._found: dict[Callable[[Encoded], Any], Any] = {}
        self._lock = threading.Lock()

    @shared_property
    def decoder(self) -> Decoder:
        """Of the whole bitext.  Raises ValueError where the statistics have no translation models."""
        if self.statistics.translation is None:
            raise ValueError("the corpus statistics have no translation models")
        return Decoder(self.bitext, self.statistics.translation)

    @shared_property
    def translation(self) -> I32:
        """(V,) the target word with the spelling of each source word, or -1."""
        source, target = self.bitext.source.vocabulary, self.bitext.target.vocabulary
        return np.fromiter((target.index.get(word, -1) for word in source.words), np.int32, len(source))

    def once(self, find: Callable[[Encoded], Found]) -> Found:
        """What a function finds of the whole text, found once: a vocabulary is larger than a batch."""
        with self._lock:
            if find not in self._found:
                self._found[find] = find(self)
        found: Found = self._found[find]
        return found

    def batch(self, first: int, last: int) -> EdgeBatch:
        return EdgeBatch(range(first, last), Pairs.cut(self.bitext, first, last), self)


class Listed(NamedTuple):
    """The listed edges of a batch.

    lists: with their words.  cells: (E,) their places in the rectangles of all edges.
    word_pairs: theirs.  kept: (m,) places of these among those of the rectangles.
    """

    lists: Lists
    cells: I64
    word_pairs: WordPairs
    kept: I64


@dataclass(frozen=True, eq=False)
class EdgeBatch:
    """Pairs first .. last of a bitext: signals of all edges, in rectangles, and the edges that are listed.

    pairs: indices into the bitext.  tokens: of these pairs, indices into the words of the text.
    In a rectangle edge (j, k) of pair i stands at tokens.edge_offsets[i] + j * K + k.
    """

    pairs: range
    tokens: Pairs
    text: Encoded

    @shared_property
    def rectangles(self) -> WordPairs:
        """The word pairs of all edges."""
        return WordPairs.of(self.tokens, len(self.text.source_words.table), len(self.text.target_words.table))

    @shared_property
    def dice_of_pairs(self) -> F32:
        """(m,) Dice of the word pairs of all edges."""
        known = self.text.source_words.known, self.text.target_words.known
        return self.text.statistics.cooccurrence.dice(self.rectangles.source, self.rectangles.target, known)

    @shared_property
    def dice(self) -> F32:
        """Dice of every edge, in rectangles: the signal that several families look at."""
        out = np.empty(len(self.rectangles.of_edge), np.float32)
        spread(self.dice_of_pairs, self.rectangles.of_edge, out)
        return out

    @shared_property
    def beliefs(self) -> Beliefs:
        """What the translation models say of the edges, in rectangles."""
        return self.text.decoder.beliefs(self.tokens, self.rectangles)

    @shared_property
    def soft(self) -> F32:
        """Geometric mean of both directions' posteriors by the HMM, in rectangles: the strongest signal there is."""
        return self.beliefs.hmm.soft

    @shared_property
    def listed(self) -> Listed:
        listing, offsets = self.text.listing, self.tokens.edge_offsets
        if listing.everything:
            every = np.arange(offsets[-1])
            return Listed(
                Lists.of_all(self.tokens.shapes), every, self.rectangles, np.arange(len(self.rectangles.source))
            )
        if listing.posteriors:
            hmm = self.beliefs.hmm
            signal, highest, least = self.soft, np.maximum(hmm.forward, hmm.reverse), LEAST
        else:
            signal = highest = self.dice
            least = LEAST_DICE
        marks = np.empty(offsets[-1], np.bool_)
        mark_likely(signal, highest, least, self.tokens, self.text.translation, marks)
        for links in listing.others:
            marks[find_links(links, self.pairs, self.tokens)[0]] = True
        cells, lists = collect(self.tokens, marks)
        return Listed(lists, cells, *self.rectangles.part(cells))

    @property
    def lists(self) -> Lists:
        return self.listed.lists

    @shared_property
    def ends(self) -> tuple[I64, I64]:
        """(E,) where the words of the listed edges are in `tokens`."""
        source, target = self.tokens.source_offsets[self.lists.pairs], self.tokens.target_offsets[self.lists.pairs]
        return source + self.lists.source, target + self.lists.target

    @shared_property
    def off_diagonal(self) -> F64:
        """(E,) |j/J - k/K| of the listed edges."""
        of_source, of_target = self.lists.shapes[self.lists.pairs].T
        distances: F64 = np.abs(self.lists.source / of_source - self.lists.target / of_target)
        return distances


@compiled(fastmath=MAXIMA)
def find_mutual_best(values, shapes, offsets):
    """1 where a value, in rectangles, is above 0 and nothing in its row or column is higher, else 0."""
    out = np.empty(len(values), np.float32)
    widest = 1
    for i in range(len(shapes)):
        widest = max(widest, shapes[i, 1])
    column_best = np.empty(widest, np.float32)
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        column_best[:K] = 0.0
        for j in range(J):
            row = values[offsets[i] + j * K : offsets[i] + (j + 1) * K]
            for k in range(K):
                column_best[k] = max(column_best[k], row[k])
        for j in range(J):
            row = values[offsets[i] + j * K : offsets[i] + (j + 1) * K]
            of_row = out[offsets[i] + j * K : offsets[i] + (j + 1) * K]
            row_best = np.float32(0.0)
            for k in range(K):
                row_best = max(row_best, row[k])
            for k in range(K):
                of_row[k] = (row[k] > 0.0) & (row[k] == row_best) & (row[k] == column_best[k])
    return out
