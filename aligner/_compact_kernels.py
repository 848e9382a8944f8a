"""Compiled kernels that score a block by the codes of its features, and list the few edges worth matching.

All edges are scored in float32, which tells the edges that cannot score above 0; only the others are scored exactly.
Kernels of a part of this take plain arrays and scalars: every array that is taken out of a tuple, or cut out of
another, is counted by atomic operations, which are seen in a pass over the blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner._intrinsics import prefetch, prefetch_second
from aligner.matching._kernels import match_block
from aligner.matching._sparse_kernels import (
    EDGE,
    FIRST,
    LINK,
    PLACE,
    VALUE,
    list_candidates,
    make_lists,
    match_candidates,
    write_mates,
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
    all edges, weights of a step of each column in float64 and float32, entries of listed edges, sums of steps.
    """

    whole: npt.NDArray[np.int64]
    real: npt.NDArray[np.float64]
    packed: npt.NDArray[np.uint64]
    flags: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.float32]
    weights: npt.NDArray[np.float64]
    rough: npt.NDArray[np.float32]
    kept: npt.NDArray[np.uint64]
    sums: npt.NDArray[np.int64]


@nb.njit(cache=True, nogil=True)
def make_room(shapes, codes):
    """Room for the largest of the blocks; next to none where there are no codes."""
    if len(codes.starts) == 0:
        shapes = shapes[:0]
    whole, real, packed = make_lists(shapes)
    flags = packed.view(np.uint8)
    d = len(codes.base)
    most = 0
    for i in range(len(codes.entry_starts) - 1):
        most = max(most, codes.entry_starts[i + 1] - codes.entry_starts[i])
    return Room(
        whole, real, packed, flags, np.empty(len(flags), np.float32), np.empty(d), np.empty(d, np.float32),
        np.empty(most + 1, np.uint64), np.empty(d, np.int64),
    )  # fmt: skip


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def scale_weights(w, base, weights, rough):
    """Fill the weights of a step, in float64 and float32; returns (the score of the base, a bound on all scores)."""
    constant = 0.0
    largest = 0.0
    for c in range(len(base)):
        x = w[c] * STEP
        weights[c] = x
        rough[c] = x
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
def keep_entries(first, last, entries, flags, kept):
    """Fill kept with the entries of flagged edges; returns their number."""
    found = 0
    for t in range(first, last):
        entry = entries[t]
        kept[found] = entry
        found += np.int64(flags[entry_edge(entry)])
    return found


@nb.njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def score_listed(constant, listed, first, P, codes, dense, kept, n_kept, weights, whole, real):
    """Fill real[VALUE] with the scores of the listed edges in float64, and whole[PLACE].  kept: their entries."""
    for t in range(listed):
        real[VALUE, t] = constant
        whole[PLACE, whole[EDGE, t]] = t
    for s in range(n_kept):
        entry = kept[s]
        real[VALUE, whole[PLACE, entry_edge(entry)]] += weights[entry_column(entry)] * entry_steps(entry)
    four = len(dense) // 4 * 4
    width = np.uint64(P)
    for a in range(0, four, 4):
        at = np.uint64(first + a * P)
        w0 = weights[dense[a]]
        w1 = weights[dense[a + 1]]
        w2 = weights[dense[a + 2]]
        w3 = weights[dense[a + 3]]
        for t in range(listed):
            e = at + np.uint64(whole[EDGE, t])
            x = w0 * np.int64(codes[e])
            e += width
            x += w1 * np.int64(codes[e])
            e += width
            x += w2 * np.int64(codes[e])
            e += width
            x += w3 * np.int64(codes[e])
            real[VALUE, t] += x
    for a in range(four, len(dense)):
        at = np.uint64(first + a * P)
        for t in range(listed):
            real[VALUE, t] += weights[dense[a]] * np.int64(codes[at + np.uint64(whole[EDGE, t])])


@nb.njit(cache=True, nogil=True)
def score_listed_marks(first, last, marks, costs, flags, whole, real):
    """`score_marks` in float64, for the listed edges, which are flagged."""
    for t in range(first, last):
        if flags[marks[t] >> 2] != 0:
            real[VALUE, whole[PLACE, marks[t] >> 2]] += costs[marks[t] & 3] - costs[0]


@nb.njit(cache=True, nogil=True, inline="always")
def match_listed(rows, J, K, room, scores, work):
    """Best matching of the listed edges, in work.mate as `match_block` has it.  scores: (J * K,) scratch."""
    whole, real, mate = room.whole, room.real, work.mate
    listed = whole[FIRST, rows]
    if listed * DENSE < J * K:
        match_candidates(rows, K, whole, real)
        write_mates(rows, J, K, whole, mate)
        return
    scores[:] = 0.0
    for t in range(listed):
        scores[whole[EDGE, t]] = real[VALUE, t]
    match_block(scores, J, K, work)
    for j in range(J):
        if mate[j] >= 0 and scores[j * K + mate[j]] <= 0.0:  # only rounding can link what is not listed
            mate[j] = -1


@nb.njit(cache=True, nogil=True)
def flag_links(J, K, capacity, listed, mate, whole, flags):
    """Flag the links alone of the listed edges, and write them to whole[LINK]; returns their number."""
    for t in range(listed):
        flags[whole[EDGE, t]] = 0
    found = 0
    for j in range(J):
        for slot in range(j * capacity, (j + 1) * capacity):
            if mate[slot] >= 0:
                edge = j * K + mate[slot]
                whole[LINK, found] = edge
                flags[edge] = 1
                found += 1
    return found


@nb.njit(cache=True, nogil=True)
def sum_codes(codes, first, P, dense, found, whole, sums):
    """Fill the sums of the codes of the links, by column; 0 for columns that have none."""
    for c in range(len(sums)):
        sums[c] = 0
    four = len(dense) // 4 * 4
    width = np.uint64(P)
    for a in range(0, four, 4):
        at = np.uint64(first + a * P)
        t0 = 0
        t1 = 0
        t2 = 0
        t3 = 0
        for t in range(found):
            e = at + np.uint64(whole[LINK, t])
            t0 += codes[e]
            e += width
            t1 += codes[e]
            e += width
            t2 += codes[e]
            e += width
            t3 += codes[e]
        sums[dense[a]] = t0
        sums[dense[a + 1]] = t1
        sums[dense[a + 2]] = t2
        sums[dense[a + 3]] = t3
    for a in range(four, len(dense)):
        at = np.uint64(first + a * P)
        total = 0
        for t in range(found):
            total += codes[at + np.uint64(whole[LINK, t])]
        sums[dense[a]] = total


@nb.njit(cache=True, nogil=True)
def sum_entries(n_kept, kept, flags, sums):
    """Add the entries of flagged edges to the sums."""
    for t in range(n_kept):
        entry = kept[t]
        sums[entry_column(entry)] += entry_steps(entry) * np.int64(flags[entry_edge(entry)])


@nb.njit(cache=True, nogil=True)
def sum_costs(first, last, marks, costs, found, flags):
    """What linking the flagged edges costs."""
    total = costs[0] * found
    for t in range(first, last):
        total += (costs[marks[t] & 3] - costs[0]) * np.int64(flags[marks[t] >> 2])
    return total


@nb.njit(cache=True, nogil=True)
def subtract_sums(i, found, base, sums, gold, psi):
    """psi = gold - (features of the links)."""
    for c in range(len(base)):
        psi[c] = gold[i, c] - STEP * (found * base[c] + sums[c])
    for c in range(len(base), len(psi)):
        psi[c] = gold[i, c]


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
def list_edges(i, following, blocks, w, room):
    """List the edges of a block that may score above 0, with their exact scores.

    following: the block asked for next, if that is known, else i.
    Returns (rows that have such edges, entries kept); (-1, 0) where the codes do not serve.
    """
    coded = blocks.coded
    if len(coded.starts) == 0:
        return -1, 0
    J = blocks.shapes[i, 0]
    K = blocks.shapes[i, 1]
    costs = blocks.costs
    base, weights, rough = coded.base, room.weights, room.rough
    constant, largest = scale_weights(w, base, weights, rough)
    constant += costs[0]
    largest += abs(costs[0]) + abs(costs[1]) + abs(costs[2])
    if J * K == 0 or not largest < LARGEST_SCORE:
        return -1, 0
    # Each of the d + 6 roundings is of at most 2^-24 of a partial sum, and no partial sum is larger than that.
    least = -np.float32((len(base) + 8) * 1.2e-7 * largest)
    codes, dense, entries, marks = coded.codes, coded.dense, coded.entries, blocks.marks
    scores, flags, whole, real = room.scores, room.flags, room.whole, room.real
    first = coded.starts[i]
    P = (J * K + PIECE - 1) // PIECE * PIECE
    entry, last_entry = coded.entry_starts[i], coded.entry_starts[i + 1]
    mark, last_mark = blocks.mark_starts[i], blocks.mark_starts[i + 1]
    if following != i:
        ask_ahead(
            following, blocks.shapes, blocks.sure, blocks.gold, coded.entry_starts, entries, blocks.mark_starts, marks
        )
    start_scores(constant, P, scores)
    score_entries(entry, last_entry, entries, rough, scores)
    score_marks(mark, last_mark, marks, costs, scores)
    score_codes(codes, first, P, dense, rough, scores, coded.starts[following])
    rows = list_candidates(scores, least, P, J, K, flags, room.packed, whole)
    kept = keep_entries(entry, last_entry, entries, flags, room.kept)
    score_listed(constant, whole[FIRST, rows], first, P, codes, dense, room.kept, kept, weights, whole, real)
    score_listed_marks(mark, last_mark, marks, costs, flags, whole, real)
    return rows, kept


@nb.njit(cache=True, nogil=True, inline="always")
def take_listed(i, rows, kept, mate, blocks, room, psi):
    """`take_corner` where the edges were listed."""
    coded = blocks.coded
    J = blocks.shapes[i, 0]
    K = blocks.shapes[i, 1]
    flags, whole, sums = room.flags, room.whole, room.sums
    P = (J * K + PIECE - 1) // PIECE * PIECE
    found = flag_links(J, K, blocks.source_capacity, whole[FIRST, rows], mate, whole, flags)
    sum_codes(coded.codes, coded.starts[i], P, coded.dense, found, whole, sums)
    sum_entries(kept, room.kept, flags, sums)
    subtract_sums(i, found, coded.base, sums, blocks.gold, psi)
    links = sum_costs(blocks.mark_starts[i], blocks.mark_starts[i + 1], blocks.marks, blocks.costs, found, flags)
    return blocks.miss_cost * blocks.sure[i] + links
