"""Probabilities of word pairs, read from the tables of a lexicon: see `translation.lexicon` for the formula."""

from __future__ import annotations

import numba as nb
import numpy as np

from features._search_kernels import search_together
from features.translation.lexicon import TINY, likeness_of
from features.word_pairs import end_of_run


@nb.njit(cache=True, nogil=True)
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


@nb.njit(cache=True, nogil=True)
def climb(
    source, target, source_known, target_known, source_above, target_above, row_offsets, targets, table, source_scale,
    target_scale, source_shares, target_shares, source_unseen, target_unseen, weight, coarsest, finest, source_letters,
    source_bounds, target_letters, target_bounds, spelling, least, missing, forward, reverse,
):  # fmt: skip
    """Probabilities at one level of the word pairs that have no cell at the finest, from those of the level above."""
    at = np.empty(len(source), np.int32)
    wanted = np.empty(len(source), np.int32)
    places = np.empty(len(source), np.int32)
    first = np.int64(0)  # no literal, for which what is called would be compiled once more
    while first < len(source):
        last = end_of_run(source, first)
        n = 0
        for x in range(first, last):
            at[n] = x
            wanted[n] = target_known[target[x]]
            n += missing[x]
        word = source[first]
        e = source_known[word]
        known = e >= 0 and not finest  # those without a cell are without one here
        low = row_offsets[e] if known else 0
        high = row_offsets[e + 1] if known else 0
        search_together(targets[low:high], wanted[:n], places[:n])
        share_e = source_shares[e] if e >= 0 else source_unseen[source_above[word]]
        for i in range(n):
            x = at[i]
            if places[i] >= 0:
                forward[x] = table[low + places[i], 0]
                reverse[x] = table[low + places[i], 1]
                continue
            f = wanted[i]
            other_word = target[x]
            share_f = target_shares[f] if f >= 0 else target_unseen[target_above[other_word]]
            one = weight * share_f
            other = weight * share_e
            if not coarsest:
                one *= forward[x]
                other *= reverse[x]
            if finest:
                like = spelling * likeness_of(
                    source_letters, source_bounds[word], source_bounds[word + 1],
                    target_letters, target_bounds[other_word], target_bounds[other_word + 1], least,
                )  # fmt: skip
                one += like
                other += like
            forward[x] = max(one * source_scale[e], TINY)
            reverse[x] = max(other * target_scale[f], TINY)
        first = last
