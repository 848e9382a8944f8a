"""EdgeBatch: a run of sentence pairs, laid out as the feature families need it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from corpora.bitext import Bitext, Text
from corpora.compiled import MAXIMA, compiled
from corpora.ragged import F32, I32, I64
from corpora.threads import shared_property
from features.statistics import CorpusStatistics
from features.translation.posteriors import Beliefs, Decoder
from features.word_pairs import Pairs, WordPairs, spread
from features.words import WordTable


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

    def __init__(self, bitext: Bitext, statistics: CorpusStatistics) -> None:
        self.bitext, self.statistics, counts = bitext, statistics, statistics.cooccurrence
        source, target = bitext.source, bitext.target
        self.source_words = Words.look_up(source, statistics.source_ids, counts.source_counts)
        self.target_words = Words.look_up(target, statistics.target_ids, counts.target_counts)
        whole = Pairs.cut(bitext, 0, len(bitext))
        self.shapes, self.offsets = whole.shapes, whole.edge_offsets

    @shared_property
    def decoder(self) -> Decoder:
        """Of the whole bitext.  Raises ValueError where the statistics have no translation models."""
        if self.statistics.translation is None:
            raise ValueError("the corpus statistics have no translation models")
        return Decoder(self.bitext, self.statistics.translation)

    def batch(self, first: int, last: int) -> EdgeBatch:
        return EdgeBatch(range(first, last), Pairs.cut(self.bitext, first, last), self)


@dataclass(frozen=True, eq=False)
class EdgeBatch:
    """Pairs first .. last of a bitext.  Edge (j, k) of pair i is row offsets[i] + j * K + k.

    pairs: indices into the bitext.  tokens: of these pairs, indices into the words of the text.
    """

    pairs: range
    tokens: Pairs
    text: Encoded

    @property
    def offsets(self) -> I64:
        return self.tokens.edge_offsets

    @shared_property
    def shapes(self) -> I64:
        """(n, 2) numbers of source and target words."""
        return self.tokens.shapes

    @shared_property
    def word_pairs(self) -> WordPairs:
        return WordPairs.of(self.tokens, len(self.text.source_words.table), len(self.text.target_words.table))

    @shared_property
    def dice_of_pairs(self) -> F32:
        """(m,) Dice of the word pairs."""
        known = self.text.source_words.known, self.text.target_words.known
        return self.text.statistics.cooccurrence.dice(self.word_pairs.source, self.word_pairs.target, known)

    @shared_property
    def dice(self) -> F32:
        """(E,) Dice of every edge: the signal that several families look at."""
        out = np.empty(self.offsets[-1], np.float32)
        spread(self.dice_of_pairs, self.word_pairs.of_edge, out)
        return out

    @shared_property
    def beliefs(self) -> Beliefs:
        """What the translation models say of the edges."""
        return self.text.decoder.beliefs(self.tokens, self.word_pairs)

    @shared_property
    def soft(self) -> F32:
        """(E,) geometric mean of both directions' posteriors by the HMM: the strongest signal that there is."""
        return self.beliefs.hmm.soft


@compiled(fastmath=MAXIMA)
def find_mutual_best(values, shapes, offsets):
    """(E,) 1 where a value is above 0 and nothing in its row or column is higher, else 0."""
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
