"""Posteriors of links by translation models, for any text, and links from posteriors alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain
from typing import NamedTuple

import numpy as np

from corpora.bitext import Bitext
from corpora.links import Link, Links, PairLinks
from corpora.ragged import F32, F64, I32, I64
from corpora.symmetrize import symmetrize
from features.translation._lexicon_kernels import SideOfLevel, back_off
from features.translation._translation_kernels import Chain, infer_both
from features.translation.lexicon import KINDS, SPELLING, variant_of
from features.translation.model import Tables, TranslationModel
from features.translation.pieces import Units, cut_pairs, gather
from features.word_pairs import Pairs, WordPairs, find_cells, runs, spread
from features.words import WordTable

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
    def of(cls, pairs: Pairs, both: F32, log_likelihoods: F64) -> "Posteriors":
        """Posteriors of sentence pairs.  both: (2, E), forward and reverse."""
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

    def part(self, edges: I64) -> "Posteriors":
        """The posteriors of some edges alone, (m,) indices."""
        return replace(self, forward=self.forward.take(edges), reverse=self.reverse.take(edges))

    @property
    def soft(self) -> F32:
        """(E,) geometric mean of both directions: the soft intersection."""
        soft: F32 = self.forward * self.reverse
        return np.sqrt(soft, out=soft)

    def soft_links(self, threshold: float = 0.5) -> Links:
        """The links whose geometric mean is above a threshold in [0, 1]."""
        chosen = np.flatnonzero(self.soft > threshold)
        pair = np.searchsorted(self.offsets, chosen, side="right") - 1
        within = chosen - self.offsets[pair]
        widths = self.shapes[pair, 1]
        offsets = np.searchsorted(chosen, self.offsets)
        return Links(
            (within // widths).astype(np.int32),
            (within % widths).astype(np.int32),
            np.ones(len(chosen), np.bool_),
            offsets.astype(np.int64),
        )

    def symmetrized_links(self, method: str) -> Links:
        """Take each word's likeliest link, or NULL, in each direction, and combine both directions; all links are sure.

        method: one of `corpora.symmetrize.METHODS`.  Raises ValueError for others.
        """
        pairs = []
        for i, (J, K) in enumerate(self.shapes.tolist()):
            edges = slice(self.offsets[i], self.offsets[i + 1])
            into = _likeliest(self.forward[edges].reshape(J, K))
            back = _likeliest(self.reverse[edges].reshape(J, K).T)
            links = symmetrize(into, {(j, k) for k, j in back}, method)
            pairs.append(PairLinks(frozenset(links)))
        return Links.from_pairs(pairs)


def _likeliest(posteriors: F32) -> set[Link]:
    """The row that each column has most likely come from, unless NULL is likelier; posteriors: (rows, columns)."""
    if posteriors.size == 0:
        return set()
    linked = posteriors.max(axis=0) > 1.0 - posteriors.sum(axis=0)
    best = posteriors.argmax(axis=0).tolist()
    return {(best[column], column) for column in np.flatnonzero(linked).tolist()}


class PosteriorSet(NamedTuple):
    """Posteriors of links by the lexicons.

    hmm: by the HMM, averaged over the lexicons.  lexical: the same by IBM Model 1, which ignores the order of words.
    soft: of each kind of lexicons, by its name, (E,) the geometric mean of both directions by the HMM.
    directional: by the HMM and by Model 1 with the lexicons whose directions were trained apart; None without one.
    """

    hmm: Posteriors
    lexical: Posteriors
    soft: Mapping[str, F32]
    directional: tuple[Posteriors, Posteriors] | None


@dataclass(frozen=True, eq=False)
class _Known:
    """The words of a text in one language, looked up in a lexicon.

    units: of each word.  classes: (V of the units,) class or -1 of each, at each level.  spelling: of the units.
    """

    units: Units
    classes: Sequence[I32]
    spelling: WordTable

    @classmethod
    def look_up(cls, words: Sequence[str], model: TranslationModel, kind: str, side: int) -> "_Known":
        units, depth = Units.of(words, KINDS[kind].whole), len(KINDS[kind].widths)
        known = chain.from_iterable(map(model.rows[kind][side].__getitem__, units.names))
        classes = np.fromiter(known, np.int32, depth * len(units.names)).reshape(-1, depth).T
        return cls(units, [*np.ascontiguousarray(classes)], WordTable.from_words(units.names))

    def level(self, tables: Tables, depth: int, side: str) -> SideOfLevel:
        """The units, of the source or the target, at one level of the lexicon."""
        level, known = tables.levels[depth], self.classes[depth]
        shares, unseen, scale = (getattr(level, f"{side}_{name}") for name in ("shares", "unseen", "scale"))
        above = self.classes[depth + 1] if depth + 1 < len(self.classes) else np.zeros_like(known)
        of_units, seen = unseen[above], known >= 0
        of_units[seen] = shares[known[seen]]
        spelling = self.spelling.plain_letters, self.spelling.plain_offsets
        return SideOfLevel(known, of_units, scale[known], *spelling)


class _OfText(NamedTuple):
    """What a lexicon says of the units of a text alone.

    units: of the source and the target.  levels: both, at each level from fine to coarse.  null, chain: of these units.
    spelling: the pseudo-count of two that are spelled the same.
    """

    tables: Tables
    units: tuple[Units, Units]
    levels: Sequence[tuple[SideOfLevel, SideOfLevel]]
    null: tuple[F32, F32]
    chain: Chain
    spelling: float

    @classmethod
    def of(cls, source: _Known, target: _Known, tables: Tables, spelling: float) -> "_OfText":
        levels = [
            (source.level(tables, depth, "source"), target.level(tables, depth, "target"))
            for depth in range(len(tables.levels))
        ]
        chain, sources, targets = tables.chain, source.classes[0], target.classes[0]
        forward = chain.forward._replace(groups=chain.forward.groups[sources])
        reverse = chain.reverse._replace(groups=chain.reverse.groups[targets])
        chain = chain._replace(forward=forward, reverse=reverse)
        null = tables.null_target[targets], tables.null_source[sources]
        return cls(tables, (source.units, target.units), levels, null, chain, spelling)

    def emissions(self, words: WordPairs) -> F32:
        """(2, E) probabilities of the units of each edge, in both directions, found once for each pair of them."""
        tables, levels = self.tables, self.levels
        finest = tables.levels[0]
        sides = levels[0][0].known, levels[0][1].known
        of_pairs = find_cells(words.source, words.target, *sides, finest.row_offsets, finest.targets)
        missing = np.flatnonzero(of_pairs < 0)
        sources, targets = words.source.take(missing), words.target.take(missing)
        both = np.ones((2, len(of_pairs)), np.float32)
        for depth in range(len(levels) - 1, -1, -1):
            level, (source, target) = tables.levels[depth], levels[depth]
            at, cells, likeness = np.arange(len(of_pairs)), of_pairs, self.spelling
            if depth > 0:
                at, likeness = missing, 0.0
                cells = find_cells(sources, targets, source.known, target.known, level.row_offsets, level.targets)
            words_at = at, cells, words.source, words.target
            back_off(*words_at, source, target, level.cells, tables.weights[depth], likeness, *both)
        emission = np.empty((2, len(words.of_edge)), np.float32)
        for one, of_edges in zip(both, emission, strict=True):
            spread(one, words.of_edge, of_edges)
        return emission


class Decoder:
    """A bitext, known to the model or not, with its vocabularies looked up once.

    Raises ValueError where the model has no lexicon.
    """

    def __init__(self, bitext: Bitext, model: TranslationModel) -> None:
        self.bitext, self.model = bitext, model
        if not model.lexicons:
            raise ValueError(f"there are no posteriors without one of the lexicons {' and '.join(KINDS)}")
        words = bitext.source.vocabulary.words, bitext.target.vocabulary.words
        kinds = {name: variant_of(name)[0] for name in model.lexicons}
        known = {
            kind: (_Known.look_up(words[0], model, kind, 0), _Known.look_up(words[1], model, kind, 1))
            for kind in {*kinds.values()}
        }
        self._lexicons = {
            name: _OfText.of(*known[kind], model.tables[name], SPELLING * model.smoothing_of(name))
            for name, kind in kinds.items()
        }

    def runs(self) -> Iterator[tuple[int, int]]:
        """First and last + 1 of the pairs to decode at once; all pairs, in order."""
        return runs(Pairs.cut(self.bitext, 0, len(self.bitext)).edge_offsets, _EDGES_AT_ONCE)

    def posteriors(self, first: int, last: int) -> Posteriors:
        """Posteriors of pairs first .. last by the HMM, the mean of the lexicons."""
        pairs = Pairs.cut(self.bitext, first, last)
        words = WordPairs.of(pairs, len(self.bitext.source.vocabulary), len(self.bitext.target.vocabulary))
        found = [self._decode(name, pairs, words, (True,))[0] for name in self.model.lexicons]
        total: F32 = np.mean([both for both, _ in found], axis=0, dtype=np.float32)
        return Posteriors.of(pairs, total, found[0][1])

    def posterior_set(self, pairs: Pairs, words: WordPairs) -> PosteriorSet:
        """Posteriors of some pairs of the bitext by both models.  words: their word pairs."""
        totals: dict[str, list[F32]] = {}
        likelihoods: list[F64] = []
        kinds = [variant_of(name)[0] for name in self.model.lexicons]
        for name, kind in zip(self.model.lexicons, kinds, strict=True):
            found = self._decode(name, pairs, words, (True, False))
            likelihoods += [by_model for _, by_model in found]
            if kind in totals:
                for total, (of_lexicon, _) in zip(totals[kind], found, strict=True):
                    total += of_lexicon
            else:
                totals[kind] = [of_lexicon for of_lexicon, _ in found]
            del found  # a long pair takes much
        soft, apart = {}, None
        for kind, both in totals.items():
            for total in both if kinds.count(kind) > 1 else ():
                total /= np.float32(kinds.count(kind))
            hmm, lexical = map(partial(Posteriors.of, pairs), both, likelihoods)
            soft[kind] = hmm.soft
            if not KINDS[kind].agreement:
                apart = hmm, lexical
        means = (reduce(np.add, both) / np.float32(len(totals)) for both in zip(*totals.values(), strict=True))
        hmm, lexical = map(partial(Posteriors.of, pairs), means, likelihoods)
        return PosteriorSet(hmm, lexical, soft, apart)

    def _decode(self, name: str, pairs: Pairs, words: WordPairs, by_hmm: Sequence[bool]) -> list[_Decoded]:
        """Posteriors (2, E) of both directions by a lexicon, by the HMM or IBM Model 1, and log likelihoods."""
        lexicon = self._lexicons[name]
        units, whole = pairs, KINDS[variant_of(name)[0]].whole
        if not whole:
            units, *bounds = cut_pairs(pairs, *lexicon.units)
            words = WordPairs.of(units, *(len(side.names) for side in lexicon.units))
        emissions = lexicon.emissions(words)
        found = []
        for hmm in by_hmm:
            both = emissions if hmm is by_hmm[-1] else emissions.copy()
            likelihoods = infer_both(units, lexicon.null, lexicon.chain, hmm, both)
            found.append((both if whole else gather(both, units, pairs, *bounds), likelihoods))
        return found
