"""Loops over the cells of lexicons: smoothing, likeness of spelling, and probabilities of pairs without a cell."""

from typing import NamedTuple

import numpy as np

from corpora.compiled import compiled
from corpora.ragged import F32, I32, I64

LEAST_LIKENESS = 0.5
TINY = 1e-30
U = np.uint64  # numba tests whether a signed index counts from the end


@compiled
def smooth(
    row_offsets,
    targets,
    counts,
    parents,
    alike,
    likeness,
    above,
    source_shares,
    target_shares,
    weight,
    out,
    source_scale,
    target_scale,
):
    """Compute the arrays of a `lexicon.Table` from a `Level` and its Sides.  above: cells of the coarser Table."""
    last = counts.shape[1] - 1
    top = len(parents) == 0
    sources = np.empty(len(source_scale))
    columns = np.empty(len(target_scale))
    sources[:] = 0.0
    columns[:] = 0.0
    next_alike = U(0)
    for e in range(len(row_offsets) - 1):
        total = 0.0
        for cell in range(U(row_offsets[e]), U(row_offsets[e + 1])):
            more = 0.0
            if next_alike < U(len(alike)) and U(alike[next_alike]) == cell:
                more = likeness[next_alike]
                next_alike += U(1)
            total += counts[cell, U(0)] + more
            columns[U(targets[cell])] += counts[cell, U(last)] + more
        sources[e] = total
    for e in range(len(sources)):
        sources[e] = 1.0 / max(sources[e] + weight, TINY)
        source_scale[e] = sources[e]
    for column in range(len(columns)):
        columns[column] = 1.0 / max(columns[column] + weight, TINY)
        target_scale[column] = columns[column]
    next_alike = U(0)
    for e in range(len(row_offsets) - 1):
        source, share = sources[e], weight * source_shares[e]
        for cell in range(U(row_offsets[e]), U(row_offsets[e + 1])):
            f = U(targets[cell])
            parent = U(0) if top else U(parents[cell])
            more = 0.0
            if next_alike < U(len(alike)) and U(alike[next_alike]) == cell:
                more = likeness[next_alike]
                next_alike += U(1)
            forward = counts[cell, U(0)] + more + weight * above[parent, U(0)] * target_shares[f]
            reverse = counts[cell, U(last)] + more + share * above[parent, U(1)]
            out[cell, U(0)] = forward * source
            out[cell, U(1)] = reverse * columns[f]
    out[-1] = 0.0


@compiled
def likeness_of(letters, first, last, other, other_first, other_last):
    """Fourth power of the share of the longer word that the longest common prefix is; 0 below LEAST_LIKENESS."""
    longer = max(last - first, other_last - other_first)
    shorter = min(last - first, other_last - other_first)
    if shorter < LEAST_LIKENESS * longer or longer == 0:
        return 0.0
    if letters[first] != other[other_first]:
        return 0.0
    same = 1
    while same < shorter and letters[first + same] == other[other_first + same]:
        same += 1
    share = same / longer
    return share**4 if share >= LEAST_LIKENESS else 0.0


@compiled
def compare(letters, offsets, other, other_offsets, row_offsets, targets, weight, out):
    for e in range(len(row_offsets) - 1):
        for cell in range(row_offsets[e], row_offsets[e + 1]):
            f = targets[cell]
            out[cell] = weight * likeness_of(
                letters, offsets[e], offsets[e + 1], other, other_offsets[f], other_offsets[f + 1]
            )


class SideOfLevel(NamedTuple):
    """The units of a text at one level of a lexicon, in one language.

    known: (V,) class of each unit or -1.  letters, bounds: spelling of units.  shares, scale: (V,) see `lexicon.Side`
    and `lexicon.Table`.
    """

    known: I32
    shares: F32
    scale: F32
    letters: I32
    bounds: I64


@compiled
def back_off(at, cells, sources, targets, source, target, table, weight, spelling, forward, reverse):
    """Compute probabilities of word pairs at one level, in place of the level above, where they are 1 above all.

    at: (n,) the pairs, of those in the other arrays, (m,).  cells: (n,) of each, or -1.  table: see `lexicon.Table`.
    weight: K.  spelling: S, 0 but at the finest level.
    """
    for i in range(U(len(at))):
        x, cell = U(at[i]), cells[i]
        if cell >= 0:
            forward[x] = table[U(cell), U(0)]
            reverse[x] = table[U(cell), U(1)]
            continue
        e, f = U(sources[x]), U(targets[x])
        one = weight * target.shares[f] * forward[x]
        other = weight * source.shares[e] * reverse[x]
        if spelling > 0.0:
            like = spelling * likeness_of(
                source.letters,
                source.bounds[e],
                source.bounds[e + U(1)],
                target.letters,
                target.bounds[f],
                target.bounds[f + U(1)],
            )
            one += like
            other += like
        forward[x] = max(one * source.scale[e], TINY)
        reverse[x] = max(other * target.scale[f], TINY)
