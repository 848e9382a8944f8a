"""FeatureSet: the named families of features, and the edges of whole bitexts in batches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType

import numpy as np

from corpora import SettingError
from corpora.bitext import Bitext
from corpora.links import Links
from corpora.ragged import Lists
from corpora.threads import map_threads
from features.batch import EdgeBatch, EncodedText
from features.candidates import check_candidates
from features.families import indicators, links
from features.statistics import CorpusStatistics
from features.table import DEFAULT_MEMORY, EdgeTable, Matrix, gather, round_to_grid
from features.translation.lexicon import KINDS

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


@dataclass(frozen=True)
class FeatureSet:
    """Which families, which other aligners' links (see `families.links`) and which words, in the order of the columns.

    words: of the source and of the target language, as the corpus is normalised, each an indicator of its edges, named
    ``source:word`` and ``target:word``.  candidates: which edges have features, one of `candidates.CANDIDATES`.
    Raises SettingError for an unknown or repeated name, and where there are none.
    """

    families: tuple[str, ...] = tuple(FAMILIES)
    links: tuple[str, ...] = ()
    words: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    candidates: str = "likely"

    def __post_init__(self) -> None:
        check_candidates(self.candidates)
        if not self.names:
            raise SettingError(f"there are no features (choose families from {', '.join(FAMILIES)})")
        if len(set(self.names)) != len(self.names):
            raise SettingError(f"a feature is named twice in {', '.join(self.names)} (name each family and file once)")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for _, name in self._columns())

    @property
    def groups(self) -> tuple[str, ...]:
        """The group of each column: its family, ``words`` or ``links``."""
        return tuple(group for group, _ in self._columns())

    def _columns(self) -> Iterator[tuple[str, str]]:
        yield from ((family, name) for family in self.families for name in find_family(family).NAMES)
        yield from (("links", f"links:{name}{column}") for name in self.links for column in links.NAMES)
        for side, words in zip(("source", "target"), self.words, strict=True):
            yield from (("words", f"{side}:{word}") for word in words)

    @property
    def lexicons(self) -> tuple[str, ...]:
        """The lexicons that the corpus statistics must have; none where no family uses posteriors."""
        wanted = {lexicon for family in self.families for lexicon in getattr(find_family(family), "LEXICONS", ())}
        return tuple(lexicon for lexicon in KINDS if lexicon in wanted)

    def encode(
        self, bitext: Bitext, statistics: CorpusStatistics, links: Sequence[Links] = (), *, to_align: bool = False
    ) -> EncodedText:
        """A bitext to be cut into batches.

        links: of other aligners, one for each of `self.links`.  to_align: or candidates are no fewer than likely ones.
        """
        candidates = "likely" if self.candidates == "fewer" and not to_align else self.candidates
        return EncodedText.of(bitext, statistics, candidates, posteriors=bool(self.lexicons), others=links)

    def fill(self, batch: EdgeBatch, out: Matrix) -> None:
        """Write the features of the candidates of a batch, (E, d), rounded to the grid."""
        for columns, features, of_pairs in self.parts(batch):
            out[:, columns] = (features.take(batch.word_pairs.of_edge, axis=1) if of_pairs else features).T
        round_to_grid(out)

    def parts(self, batch: EdgeBatch) -> Iterator[tuple[slice, Matrix, bool]]:
        """Compute the same a family at a time, not rounded yet: its columns, their values, and whether of word pairs.

        The values are (columns, E) of the candidates, or (columns, m) of their word pairs.

        One family stays in the cache, the whole table would not; and what depends on the words alone is there once for
        each word pair, not for each edge.
        """
        column = 0
        for width, of_pairs, fill in self._fillers(batch):
            rows = len(batch.word_pairs.source if of_pairs else batch.cells)
            part = np.empty((width, rows), np.float32)
            fill(part.T)
            yield slice(column, column + width), part, of_pairs
            column += width

    def _fillers(self, batch: EdgeBatch) -> Iterator[tuple[int, bool, Callable[[Matrix], None]]]:
        """The number of columns of each of the `parts`, whether they are of word pairs, and what fills them."""
        for family in map(find_family, self.families):
            yield len(family.NAMES), getattr(family, "OF_WORD_PAIRS", False), partial(family.fill, batch)
        for other in batch.text.others:
            yield len(links.NAMES), False, partial(links.fill, batch, other)
        for side, words in enumerate(self.words):
            if words:
                yield len(words), False, partial(indicators.fill, batch, side, words)

    def extract(
        self,
        bitext: Bitext,
        statistics: CorpusStatistics,
        *,
        links: Sequence[Links] = (),
        memory: int = DEFAULT_MEMORY,
        on_progress: Callable[[int], None] | None = None,
    ) -> EdgeTable:
        """Features of the candidates of a bitext, in batches on all cores.

        links: see `encode`.  memory: bytes the features may take before they go to a temporary file, which is
        gone when the table is.  on_progress: called with the number of pairs done.
        """
        if len(links) != len(self.links):
            raise ValueError(f"{len(links)} files of links for {len(self.links)} features of links")
        lists: list[Lists] = []

        text = self.encode(bitext, statistics, links)

        def fill(run: tuple[int, int]) -> tuple[Lists, Matrix, int]:
            batch = text.batch(*run)
            features = np.empty((len(batch.cells), len(self.names)), np.float32)
            self.fill(batch, features)
            return batch.lists, features, batch.pairs.stop

        def parts() -> Iterator[Matrix]:
            for of_batch, features, done in map_threads(fill, text.runs()):
                lists.append(of_batch)
                yield features
                if on_progress is not None:
                    on_progress(done)

        features = gather(parts(), len(self.names), memory)
        return EdgeTable(features, Lists.join(lists), self.names)


def with_words(features: FeatureSet, labelled: Bitext, most: int) -> FeatureSet:
    """These features and indicators of the `most` words of each language that are most frequent in labelled pairs."""
    words = indicators.most_frequent(labelled.source, most), indicators.most_frequent(labelled.target, most)
    return replace(features, words=words)
