"""Translation models of a bitext, learnt without labels: who translates whom, and how positions follow each other.

A hidden Markov model of each direction [VNT96], trained after a few iterations of IBM Model 1 [BDDM93] so that both
directions agree [LTK06]: a link counts in the expectation step as often as both make it, the product of their
posteriors. There are two lexicons, of words and of their first five letters, each smoothed by coarser classes
(`features.lexicon`); their posteriors are averaged.

[BDDM93] Brown, Della Pietra, Della Pietra and Mercer 1993, The mathematics of statistical machine translation.
[VNT96] Vogel, Ney and Tillmann 1996, HMM-based word alignment in statistical translation.
[ON03] Och and Ney 2003, A systematic comparison of various statistical alignment models.
[LTK06] Liang, Taskar and Klein 2006, Alignment by agreement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from corpora.bitext import Bitext, Text, Vocabulary
from features._lattice_kernels import N_JUMPS
from features._translation_kernels import Chain
from features.cells import Cells
from features.expectation import MOST_EDGES, Pass, Settings, Training, null_emissions
from features.lexicon import UNSEEN, WIDTHS, Level, Table, build_levels, class_name, estimate
from features.words import WordTable

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

DEFAULT_MEMORY = 1 << 30


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Expected counts of one kind of classes.

    row_offsets: (V_source + 1,) int64.  targets: (C,) int32, ascending within a row.  counts: (C, 1) float32 of both
    directions, or (C, 2) of each.  null_source: (V_source,), null_target: (V_target,) float32, words without a link.
    forward, reverse: (N_JUMPS,) float64, weights of jumps.
    """

    row_offsets: I64
    targets: I32
    counts: F32
    null_source: F32
    null_target: F32
    forward: F64
    reverse: F64


@dataclass(frozen=True, eq=False)
class Tables:
    """What follows from a lexicon: probabilities of all its levels, from fine to coarse, and of words given NULL.

    null_source: (V_source + 1,), null_target: (V_target + 1,), the last of a word never seen: its frequency.
    """

    widths: tuple[int | None, ...]
    levels: list[Level]
    tables: list[Table]
    null_source: F32
    null_target: F32
    chain: Chain


@dataclass(frozen=True, eq=False)
class TranslationModel:
    """All that is kept of training, as arrays.

    source_words, target_words: spelling of each word.  source_counts: (V_source,), target_counts: (V_target,) int64,
    occurrences in the training text.  lexicons: by name, of `features.lexicon.WIDTHS`.
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

    @cached_property
    def tables(self) -> Mapping[str, Tables]:
        """Probabilities of each lexicon, computed when first asked for."""
        return {name: self._tables(name) for name in self.lexicons}

    def _tables(self, name: str) -> Tables:
        lexicon, widths = self.lexicons[name], WIDTHS[name]
        source_names, source_classes = classify(self.source_words.words(), widths[0])
        target_names, target_classes = classify(self.target_words.words(), widths[0])
        source_counts = np.bincount(source_classes, self.source_counts, len(source_names)).astype(np.float64)
        target_counts = np.bincount(target_classes, self.target_counts, len(target_names)).astype(np.float64)
        cells = Cells(lexicon.row_offsets, lexicon.targets, len(target_names))
        levels = build_levels(cells, source_names, target_names, source_counts, target_counts, widths, self.smoothing)
        counts = np.zeros((len(cells) + 1, lexicon.counts.shape[1]))
        counts[:-1] = lexicon.counts
        return Tables(
            widths, levels, estimate(levels, counts),
            _with_unseen(lexicon.null_source, source_counts, self.smoothing),
            _with_unseen(lexicon.null_target, target_counts, self.smoothing),
            Chain(lexicon.forward, lexicon.reverse, self.uniform, self.p0),
        )  # fmt: skip

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything as named arrays, for a model file; `from_arrays` is the inverse."""
        arrays = {
            "source_counts": self.source_counts,
            "target_counts": self.target_counts,
            "settings": np.array([self.p0, self.uniform, self.smoothing]),
        }
        for name in ("source_words", "target_words"):
            table = getattr(self, name)
            arrays.update({f"{name}.{f.name}": getattr(table, f.name) for f in fields(table)})
        for name, lexicon in self.lexicons.items():
            arrays.update({f"lexicons.{name}.{f.name}": getattr(lexicon, f.name) for f in fields(lexicon)})
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> TranslationModel:
        """Raises KeyError where an array is missing, ValueError where they do not fit together."""
        words = [
            WordTable(**{f.name: arrays[f"{name}.{f.name}"] for f in fields(WordTable)})
            for name in ("source_words", "target_words")
        ]
        counts = arrays["source_counts"], arrays["target_counts"]
        names = sorted({key.split(".")[1] for key in arrays if key.startswith("lexicons.")})
        lexicons = {
            name: Lexicon(**{f.name: arrays[f"lexicons.{name}.{f.name}"] for f in fields(Lexicon)}) for name in names
        }
        for table, count in zip(words, counts, strict=True):
            _check(len(table.offsets) == len(table.plain_offsets) == len(table) + 1 and len(count) == len(table))
            _check_offsets(table.offsets, len(table.letters))
            _check_offsets(table.plain_offsets, len(table.plain_letters))
        for name, lexicon in lexicons.items():
            _check(name in WIDTHS)
            sizes = [len(classify(table.words(), WIDTHS[name][0])[0]) for table in words]
            _check_lexicon(lexicon, *sizes)
        _check(arrays["settings"].shape == (3,))
        return cls(words[0], words[1], *counts, lexicons, *arrays["settings"].tolist())


def _with_unseen(null: F32, occurrences: F64, smoothing: float) -> F32:
    unseen = UNSEEN / (occurrences.sum() + UNSEEN * (len(occurrences) + 1))
    return np.append(null_emissions(null.astype(np.float64), occurrences, smoothing), np.float32(unseen))


def _check(sound: bool) -> None:
    if not sound:
        raise ValueError("the arrays of the translation model do not fit together")


def _check_offsets(offsets: I64, size: int) -> None:
    _check(len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == size and bool((np.diff(offsets) >= 0).all()))


def _check_lexicon(lexicon: Lexicon, n_source: int, n_target: int) -> None:
    """Kernels trust these numbers: they read where the offsets say."""
    n = len(lexicon.targets)
    _check(len(lexicon.row_offsets) == n_source + 1)
    _check_offsets(lexicon.row_offsets, n)
    _check(n == 0 or bool(lexicon.targets.min() >= 0 and lexicon.targets.max() < n_target))
    _check(lexicon.counts.shape in {(n, 1), (n, 2)})
    _check(len(lexicon.null_source) == n_source and len(lexicon.null_target) == n_target)
    _check(lexicon.forward.shape == lexicon.reverse.shape == (N_JUMPS,))


def classify(words: Sequence[str], width: int | None) -> tuple[list[str], I32]:
    """The classes of words in order of first appearance, and the class of each word."""
    index: dict[str, int] = {}
    classes = np.fromiter((index.setdefault(class_name(w, width), len(index)) for w in words), np.int32, len(words))
    return list(index), classes


def _classified(text: Text, width: int | None) -> Text:
    names, classes = classify(text.vocabulary.words, width)
    return Text(classes[text.ids], text.offsets, Vocabulary(names), text.language)


def train_translation(
    bitext: Bitext,
    *,
    lexicons: Sequence[str] = ("words", "prefixes"),
    iterations_1: int = 2,
    iterations_hmm: int = 5,
    agreement: bool = True,
    p0: float = 0.2,
    uniform: float = 0.1,
    smoothing: float = 1.0,
    minimum_dice: float = 0.0005,
    minimum_count: float = 1e-3,
    memory: int = DEFAULT_MEMORY,
    on_pass: Callable[[Pass], None] | None = None,
) -> TranslationModel:
    """Estimate translation models of a bitext, on all cores.

    lexicons: of `features.lexicon.WIDTHS`; their posteriors are averaged.  iterations_1, iterations_hmm: passes of
    IBM Model 1 and of the HMM.  agreement: False trains both directions apart.  p0: probability of NULL, in (0, 1).
    uniform: share of jumps that go anywhere, in (0, 1).  smoothing: factor of all pseudo-counts; 0 is maximum
    likelihood.  minimum_dice, minimum_count: word pairs with a smaller Dice are never looked at, and those with a
    smaller expected count after Model 1 given up.  memory: bytes for the cell of every word pair of the text; where
    they do not fit, they are looked up again in every pass. Beyond that, training takes about 35 bytes for every
    word pair that is looked at, and 8 more for each core.  on_pass: called after each pass of each lexicon.

    The order of the pairs matters by rounding only, and the result is the same to the bit on as many cores.
    ValueError for settings out of range.
    """
    if not lexicons or set(lexicons) - set(WIDTHS) or len(set(lexicons)) != len(lexicons):
        raise ValueError(f"lexicons {tuple(lexicons)} must be some of {', '.join(WIDTHS)}, each once")
    if iterations_1 < 0 or iterations_hmm < 0 or iterations_1 + iterations_hmm == 0:
        raise ValueError(f"there must be an iteration, not {iterations_1} and {iterations_hmm}")
    if not (0.0 < p0 < 1.0 and 0.0 < uniform < 1.0 and smoothing >= 0.0):
        raise ValueError(f"p0 {p0}, uniform {uniform} and smoothing {smoothing} must be in (0, 1), (0, 1) and >= 0")
    settings = Settings(
        iterations_1, iterations_hmm, agreement, p0, uniform, smoothing, minimum_dice, minimum_count, memory
    )
    fitting = bitext.source.lengths * bitext.target.lengths <= MOST_EDGES
    if not fitting.all():
        bitext = bitext.take(np.flatnonzero(fitting))
    found = {}
    for name in lexicons:
        widths = WIDTHS[name]
        classified = Bitext(_classified(bitext.source, widths[0]), _classified(bitext.target, widths[0]))
        result = Training(name, classified, widths, settings, on_pass).run()
        found[name] = Lexicon(
            result.cells.row_offsets, result.cells.targets, result.counts[:-1].astype(np.float32),
            result.null_source.astype(np.float32), result.null_target.astype(np.float32), result.forward,
            result.reverse,
        )  # fmt: skip
    return TranslationModel(
        WordTable.from_words(bitext.source.vocabulary.words), WordTable.from_words(bitext.target.vocabulary.words),
        np.bincount(bitext.source.ids, minlength=len(bitext.source.vocabulary)),
        np.bincount(bitext.target.ids, minlength=len(bitext.target.vocabulary)), found, p0, uniform, smoothing,
    )  # fmt: skip
