"""Word translation probabilities that lean on the probabilities of word classes where counts are few.

Words have classes, those again coarser ones: a word, its first five letters, its first three (without accents). With
the expected counts c_l of a level, its probabilities are those of the level above where there is nothing to count:

    p_l(f | e) = (c_l(e, f) + K_l p_l+1(f' | e') q_l(f | f') + S σ(e, f)) / (c_l(e) + K_l + S Σ_f σ(e, f))

with f' the class of f, q_l(f | f') = its share of the class in the text, K_l pseudo-counts  [MacKay and Peto 1995].
σ is a likeness of spelling, of the finest level only; above the coarsest level stand the frequencies of the classes.

[LTK06] Liang, Taskar and Klein 2006, Alignment by agreement.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from corpora.normalize import unaccented
from corpora.ragged import F32, F64, I32, I64
from features.cooccurrence import MINIMUM_DICE
from features.translation._lexicon_kernels import compare, smooth
from features.translation.cells import Cells
from features.words import WordTable


class Kind(NamedTuple):
    """A kind of lexicons.

    whole: whether of words, or of their `translation.pieces`.
    widths: letters of the classes of each level, from fine to coarse; None is the word or piece itself.
    agreement: whether both directions are trained together  [LTK06], or each by itself.
    minimum_dice: pairs with a smaller Dice have no cell.
    passes: of IBM Model 1 more than the settings say, unless lexicons are varied.
    most_tokens: longer text, by the mean of both sides, is learnt from by a sample of its pairs of so many words.
    """

    whole: bool
    widths: tuple[int | None, ...]
    agreement: bool
    minimum_dice: float
    passes: int
    most_tokens: float


KINDS: Mapping[str, Kind] = {
    "words": Kind(True, (None, 5, 3), agreement=True, minimum_dice=MINIMUM_DICE, passes=0, most_tokens=math.inf),
    "pieces": Kind(False, (None,), agreement=False, minimum_dice=0.005, passes=-1, most_tokens=6e6),
}
"""Lexicons whose posteriors are averaged. Pieces are more frequent than words: most of their pairs are chance, and the
HMM learns as much of them without a pass of IBM Model 1 before it, and from 6 million words as from more."""


class Variant(NamedTuple):
    """Settings of one of several lexicons of a kind: passes of IBM Model 1 more, and factors of smoothing and of p0."""

    passes: int = 0
    smoothing: float = 1.0
    p0: float = 1.0


VARIANTS = Variant(), Variant(-2, p0=0.5), Variant(1, smoothing=3.0, p0=0.5), Variant(2, smoothing=0.33, p0=0.75)
"""What is learnt from little text depends on settings, whose errors differ: such text gets lexicons of all of them."""


def variants(kinds: Iterable[str]) -> list[str]:
    """Names of all lexicons of some kinds, such as words, words-1, words-2, words-3, pieces."""
    return [f"{kind}-{number}" if number else kind for kind in kinds for number in range(len(VARIANTS))]


def variant_of(lexicon: str) -> tuple[str, Variant]:
    """The kind of a lexicon, a key of KINDS, and its settings."""
    kind, _, number = lexicon.partition("-")
    return kind, VARIANTS[int(number or 0)]


PSEUDO_COUNTS: Mapping[int | None, float] = {None: 10.0, 5: 10.0, 3: 1.0}
"""K of a level, by the width of its classes."""

SPELLING = 1.0
"""S: the pseudo-count of two words that are spelled the same."""

UNSEEN = 0.5
"""Occurrences that a word is taken to have beyond those seen."""


def class_name(word: str, width: int | None) -> str:
    """The class of a word: the word, or its first letters without accents."""
    return word if width is None else unaccented(word)[:width]


def classify(words: Sequence[str], width: int | None) -> tuple[list[str], I32]:
    """The classes of words in order of first appearance, and the class of each word."""
    names = [class_name(word, width) for word in words]
    index = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return list(index), np.fromiter(map(index.__getitem__, names), np.int32, len(names))


@dataclass(frozen=True, eq=False)
class Side:
    """The classes of one level of one language.

    names: (V,).  parents: (V,) class in the level above, 0 in the coarsest.
    shares: (V,) float32, q(f | f'), in the coarsest q(f).  unseen: (V above + 1,), share of a class never seen whose
    class above was seen; the last for others.
    """

    names: Sequence[str]
    parents: I32
    shares: F32
    unseen: F32


def sides(names: Sequence[str], counts: F64, widths: Sequence[int | None]) -> list[Side]:
    """The levels of a language from fine to coarse.  names, counts: (V,) of the finest."""
    levels: list[Side] = []
    for width in (*widths[1:], 0):  # above the coarsest, all are in one class
        above, parents = classify(names, width)
        seen = np.bincount(parents, counts + UNSEEN, max(len(above), 1)) + UNSEEN
        shares = ((counts + UNSEEN) / seen[parents]).astype(np.float32)
        unseen = np.append(UNSEEN / seen, 1.0).astype(np.float32)
        levels.append(Side(names, parents, shares, unseen))
        names, counts = above, np.bincount(parents, counts, len(above)).astype(np.float64)
    return levels


@dataclass(frozen=True, eq=False)
class Level:
    """A level of both languages.

    parents: (C,) int32 coarser cell of each cell, empty in the coarsest.  alike: ascending cells of words spelled
    alike, few of all, and likeness: float32 S σ of each; both are empty but in the finest.  weight: K.
    """

    cells: Cells
    source: Side
    target: Side
    parents: I32
    alike: I64
    likeness: F32
    weight: float


@dataclass(frozen=True, eq=False)
class Table:
    """Probabilities of a level, as decoding looks them up.

    row_offsets, targets: see `Cells`.  cells: (C + 1, 2) float32, p(f | e) and p(e | f); the last row is not used.
    scale: (V + 1,), 1 / (c(e) + K + ...); the last of a word never seen.  shares, unseen: see `Side`.
    """

    row_offsets: I64
    targets: I32
    cells: F32
    source_scale: F32
    target_scale: F32
    source_shares: F32
    target_shares: F32
    source_unseen: F32
    target_unseen: F32


@dataclass(frozen=True, eq=False)
class Classes:
    """The words or pieces of both languages, and their classes.

    widths: of the levels, from fine to coarse.  sources, targets: of each.  spelling: of the finest level.
    """

    widths: Sequence[int | None]
    sources: Sequence[Side]
    targets: Sequence[Side]
    spelling: tuple[WordTable, WordTable]

    @classmethod
    def of(
        cls, names: tuple[Sequence[str], Sequence[str]], counts: tuple[F64, F64], widths: Sequence[int | None]
    ) -> "Classes":
        """names, counts: (V_source,) and (V_target,) of the finest level, and their occurrences."""
        source, target = (sides(*of_side, widths) for of_side in zip(names, counts, strict=True))
        return cls(widths, source, target, (WordTable.from_words(names[0]), WordTable.from_words(names[1])))


def build_levels(cells: Cells, classes: Classes, smoothing: float = 1.0) -> list[Level]:
    """Levels from fine to coarse, of the cells of the finest.  smoothing: factor of all pseudo-counts."""
    sources, targets = classes.sources, classes.targets
    levels = []
    likeness = np.empty(len(cells), np.float32)
    a, b = classes.spelling
    spelling = a.plain_letters, a.plain_offsets, b.plain_letters, b.plain_offsets
    compare(*spelling, cells.row_offsets, cells.targets, smoothing * SPELLING, likeness)
    alike = np.flatnonzero(likeness)
    likeness = likeness[alike]
    for depth, (source, target) in enumerate(zip(sources, targets, strict=True)):
        if depth + 1 < len(sources):
            coarse, parents = cells.coarsen(
                source.parents, target.parents, len(sources[depth + 1].names), len(targets[depth + 1].names)
            )
        else:
            coarse, parents = cells, np.empty(0, np.int32)
        weight = smoothing * PSEUDO_COUNTS[classes.widths[depth]]
        levels.append(Level(cells, source, target, parents, alike, likeness, weight))
        cells, alike, likeness = coarse, alike[:0], likeness[:0]
    return levels


def estimate(levels: Sequence[Level], counts: F64) -> Iterator[Table]:
    """Yield the probabilities of every level, from coarse to fine: who keeps but a part has no more in memory.

    counts: (C + 1, 1 or 2) expected counts of the finest level, of both directions together or of each.
    """
    totals = [counts[:-1]]
    for level, above in pairwise(levels):
        totals.append(
            np.stack([np.bincount(level.parents, column, len(above.cells)) for column in totals[-1].T], axis=1)
        )
    coarser = np.ones((1, 2), np.float32)
    for level in levels[::-1]:
        total = totals.pop()
        out = np.empty((len(level.cells) + 1, 2), np.float32)
        source_scale = np.empty(level.cells.n_sources + 1, np.float32)
        target_scale = np.empty(level.cells.n_targets + 1, np.float32)
        shares = level.source.shares, level.target.shares
        cells, alike = (level.cells.row_offsets, level.cells.targets), (level.alike, level.likeness)
        smooth(*cells, total, level.parents, *alike, coarser, *shares, level.weight, out, source_scale, target_scale)
        unseen = level.source.unseen, level.target.unseen
        yield Table(*cells, out, source_scale, target_scale, *shares, *unseen)
        coarser = out
