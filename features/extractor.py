"""FeatureSet: the named families of features, and the edges of whole bitexts in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType
from typing import NamedTuple

import numpy as np

from corpora import SettingError
from corpora.alignment import Links
from corpora.bitext import Bitext
from corpora.threads import map_threads
from features.batch import EdgeBatch, Encoded
from features.families import indicators
from features.families.links import fill as fill_links
from features.statistics import CorpusStatistics
from features.table import DEFAULT_MEMORY, EdgeTable, Matrix, Vector, allocate, round_to_grid
from features.translation.lexicon import KINDS
from features.word_pairs import runs, spread_columns

_NAMES = (
    *("bias", "association", "position", "orthography", "competition", "neighbours"),
    *("lexical", "hmm", "context", "kinds", "directional"),
)

FAMILIES: Mapping[str, ModuleType] = {name: import_module(f"features.families.{name}") for name in _NAMES}
"""What a module of a family has stands in `features.families`."""


@cache
def _elsewhere(name: str) -> ModuleType | None:
    return next((point.load() for point in entry_points(group="aligner.features", name=name)), None)


def find_family(name: str) -> ModuleType:
    """One of FAMILIES, or what another package has under ``aligner.features``.  Raises SettingError for other names."""
    found = FAMILIES.get(name) or _elsewhere(name)
    if found is None:
        raise SettingError(f"unknown feature family {name!r} (choose from {', '.join(FAMILIES)}, or install it)")
    return found


EDGES_AT_ONCE = 1 << 18
"""Edges per batch. A worker holds one family's features of them all; threads that ask for the interpreter less often
wait less for each other."""


class Part(NamedTuple):
    """Some columns of the features of a batch.

    columns: which.  features: (columns, E) of the edges, or where `of_pairs` (columns, m) of the batch's word pairs.
    """

    columns: slice
    features: Matrix
    of_pairs: bool


@dataclass(frozen=True)
class FeatureSet:
    """Which families, which words and which other aligners' links (a column each), in the order of the columns.

    words: of the source and of the target language, as the corpus is normalised, each an indicator of its edges, named
    ``source:word`` and ``target:word``.
    Raises SettingError for an unknown or repeated name, and where there are none.
    """

    families: tuple[str, ...] = tuple(FAMILIES)
    links: tuple[str, ...] = ()
    words: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    def __post_init__(self) -> None:
        if not self.names:
            raise SettingError(f"there are no features (choose families from {', '.join(FAMILIES)})")
        if len(set(self.names)) != len(self.names):
            raise SettingError(f"a feature is named twice in {', '.join(self.names)} (name each family and file once)")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for _, name in self._columns())

    @property
    def groups(self) -> tuple[str, ...]:
        """Of each column: its family, ``words`` or ``links``."""
        return tuple(group for group, _ in self._columns())

    def _columns(self) -> Iterator[tuple[str, str]]:
        yield from ((family, name) for family in self.families for name in find_family(family).NAMES)
        for side, words in zip(("source", "target"), self.words, strict=True):
            yield from (("words", f"{side}:{word}") for word in words)
        yield from (("links", f"links:{name}") for name in self.links)

    @property
    def lexicons(self) -> tuple[str, ...]:
        """Those that the translation models of the corpus statistics must have; none where no family looks at them."""
        wanted = {lexicon for family in self.families for lexicon in getattr(find_family(family), "LEXICONS", ())}
        return tuple(lexicon for lexicon in KINDS if lexicon in wanted)

    def fill(self, batch: EdgeBatch, links: Sequence[Links], out: Matrix, *, in_place: bool = False) -> None:
        """Write the features of a batch, (E, d), rounded to the grid.

        links: of the whole bitext, one for each of `self.links`.  in_place: hold no copy of a family's columns; kernels
        are compiled once more for that.
        """
        space = np.empty(self.widest * int(batch.offsets[-1]), np.float32)
        for columns, of_pairs, fill in self._fillers(batch, links):
            part = out[:, columns].T if in_place and not of_pairs else _part(space, columns, batch, of_pairs)
            fill(part.T)
            if of_pairs:
                spread_columns(part, batch.word_pairs.of_edge, out, columns.start)
            elif not in_place:
                out[:, columns] = part.T
        round_to_grid(out)

    def parts(self, batch: EdgeBatch, links: Sequence[Links], space: Vector) -> Iterator[Part]:
        """The same, a family at a time, each in the place of the last, and not rounded yet.

        space: for `widest` features of every edge. One family stays in the cache, the whole table would not; and what
        depends on the words alone is there once for each word pair, not for each edge.
        """
        for columns, of_pairs, fill in self._fillers(batch, links):
            part = _part(space, columns, batch, of_pairs)
            fill(part.T)
            yield Part(columns, part, of_pairs)

    @property
    def widest(self) -> int:
        """The most columns of one of the `parts`."""
        return max([1, *(len(find_family(family).NAMES) for family in self.families), *map(len, self.words)])

    def _fillers(
        self, batch: EdgeBatch, links: Sequence[Links]
    ) -> Iterator[tuple[slice, bool, Callable[[Matrix], None]]]:
        """Columns of each of the `parts`, whether they are of word pairs, and what fills them."""
        fillers: list[tuple[int, bool, Callable[[Matrix], None]]] = [
            *(
                (len(family.NAMES), getattr(family, "OF_WORD_PAIRS", False), partial(family.fill, batch))
                for family in map(find_family, self.families)
            ),
            *(
                (len(words), False, partial(indicators.fill, batch, side, words))
                for side, words in enumerate(self.words)
                if words
            ),
            *((1, False, partial(fill_links, batch, other)) for _, other in zip(self.links, links, strict=True)),
        ]
        column = 0
        for width, of_pairs, fill in fillers:
            yield slice(column, column + width), of_pairs, fill
            column += width

    def extract(
        self,
        bitext: Bitext,
        statistics: CorpusStatistics,
        *,
        links: Sequence[Links] = (),
        memory: int = DEFAULT_MEMORY,
        on_progress: Callable[[int], None] | None = None,
    ) -> EdgeTable:
        """Features of every edge of a bitext, in batches on all cores.

        links: one for each of `self.links`.  memory: bytes the features may take before they go to a temporary file,
        which is gone when the table is.  on_progress: called with the number of pairs done.
        """
        encoded = Encoded(bitext, statistics)
        offsets = encoded.offsets
        features = allocate((int(offsets[-1]), len(self.names)), memory)

        def fill(batch: EdgeBatch) -> int:
            rows = features[offsets[batch.pairs.start] : offsets[batch.pairs.stop]]
            self.fill(batch, links, rows, in_place=len(rows) > EDGES_AT_ONCE)  # of a pair so long
            return batch.pairs.stop

        for done in map_threads(fill, batches(encoded)):
            if on_progress is not None:
                on_progress(done)
        return EdgeTable(features, encoded.shapes, offsets, self.names)


def _part(space: Vector, columns: slice, batch: EdgeBatch, of_pairs: bool) -> Matrix:
    """(columns, E or m) of the space: in C order, as a single edge's is, so that kernels are compiled once."""
    width, rows = columns.stop - columns.start, len(batch.word_pairs.source) if of_pairs else int(batch.offsets[-1])
    return space[: width * rows].reshape(width, rows)


def with_words(features: FeatureSet, labelled: Bitext, most: int) -> FeatureSet:
    """These features and indicators of the `most` words of each language that labelled pairs tell most of."""
    words = indicators.most_frequent(labelled.source, most), indicators.most_frequent(labelled.target, most)
    return replace(features, words=words)


def batches(encoded: Encoded, edges_at_once: int = EDGES_AT_ONCE) -> Iterator[EdgeBatch]:
    """Cut a bitext into batches of at most `edges_at_once` edges, or of one pair if that has more."""
    return (encoded.batch(first, last) for first, last in runs(encoded.offsets, edges_at_once))
