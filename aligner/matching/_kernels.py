"""Compiled kernels of maximum-weight matching on flat batches: arrays in, arrays and a code out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corpora.compiled import MAXIMA, compiled
from corpora.ragged import F64, I64


class Workspace(NamedTuple):
    """Scratch of the matching kernels for blocks of up to E edges, R words on the shorter side and C on the longer.

    flipped: (E,) the transpose of a block.
    row_match, u: (R,) of `assign`, and column_match, v: (C,).  distance, unscanned, parent, scanned: (C,) of a search.
    queue: (R,) rows that wait for theirs.
    """

    flipped: F64
    row_match: I64
    column_match: I64
    u: F64
    v: F64
    distance: F64
    unscanned: F64
    parent: I64
    scanned: I64
    queue: I64


@compiled
def largest_sides(shapes):
    """(the longest shorter side, the longest side, the most edges) of these blocks, each at least 1."""
    short, long, edges = 1, 1, 1
    for i in range(len(shapes)):
        J, K = shapes[i, 0], shapes[i, 1]
        short = max(short, min(J, K))
        long = max(long, max(J, K))  # of three at once it would compile another function
        edges = max(edges, J * K)
    return short, long, edges


@compiled
def make_workspace(short, long, edges):
    """Scratch for blocks of such `largest_sides`."""
    return Workspace(
        flipped=np.empty(edges),
        row_match=np.empty(short, np.int64),
        column_match=np.empty(long, np.int64),
        u=np.empty(short),
        v=np.empty(long),
        distance=np.empty(long),
        unscanned=np.empty(long),
        parent=np.empty(long, np.int64),
        scanned=np.empty(long, np.int64),
        queue=np.empty(short, np.int64),
    )


@compiled(inline="always")
def bid(value, v):
    """The best column of a row at these prices, its net value, and the next best net value.

    Staying unmatched nets 0: where no column nets more, the column is -1. Of equal columns the first is the best.
    """
    column, best, second = -1, 0.0, 0.0
    for k in range(len(v)):
        net = value[k] - v[k]
        if net > best:
            column, best, second = k, net, best
        elif net > second:
            second = net
    return column, best, second


@compiled(fastmath=MAXIMA, inline="always")
def relax(value, v, reached, u, row, distance, unscanned, parent):
    """One Dijkstra step: offer the edges of a scanned row; returns (nearest open column, its distance).

    reached: distance of the row.  unscanned: distance of the open columns, +inf of the scanned.
    """
    n = len(v)
    nearest = np.inf
    for k in range(n):
        through = reached + (u + v[k] - value[k])
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


@compiled
def free_bid(value, v, net, column_match, column):
    """A free column after this taken one that nets a row as much, else the column itself."""
    for k in range(column + 1, len(v)):
        if value[k] - v[k] == net and column_match[k] < 0:
            return k
    return column


@compiled
def free_nearest(unscanned, nearest, column_match, column):
    """A free column after this taken one at the same distance, else the column itself."""
    for k in range(column + 1, len(unscanned)):
        if unscanned[k] == nearest and column_match[k] < 0:
            return k
    return column


@compiled(fastmath=MAXIMA)
def assign(values, work):
    """Maximum-weight matching of a dense block of scores; words may stay unmatched.

    Auction-like row reduction, then shortest augmenting paths on the reduced costs
    u[j] + v[k] - values[j, k] >= 0  [Jonker and Volgenant 1987], where a path may also end by
    leaving a row unmatched (its private dummy column, of value 0).

    values: (J, K) with J <= K, none NaN or +inf.  Fills the first J of row_match and K of column_match with its partner
    or -1, and the optimal duals: v (K,) and u (J,) are >= 0, cover every edge, and sum to the matching's
    score, which certifies it.
    """
    rows, columns = values.shape
    row_match = work.row_match[:rows]
    column_match = work.column_match[:columns]
    v = work.v[:columns]
    u = work.u[:rows]
    distance = work.distance[:columns]
    unscanned = work.unscanned[:columns]
    parent = work.parent[:columns]
    scanned = work.scanned
    queue = work.queue
    column_match[:] = -1
    v[:] = 0.0
    row_match[:] = -1
    u[:] = 0.0

    # Row reduction: each row bids for its best column as in an auction without epsilon. Ties are left to the
    # exact search, and the bids are counted, so that v wars end.
    waiting = 0
    bids_left = 4 * rows
    for first in range(rows):
        j = first
        while j >= 0:
            k, best, second = bid(values[j], v)
            if k < 0:
                break  # no link gains anything: the row stays unmatched at u 0
            if best <= second and column_match[k] >= 0:
                k = free_bid(values[j], v, best, column_match, k)
            loser = column_match[k]
            bids_left -= 1
            if loser >= 0 and (best <= second or bids_left < 0):
                queue[waiting] = j
                waiting += 1
                break
            v[k] += best - second
            u[j] = second
            row_match[j] = k
            column_match[k] = j
            if loser >= 0:
                row_match[loser] = -1
                u[loser] = 0.0
            j = loser

    for position in range(waiting):
        source = queue[position]
        _, u[source], _ = bid(values[source], v)
        distance[:] = np.inf
        unscanned[:] = np.inf
        n_scanned = 0
        row = source
        row_distance = 0.0
        exit_row = source
        length = u[source]  # of the best path that ends by leaving a row unmatched
        end_column = -1
        while True:
            if row_distance + u[row] < length:
                length = row_distance + u[row]
                exit_row = row
            k, nearest = relax(values[row], v, row_distance, u[row], row, distance, unscanned, parent)
            if nearest >= length:
                break
            if column_match[k] >= 0:
                k = free_nearest(unscanned, nearest, column_match, k)
            if column_match[k] < 0:
                length = nearest
                end_column = k
                break
            unscanned[k] = np.inf
            scanned[n_scanned] = k
            n_scanned += 1
            row = column_match[k]
            row_distance = nearest

        # New duals for the source and the scanned columns and their rows; rounding must not make them negative.
        u[source] = max(0.0, u[source] - length)
        for t in range(n_scanned):
            k = scanned[t]
            u[column_match[k]] = max(0.0, u[column_match[k]] - (length - distance[k]))
            v[k] += length - distance[k]

        # Flip the path: from the free column, or from the row that leaves its column, back to the source.
        k = end_column
        if end_column < 0:
            if exit_row == source:
                continue
            k = row_match[exit_row]
            row_match[exit_row] = -1
        while True:
            row = parent[k]
            following = row_match[row]
            row_match[row] = k
            column_match[k] = row
            if row == source:
                break
            k = following


@compiled
def match_block(scores, J, K, work, column_of_row):
    """Best matching of one block of J * K scores, into column_of_row (J,): the column of each row or -1."""
    if J <= K:
        assign(scores.reshape(J, K), work)
        for j in range(J):
            column_of_row[j] = work.row_match[j]
    else:  # fewer rows than columns means fewer and shorter searches
        flipped = work.flipped[: J * K].reshape(K, J)
        for j in range(J):
            for k in range(K):
                flipped[k, j] = scores[j * K + k]
        assign(flipped, work)
        for j in range(J):
            column_of_row[j] = work.column_match[j]


@compiled
def match_blocks(scores, shapes, offsets, row_offsets, column_of_row):
    """Best matchings of many blocks, into column_of_row (ΣJ,)."""
    work = make_workspace(*largest_sides(shapes))
    for i in range(len(shapes)):
        J, K = shapes[i, 0], shapes[i, 1]
        match_block(scores[offsets[i] : offsets[i] + J * K], J, K, work, column_of_row[row_offsets[i] :])


@compiled(fastmath=MAXIMA)
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


@compiled
def match_blocks_greedily(scores, shapes, offsets, row_offsets, column_of_row):
    """Best edge first; otherwise as `match_blocks`.

    Taking the best edge first gives the matching that is stable when rows and columns prefer higher scores, and that
    is found without sorting, by rows that propose to columns  [Gale and Shapley 1962].
    """
    _, longest, _ = largest_sides(shapes)
    held = np.empty(longest)
    holder = np.empty(longest, np.int64)
    for i in range(len(shapes)):
        J, K = shapes[i, 0], shapes[i, 1]
        values = scores[offsets[i] : offsets[i] + J * K].reshape(J, K)
        columns = column_of_row[row_offsets[i] : row_offsets[i] + J]
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
                columns[j] = k
                if rejected >= 0:
                    columns[rejected] = -1
                j = rejected
