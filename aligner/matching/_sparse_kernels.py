"""Maximum-weight matching among the few edges that may score above 0, listed by row.

The scratch of these kernels is two matrices with a named row for each list: arrays that a kernel takes out of a tuple,
or cuts out of another array, are counted by atomic increments, which cost more than the matching of a sentence pair.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

EDGE, COLUMN, FIRST, CHOSEN, QUEUE, COLUMN_MATE, STATE, PARENT, PARENT_ROW, TOUCHED, PLACE = range(11)
"""Rows of `whole`.  By place in the list of edges, ascending: edge, column.  By listed row, those that have such
an edge: its first place (and after the last row the number of places), the place of its link or -1, which is the
answer, rows that wait.  By column: its row or -1, whether a search has seen it, the place and row it was reached from,
columns that a search has touched.  By edge: where its features are."""

VALUE, PROFIT, PRICE, DISTANCE = range(4)
"""Rows of `real`: score by place, dual by listed row, dual by column, distance by column."""

UNSEEN = 0
OPEN = 1
SCANNED = 2


@nb.njit(cache=True, nogil=True)
def make_lists(shapes):
    """(whole, real, flags) for the largest of these blocks."""
    edges = 1
    for i in range(len(shapes)):
        edges = max(edges, shapes[i, 0] * shapes[i, 1])
    room = edges + 2
    return np.zeros((11, room), np.int64), np.empty((4, room)), np.zeros((edges + 63) // 64 * 8, np.uint64)


@nb.njit(cache=True, nogil=True)
def list_candidates(scores, least, P, size, flags, packed, whole):
    """List the edges of a block that score above `least`; returns their number.

    flags: (>= P,) uint8, and packed the same bytes as uint64; P: edges rounded up to a multiple of 64.  size: edges.
    """
    for e in range(P):
        flags[e] = scores[e] > least
    for e in range(size, P):
        flags[e] = 0
    found = 0
    for a in range(0, P // 8, 8):
        # 64 flags become 64 bits, without branches: few places have an edge, and which ones cannot be predicted.
        bits = np.uint64(0)
        for b in range(8):
            byte = (packed[a + b] * np.uint64(0x0102040810204080)) >> np.uint64(56)
            bits |= byte << np.uint64(8 * b)
        while bits != 0:
            whole[EDGE, found] = 8 * a + np.int64(trailing_zeros(bits))
            bits &= bits - np.uint64(1)
            found += 1
    return found


@nb.njit(cache=True, nogil=True)
def list_rows(found, K, whole, real):
    """Keep of so many edges those that score above 0, by row; returns the number of rows that have any."""
    per_row = 1.0 / K
    kept = 0
    rows = 0
    last = -1
    for t in range(found):
        e = whole[EDGE, t]
        value = real[VALUE, t]
        j = int((e + 0.5) * per_row)
        above = value > 0.0
        whole[FIRST, rows] = kept
        whole[EDGE, kept] = e
        whole[COLUMN, kept] = e - j * K
        real[VALUE, kept] = value
        rows += above & (j != last)
        last = j if above else last
        kept += above
    whole[FIRST, rows] = kept
    return rows


@nb.njit(cache=True, nogil=True, inline="always")
def bid(row, whole, real):
    """(Place of the best edge at these prices or -1, its net value, the next best net value or 0)."""
    best = 0.0
    second = 0.0
    place = -1
    for t in range(whole[FIRST, row], whole[FIRST, row + 1]):
        net = real[VALUE, t] - real[PRICE, whole[COLUMN, t]]
        better = net > best
        second = best if better else (net if net > second else second)
        place = t if better else place
        best = net if better else best
    return place, best, second


@nb.njit(cache=True, nogil=True)
def free_tie(row, best, place, whole, real):
    """A place of the row of the same net value whose column is free, else this one."""
    for t in range(whole[FIRST, row], whole[FIRST, row + 1]):
        k = whole[COLUMN, t]
        if real[VALUE, t] - real[PRICE, k] == best and whole[COLUMN_MATE, k] < 0:
            return t
    return place


@nb.njit(cache=True, nogil=True)
def augment(source, whole, real):
    """Give a row a link by the shortest augmenting path, at whose end another row may lose its own."""
    _, reach, _ = bid(source, whole, real)
    real[PROFIT, source] = reach
    n_touched = 0
    row = source
    row_distance = 0.0
    exit_row = source
    length = reach  # of the best path that ends by leaving a row unmatched
    end_column = -1
    while True:
        if row_distance + real[PROFIT, row] < length:
            length = row_distance + real[PROFIT, row]
            exit_row = row
        for t in range(whole[FIRST, row], whole[FIRST, row + 1]):
            k = whole[COLUMN, t]
            # Reduced costs are >= 0 but for rounding, which must not reopen a scanned column.
            through = row_distance + max(0.0, real[PROFIT, row] + real[PRICE, k] - real[VALUE, t])
            if whole[STATE, k] == UNSEEN:
                whole[STATE, k] = OPEN
                whole[TOUCHED, n_touched] = k
                n_touched += 1
            elif whole[STATE, k] == SCANNED or through >= real[DISTANCE, k]:
                continue
            real[DISTANCE, k] = through
            whole[PARENT, k] = t
            whole[PARENT_ROW, k] = row
        nearest = np.inf
        column = -1
        for s in range(n_touched):
            k = whole[TOUCHED, s]
            if whole[STATE, k] == OPEN:
                distance = real[DISTANCE, k]
                if distance < nearest or (distance == nearest and whole[COLUMN_MATE, k] < 0):
                    nearest = distance
                    column = k
        if nearest >= length:
            break
        if whole[COLUMN_MATE, column] < 0:
            length = nearest
            end_column = column
            break
        whole[STATE, column] = SCANNED
        row = whole[COLUMN_MATE, column]
        row_distance = nearest

    # New duals for the source and the scanned columns and their mates; rounding must not make them negative.
    real[PROFIT, source] = max(0.0, real[PROFIT, source] - length)
    for s in range(n_touched):
        k = whole[TOUCHED, s]
        if whole[STATE, k] == SCANNED:
            mate = whole[COLUMN_MATE, k]
            real[PROFIT, mate] = max(0.0, real[PROFIT, mate] - (length - real[DISTANCE, k]))
            real[PRICE, k] += length - real[DISTANCE, k]
        whole[STATE, k] = UNSEEN

    # Flip the path: from the free column, or from the row that leaves its column, back to the source.
    k = end_column
    if k < 0:
        if exit_row == source:
            return
        k = whole[COLUMN, whole[CHOSEN, exit_row]]
        whole[CHOSEN, exit_row] = -1
    while True:
        row = whole[PARENT_ROW, k]
        following = whole[CHOSEN, row]
        whole[CHOSEN, row] = whole[PARENT, k]
        whole[COLUMN_MATE, k] = row
        if row == source:
            return
        k = whole[COLUMN, following]


@nb.njit(cache=True, nogil=True)
def match_candidates(rows, K, whole, real):
    """Maximum-weight matching of the listed edges that score above 0: for each row a place or -1, in whole[CHOSEN].

    The method of `assign`: bids as in an auction without epsilon, then shortest augmenting paths on the reduced
    costs  [Jonker and Volgenant 1987].
    """
    for k in range(K):
        whole[COLUMN_MATE, k] = -1
        real[PRICE, k] = 0.0
    for row in range(rows):
        whole[CHOSEN, row] = -1
        real[PROFIT, row] = 0.0
    waiting = 0
    bids_left = 4 * rows
    for starter in range(rows):
        j = starter
        while j >= 0:
            t, best, second = bid(j, whole, real)
            if t < 0:
                real[PROFIT, j] = 0.0
                break
            k = whole[COLUMN, t]
            if best <= second and whole[COLUMN_MATE, k] >= 0:
                t = free_tie(j, best, t, whole, real)
                k = whole[COLUMN, t]
            loser = whole[COLUMN_MATE, k]
            bids_left -= 1
            if loser >= 0 and (best <= second or bids_left < 0):
                whole[QUEUE, waiting] = j
                waiting += 1
                break
            real[PRICE, k] += best - second
            real[PROFIT, j] = second
            whole[CHOSEN, j] = t
            whole[COLUMN_MATE, k] = j
            if loser >= 0:
                whole[CHOSEN, loser] = -1
            j = loser
    for position in range(waiting):
        augment(whole[QUEUE, position], whole, real)


@nb.njit(cache=True, nogil=True)
def write_mates(rows, J, K, whole, mate):
    """The answer of `match_candidates` in the form of `match_block`: the column of each row or -1."""
    for j in range(J):
        mate[j] = -1
    per_row = 1.0 / K
    for row in range(rows):
        t = whole[CHOSEN, row]
        if t >= 0:
            mate[int((whole[EDGE, t] + 0.5) * per_row)] = whole[COLUMN, t]
