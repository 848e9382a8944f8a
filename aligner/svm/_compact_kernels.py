"""Compiled kernels that list the few edges of a block worth matching, those that score above 0.

All edges are scored in float32 by the codes of their features, which tells most of those that cannot score above 0, or
the block remembers which cannot; only the others are scored exactly.
Kernels of a part of this take plain arrays and scalars: every array that is taken out of a tuple, or cut out of
another, is counted by atomic operations, which are seen in a pass over the blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.matching._sparse_kernels import (
    EDGE,
    PLACE,
    VALUE,
    list_candidates,
    list_rows,
    make_lists,
)
from aligner.svm._intrinsics import prefetch, prefetch_second
from aligner.svm._screening_kernels import (
    SHARE,
    ask_for_list,
    ask_for_rows,
    choose_radius,
    distance_moved,
    measure_margins,
    recall,
    remember,
    take_record,
)
from features.codes import GRID, LINE, PIECE, entry_column, entry_edge, entry_steps

# Sums in any order; NaN and infinities keep their meaning.
SUMS = {"reassoc", "contract", "nsz"}

STEP = 1.0 / GRID

DENSE = 4
"""Where more than one edge in so many may score above 0, as while w is small, the dense matching is faster."""

LARGEST_SCORE = 1e30
"""Scores that may be larger are not summed in float32."""


class Room(NamedTuple):
    """Scratch for one block: whole, real, packed as `make_lists` has them, packed again as bytes, float32 scores of
    all edges, what `measure_margins` makes of them, float32 weights of a step of each column, and rows of as many edges
    as are listed.
    """

    whole: npt.NDArray[np.int64]
    real: npt.NDArray[np.float64]
    packed: npt.NDArray[np.uint64]
    flags: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.float32]
    margins: npt.NDArray[np.float32]
    rows: npt.NDArray[np.int16]
    weights: npt.NDArray[np.float32]


@nb.njit(cache=True, nogil=True)
def make_room(shapes, codes):
    """Room for the largest of the blocks; next to none where there are no codes."""
    if len(codes.starts) == 0:
        shapes = shapes[:0]
    whole, real, packed = make_lists(shapes)
    flags = packed.view(np.uint8)
    scores, margins = np.empty(len(flags), np.float32), np.empty(len(flags), np.float32)
    d = len(codes.base)
    rows = np.empty((len(flags) // DENSE + 1, d + 1), np.int16)
    return Room(whole, real, packed, flags, scores, margins, rows, np.empty(d, np.float32))


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def scale_weights(w, base, weights):
    """Fill the weights of a step; returns (the score of the base, a bound on all scores)."""
    constant = 0.0
    largest = 0.0
    for c in range(len(base)):
        x = w[c] * STEP
        weights[c] = x
        constant += x * base[c]
        largest += abs(x)
    return constant, largest * 3 * GRID + abs(constant)


@nb.njit(cache=True, nogil=True)
def start_scores(constant, P, scores):
    """Scores before any feature."""
    for e in range(P):
        scores[e] = constant


@nb.njit(cache=True, nogil=True)
def score_entries(first, last, entries, weights, scores):
    """Add weights · entries to the scores."""
    for t in range(first, last):
        entry = entries[t]
        scores[entry_edge(entry)] += weights[entry_column(entry)] * np.float32(entry_steps(entry))


@nb.njit(cache=True, nogil=True)
def score_marks(first, last, marks, costs, scores):
    """Add to the scores what the labelled edges cost beyond the others."""
    for t in range(first, last):
        scores[marks[t] >> 2] += np.float32(costs[marks[t] & 3] - costs[0])


@nb.njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def score_codes(codes, first, P, dense, weights, scores, ahead):
    """Add weights · codes to the scores (P,) of a block, 4 columns together; ask for the codes ahead meanwhile."""
    four = len(dense) // 4 * 4
    for a in range(0, four, 4):
        w0 = weights[dense[a]]
        w1 = weights[dense[a + 1]]
        w2 = weights[dense[a + 2]]
        w3 = weights[dense[a + 3]]
        for e in range(0, P, PIECE):
            at = first + a * P + e
            x0 = codes[at : at + PIECE]
            x1 = codes[at + P : at + P + PIECE]
            x2 = codes[at + 2 * P : at + 2 * P + PIECE]
            x3 = codes[at + 3 * P : at + 3 * P + PIECE]
            s = scores[e : e + PIECE]
            for k in range(PIECE):
                s[k] = (
                    s[k] + w0 * np.float32(x0[k]) + w1 * np.float32(x1[k])
                    + w2 * np.float32(x2[k]) + w3 * np.float32(x3[k])
                )  # fmt: skip
            line = ahead + a * P + 4 * e
            for q in range(0, 4 * PIECE, LINE):
                prefetch_second(codes, line + q)
    for a in range(four, len(dense)):
        w0 = weights[dense[a]]
        for e in range(0, P, PIECE):
            at = first + a * P + e
            x0 = codes[at : at + PIECE]
            s = scores[e : e + PIECE]
            for k in range(PIECE):
                s[k] += w0 * np.float32(x0[k])
            prefetch_second(codes, ahead + a * P + e)


@nb.njit(cache=True, nogil=True)
def pack_rows(found, start, whole, first, features, labels, rows):
    """Fill rows[start ...] with the features of the edges listed, in steps, and their labels."""
    d = features.shape[1]
    flat = features.reshape(-1)
    for t in range(found):
        at = (first + whole[EDGE, t]) * d
        for c in range(0, d, LINE // 4):
            prefetch(flat, at + c)
    for t in range(found):
        e = first + whole[EDGE, t]
        whole[PLACE, whole[EDGE, t]] = start + t
        x = features[e]
        row = rows[start + t]
        for c in range(d):
            row[c] = np.int16(np.int32(x[c] * np.float32(GRID)))
        row[d] = labels[e]


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def score_listed(found, start, rows, w, costs, real):
    """Fill real[VALUE] with the loss-augmented scores of the edges listed, in float64, from their rows."""
    d = rows.shape[1] - 1
    for t in range(found):
        total = 0.0
        for c in range(d):
            total += rows[start + t, c] * w[c]
        real[VALUE, t] = total * STEP + costs[rows[start + t, d]]


@nb.njit(cache=True, nogil=True)
def take_listed(mate, capacity, K, whole, rows, costs, miss_cost, sure, gold, psi):
    """`take_corner` where the links are edges that have rows."""
    d = rows.shape[1] - 1
    loss = miss_cost * sure
    for c in range(len(psi)):
        psi[c] = gold[c]
    for j in range(len(mate) // capacity):
        for slot in range(j * capacity, (j + 1) * capacity):
            if mate[slot] >= 0:
                place = whole[PLACE, j * K + mate[slot]]
                loss += costs[rows[place, d]]
                for c in range(d):
                    psi[c] -= rows[place, c] * STEP
    return loss


@nb.njit(cache=True, nogil=True)
def ask_ahead(i, shapes, sure, gold, entry_starts, entries, mark_starts, marks):
    """Ask for what is small of a block."""
    d = gold.shape[1]
    flat_gold = gold.reshape(-1)
    for c in range(0, d, LINE // 8):
        prefetch(flat_gold, i * d + c)
    prefetch(shapes.reshape(-1), 2 * i)
    prefetch(sure, i)
    for s in range(entry_starts[i], entry_starts[i + 1], LINE // 8):
        prefetch(entries, s)
    for s in range(mark_starts[i], mark_starts[i + 1], LINE // 8):
        prefetch(marks, s)


@nb.njit(cache=True, nogil=True, inline="always")
def score_block(i, following, blocks, w, room):
    """Fill room.scores with the scores of all edges of a block, by their codes.

    Returns (whether the codes serve, what an edge that scores above 0 has at least here).
    """
    coded = blocks.coded
    costs = blocks.costs
    base, weights = coded.base, room.weights
    constant, largest = scale_weights(w, base, weights)
    constant += costs[0]
    largest += abs(costs[0]) + abs(costs[1]) + abs(costs[2])
    # Each of the d + 6 roundings is of at most 2^-24 of a partial sum, and no partial sum is larger than that.
    least = -np.float32((len(base) + 8) * 1.2e-7 * largest)
    if not largest < LARGEST_SCORE:
        return False, least
    P = (blocks.shapes[i, 0] * blocks.shapes[i, 1] + PIECE - 1) // PIECE * PIECE
    scores = room.scores
    start_scores(constant, P, scores)
    score_entries(coded.entry_starts[i], coded.entry_starts[i + 1], coded.entries, weights, scores)
    score_marks(blocks.mark_starts[i], blocks.mark_starts[i + 1], blocks.marks, costs, scores)
    score_codes(coded.codes, coded.starts[i], P, coded.dense, weights, scores, coded.starts[following])
    return True, least


@nb.njit(cache=True, nogil=True, inline="always")
def list_block(i, following, owned, moved, blocks, w, norm, room):
    """List the edges of a block that may score above 0, or all that may near w, and make their rows.

    owned: whether this thread may change what the block remembers.
    Returns (their number, -1 where the codes do not serve; whether the rows are those that the block remembers).
    """
    coded, screen = blocks.coded, blocks.screen
    scores, flags, packed, whole, rows = room.scores, room.flags, room.packed, room.whole, room.rows
    fit, least = score_block(i, following, blocks, w, room)
    if not fit:
        return -1, False
    size = blocks.shapes[i, 0] * blocks.shapes[i, 1]
    P = (size + PIECE - 1) // PIECE * PIECE
    first = blocks.offsets[i]
    start = 0
    radius = 0.0
    if owned:
        measure_margins(scores, least, coded.distances[first : first + size], room.margins)
        share = min((first + size) // SHARE - first // SHARE, size // DENSE)
        radius = choose_radius(i, moved, norm, room.margins[:size], share, screen.records)
    if radius > 0.0:
        found = list_candidates(room.margins, -np.float32(radius), P, size, flags, packed, whole)
        start = first // SHARE
        rows = screen.rows
    else:
        found = list_candidates(scores, least, P, size, flags, packed, whole)
    if owned:
        remember(i, radius, w, norm, found, whole[EDGE], start, screen.records, screen.references, screen.listed)
    if found * DENSE > size:
        return -1, False
    pack_rows(found, start, whole, first, blocks.features, blocks.labels, rows)
    return found, radius > 0.0


@nb.njit(cache=True, nogil=True, inline="always")
def list_edges(i, following, blocks, w, norm, room):
    """List the edges of a block that score above 0, with their scores.

    following: the block asked for next, if that is known, else i.  norm: ‖w‖.
    Returns (the rows of the block that have such edges, -1 where the codes do not serve; whether the features are in
    those that the block remembers; whether this thread owns these, which the caller has to give back).
    """
    coded, screen = blocks.coded, blocks.screen
    size = blocks.shapes[i, 0] * blocks.shapes[i, 1]
    if len(coded.starts) == 0 or size == 0 or norm == 0.0:
        return -1, False, False
    records, references, listed = screen.records, screen.references, screen.listed
    whole, real = room.whole, room.real
    start = blocks.offsets[i] // SHARE
    if following != i:
        ask_for_list(following, blocks.offsets[following] // SHARE, records, references, listed)
        ask_ahead(
            following, blocks.shapes, blocks.sure, blocks.gold, coded.entry_starts, coded.entries, blocks.mark_starts,
            blocks.marks,
        )  # fmt: skip
    owned = take_record(i, records)
    moved = distance_moved(i, w, coded.centre, references) if owned else np.inf
    found = recall(i, moved, start, records, references, listed, whole[EDGE], whole[PLACE])
    remembered = found >= 0
    if found < 0:
        found, remembered = list_block(i, following, owned, moved, blocks, w, norm, room)
    if found < 0:
        return -1, False, owned
    if remembered:
        score_listed(found, start, screen.rows, w, blocks.costs, real)
    else:
        score_listed(found, 0, room.rows, w, blocks.costs, real)
    if following != i:
        other = blocks.offsets[following]
        share = (other + blocks.shapes[following, 0] * blocks.shapes[following, 1]) // SHARE - other // SHARE
        ask_for_rows(following, other // SHARE, share, records, references, screen.rows)
    return list_rows(found, blocks.shapes[i, 1], whole, real), remembered, owned
