"""Posteriors of links by translation models, for any text, and links from posteriors alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from corpora.alignment import I64, Link, Links, PairLinks
from corpora.bitext import Bitext, Text
from corpora.ragged import edge_offsets
from corpora.symmetrize import symmetrize
from corpora.threads import map_threads
from features.translation._emission_kernels import LevelTables, SideOfLevel, back_off, find
from features.translation._translation_kernels import Chain, Pairs, decode
from features.translation.lexicon import AGREEING, SPELLING, Side, class_name
from features.translation.model import Tables, TranslationModel
from features.translation.workspaces import make_lattice
from features.word_pairs import WordPairs, spread
from features.words import WordTable

F32 = npt.NDArray[np.float32]

DEFAULT_THRESHOLD = 0.5

_EDGES_AT_ONCE = 1 << 17


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Probabilities of links; edge (j, k) of pair i is row ``offsets[i] + j * K + k`` with (J, K) = shapes[i].

    forward: (E,) float32, that target word k comes of source word j: the sum over j is at most 1, the rest is NULL's.
    reverse: (E,) float32, that source word j comes of target word k.
    """

    forward: F32
    reverse: F32
    shapes: I64
    offsets: I64

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
        return Links.from_pairs(
            PairLinks(frozenset(symmetrize(forward, reverse, method)), frozenset())
            for forward, reverse in self._directions()
        )

    def _directions(self) -> Iterator[tuple[set[Link], set[Link]]]:
        for i, (J, K) in enumerate(self.shapes.tolist()):
            edges = slice(self.offsets[i], self.offsets[i + 1])
            if J == 0 or K == 0:
                yield set(), set()
                continue
            forward = self.forward[edges].reshape(J, K)
            reverse = self.reverse[edges].reshape(J, K)
            best = forward.argmax(axis=0)
            linked = forward.max(axis=0) > 1.0 - forward.sum(axis=0)
            ones = {(int(best[k]), k) for k in np.flatnonzero(linked).tolist()}
            best = reverse.argmax(axis=1)
            linked = reverse.max(axis=1) > 1.0 - reverse.sum(axis=1)
            yield ones, {(j, int(best[j])) for j in np.flatnonzero(linked).tolist()}


class _Mean:
    """The mean of posteriors of the same edges, which are taken one after the other: few are in memory at a time."""

    def __init__(self) -> None:
        self._taken: Posteriors | None = None
        self._number = 0

    def take(self, posteriors: Posteriors) -> None:
        """Add posteriors, whose arrays nobody else may use from now on."""
        self._number += 1
        if self._taken is None:
            self._taken = posteriors
        else:
            np.add(self._taken.forward, posteriors.forward, out=self._taken.forward)
            np.add(self._taken.reverse, posteriors.reverse, out=self._taken.reverse)

    def result(self) -> Posteriors:
        """The mean; nothing may be taken after that."""
        if self._taken is None:
            raise ValueError("there are no posteriors")
        for direction in (self._taken.forward, self._taken.reverse):
            np.divide(direction, np.float32(self._number), out=direction)
        return self._taken


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

    classes: Mapping[int | None, npt.NDArray[np.int32]]
    spelling: Mapping[int | None, WordTable]

    @classmethod
    def look_up(cls, text: Text, lexicons: Iterable[Tables], side: str) -> _Known:
        words = text.vocabulary.words
        classes: dict[int | None, npt.NDArray[np.int32]] = {}
        spelling: dict[int | None, WordTable] = {}
        for tables in lexicons:
            for width, level in zip(tables.widths, tables.levels, strict=True):
                if width not in classes:  # in order of first appearance, they have the same numbers in every lexicon
                    index = getattr(level, side).index
                    known = (index.get(class_name(word, width), -1) for word in words)
                    classes[width] = np.fromiter(known, np.int32, len(words))
            finest = tables.widths[0]
            if finest not in spelling:
                spelling[finest] = WordTable.from_words([class_name(word, finest) for word in words])
        return cls(classes, spelling)

    def level(self, widths: Sequence[int | None], depth: int, side: Side, scale: F32) -> SideOfLevel:
        """The words at one level of a lexicon; widths: of the classes of all its levels."""
        known, spelling = self.classes[widths[depth]], self.spelling[widths[0]]
        return SideOfLevel(
            known=known, above=self.classes[widths[depth + 1]] if depth + 1 < len(widths) else np.zeros_like(known),
            shares=side.shares, unseen=side.unseen, scale=scale, letters=spelling.plain_letters,
            bounds=spelling.plain_offsets,
        )  # fmt: skip


class Decoder:
    """A bitext, known to the model or not, with its vocabularies looked up once."""

    def __init__(self, bitext: Bitext, model: TranslationModel) -> None:
        self.bitext, self.model = bitext, model
        self.shapes = np.stack([bitext.source.lengths, bitext.target.lengths], axis=1)
        self.offsets = edge_offsets(self.shapes)
        lexicons = model.tables.values()
        self._source = _Known.look_up(bitext.source, lexicons, "source")
        self._target = _Known.look_up(bitext.target, lexicons, "target")

    def posteriors(self, first: int, last: int) -> Posteriors:
        """Of pairs first .. last by the HMM, the mean of the agreeing lexicons."""
        pairs, shapes = self._pairs(first, last), self.shapes[first:last]
        words = self._word_pairs(pairs)
        mean = _Mean()
        for tables in self._agreeing().values():
            hmm = self._emissions(tables, words)
            self._decode(pairs, shapes, tables, hmm)
            mean.take(Posteriors(*hmm, shapes, pairs.edge_offsets))
        return mean.result()

    def beliefs(self, first: int, last: int, words: WordPairs | None = None) -> Beliefs:
        """Of pairs first .. last by both models.  words: their word pairs, by words of the text, where known."""
        pairs, shapes = self._pairs(first, last), self.shapes[first:last]
        if words is None:
            words = self._word_pairs(pairs)
        hmm, lexical, soft = _Mean(), _Mean(), {}
        for name, tables in self._agreeing().items():
            found = self._both(pairs, shapes, words, tables)
            soft[name] = found[0].soft
            hmm.take(found[0])
            lexical.take(found[1])
            del found  # a long pair takes much
        directional = self.model.tables.get("directional")
        alone = None if directional is None else self._both(pairs, shapes, words, directional)
        return Beliefs(hmm.result(), lexical.result(), soft, alone)

    def _agreeing(self) -> Mapping[str, Tables]:
        return {name: tables for name, tables in self.model.tables.items() if name in AGREEING}

    def _both(self, pairs: Pairs, shapes: I64, words: WordPairs, tables: Tables) -> tuple[Posteriors, Posteriors]:
        """By the HMM and by IBM Model 1."""
        emissions = self._emissions(tables, words)
        mixed = emissions[0].copy(), emissions[1].copy()
        _mix(pairs, *self._null(tables), tables.chain.p0, *mixed)
        self._decode(pairs, shapes, tables, emissions)
        return Posteriors(*emissions, shapes, pairs.edge_offsets), Posteriors(*mixed, shapes, pairs.edge_offsets)

    def _decode(self, pairs: Pairs, shapes: I64, tables: Tables, emissions: tuple[F32, F32]) -> None:
        """Turn the emissions of both directions into posteriors of the HMM, in place."""
        both = np.concatenate([shapes, shapes[:, ::-1]])  # one lattice for both directions
        lattice = make_lattice(both[:, 0], both[:, 1])
        decode(0, len(shapes), pairs, *emissions, *self._null(tables), self._chain(tables), lattice)

    def _pairs(self, first: int, last: int) -> Pairs:
        source, target = self.bitext.source, self.bitext.target
        starts = source.offsets[first], target.offsets[first]
        return Pairs(
            source.ids[starts[0] : source.offsets[last]], target.ids[starts[1] : target.offsets[last]],
            source.offsets[first : last + 1] - starts[0], target.offsets[first : last + 1] - starts[1],
            self.offsets[first : last + 1] - self.offsets[first],
        )  # fmt: skip

    def _null(self, tables: Tables) -> tuple[F32, F32]:
        """Probabilities of the words of the text given NULL."""
        finest = tables.widths[0]
        return tables.null_source[self._source.classes[finest]], tables.null_target[self._target.classes[finest]]

    def _chain(self, tables: Tables) -> Chain:
        """The chain, with the groups of the words of the text."""
        finest, chain = tables.widths[0], tables.chain
        forward = chain.forward._replace(groups=chain.forward.groups[self._source.classes[finest]])
        reverse = chain.reverse._replace(groups=chain.reverse.groups[self._target.classes[finest]])
        return chain._replace(forward=forward, reverse=reverse)

    def _word_pairs(self, pairs: Pairs) -> WordPairs:
        return WordPairs.of(*pairs, len(self.bitext.source.vocabulary), len(self.bitext.target.vocabulary))

    def _emissions(self, tables: Tables, words: WordPairs) -> tuple[F32, F32]:
        """Probabilities of the words of each edge, in both directions, found once for each word pair."""
        missing = np.empty(len(words.source), np.bool_)
        forward, reverse = np.empty((2, len(words.source)), np.float32)
        cells = tables.levels[0].cells
        known = self._source.classes[tables.widths[0]], self._target.classes[tables.widths[0]]
        find(
            words.source, words.target, *known, cells.row_offsets, cells.targets, tables.tables[0].cells, missing,
            forward, reverse,
        )  # fmt: skip
        for depth in range(len(tables.levels) - 1, -1, -1):
            level, table = tables.levels[depth], tables.tables[depth]
            source = self._source.level(tables.widths, depth, level.source, table.source_scale)
            target = self._target.level(tables.widths, depth, level.target, table.target_scale)
            of_cells = LevelTables(
                row_offsets=level.cells.row_offsets, targets=level.cells.targets, cells=table.cells,
                weight=level.weight, spelling=SPELLING * self.model.smoothing,
                coarsest=depth + 1 == len(tables.levels), finest=depth == 0,
            )  # fmt: skip
            back_off(words.source, words.target, source, target, of_cells, missing, forward, reverse)
        emission = np.empty((2, len(words.of_edge)), np.float32)
        for of_pairs, of_edges in zip((forward, reverse), emission, strict=True):
            spread(of_pairs, words.of_edge, of_edges)
        return emission[0], emission[1]


def posteriors(model: TranslationModel, bitext: Bitext) -> Posteriors:
    """Of all pairs of a bitext, on all cores."""
    decoder = Decoder(bitext, model)
    offsets = decoder.offsets
    forward, reverse = np.empty(offsets[-1], np.float32), np.empty(offsets[-1], np.float32)

    def fill(run: tuple[int, int]) -> None:
        part = decoder.posteriors(*run)
        forward[offsets[run[0]] : offsets[run[1]]] = part.forward
        reverse[offsets[run[0]] : offsets[run[1]]] = part.reverse

    for _ in map_threads(fill, runs(offsets)):
        pass
    return Posteriors(forward, reverse, decoder.shapes, offsets)


def runs(offsets: I64) -> Iterator[tuple[int, int]]:
    """First and last + 1 of the pairs to decode at once, by the offsets of their edges; all pairs, in order."""
    first = 0
    while first < len(offsets) - 1:
        last = int(np.searchsorted(offsets, offsets[first] + _EDGES_AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), len(offsets) - 1)
        yield first, last
        first = last


@nb.njit(cache=True, nogil=True)
def _mix(pairs, null_source, null_target, p0, forward, reverse):
    """Posteriors of IBM Model 1, every position as likely as another, in place of the emissions  [BDDM93]."""
    for i in range(len(pairs.edge_offsets) - 1):
        source = pairs.source[pairs.source_offsets[i] : pairs.source_offsets[i + 1]]
        target = pairs.target[pairs.target_offsets[i] : pairs.target_offsets[i + 1]]
        J = len(source)
        K = len(target)
        first = pairs.edge_offsets[i]
        for j in range(J):
            total = p0 * null_source[source[j]]
            for k in range(K):
                total += (1.0 - p0) / K * reverse[first + j * K + k]
            for k in range(K):
                reverse[first + j * K + k] *= (1.0 - p0) / K / total
        for k in range(K):
            total = p0 * null_target[target[k]]
            for j in range(J):
                total += (1.0 - p0) / J * forward[first + j * K + k]
            for j in range(J):
                forward[first + j * K + k] *= (1.0 - p0) / J / total
