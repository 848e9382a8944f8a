"""Priors: counts of links in other text, from files of eflomal and fast_align or from a model, and back into such.

eflomal's files have fields between tabs: ``LEX source target count`` of links, ``HMMF width count`` and ``HMMR`` of
jumps, those into and out of the sentence too, ``FERF word links count`` and ``FERR`` of words with so many links.
A table of ``fast_align -p`` has ``source target log p(target | source)``.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from corpora import SettingError
from corpora.bitext import WordIds
from corpora.errors import BrokenLine, quoted
from corpora.files import StrPath, read_lines
from corpora.link_counts import NULL as UNLINKED
from corpora.normalize import Normalizer
from features.translation import jumps
from features.translation._lattice_kernels import END, INSIDE, START, WINDOW, JumpWeights
from features.translation._translation_kernels import DirectionCounts
from features.translation.cells import Cells
from features.translation.expectation import Parameters, Settings
from features.translation.expected_counts import Direction, Lexicon
from features.translation.model import TranslationModel
from features.words import WordTable

TABLE_COUNT = 0.3
"""Occurrences that each source word of a table of fast_align is taken to have: it has probabilities alone."""

NULL, EPSILON = "<NULL>", "<eps>"
"""What words without a link translate, in files of eflomal and of fast_align."""

LARGEST_COUNT = 1e12
"""Greater ones are a slip, and their sums would not be finite in the end."""

LEAST_COUNT = 0.01
"""Smaller counts of a model are not written."""


class Priors(NamedTuple):
    """Counts of aligned text, a mapping for each kind of eflomal's lines.

    links: by source and target word, one of which may be NULL.
    source, target: of words by how many links they have; a translation model knows none and looks at none.
    forward, reverse: of jumps by width, between the source words of neighbouring target words, and the other way round.
    """

    links: Mapping[tuple[str, str], float]
    source: Mapping[tuple[str, int], float]
    target: Mapping[tuple[str, int], float]
    forward: Mapping[int, float]
    reverse: Mapping[int, float]

    @classmethod
    def from_model(cls, model: TranslationModel | None) -> "Priors":
        """The expected counts of a model.  Raises SettingError where it has no lexicon of words."""
        if model is None or "words" not in model.lexicons:
            raise SettingError("the model knows no translations of words (train one with all families of features)")
        found, lexicon = model.link_counts(), model.lexicons["words"]
        source, target = ([NULL if word == UNLINKED else word for word in side] for side in found.words)
        links = {
            (source[e], target[f]): round(count, 3)
            for e, f, count in zip(found.source.tolist(), found.target.tolist(), found.counts.tolist(), strict=True)
            if count >= LEAST_COUNT
        }
        return cls(links, {}, {}, _widths(lexicon.forward), _widths(lexicon.reverse))

    def transposed(self) -> "Priors":
        """With the target for source."""
        links = {(target, source): count for (source, target), count in self.links.items()}
        return Priors(links, self.target, self.source, self.reverse, self.forward)

    def to_model(self, normalizers: tuple[Normalizer, Normalizer]) -> TranslationModel:
        """A lexicon of words that has these counts, normalised, and no others.

        Raises SettingError on counts that are not between 0 and LARGEST_COUNT.
        """
        if not all(0.0 <= count <= LARGEST_COUNT for counts in self for count in counts.values()):
            raise SettingError(f"a count of priors is not between 0 and {LARGEST_COUNT:g}")
        known = one, other = [WordIds(normalizer) for normalizer in normalizers]
        linked: defaultdict[tuple[int, int], float] = defaultdict(float)
        null: list[defaultdict[int, float]] = [defaultdict(float), defaultdict(float)]
        for (source, target), count in self.links.items():
            if source == NULL:
                null[0][other[target]] += count
            elif target == NULL:
                null[1][one[source]] += count
            else:
                linked[one[source], other[target]] += count
        names = [list(ids.index) for ids in known]
        n_source, n_target = map(len, names)
        pairs = np.array(sorted(linked), np.int64).reshape(-1, 2)
        counts = np.array([*(linked[pair] for pair in sorted(linked)), 0.0])[:, None]
        cells = Cells(np.searchsorted(pairs[:, 0], np.arange(n_source + 1)), pairs[:, 1].astype(np.int32), n_target)
        forward, forward_weights = _direction(null[0], n_target, self.forward, n_source)
        reverse, reverse_weights = _direction(null[1], n_source, self.reverse, n_target)
        seen = np.bincount(pairs[:, 0], counts[:-1, 0], n_source) + reverse.null
        seen_target = np.bincount(pairs[:, 1], counts[:-1, 0], n_target) + forward.null
        weights = forward_weights, reverse_weights
        found = Parameters(cells, counts, forward, reverse, weights, (seen, seen_target))
        lexicons = {"words": Lexicon.from_parameters(found)}
        whole = [np.ceil(side).astype(np.int64) for side in found.occurrences]
        usual = Settings.of_text(sum(side.sum() for side in whole) / 2)
        return TranslationModel(
            WordTable.from_words(names[0]), WordTable.from_words(names[1]), whole[0], whole[1], lexicons, usual.p0,
            usual.uniform, usual.smoothing,
        )  # fmt: skip


def _widths(direction: Direction) -> Mapping[int, float]:
    counts: defaultdict[int, float] = defaultdict(float)
    for begin, end, first in ((START, INSIDE, 1), (INSIDE, END, -WINDOW), (END, None, 1)):
        for width, count in enumerate(direction.jumps[begin:end].tolist(), first):
            counts[width] += round(count, 3)
    return {width: count for width, count in counts.items() if count > 0.0}


def _direction(
    null: Mapping[int, float], generated: int, widths: Mapping[int, float], states: int
) -> tuple[DirectionCounts, JumpWeights]:
    """Counts of a direction, in which every jump might have had any width, and weights that make its jumps likely."""
    groups, of_null = np.zeros(states, np.int32), np.zeros(generated)
    of_null[list(null)] = list(null.values())
    counted = jumps.new_jumps(groups)
    for width, count in widths.items():
        if abs(width) <= WINDOW:
            counted.counts[INSIDE + WINDOW + width] = count
    counted.contexts[1, WINDOW, WINDOW] = total = counted.counts.sum()
    weights = jumps.first_jumps(groups)
    if total > 0.0:  # a width without any weight would never get one
        weights = jumps.fit_jumps(counted._replace(counts=counted.counts + 1.0), weights, 1.0, jumps.LONG_STEP)
    return DirectionCounts(of_null, counted), weights


_KINDS = "LEX", "FERF", "FERR", "HMMF", "HMMR"
_HINT = "eflomal has KIND, fields and count, at most 1e12, between tabs; fast_align -p source, target, log probability"


def parse_priors(lines: Iterable[bytes], path: StrPath) -> Priors:
    """The counts of a file of eflomal or fast_align; path: for errors.  Raises BrokenLine."""
    kinds: dict[str, defaultdict[Any, float]] = {kind: defaultdict(float) for kind in _KINDS}
    for number, line in enumerate(lines, 1):
        key: Any
        try:
            match line.decode().split("\t"):
                case ["LEX" as kind, source, target, count]:
                    key, value = (source, target), float(count)
                case ["HMMF" | "HMMR" as kind, width, count]:
                    key, value = int(width), float(count)
                case ["FERF" | "FERR" as kind, word, links, count]:
                    key, value = (word, int(links)), float(count)
                case [source, target, logarithm] if float(logarithm) <= 0.0:
                    kind, key = "LEX", (NULL if source == EPSILON else source, target)
                    value = TABLE_COUNT * math.exp(float(logarithm))
                case _:
                    raise ValueError
            if not 0.0 <= value <= LARGEST_COUNT - kinds[kind].get(key, 0.0):
                raise ValueError
        except ValueError:
            raise BrokenLine(path, number, f"{quoted(line)} is no line of priors", hint=_HINT) from None
        kinds[kind][key] += value
    return Priors(*kinds.values())


def read_priors(path: StrPath | None, normalizers: tuple[Normalizer, Normalizer]) -> TranslationModel | None:
    """Read the priors of `train_translation` from a file of eflomal or fast_align, if any.  Raises CorpusError."""
    return None if path is None else parse_priors(read_lines(path), path).to_model(normalizers)


def format_priors(priors: Priors) -> Iterator[str]:
    """The lines of eflomal's file."""
    kinds: Iterable[tuple[str, Mapping[Any, float]]] = zip(_KINDS, priors, strict=True)
    for kind, counts in kinds:
        for key, count in sorted(counts.items()):
            yield "\t".join(map(str, (kind, *(key if isinstance(key, tuple) else (key,)), f"{count:.10g}\n")))


def format_table(links: Mapping[tuple[str, str], float], beam: float = -4.0) -> Iterator[str]:
    """The lines of fast_align's table of these counts, of p(second | first).

    beam: the probabilities of a word from this power of the inverse of its greatest on, as `-t` of fast_align.
    """
    rows: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (source, target), count in sorted(links.items()):
        if target != NULL and count > 0.0:
            rows[EPSILON if source == NULL else source][target] = count
    for source, row in rows.items():
        total, most = sum(row.values()), max(row.values())
        for target, count in row.items():
            if count / total >= (total / most) ** beam:
                yield f"{source}\t{target}\t{math.log(count / total):g}\n"
