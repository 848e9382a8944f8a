"""Posteriors of links by translation models, for any text, and links from posteriors alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from corpora.alignment import Link, Links, PairLinks
from corpora.bitext import Bitext, Text
from corpora.ragged import F32, F64, I32, I64
from corpora.symmetrize import symmetrize
from features.translation._translation_kernels import infer_both
from features.translation.lexicon import AGREEING, SPELLING, SideOfLevel, back_off, class_name
from features.translation.model import Tables, TranslationModel
from features.word_pairs import Pairs, WordPairs, find_cells, runs, spread
from features.words import WordTable

DEFAULT_THRESHOLD = 0.5

_EDGES_AT_ONCE = 1 << 17

_Decoded = tuple[F32, F64]  # posteriors and log likelihoods of both directions


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Probabilities of links; edge (j, k) of pair i is row ``offsets[i] + j * K + k`` with (J, K) = shapes[i].

    forward: (E,) float32, that target word k comes of source word j: the sum over j is at most 1, the rest is NULL's.
    reverse: (E,) float32, that source word j comes of target word k.
    log_likelihoods: (2, n) of the target words of each pair given the source words, and the reverse; by the first of
    several lexicons.
    """

    forward: F32
    reverse: F32
    shapes: I64
    offsets: I64
    log_likelihoods: F64

    @classmethod
    def of(cls, pairs: Pairs, both: F32, log_likelihoods: F64) -> Posteriors:
        """Those of sentence pairs, (2, E), forward and reverse."""
        return cls(both[0], both[1], pairs.shapes, pairs.edge_offsets, log_likelihoods)

    @property
    def fit(self) -> F64:
        """(n, 3) log probability per word: of target given source, the reverse, and both; -inf with an empty side."""
        words = self.shapes[:, ::-1] * (self.shapes.min(axis=1, keepdims=True) > 0)
        words = np.column_stack([words, words.sum(axis=1)])
        fit = np.full(words.shape, -np.inf)
        np.divide(
            np.column_stack([*self.log_likelihoods, self.log_likelihoods.sum(axis=0)]), words, fit, where=words > 0
        )
        return fit

    def part(self, edges: I64) -> Posteriors:
        """Those of some edges alone, (m,) indices."""
        return replace(self, forward=self.forward.take(edges), reverse=self.reverse.take(edges))

    @property
    def soft(self) -> F32:
        """(E,) geometric mean of both directions: the soft intersection."""
        soft: F32 = self.forward * self.reverse
        return np.sqrt(soft, out=soft)

    def soft_links(self, threshold: float = DEFAULT_THRESHOLD) -> Links:
        """The links whose geometric mean is above a threshold in [0, 1]."""
        chosen = np.flatnonzero(self.soft > threshold)
        pair = np.searchsorted(self.offsets, chosen, side="right") - 1
        within = chosen - self.offsets[pair]
        widths = self.shapes[pair, 1]
        offsets = np.searchsorted(chosen, self.offsets)
        return Links(
            (within // widths).astype(np.int32), (within % widths).astype(np.int32), np.ones(len(chosen), np.bool_),
            offsets.astype(np.int64),
        )  # fmt: skip

    def symmetrized_links(self, method: str) -> Links:
        """The likeliest link or NULL of each word in each direction, combined; method: `corpora.symmetrize.METHODS`."""
        pairs = []
        for i, (J, K) in enumerate(self.shapes.tolist()):
            edges = slice(self.offsets[i], self.offsets[i + 1])
            into = _likeliest(self.forward[edges].reshape(J, K))
            back = _likeliest(self.reverse[edges].reshape(J, K).T)
            links = symmetrize(into, {(j, k) for k, j in back}, method)
            pairs.append(PairLinks(frozenset(links), frozenset()))
        return Links.from_pairs(pairs)


def _likeliest(posteriors: F32) -> set[Link]:
    """The row that each column has most likely come from, unless NULL is likelier; posteriors: (rows, columns)."""
    if posteriors.size == 0:
        return set()
    linked = posteriors.max(axis=0) > 1.0 - posteriors.sum(axis=0)
    best = posteriors.argmax(axis=0).tolist()
    return {(best[column], column) for column in np.flatnonzero(linked).tolist()}


class Beliefs(NamedTuple):
    """What the lexicons say of links.

    hmm: the mean of the agreeing ones by the HMM.  lexical: by IBM Model 1, which knows no order.  soft: (E,) the soft
    intersection of the HMM by each of them, by its name.  directional: HMM and Model 1 of the lexicon of that name.
    """

    hmm: Posteriors
    lexical: Posteriors
    soft: Mapping[str, F32]
    directional: tuple[Posteriors, Posteriors] | None


@dataclass(frozen=True, eq=False)
class _Known:
    """The words of a text as the lexicons know them, looked up once for all that have classes of the same width.

    classes: (V,) class or -1 each, by the width of the classes.  spelling: of the classes that are finest in a lexicon.
    """

    classes: Mapping[int | None, I32]
    spelling: Mapping[int | None, WordTable]

    @classmethod
    def look_up(cls, text: Text, model: TranslationModel, side: int) -> _Known:
        words = text.vocabulary.words
        classes: dict[int | None, I32] = {}
        for width, indices in model.classes.items():
            known = (indices[side].get(class_name(word, width), -1) for word in words)
            classes[width] = np.fromiter(known, np.int32, len(words))
        finest = {tables.widths[0] for tables in model.tables.values()}
        return cls(classes, {w: WordTable.from_words([class_name(word, w) for word in words]) for w in finest})

    def level(self, tables: Tables, depth: int, side: str) -> SideOfLevel:
        """The words, of the source or the target, at one level of a lexicon."""
        widths, level = tables.widths, tables.levels[depth]
        known, spelling = self.classes[widths[depth]], self.spelling[widths[0]]
        shares, unseen, scale = (getattr(level, f"{side}_{name}") for name in ("shares", "unseen", "scale"))
        return SideOfLevel(
            known=known, above=self.classes[widths[depth + 1]] if depth + 1 < len(widths) else np.zeros_like(known),
            shares=shares, unseen=unseen, scale=scale, letters=spelling.plain_letters, bounds=spelling.plain_offsets,
        )  # fmt: skip


class Decoder:
    """A bitext, known to the model or not, with its vocabularies looked up once."""

    def __init__(self, bitext: Bitext, model: TranslationModel) -> None:
        self.bitext, self.model = bitext, model
        self._source = _Known.look_up(bitext.source, model, 0)
        self._target = _Known.look_up(bitext.target, model, 1)

    def runs(self) -> Iterator[tuple[int, int]]:
        """First and last + 1 of the pairs to decode at once; all pairs, in order."""
        return runs(Pairs.cut(self.bitext, 0, len(self.bitext)).edge_offsets, _EDGES_AT_ONCE)

    def posteriors(self, first: int, last: int) -> Posteriors:
        """Of pairs first .. last by the HMM, the mean of the agreeing lexicons."""
        pairs = Pairs.cut(self.bitext, first, last)
        words = WordPairs.of(pairs, len(self.bitext.source.vocabulary), len(self.bitext.target.vocabulary))
        agreeing, total = self._agreeing(), np.zeros((2, pairs.edge_offsets[-1]), np.float32)
        likelihoods: list[F64] = []
        for tables in agreeing.values():
            found, of_lexicon = self._decode(pairs, tables, self._emissions(tables, words))
            total += found
            likelihoods.append(of_lexicon)
        total /= np.float32(len(agreeing))
        return Posteriors.of(pairs, total, likelihoods[0])

    def beliefs(self, pairs: Pairs, words: WordPairs) -> Beliefs:
        """Of some pairs of the bitext by both models.  words: their word pairs."""
        agreeing, soft = self._agreeing(), {}
        totals = np.zeros((2, 2, pairs.edge_offsets[-1]), np.float32)
        likelihoods: list[F64] = []
        for name, tables in agreeing.items():
            found = self._both(pairs, words, tables)
            soft[name] = Posteriors.of(pairs, *found[0]).soft
            for total, (of_lexicon, by_model) in zip(totals, found, strict=True):
                total += of_lexicon
                likelihoods.append(by_model)
            del found, of_lexicon  # a long pair takes much
        totals /= np.float32(len(agreeing))
        hmm, lexical = map(partial(Posteriors.of, pairs), totals, likelihoods)
        if (directional := self.model.tables.get("directional")) is None:
            return Beliefs(hmm, lexical, soft, None)
        one, other = self._both(pairs, words, directional)
        return Beliefs(hmm, lexical, soft, (Posteriors.of(pairs, *one), Posteriors.of(pairs, *other)))

    def _agreeing(self) -> Mapping[str, Tables]:
        found = {name: tables for name, tables in self.model.tables.items() if name in AGREEING}
        if not found:
            raise ValueError(f"there are no posteriors without one of the lexicons {' and '.join(AGREEING)}")
        return found

    def _both(self, pairs: Pairs, words: WordPairs, tables: Tables) -> tuple[_Decoded, _Decoded]:
        """By the HMM and by IBM Model 1."""
        emissions = self._emissions(tables, words)
        mixed = self._decode(pairs, tables, emissions.copy(), hmm=False)
        return self._decode(pairs, tables, emissions), mixed

    def _decode(self, pairs: Pairs, tables: Tables, emissions: F32, hmm: bool = True) -> _Decoded:
        """Posteriors of the HMM, or of IBM Model 1, in place of the emissions of both directions, (2, E)."""
        chain, finest = tables.chain, tables.widths[0]
        # With the groups of the words of the text.
        forward = chain.forward._replace(groups=chain.forward.groups[self._source.classes[finest]])
        reverse = chain.reverse._replace(groups=chain.reverse.groups[self._target.classes[finest]])
        chain = chain._replace(forward=forward, reverse=reverse)
        null = tables.null_target[self._target.classes[finest]], tables.null_source[self._source.classes[finest]]
        return emissions, infer_both(0, len(pairs.edge_offsets) - 1, pairs, null, chain, hmm, emissions)

    def _emissions(self, tables: Tables, words: WordPairs) -> F32:
        """(2, E) probabilities of the words of each edge, in both directions, found once for each word pair."""
        finest, places = tables.widths[0], tables.levels[0]
        known = self._source.classes[finest], self._target.classes[finest]
        of_pairs, _ = find_cells(words.source, words.target, *known, places.row_offsets, places.targets)
        missing = np.flatnonzero(of_pairs < 0)
        sources, targets = words.source.take(missing), words.target.take(missing)
        both = np.ones((2, len(of_pairs)), np.float32)
        for depth in range(len(tables.levels) - 1, -1, -1):
            level = tables.levels[depth]
            source, target = self._source.level(tables, depth, "source"), self._target.level(tables, depth, "target")
            at, cells, spelling = np.arange(len(of_pairs)), of_pairs, SPELLING * self.model.smoothing
            if depth > 0:
                at, spelling = missing, 0.0
                cells, _ = find_cells(sources, targets, source.known, target.known, level.row_offsets, level.targets)
            words_at = at, cells, words.source, words.target
            back_off(*words_at, source, target, level.cells, tables.weights[depth], spelling, *both)
        emission = np.empty((2, len(words.of_edge)), np.float32)
        for one, of_edges in zip(both, emission, strict=True):
            spread(one, words.of_edge, of_edges)
        return emission
