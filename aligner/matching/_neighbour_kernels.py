"""Compiled kernels of pairs of neighbouring edges: those in a block, and the edges that an optimum may need."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.matching._bmatching_kernels import Flow, make_flow
from aligner.matching._kernels import VECTOR, Workspace, make_workspace

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Neighbourhood(NamedTuple):
    """Scratch arrays: the useful edges of a block, row by row, and the pairs of neighbours among them.

    edge: (J * K,) index of each cell among the useful edges, or -1.  cell, score: of each of these.
    linked: edges of the last matching of shares.  climbing, ahead: of the last two of a climb.  best: of the best.
    first, second: (pairs,) edges.  reward: r.  share: t, the part of r that counts for the first edge.
    block: (J * K,) scores given to the matching kernels, 0 where an edge is not useful.
    fate: of each edge in the branch at hand.  decided, open_bound: edges that have one, and the bound before that.
    """

    edge: I64
    cell: I64
    score: F64
    linked: Bools
    climbing: Bools
    ahead: Bools
    best: Bools
    first: I64
    second: I64
    reward: F64
    share: F64
    block: F64
    fate: I64
    decided: I64
    open_bound: F64
    row_links: I64
    column_links: I64
    queue: I64
    work: Workspace
    flow: Flow


@nb.njit(cache=True, nogil=True)
def make_neighbourhood(shapes, source_capacity, target_capacity):
    """Scratch for the largest of these blocks."""
    high, wide, edges = 1, 1, 1
    for i in range(len(shapes)):
        high = max(high, shapes[i, 0])
        wide = max(wide, shapes[i, 1])
        edges = max(edges, shapes[i, 0] * shapes[i, 1])
    return Neighbourhood(
        np.empty(edges, np.int64),
        np.empty(edges, np.int64),
        np.empty(edges),
        np.empty(edges, np.bool_),
        np.empty(edges, np.bool_),
        np.empty(edges, np.bool_),
        np.empty(edges, np.bool_),
        np.empty(2 * edges, np.int64),
        np.empty(2 * edges, np.int64),
        np.empty(2 * edges),
        np.empty(2 * edges),
        np.empty(edges),
        np.empty(edges, np.int64),
        np.empty(edges + 1, np.int64),
        np.empty(edges + 1),
        np.empty(high, np.int64),
        np.empty(wide, np.int64),
        np.empty(edges, np.int64),
        make_workspace(shapes),
        make_flow(shapes, source_capacity, target_capacity),
    )


@nb.njit(cache=True, nogil=True, inline="always")
def neighbour(direction, cell, J, K, parallel, swapped):
    """(cell, reward) of a neighbour of a cell in one of the four diagonal directions; the cell is -1 outside."""
    j = cell // K
    k = cell - j * K
    if direction == 0:
        return (cell + K + 1, parallel[cell]) if j + 1 < J and k + 1 < K else (-1, 0.0)
    if direction == 1:
        return (cell + K - 1, swapped[cell - 1]) if j + 1 < J and k > 0 else (-1, 0.0)
    if direction == 2:
        return (cell - K + 1, swapped[cell - K]) if j > 0 and k + 1 < K else (-1, 0.0)
    return (cell - K - 1, parallel[cell - K - 1]) if j > 0 and k > 0 else (-1, 0.0)


@nb.njit(cache=True, nogil=True, fastmath=VECTOR)
def greatest(values):
    highest = 0.0
    for i in range(len(values)):
        highest = values[i] if values[i] > highest else highest
    return highest


@nb.njit(cache=True, nogil=True)
def may_gain(cell, score, J, K, parallel, swapped, edge):
    """Whether s(e) + Σ r(e, f in Q) / 2 + Σ r(e, f not in Q) > 0, where Q are the cells of edge < 0."""
    gain = score
    for direction in range(4):
        other, reward = neighbour(direction, cell, J, K, parallel, swapped)
        if other >= 0:
            gain += 0.5 * reward if edge[other] < 0 else reward
    return gain > 0.0


@nb.njit(cache=True, nogil=True)
def find_useful(scores, parallel, swapped, J, K, near):
    """Fills edge, cell and score of `near`; returns the number of edges that an optimum may need.

    Let Q be a set of edges with  s(e) + Σ r(e, f in Q) / 2 + Σ r(e, f not in Q) <= 0  for each of its e. Take the links
    T of a solution that are in Q away: that loses at most the sum of these terms over T, as rewards between two links
    of T are shared by both, and some fertility, whose last rewards are <= 0. So no solution needs any edge of Q. Here
    Q begins as all edges of s <= 0; those whose term is above 0 leave it, and then the terms of their neighbours grow.
    """
    most = greatest(parallel) + greatest(swapped)  # half of what four neighbours can add
    near.edge[: J * K] = -1
    waiting = 0
    for c in range(J * K):
        if scores[c] > 0.0 or (scores[c] + most > 0.0 and may_gain(c, scores[c], J, K, parallel, swapped, near.edge)):
            near.edge[c] = 0
            near.queue[waiting] = c
            waiting += 1
    begun = 0
    while begun < waiting:
        for direction in range(4):
            c, _ = neighbour(direction, near.queue[begun], J, K, parallel, swapped)
            if c < 0 or near.edge[c] == 0 or scores[c] + 2.0 * most <= 0.0:
                continue
            if may_gain(c, scores[c], J, K, parallel, swapped, near.edge):
                near.edge[c] = 0
                near.queue[waiting] = c
                waiting += 1
        begun += 1
    edges = 0
    for c in range(J * K):
        near.block[c] = 0.0
        if near.edge[c] == 0:
            near.edge[c] = edges
            near.cell[edges] = c
            near.score[edges] = scores[c]
            edges += 1
    return edges


@nb.njit(cache=True, nogil=True)
def find_pairs(parallel, swapped, J, K, edges, near):
    """Fills first, second, reward and share (one half) of `near`; returns the number of pairs."""
    pairs = 0
    for e in range(edges):
        for direction in range(2):  # down; the others are the same pairs
            other, reward = neighbour(direction, near.cell[e], J, K, parallel, swapped)
            if other >= 0 and near.edge[other] >= 0 and reward > 0.0:
                near.first[pairs] = e
                near.second[pairs] = near.edge[other]
                near.reward[pairs] = reward
                near.share[pairs] = 0.5 * reward
                pairs += 1
    return pairs


@nb.njit(cache=True, nogil=True)
def fertility(linked, J, K, edges, source_rewards, target_rewards, near):
    """Σ of the rewards of second and further links."""
    if source_rewards.shape[1] == 0 and target_rewards.shape[1] == 0:
        return 0.0
    total = 0.0
    near.row_links[:J] = 0
    near.column_links[:K] = 0
    for e in range(edges):
        if linked[e]:
            j = near.cell[e] // K
            k = near.cell[e] - j * K
            if near.row_links[j] > 0:
                total += source_rewards[j, near.row_links[j] - 1]
            if near.column_links[k] > 0:
                total += target_rewards[k, near.column_links[k] - 1]
            near.row_links[j] += 1
            near.column_links[k] += 1
    return total
