"""Compiled kernels of maximum-weight matching on flat batches: arrays in, arrays and a code out."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.matching._bid_kernels import bid
from aligner.svm._intrinsics import borrow

FOUND = 0
NOT_FINITE = 1

# Lets LLVM turn the max, min and second-best loops below into vector reductions. NaN is refused before any of
# them runs, and infinities are not assumed away: `distance` needs them.
VECTOR = {"nnan", "nsz"}


class Workspace(NamedTuple):
    """Scratch arrays of the matching kernels, and their answer in `mate`."""

    mate: npt.NDArray[np.int32]
    flipped: npt.NDArray[np.float64]
    row_mate: npt.NDArray[np.int64]
    column_mate: npt.NDArray[np.int64]
    price: npt.NDArray[np.float64]
    profit: npt.NDArray[np.float64]
    distance: npt.NDArray[np.float64]
    unscanned: npt.NDArray[np.float64]
    parent: npt.NDArray[np.int64]
    scanned: npt.NDArray[np.int64]
    queue: npt.NDArray[np.int64]


@nb.njit(cache=True, nogil=True)
def make_workspace(shapes, capacity=1):
    """Scratch for the largest of these blocks.  capacity: places in `mate` for each row."""
    wide = 1
    high = 1
    edges = 1
    for i in range(len(shapes)):
        high = max(high, min(shapes[i, 0], shapes[i, 1]))
        wide = max(wide, shapes[i, 0], shapes[i, 1])
        edges = max(edges, shapes[i, 0] * shapes[i, 1])
    return Workspace(
        np.empty(wide * capacity, np.int32),
        np.empty(edges),
        np.empty(high, np.int64),
        np.empty(wide, np.int64),
        np.empty(wide),
        np.empty(high),
        np.empty(wide),
        np.empty(wide),
        np.empty(wide, np.int64),
        np.empty(wide, np.int64),
        np.empty(high, np.int64),
    )


@nb.njit(cache=True, nogil=True)
def all_below_infinity(scores):
    """False if any score is NaN or +inf (-inf is a forbidden edge, which is harmless)."""
    fine = True
    for e in range(len(scores)):
        fine &= scores[e] < np.inf
    return fine


@nb.njit(cache=True, nogil=True, fastmath=VECTOR, inline="always")
def relax(value, price, reached, profit, row, distance, unscanned, parent):
    """One Dijkstra step: offer the edges of a scanned row; returns (nearest open column, its distance).

    reached: distance of the row.  unscanned: distance of the open columns, +inf of the scanned.
    """
    n = len(price)
    nearest = np.inf
    for k in range(n):
        through = reached + (profit + price[k] - value[k])
        # Reduced costs are >= 0 but for rounding, which must not reopen a scanned column.
        through = reached if through < reached else through
        closer = through < distance[k]
        distance[k] = through if closer else distance[k]
        parent[k] = row if closer else parent[k]
        unscanned[k] = through if closer else unscanned[k]
        nearest = unscanned[k] if unscanned[k] < nearest else nearest
    column = 0
    while unscanned[column] != nearest:
        column += 1
    return column, nearest


@nb.njit(cache=True, nogil=True)
def free_bid(value, price, net, column_mate, column):
    """A free column after this taken one that nets a row as much, else the column itself."""
    for k in range(column + 1, len(price)):
        if value[k] - price[k] == net and column_mate[k] < 0:
            return k
    return column


@nb.njit(cache=True, nogil=True)
def free_nearest(unscanned, nearest, column_mate, column):
    """A free column after this taken one at the same distance, else the column itself."""
    for k in range(column + 1, len(unscanned)):
        if unscanned[k] == nearest and column_mate[k] < 0:
            return k
    return column


@nb.njit(cache=True, nogil=True, fastmath=VECTOR)
def assign(values, work):
    """Maximum-weight matching of a dense block of scores; words may stay unmatched.

    Auction-like row reduction, then shortest augmenting paths on the reduced costs
    profit[j] + price[k] - values[j, k] >= 0  [Jonker and Volgenant 1987], where a path may also end by
    leaving a row unmatched (its private dummy column, of value 0).

    values: (J, K) with J <= K, none NaN or +inf.  Fills the first J of row_mate and K of column_mate with the mate
    or -1, and the optimal duals: price (K,) and profit (J,) are >= 0, cover every edge, and sum to the matching's
    score, which certifies it.
    """
    values, work = borrow(values), borrow(work)
    rows, columns = values.shape
    row_mate = work.row_mate[:rows]
    column_mate = work.column_mate[:columns]
    price = work.price[:columns]
    profit = work.profit[:rows]
    distance = work.distance[:columns]
    unscanned = work.unscanned[:columns]
    parent = work.parent[:columns]
    scanned = work.scanned
    queue = work.queue
    column_mate[:] = -1
    price[:] = 0.0
    row_mate[:] = -1
    profit[:] = 0.0

    # Row reduction: each row bids for its best column as in an auction without epsilon. Ties are left to the
    # exact search, and the bids are counted, so that price wars end.
    waiting = 0
    bids_left = 4 * rows
    for first in range(rows):
        j = first
        while j >= 0:
            k, best, second = bid(values[j], price)
            if k < 0:
                break  # no link gains anything: the row stays unmatched at profit 0
            if best <= second and column_mate[k] >= 0:
                k = free_bid(values[j], price, best, column_mate, k)
            loser = column_mate[k]
            bids_left -= 1
            if loser >= 0 and (best <= second or bids_left < 0):
                queue[waiting] = j
                waiting += 1
                break
            price[k] += best - second
            profit[j] = second
            row_mate[j] = k
            column_mate[k] = j
            if loser >= 0:
                row_mate[loser] = -1
                profit[loser] = 0.0
            j = loser

    for position in range(waiting):
        source = queue[position]
        _, profit[source], _ = bid(values[source], price)
        distance[:] = np.inf
        unscanned[:] = np.inf
        n_scanned = 0
        row = source
        row_distance = 0.0
        exit_row = source
        length = profit[source]  # of the best path that ends by leaving a row unmatched
        end_column = -1
        while True:
            if row_distance + profit[row] < length:
                length = row_distance + profit[row]
                exit_row = row
            k, nearest = relax(values[row], price, row_distance, profit[row], row, distance, unscanned, parent)
            if nearest >= length:
                break
            if column_mate[k] >= 0:
                k = free_nearest(unscanned, nearest, column_mate, k)
            if column_mate[k] < 0:
                length = nearest
                end_column = k
                break
            unscanned[k] = np.inf
            scanned[n_scanned] = k
            n_scanned += 1
            row = column_mate[k]
            row_distance = nearest

        # New duals for the source and the scanned columns and their mates; rounding must not make them negative.
        profit[source] = max(0.0, profit[source] - length)
        for t in range(n_scanned):
            k = scanned[t]
            profit[column_mate[k]] = max(0.0, profit[column_mate[k]] - (length - distance[k]))
            price[k] += length - distance[k]

        # Flip the path: from the free column, or from the row that leaves its column, back to the source.
        k = end_column
        if end_column < 0:
            if exit_row == source:
                continue
            k = row_mate[exit_row]
            row_mate[exit_row] = -1
        while True:
            row = parent[k]
            following = row_mate[row]
            row_mate[row] = k
            column_mate[k] = row
            if row == source:
                break
            k = following


@nb.njit(cache=True, nogil=True)
def match_block(scores, J, K, work):
    """Best matching of one block of J * K scores, in work.mate[:J]: the column of each row or -1."""
    scores, work = borrow(scores), borrow(work)
    mate = work.mate
    if J <= K:
        assign(scores.reshape(J, K), work)
        for j in range(J):
            mate[j] = work.row_mate[j]
    else:  # fewer rows than columns means fewer and shorter searches
        flipped = work.flipped[: J * K].reshape(K, J)
        for j in range(J):
            for k in range(K):
                flipped[k, j] = scores[j * K + k]
        assign(flipped, work)
        for j in range(J):
            mate[j] = work.column_mate[j]


@nb.njit(cache=True, nogil=True)
def match_blocks(scores, shapes, offsets, row_offsets, mates):
    """Best matchings of many dense blocks; fills mates (sum J,).  Returns (code, index of the pair at fault)."""
    work = make_workspace(shapes)
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        block = scores[offsets[i] : offsets[i] + J * K]
        if not all_below_infinity(block):
            return NOT_FINITE, i
        match_block(block, J, K, work)
        mates[row_offsets[i] : row_offsets[i] + J] = work.mate[:J]
    return FOUND, -1


@nb.njit(cache=True, nogil=True, fastmath=VECTOR)
def propose(value, held):
    """The best column of a row among those that hold a lower score than it offers, or -1."""
    best = 0.0
    for k in range(len(held)):
        offer = value[k] if value[k] > held[k] else 0.0
        best = offer if offer > best else best
    if best <= 0.0:
        return -1
    column = 0
    while value[column] != best or held[column] >= best:
        column += 1
    return column


@nb.njit(cache=True, nogil=True)
def match_blocks_greedily(scores, shapes, offsets, row_offsets, mates):
    """Best edge first; fills mates (sum J,).  Returns (code, index of the pair at fault).

    Taking the best edge first gives the matching that is stable when rows and columns prefer higher scores, and that
    is found without sorting, by rows that propose to columns  [Gale and Shapley 1962].
    """
    widest = 1
    for i in range(len(shapes)):
        widest = max(widest, shapes[i, 1])
    held = np.empty(widest)
    holder = np.empty(widest, np.int64)
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        block = scores[offsets[i] : offsets[i] + J * K]
        if not all_below_infinity(block):
            return NOT_FINITE, i
        values = block.reshape(J, K)
        mate = mates[row_offsets[i] : row_offsets[i] + J]
        mate[:] = -1
        held[:K] = 0.0
        for first in range(J):
            j = first
            while j >= 0:
                k = propose(values[j], held[:K])
                if k < 0:
                    break
                rejected = holder[k] if held[k] > 0.0 else -1
                held[k] = values[j, k]
                holder[k] = j
                mate[j] = k
                if rejected >= 0:
                    mate[rejected] = -1
                j = rejected
    return FOUND, -1
