"""Translation models of a bitext, learnt without labels: who translates whom, and how positions follow each other.

A hidden Markov model of each direction [VNT96], whose jumps depend on the words that are left [He07] and reached,
trained after a few iterations of IBM Model 1 [BDDM93] so that both directions agree [LTK06]: a link counts in the
expectation step as often as both make it, the product of their posteriors. Such is the lexicon of words, smoothed by
coarser classes (`lexicon`). The other one, of pieces of words (`pieces`), has its directions trained apart: links of
one word with several others survive there, and its errors are others. Their posteriors are averaged.

[BDDM93] Brown, Della Pietra, Della Pietra and Mercer 1993, The mathematics of statistical machine translation.
[VNT96] Vogel, Ney and Tillmann 1996, HMM-based word alignment in statistical translation.
[ON03] Och and Ney 2003, A systematic comparison of various statistical alignment models.
[LTK06] Liang, Taskar and Klein 2006, Alignment by agreement.
[He07] He 2007, Using word-dependent transition models in HMM based word alignment for statistical machine translation.
[DLR77] Dempster, Laird and Rubin 1977, Maximum likelihood from incomplete data via the EM algorithm, section 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from corpora.link_counts import NULL, LinkCounts
from corpora.ragged import F32, F64, I64, Array, Arrays
from corpora.threads import shared_property
from features.translation._translation_kernels import Chain
from features.translation.expectation import null_emissions
from features.translation.expected_counts import CELL_ARRAYS, Lexicon, check
from features.translation.lexicon import (
    KINDS,
    PSEUDO_COUNTS,
    UNSEEN,
    Classes,
    Table,
    build_levels,
    class_name,
    estimate,
    variant_of,
    variants,
)
from features.translation.pieces import Units
from features.words import WordTable, check_ids, check_offsets, pack_words, unpack_words


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables computed from a lexicon: probabilities of all its levels, from fine to coarse, and of words given NULL.

    levels: from fine to coarse.  weights: K of each.
    null_source: (V_source + 1,), null_target: (V_target + 1,), the last of a word never seen: its frequency.
    chain: with groups of as many words.
    """

    levels: list[Table]
    weights: list[float]
    null_source: F32
    null_target: F32
    chain: Chain


Names = list[tuple[Sequence[str], ...]]
"""Of the classes of both languages, from fine to coarse."""


class Rows(dict[str, tuple[int, ...]]):
    """The numbers of a word's classes at all levels, -1 where there is none; those of known words are kept."""

    def __init__(self, widths: Sequence[int | None], levels: Sequence[Mapping[str, int]]) -> None:
        self.widths, self.levels = widths, levels

    def __missing__(self, word: str) -> tuple[int, ...]:
        places = zip(self.widths, self.levels, strict=True)
        row = tuple([level.get(class_name(word, width), -1) for width, level in places])
        if row[0] >= 0:
            self[word] = row
        return row


@dataclass(frozen=True, eq=False)
class TranslationModel:
    """The result of training, as arrays.

    source_words, target_words: spelling of each word.  source_counts: (V_source,), target_counts: (V_target,) int64,
    occurrences in the training text.  lexicons: by name, see `translation.lexicon.variants`.  known: `tables` and
    `names`, if these need not be computed.
    p0: probability of NULL.  uniform: share of jumps to anywhere.  smoothing: factor of pseudo-counts.
    """

    source_words: WordTable
    target_words: WordTable
    source_counts: I64
    target_counts: I64
    lexicons: Mapping[str, Lexicon]
    p0: float
    uniform: float
    smoothing: float
    known: tuple[Mapping[str, Tables], Mapping[str, Names]] | None = None

    def smoothing_of(self, lexicon: str) -> float:
        return self.smoothing * variant_of(lexicon)[1].smoothing

    @shared_property
    def tables(self) -> Mapping[str, Tables]:
        """Probabilities of each lexicon, computed at the first use."""
        return self.known[0] if self.known else {name: self._tables(name) for name in self.lexicons}

    @shared_property
    def names(self) -> Mapping[str, Names]:
        """The classes of each kind of lexicons, in order of first appearance."""
        if self.known:
            return self.known[1]
        return {
            kind: [(one.names, other.names) for one, other in zip(classes.sources, classes.targets, strict=True)]
            for kind, (_, classes) in self._counted.items()
        }

    @shared_property
    def classes(self) -> Mapping[str, list[tuple[Mapping[str, int], ...]]]:
        """The numbers of the classes of each kind of lexicons, of both languages, from fine to coarse."""
        found: dict[str, list[tuple[Mapping[str, int], ...]]] = {}
        words = self.source_words.index, self.target_words.index
        for kind, levels in self.names.items():
            found[kind] = [words] if KINDS[kind].whole else []
            for level in levels[len(found[kind]) :]:
                found[kind].append(tuple({one: i for i, one in enumerate(side)} for side in level))
        return found

    @shared_property
    def rows(self) -> Mapping[str, "tuple[Rows, ...]"]:
        """The numbers of the classes of each source, and each target, word or piece, for each kind of lexicons."""
        return {
            kind: tuple(Rows(KINDS[kind].widths, [level[side] for level in levels]) for side in (0, 1))
            for kind, levels in self.classes.items()
        }

    @shared_property
    def _counted(self) -> Mapping[str, tuple[tuple[F64, F64], Classes]]:
        """The occurrences of the words or pieces of each kind of lexicons, and their classes."""
        found = {}
        for kind in dict.fromkeys(variant_of(name)[0] for name in self.lexicons):
            units = [Units.of(side.words(), KINDS[kind].whole) for side in (self.source_words, self.target_words)]
            counts = units[0].occurrences(self.source_counts), units[1].occurrences(self.target_counts)
            found[kind] = counts, Classes.of((units[0].names, units[1].names), counts, KINDS[kind].widths)
        return found

    def _tables(self, name: str) -> Tables:
        counts, classes = self._counted[variant_of(name)[0]]
        found, smoothing = self.lexicons[name].parameters(counts), self.smoothing_of(name)
        levels = build_levels(found.cells, classes, smoothing)
        null_source = _with_unseen(found.reverse.null, counts[0], smoothing)
        null_target = _with_unseen(found.forward.null, counts[1], smoothing)
        return self._with_chain(name, [*estimate(levels, found.counts)][::-1], null_source, null_target)

    def _with_chain(self, name: str, levels: list[Table], null_source: F32, null_target: F32) -> Tables:
        lexicon, p0 = self.lexicons[name], self.p0 * variant_of(name)[1].p0
        forward = lexicon.forward.jump_weights(len(null_source))  # of a word never seen, too
        chain = Chain(forward, lexicon.reverse.jump_weights(len(null_target)), self.uniform, p0)
        weights = [self.smoothing_of(name) * PSEUDO_COUNTS[width] for width in KINDS[variant_of(name)[0]].widths]
        return Tables(levels, weights, null_source, null_target, chain)

    def link_counts(self) -> LinkCounts:
        """Expected links of words, which count as often as both directions make them, and of words without one.

        Raises KeyError where there is no lexicon of words.
        """
        lexicon = self.lexicons["words"]
        words = [*self.source_words.words(), NULL], [*self.target_words.words(), NULL]
        null = words[0].index(NULL), words[1].index(NULL)  # a word of the text, perhaps
        every = np.arange(len(self.source_words)), np.arange(len(self.target_words))
        linked = np.repeat(every[0], np.diff(lexicon.row_offsets)) << 32 | lexicon.targets
        keys = np.concatenate([linked, every[0] << 32 | null[1], null[0] << 32 | every[1]])
        counts = np.concatenate([lexicon.counts[:, 0], lexicon.reverse.null, lexicon.forward.null])
        return LinkCounts.of(words, keys, counts.astype(np.float64))

    def to_arrays(self) -> dict[str, Array]:
        """Everything but the words as named arrays, for a model file; `from_arrays` is the inverse."""
        arrays = {
            "source_counts": self.source_counts,
            "target_counts": self.target_counts,
            "settings": np.array([self.p0, self.uniform, self.smoothing]),
        }
        for name, lexicon in self.lexicons.items():
            arrays.update({f"lexicons.{name}.{key}": array for key, array in lexicon.to_arrays().items()})
            tables = self.tables[name]
            arrays.update({f"tables.{name}.{side}": getattr(tables, side) for side in _NULL})
            for depth, level in enumerate(tables.levels):
                of_lexicon = () if depth else CELL_ARRAYS
                for field in fields(Table):
                    if field.name not in of_lexicon:
                        arrays[f"tables.{name}.{depth}.{field.name}"] = getattr(level, field.name)
        for kind, levels in self.names.items():
            for depth, of_level in enumerate(levels):
                for side, names in zip(_SIDES, of_level, strict=True):
                    if depth > 0 or not KINDS[kind].whole:
                        place = f"classes.{kind}.{depth}.{side}"
                        arrays[f"{place}.letters"], arrays[f"{place}.offsets"] = pack_words(names)
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays, source_words: WordTable, target_words: WordTable) -> "TranslationModel":
        """Raises KeyError where an array is missing, ValueError where they do not fit together."""
        counts = arrays["source_counts"], arrays["target_counts"]
        found = [name for name in variants(KINDS) if f"lexicons.{name}.targets" in arrays]
        check({key.split(".")[1] for key in arrays if key.startswith("lexicons.")} == set(found))
        lexicons = {name: Lexicon.from_arrays(arrays, f"lexicons.{name}.") for name in found}
        words = source_words, target_words
        check(list(map(len, counts)) == list(map(len, words)) and arrays["settings"].shape == (3,))
        tables, names = dict[str, Tables](), dict[str, Names]()
        p0, uniform, smoothing = arrays["settings"].tolist()
        model = cls(*words, *counts, lexicons, p0, uniform, smoothing, (tables, names))
        for name, lexicon in lexicons.items():
            kind = variant_of(name)[0]
            names[kind] = names.get(kind) or [
                tuple([*table.index] for table in words)
                if KINDS[kind].whole and depth == 0
                else tuple(_read_names(arrays, f"classes.{kind}.{depth}.{side}") for side in _SIDES)
                for depth in range(len(KINDS[kind].widths))
            ]
            sizes = [tuple(map(len, level)) for level in names[kind]]
            lexicon.check(*sizes[0])
            levels = []
            for depth, (size, above) in enumerate(zip(sizes, [*sizes[1:], (1, 1)], strict=True)):
                levels.append(_read_table(arrays, name, depth))
                _check_table(levels[-1], *size, *above)
            null = [arrays[f"tables.{name}.{side}"] for side in _NULL]
            check([len(one) for one in null] == [sizes[0][0] + 1, sizes[0][1] + 1])
            tables[name] = model._with_chain(name, levels, null[0], null[1])
        return model


_SIDES = "source", "target"
_NULL = "null_source", "null_target"


def _read_names(arrays: Arrays, place: str) -> list[str]:
    letters, offsets = arrays[f"{place}.letters"], arrays[f"{place}.offsets"]
    check_offsets(offsets, len(offsets) - 1, letters)
    return unpack_words(letters, offsets)


def _read_table(arrays: Arrays, name: str, depth: int) -> Table:
    def of(field: str) -> Array:
        finest = depth == 0 and field in CELL_ARRAYS
        return arrays[f"lexicons.{name}.{field}" if finest else f"tables.{name}.{depth}.{field}"]

    return Table(**{field.name: of(field.name) for field in fields(Table)})


def _check_table(table: Table, n_source: int, n_target: int, above_source: int, above_target: int) -> None:
    """Raises ValueError where the arrays of a level do not fit together."""
    check_offsets(table.row_offsets, n_source, table.targets)
    check_ids(table.targets, n_target)
    check(table.cells.shape == (len(table.targets) + 1, 2))
    lengths = [len(array) for field, array in vars(table).items() if field.startswith(("source_", "target_"))]
    check(
        lengths == [n_source + 1, n_target + 1, n_source, n_target, max(above_source, 1) + 1, max(above_target, 1) + 1]
    )


def _with_unseen(null: F64, occurrences: F64, smoothing: float) -> F32:
    unseen = UNSEEN / (occurrences.sum() + UNSEEN * (len(occurrences) + 1))
    return np.append(null_emissions(null, occurrences, smoothing), np.float32(unseen))
