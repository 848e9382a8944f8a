"""Compiled kernels of maximum-weight b-matching, where a word may have several links at decreasing rewards.

maximise  Σ_jk s(j,k) z(j,k) + Σ_j Σ_{t=2..deg(j)} ρ_t + Σ_k Σ_{t=2..deg(k)} σ_t  over z in {0,1}^(J, K) with row
and column sums within the capacities, 0 >= ρ_2 >= ρ_3 >= ..., and σ likewise: a min-cost flow with convex costs, whose
arcs hold one unit each  [LTKJ06 §3].

An edge of s <= 0 is never needed: without it both of its words lose their last reward, which is <= 0 as well. So
the kernels work on the edges of positive score only.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.matching._kernels import F64, I64, VECTOR, all_below_infinity


class Flow(NamedTuple):
    """Scratch of the b-matching kernels, and their answer in `columns`: those of each row, in `capacity` slots.

    Edges of positive score, row by row: row j has those from starts[j] to starts[j + 1].
    joined: (K, capacity) the edges linked to each column, the first column_degree[k] of a row in use.
    u, v: dual variables of rows and columns.
    Labels are distances in a search; open ones are those of nodes not scanned yet, +inf otherwise; a parent is the edge
    that a node was reached by.
    """

    columns: npt.NDArray[np.int32]
    starts: I64
    row: I64
    column: I64
    score: F64
    linked: npt.NDArray[np.bool_]
    joined: I64
    row_degree: I64
    column_degree: I64
    u: F64
    v: F64
    row_label: F64
    column_label: F64
    row_open: F64
    column_open: F64
    row_parent: I64
    column_parent: I64
    scanned_rows: I64
    scanned_columns: I64


@nb.njit(cache=True, nogil=True)
def make_flow(shapes, source_capacity, target_capacity):
    """Scratch for the largest of these blocks."""
    high, wide, edges = 1, 1, 1
    for i in range(len(shapes)):
        high = max(high, shapes[i, 0])
        wide = max(wide, shapes[i, 1])
        edges = max(edges, shapes[i, 0] * shapes[i, 1])
    return Flow(
        columns=np.empty(high * source_capacity, np.int32),
        starts=np.empty(high + 1, np.int64),
        row=np.empty(edges, np.int64),
        column=np.empty(edges, np.int64),
        score=np.empty(edges),
        linked=np.empty(edges, np.bool_),
        joined=np.empty((wide, target_capacity), np.int64),
        row_degree=np.empty(high, np.int64),
        column_degree=np.empty(wide, np.int64),
        u=np.empty(high),
        v=np.empty(wide),
        row_label=np.empty(high),
        column_label=np.empty(wide),
        row_open=np.empty(high),
        column_open=np.empty(wide),
        row_parent=np.empty(high, np.int64),
        column_parent=np.empty(wide, np.int64),
        scanned_rows=np.empty(high, np.int64),
        scanned_columns=np.empty(wide, np.int64),
    )


@nb.njit(cache=True, nogil=True)
def begin(scores, J, K, flow):
    """No links, and the edges of positive score."""
    size = 0
    for j in range(J):
        flow.starts[j] = size
        for k in range(K):
            score = scores[j * K + k]
            if score > 0.0:
                flow.row[size] = j
                flow.column[size] = k
                flow.score[size] = score
                flow.linked[size] = False
                size += 1
    flow.starts[J] = size
    flow.row_degree[:J] = 0
    flow.column_degree[:K] = 0


@nb.njit(cache=True, nogil=True)
def write_columns(J, capacity, flow):
    """The columns of the links of each row, ascending, then -1."""
    for j in range(J):
        slot = j * capacity
        for e in range(flow.starts[j], flow.starts[j + 1]):
            if flow.linked[e]:
                flow.columns[slot] = flow.column[e]
                slot += 1
        flow.columns[slot : (j + 1) * capacity] = -1


@nb.njit(cache=True, nogil=True, inline="always")
def reward(rewards, links):
    """ρ of the link that a word gets when it has so many: 0 of the first."""
    return rewards[links - 1] if links > 0 else 0.0


@nb.njit(cache=True, nogil=True, fastmath=VECTOR)
def least(labels):
    lowest = np.inf
    for i in range(len(labels)):
        lowest = labels[i] if labels[i] < lowest else lowest
    return lowest


@nb.njit(cache=True, nogil=True)
def swap(k, old, new, flow):
    """Give a link of a column to another edge."""
    slot = 0
    while flow.joined[k, slot] != old:
        slot += 1
    flow.joined[k, slot] = new


@nb.njit(cache=True, nogil=True)
def search(source, length, J, K, source_rewards, target_rewards, flow):
    """The shortest way for one more unit of flow into row `source`, on reduced costs; updates the duals.

    length: of leaving the unit out.  Dijkstra, alternating between rows, which take up edges, and columns, which give
    links back, until the unit leaves through a column with room or a row that makes do with a link less.
    Returns (row, column) where it leaves, the column -1 if by a row; (source, -1): it is not worth it.
    """
    capacity = len(target_rewards) + 1
    row_label, column_label = flow.row_label[:J], flow.column_label[:K]
    row_open, column_open = flow.row_open[:J], flow.column_open[:K]
    row_label[:] = np.inf
    row_open[:] = np.inf
    column_label[:] = np.inf
    column_open[:] = np.inf
    row_label[source] = 0.0
    exit_row, exit_column = source, -1
    n_rows, n_columns = 0, 0
    row, reached = source, 0.0
    while True:
        if row >= 0:
            flow.scanned_rows[n_rows] = row
            n_rows += 1
            row_open[row] = np.inf
            for e in range(flow.starts[row], flow.starts[row + 1]):
                k = flow.column[e]
                # Reduced costs are >= 0 but for rounding, which must not reopen a scanned node.
                through = reached + max(0.0, flow.u[row] + flow.v[k] - flow.score[e])
                if through < column_label[k] and not flow.linked[e]:
                    column_label[k] = through
                    column_open[k] = through
                    flow.column_parent[k] = e
                    links = flow.column_degree[k]
                    if links < capacity:
                        end = through + max(0.0, -flow.v[k] - reward(target_rewards, links))
                        if end < length:
                            length = end
                            exit_row, exit_column = -1, k
        nearest_column = least(column_open)
        nearest_row = least(row_open)
        reached = min(nearest_column, nearest_row)
        if reached >= length:
            break
        row = -1
        if nearest_row <= nearest_column:
            row = 0
            while row_open[row] != nearest_row:
                row += 1
            continue
        k = 0
        while column_open[k] != nearest_column:
            k += 1
        flow.scanned_columns[n_columns] = k
        n_columns += 1
        column_open[k] = np.inf
        for slot in range(flow.column_degree[k]):
            e = flow.joined[k, slot]
            j = flow.row[e]
            through = reached + max(0.0, flow.score[e] - flow.u[j] - flow.v[k])
            if through < row_label[j]:
                row_label[j] = through
                row_open[j] = through
                flow.row_parent[j] = e
                end = through + max(0.0, flow.u[j] + reward(source_rewards, flow.row_degree[j] - 1))
                if end < length:
                    length = end
                    exit_row, exit_column = j, -1
    for t in range(n_rows):
        j = flow.scanned_rows[t]
        flow.u[j] = max(0.0, flow.u[j] - (length - row_label[j]))
    for t in range(n_columns):
        k = flow.scanned_columns[t]
        flow.v[k] += length - column_label[k]
    return exit_row, exit_column


@nb.njit(cache=True, nogil=True)
def augment(source, exit_row, exit_column, flow):
    """Send a unit of flow from row `source` along the parents to where it leaves."""
    if exit_column >= 0:
        new = flow.column_parent[exit_column]
        flow.joined[exit_column, flow.column_degree[exit_column]] = new
        flow.column_degree[exit_column] += 1
    else:
        old = flow.row_parent[exit_row]
        flow.linked[old] = False
        flow.row_degree[exit_row] -= 1
        new = flow.column_parent[flow.column[old]]
        swap(flow.column[old], old, new, flow)
    while True:
        flow.linked[new] = True
        row = flow.row[new]
        if row == source:
            break
        old = flow.row_parent[row]
        flow.linked[old] = False
        new = flow.column_parent[flow.column[old]]
        swap(flow.column[old], old, new, flow)
    flow.row_degree[source] += 1


@nb.njit(cache=True, nogil=True)
def bmatch_block(scores, J, K, source_rewards, target_rewards, flow):
    """Best b-matching of one block of J * K scores, in flow.columns[: J * capacity]: columns of each row, then -1.

    Successive shortest paths: the links that rows may have are allowed one after another, and one unit of flow keeps
    the flow optimal each time. A row's next link is worth no more than one it does without, so that ends the row.

    source_rewards: (capacity - 1,) ρ of the second link and on.  target_rewards: σ likewise.
    Also leaves optimal duals >= 0, flow.u (J,) and flow.v (K,): the score of the matching is
    Σ_j Σ_t max(0, u_j + ρ_t) + Σ_k Σ_t max(0, v_k + σ_t) + Σ_jk max(0, s(j,k) - u_j - v_k), with ρ_1 = σ_1 = 0.
    """
    begin(scores, J, K, flow)
    capacity = len(source_rewards) + 1
    flow.u[:J] = 0.0
    flow.v[:K] = 0.0
    for j in range(J):
        highest = 0.0
        for e in range(flow.starts[j], flow.starts[j + 1]):
            highest = max(highest, flow.score[e] - flow.v[flow.column[e]])
        flow.u[j] = highest
        for links in range(capacity):
            length = flow.u[j] + reward(source_rewards, links)
            if length <= 0.0:
                break
            exit_row, exit_column = search(j, length, J, K, source_rewards, target_rewards, flow)
            if exit_row == j:
                break
            augment(j, exit_row, exit_column, flow)
    write_columns(J, capacity, flow)


@nb.njit(cache=True, nogil=True)
def bmatch_block_greedily(scores, J, K, source_rewards, target_rewards, flow):
    """Best edge first, by what it adds at the time; in flow.columns as `bmatch_block` has it.

    At least half of the best score. Let O be an optimum that holds all links taken so far, and (j, k) the next, which
    adds m. Put it into O, in place of a later link of row j and one of column k, where O has such: as neither added
    more than m to what was taken, O loses m at most, and in the end no link of O adds anything.
    """
    source_capacity, target_capacity = len(source_rewards) + 1, len(target_rewards) + 1
    begin(scores, J, K, flow)
    while True:
        best, highest = -1, 0.0
        for e in range(flow.starts[J]):
            row_links, column_links = flow.row_degree[flow.row[e]], flow.column_degree[flow.column[e]]
            if flow.score[e] <= highest or flow.linked[e]:
                continue
            if row_links < source_capacity and column_links < target_capacity:
                gain = flow.score[e] + reward(source_rewards, row_links)
                gain += reward(target_rewards, column_links)
                if gain > highest:
                    best, highest = e, gain
        if best < 0:
            break
        flow.linked[best] = True
        flow.row_degree[flow.row[best]] += 1
        flow.column_degree[flow.column[best]] += 1
    write_columns(J, source_capacity, flow)


@nb.njit(cache=True, nogil=True)
def bmatch_blocks(scores, shapes, offsets, row_offsets, source_rewards, target_rewards, exact, column_of_row):
    """Best b-matchings of many blocks, into column_of_row (ΣJ * capacity,); exact: or greedily.

    Returns the pair whose scores are at fault, or -1.
    """
    capacity = len(source_rewards) + 1
    flow = make_flow(shapes, capacity, len(target_rewards) + 1)
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        block = scores[offsets[i] : offsets[i] + J * K]
        if not all_below_infinity(block):
            return i
        if exact:
            bmatch_block(block, J, K, source_rewards, target_rewards, flow)
        else:
            bmatch_block_greedily(block, J, K, source_rewards, target_rewards, flow)
        first = row_offsets[i] * capacity
        for slot in range(J * capacity):  # a slice's assignment would compile fifty functions that word its error
            column_of_row[first + slot] = flow.columns[slot]
    return -1
