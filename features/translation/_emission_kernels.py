"""Probabilities of word pairs, read from the tables of a lexicon: see `translation.lexicon` for the formula."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corpora.compiled import compiled
from corpora.ragged import F32, I32, I64
from features._search_kernels import search_together
from features.translation.lexicon import TINY, likeness_of
from features.word_pairs import end_of_run


@compiled
def find(source, target, source_known, target_known, row_offsets, targets, table, missing, forward, reverse):
    """Probabilities of the word pairs that have a cell; those of one source word stand in one run."""
    wanted = np.empty(len(source), np.int32)
    places = np.empty(len(source), np.int32)
    for x in range(len(source)):
        wanted[x] = target_known[target[x]]  # unknown words, -1, are in no row
    first = np.int64(0)  # no literal, for which what is called would be compiled once more
    while first < len(source):
        last = end_of_run(source, first)
        e = source_known[source[first]]
        low = row_offsets[e] if e >= 0 else 0
        high = row_offsets[e + 1] if e >= 0 else 0
        search_together(targets[low:high], wanted[first:last], places[first:last])
        for x in range(first, last):
            missing[x] = places[x] < 0
            if places[x] >= 0:
                forward[x] = table[low + places[x], 0]
                reverse[x] = table[low + places[x], 1]
        first = last


class SideOfLevel(NamedTuple):
    """The words of a text at one level of a lexicon, in one language.

    known: (V,) class of each word or -1.  above: (V,) the same at the level above.  shares, unseen: see `lexicon.Side`.
    scale: see `lexicon.Table`.  letters, bounds: spelling of the words' finest classes.
    """

    known: I32
    above: I32
    shares: F32
    unseen: F32
    scale: F32
    letters: I32
    bounds: I64


class LevelTables(NamedTuple):
    """What one level of a lexicon has for its cells.

    row_offsets, targets: see `cells.Cells`.  cells: (C + 1, 2) probabilities of both directions.  weight: K.
    spelling: S, 0 but at the finest level.  coarsest, finest: whether the level is.
    """

    row_offsets: I64
    targets: I32
    cells: F32
    weight: float
    spelling: float
    coarsest: bool
    finest: bool


@compiled
def back_off(sources, targets, source, target, level, missing, forward, reverse):
    """Probabilities at one level of the word pairs that have no cell at the finest, from those of the level above."""
    at = np.empty(len(sources), np.int32)
    wanted = np.empty(len(sources), np.int32)
    places = np.empty(len(sources), np.int32)
    first = np.int64(0)  # no literal, for which what is called would be compiled once more
    while first < len(sources):
        last = end_of_run(sources, first)
        n = 0
        for x in range(first, last):
            at[n] = x
            wanted[n] = target.known[targets[x]]
            n += missing[x]
        word = sources[first]
        e = source.known[word]
        known = e >= 0 and not level.finest  # those without a cell are without one here
        low = level.row_offsets[e] if known else 0
        high = level.row_offsets[e + 1] if known else 0
        search_together(level.targets[low:high], wanted[:n], places[:n])
        share_e = source.shares[e] if e >= 0 else source.unseen[source.above[word]]
        for i in range(n):
            x = at[i]
            if places[i] >= 0:
                forward[x] = level.cells[low + places[i], 0]
                reverse[x] = level.cells[low + places[i], 1]
                continue
            f = wanted[i]
            other_word = targets[x]
            share_f = target.shares[f] if f >= 0 else target.unseen[target.above[other_word]]
            one = level.weight * share_f
            other = level.weight * share_e
            if not level.coarsest:
                one *= forward[x]
                other *= reverse[x]
            if level.finest:
                like = level.spelling * likeness_of(
                    source.letters, source.bounds[word], source.bounds[word + 1],
                    target.letters, target.bounds[other_word], target.bounds[other_word + 1],
                )  # fmt: skip
                one += like
                other += like
            forward[x] = max(one * source.scale[e], TINY)
            reverse[x] = max(other * target.scale[f], TINY)
        first = last
