"""EdgeBatch: the candidate edges of a run of sentence pairs, and all that the feature families use."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from corpora.bitext import Bitext, Text
from corpora.links import Links
from corpora.ragged import F32, F64, I32, I64, Lists
from features.candidates import LEAST, LEAST_DICE, LEAST_LINKED, collect, find_links, mark_likely
from features.statistics import CorpusStatistics
from features.translation.posteriors import Decoder, PosteriorSet
from features.word_pairs import Pairs, WordPairs, runs, spread
from features.words import WordTable

EDGES_AT_ONCE = 1 << 18
"""Edges per batch, candidates or not. A worker holds their signals; threads that need the interpreter less often
wait less for each other."""


@dataclass(frozen=True, eq=False)
class Words:
    """The vocabulary of some text, looked up in the corpus statistics.

    index: id of each word.  table: its spelling.  known: (V,) its id in the statistics or -1.
    counts: (V,) int64, sentence pairs of the corpus that contain it.  frequencies: log(1 + count) / log(1 + pairs).
    """

    index: Mapping[str, int]
    table: WordTable
    known: I32
    counts: I64
    frequencies: F64

    @classmethod
    def look_up(cls, text: Text, ids: Mapping[str, int], counts: I32, pairs: int) -> "Words":
        words = text.vocabulary.words
        known = np.fromiter(map(ids.get, words, repeat(-1)), np.int32, len(words))
        of_known = np.append(counts, 0)[known].astype(np.int64)  # -1 is in no sentence pair
        frequencies = np.log1p(of_known) / np.log1p(max(pairs, 1))
        return cls(text.vocabulary.index, WordTable.from_words(words), known, of_known, frequencies)


@dataclass(frozen=True, eq=False)
class EncodedText:
    """A bitext with its vocabularies looked up once, from which batches are cut.

    same_spelling: (V,) the target word with the spelling of each source word, or -1.
    decoder: of posteriors by the translation models, None where no family uses them.
    others: links of other aligners, which are candidates whatever the signals say.
    candidates: see `features.candidates.CANDIDATES`.
    """

    bitext: Bitext
    statistics: CorpusStatistics
    source_words: Words
    target_words: Words
    same_spelling: I32
    decoder: Decoder | None
    others: tuple[Links, ...] = ()
    candidates: str = "likely"

    @classmethod
    def of(
        cls,
        bitext: Bitext,
        statistics: CorpusStatistics,
        candidates: str = "likely",
        *,
        posteriors: bool = True,
        others: Sequence[Links] = (),
    ) -> "EncodedText":
        """Look up the words of a bitext.

        posteriors: whether translation models give the signal of candidates; else Dice does.
        Raises ValueError for posteriors where the statistics have no translation models.
        """
        if posteriors and statistics.translation is None:
            raise ValueError("the corpus statistics have no translation models")
        counts, (source, target) = statistics.cooccurrence, (bitext.source, bitext.target)
        places = target.vocabulary.index
        return cls(
            bitext,
            statistics,
            Words.look_up(source, statistics.source_ids, counts.source_counts, counts.pairs),
            Words.look_up(target, statistics.target_ids, counts.target_counts, counts.pairs),
            np.fromiter(map(places.get, source.vocabulary.words, repeat(-1)), np.int32, len(source.vocabulary)),
            Decoder(bitext, statistics.translation) if posteriors and statistics.translation else None,
            tuple(others),
            candidates,
        )

    def runs(self) -> Iterator[tuple[int, int]]:
        """First and last + 1 of the pairs of each batch: at most EDGES_AT_ONCE edges, or one pair if that has more."""
        return runs(Pairs.cut(self.bitext, 0, len(self.bitext)).edge_offsets, EDGES_AT_ONCE)

    def batch(self, first: int, last: int) -> "EdgeBatch":
        """Find the word pairs, posteriors and candidates of pairs first .. last, in this order."""
        tokens = Pairs.cut(self.bitext, first, last)
        word_pairs = WordPairs.of(tokens, len(self.source_words.table), len(self.target_words.table))
        posteriors = None if self.decoder is None else self.decoder.posterior_set(tokens, word_pairs)
        return EdgeBatch.of(self, range(first, last), tokens, word_pairs, posteriors)


@dataclass(frozen=True, eq=False)
class EdgeBatch:
    """Pairs first .. last of a bitext: signals of all edges, in rectangles, and the edges that are candidates.

    In a rectangle edge (j, k) of pair i stands at tokens.edge_offsets[i] + j * K + k.

    pairs: indices into the bitext.  tokens: of these pairs, indices into the words of the text.
    rectangles: the word pairs of all edges.  dice_of_pairs: (m,) their Dice.  dice: (R,) that of every edge.
    models: posteriors by the translation models, if they are computed.
    soft: (R,) geometric mean of both directions' posteriors by the HMM, the strongest signal; without models Dice.

    lists: the E candidates.  cells: (E,) their places in the rectangles.
    word_pairs: of the candidates.  kept: places of these among those of the rectangles.
    source_at, target_at: (E,) where the words of the candidates are in `tokens`.  off_diagonal: (E,) |j/J - k/K|.
    """

    pairs: range
    text: EncodedText
    tokens: Pairs
    rectangles: WordPairs
    dice_of_pairs: F32
    dice: F32
    models: PosteriorSet | None
    soft: F32
    lists: Lists
    cells: I64
    word_pairs: WordPairs
    kept: I64
    source_at: I64
    target_at: I64
    off_diagonal: F64

    @classmethod
    def of(
        cls, text: EncodedText, pairs: range, tokens: Pairs, rectangles: WordPairs, models: PosteriorSet | None
    ) -> "EdgeBatch":
        """Find the candidates of pairs by their signals."""
        known = text.source_words.known, text.target_words.known
        dice_of_pairs = text.statistics.cooccurrence.dice(rectangles.source, rectangles.target, known)
        dice = np.empty(len(rectangles.of_edge), np.float32)
        spread(dice_of_pairs, rectangles.of_edge, dice)
        soft = dice if models is None else models.hmm.soft
        if text.candidates == "all":
            cells, lists = np.arange(tokens.edge_offsets[-1]), Lists.of_all(tokens.shapes)
            word_pairs, kept = rectangles, np.arange(len(rectangles.source))
        else:
            if models is not None and text.candidates == "fewer":
                marks = soft > LEAST_LINKED
                alike = text.same_spelling.take(rectangles.source) == rectangles.target
                marks |= alike.take(rectangles.of_edge)
            else:
                highest = dice if models is None else np.maximum(models.hmm.forward, models.hmm.reverse)
                marks = np.empty(tokens.edge_offsets[-1], np.bool_)
                least = LEAST_DICE if models is None else LEAST
                mark_likely(soft, highest, least, tokens, text.same_spelling, marks)
            for links in text.others:
                marks[find_links(links, pairs, tokens)[0]] = True
            cells, lists = collect(tokens, marks)
            word_pairs, kept = rectangles.part(cells)
        of_source, of_target = lists.shapes[lists.pairs].T
        return cls(
            pairs=pairs,
            text=text,
            tokens=tokens,
            rectangles=rectangles,
            dice_of_pairs=dice_of_pairs,
            dice=dice,
            models=models,
            soft=soft,
            lists=lists,
            cells=cells,
            word_pairs=word_pairs,
            kept=kept,
            source_at=tokens.source_offsets[lists.pairs] + lists.source,
            target_at=tokens.target_offsets[lists.pairs] + lists.target,
            off_diagonal=np.abs(lists.source / of_source - lists.target / of_target),
        )

    @property
    def posteriors(self) -> PosteriorSet:
        """The posteriors by the translation models.  Raises ValueError where they are not computed."""
        if self.models is None:
            raise ValueError("there are no posteriors (a family that looks at them names LEXICONS)")
        return self.models
