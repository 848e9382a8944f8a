"""Priors: counts of links in other text, from files of eflomal and fast_align or from a model, and back into such.

eflomal's files have fields between tabs: ``LEX source target count`` of links, ``HMMF width count`` and ``HMMR`` of
jumps, those into and out of the sentence too, ``FERF word links count`` and ``FERR`` of words with so many links.
A table of ``fast_align -p`` has ``source target log p(target | source)``.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from corpora import SettingError
from corpora.bitext import Bitext, WordIds
from corpora.dictionaries import read_dictionary
from corpora.dictionaries.lines import plain
from corpora.errors import BrokenLine, quoted
from corpora.files import StrPath, read_lines
from corpora.link_counts import NULL as UNLINKED
from corpora.normalize import Normalizers
from corpora.ragged import F64, I64, Lists
from features.translation import jumps
from features.translation._lattice_kernels import END, INSIDE, START, WINDOW, JumpWeights
from features.translation._translation_kernels import DirectionCounts
from features.translation.cells import Cells
from features.translation.dictionary import Fit, count_entries
from features.translation.expectation import Parameters, Settings
from features.translation.expected_counts import Direction, Lexicon
from features.translation.lexicon import KINDS
from features.translation.model import TranslationModel
from features.translation.pieces import Units
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

    def to_model(
        self, normalizers: Normalizers, entries: Mapping[tuple[str, str], float] | None = None
    ) -> TranslationModel:
        """Lexicons of words and of their pieces that have these counts, normalised, and no others.

        entries: more links, of a dictionary: its words are not more frequent in text for that.
        Raises SettingError on counts that are not between 0 and LARGEST_COUNT.
        """
        if not all(0.0 <= count <= LARGEST_COUNT for counts in self for count in counts.values()):
            raise SettingError(f"a count of priors is not between 0 and {LARGEST_COUNT:g}")
        one, other = ids = [WordIds(normalizer) for normalizer in normalizers]
        linked: defaultdict[tuple[int, int], float] = defaultdict(float)
        null: list[defaultdict[int, float]] = [defaultdict(float), defaultdict(float)]
        for (source, target), count in self.links.items():
            if source == NULL:
                null[1][other[target]] += count
            elif target == NULL:
                null[0][one[source]] += count
            else:
                linked[one[source], other[target]] += count
        of_entries = {(one[source], other[target]): count for (source, target), count in (entries or {}).items()}
        for pair, count in of_entries.items():
            linked[pair] += count
        names = [list(side.index) for side in ids]
        pairs, counts = np.array([*linked], np.int64).reshape(-1, 2), np.array([*linked.values()], np.float64)
        alone = [np.array([null[side].get(word, 0.0) for word in range(len(names[side]))]) for side in (0, 1)]
        in_text = counts - [of_entries.get(pair, 0.0) for pair in linked]
        seen = [alone[side] + np.bincount(pairs[:, side], in_text, len(names[side])) for side in (0, 1)]
        lexicons = {}
        for name, kind in KINDS.items():
            units = of_source, of_target = tuple(Units.of(side, kind.whole) for side in names)
            cells, counted = _share(pairs, counts, *units)
            widths = (self.forward, self.reverse) if kind.whole else ({}, {})  # of jumps between words
            forward, forward_weights = _direction(of_target.occurrences(alone[1]), widths[0], cells.n_sources)
            reverse, reverse_weights = _direction(of_source.occurrences(alone[0]), widths[1], cells.n_targets)
            found = Parameters(
                cells,
                counted[:, :1] if kind.agreement else counted,
                forward,
                reverse,
                (forward_weights, reverse_weights),
                (of_source.occurrences(seen[0]), of_target.occurrences(seen[1])),
            )
            lexicons[name] = Lexicon.from_parameters(found)
        whole = [np.ceil(side).astype(np.int64) for side in seen]
        usual = Settings.of_text(sum(side.sum() for side in whole) / 2)
        return TranslationModel(
            WordTable.from_words(names[0]),
            WordTable.from_words(names[1]),
            whole[0],
            whole[1],
            lexicons,
            usual.p0,
            usual.uniform,
            usual.smoothing,
        )


def _share(pairs: I64, counts: F64, source: Units, target: Units) -> tuple[Cells, F64]:
    """The cells of the units of word pairs, (n, 2), and the counts of each in both directions, see `Parameters`.

    In the forward direction all units of the source word give each of the target word alike, and the other way round.
    """
    shapes = np.stack([source.sizes[pairs[:, 0]], target.sizes[pairs[:, 1]]], axis=1)
    every = Lists.of_all(shapes)
    first = source.offsets[pairs[every.pairs, 0]], target.offsets[pairs[every.pairs, 1]]
    rows, columns = source.of_words[first[0] + every.source], target.of_words[first[1] + every.target]
    n_source, n_target = len(source.names), len(target.names)
    keys, cell = np.unique(rows * np.int64(n_target) + columns, return_inverse=True)
    shared = [np.bincount(cell, (counts / sizes)[every.pairs], len(keys)) for sizes in shapes.T]
    starts = np.searchsorted(keys, np.arange(n_source + 1) * n_target)
    cells = Cells(starts, (keys % max(n_target, 1)).astype(np.int32), n_target)
    return cells, np.stack([np.append(column, 0.0) for column in shared], axis=1)


def _widths(direction: Direction) -> Mapping[int, float]:
    counts: defaultdict[int, float] = defaultdict(float)
    for begin, end, first in ((START, INSIDE, 1), (INSIDE, END, -WINDOW), (END, None, 1)):
        for width, count in enumerate(direction.jumps[begin:end].tolist(), first):
            counts[width] += round(count, 3)
    return {width: count for width, count in counts.items() if count > 0.0}


def _direction(null: F64, widths: Mapping[int, float], states: int) -> tuple[DirectionCounts, JumpWeights]:
    """Counts of a direction, in which every jump might have had any width, and weights that make its jumps likely."""
    groups = np.zeros(states, np.int32)
    counted = jumps.new_jumps(groups)
    for width, count in widths.items():
        if abs(width) <= WINDOW:
            counted.counts[INSIDE + WINDOW + width] = count
    counted.contexts[1, WINDOW, WINDOW] = total = counted.counts.sum()
    weights = jumps.first_jumps(groups)
    if total > 0.0:  # a width without any weight would never get one
        weights = jumps.fit_jumps(counted._replace(counts=counted.counts + 1.0), weights, 1.0, jumps.LONG_STEP)
    return DirectionCounts(null, counted), weights


NOTHING = Priors({}, {}, {}, {}, {})

_KINDS = "LEX", "FERF", "FERR", "HMMF", "HMMR"
_HINT = "eflomal has KIND, fields and count, at most 1e12, between tabs; fast_align -p source, target, log probability"


def parse_priors(lines: Iterable[bytes], path: StrPath) -> Priors:
    """The counts of a file of eflomal or fast_align; path: for errors.  Raises BrokenLine."""
    kinds: dict[str, dict[Any, float]] = {kind: {} for kind in _KINDS}
    for number, line in enumerate(lines, 1):
        key: Any
        try:
            match line.decode().split("\t"):
                case ["LEX" as kind, source, target, count]:
                    key, value = (source, target), float(plain(count))
                case ["HMMF" | "HMMR" as kind, width, count]:
                    key, value = int(plain(width)), float(plain(count))
                case ["FERF" | "FERR" as kind, word, links, count]:
                    key, value = (word, int(plain(links))), float(plain(count))
                case [source, target, logarithm] if float(plain(logarithm)) <= 0.0:
                    kind, key = "LEX", (NULL if source == EPSILON else source, target)
                    value = TABLE_COUNT * math.exp(float(plain(logarithm)))
                case _:
                    raise ValueError
            # Of several lines of one jump the last one holds, as in eflomal.
            before = 0.0 if kind.startswith("HMM") else kinds[kind].get(key, 0.0)
            if not 0.0 <= value <= LARGEST_COUNT - before:
                raise ValueError
        except ValueError:
            raise BrokenLine(path, number, f"{quoted(line)} is no line of priors", hint=_HINT) from None
        kinds[kind][key] = before + value
    return Priors(*kinds.values())


def read_priors(
    path: StrPath | None,
    dictionaries: Sequence[StrPath],
    normalizers: Normalizers,
    text: Bitext,
    *,
    whole: bool = False,
    on_fit: Callable[[Fit], object] = lambda fit: None,
) -> TranslationModel | None:
    """Read the priors of `train_translation` from a file of eflomal or fast_align, and from dictionaries, if any.

    text: to be aligned.  whole: whether entries of which no word is in it count, see `count_entries`.
    on_fit: called with how each dictionary fits the text.
    Raises CorpusError.
    """
    if path is None and not dictionaries:
        return None
    found = NOTHING if path is None else parse_priors(read_lines(path), path)
    languages = text.source.language, text.target.language
    opened = [read_dictionary(dictionary, languages) for dictionary in dictionaries]
    entries, fits = count_entries(opened, text, normalizers, whole=whole)
    for fit in fits:
        on_fit(fit)
    return found.to_model(normalizers, entries)


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
