"""Compiled kernels of matching with rewards for neighbouring links  [LTKJ06 §4].

maximise  F(z) = Σ_e s(e) z(e) + fertility(z) + Σ_p r(p) z(e_p) z(f_p)  over matchings or b-matchings z, where each pair
p is of two edges (j, k), (j + 1, k + 1) or (j, k + 1), (j + 1, k), and r >= 0: NP-hard in general, easy as a rule.

For 0 <= t(p) <= r(p),  r z(e) z(f) <= t z(e) + (r - t) z(f),  so any split of the rewards between their two edges gives
a plain (b-)matching problem whose optimum D(t) bounds that of F. The least D is the value of the linear relaxation with
variables y(p) <= z(e_p), z(f_p), by duality: r min(z(e), z(f)) is the least of t z(e) + (r - t) z(f). Subgradient
steps move a share towards the edge that went without link, where it costs nothing. If no share is left at an edge
whose partner went without, D(t) = F(z), and z is optimal.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.matching._bmatching_kernels import Flow, bmatch_block, make_flow
from aligner.matching._kernels import (
    FOUND,
    NOT_FINITE,
    VECTOR,
    Workspace,
    all_below_infinity,
    make_workspace,
    match_block,
)

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

PATIENCE = 10
"""Steps without a better bound after which they are halved."""

CLOSED = 1e-9
"""A gap that is this small beside the bound is rounding."""


class Neighbourhood(NamedTuple):
    """Scratch arrays: the useful edges of a block, row by row, and the pairs of neighbours among them.

    edge: (J * K,) index of each cell among the useful edges, or -1.  cell, score: of each of these.
    linked: edges of the last matching of shares.  climbing, ahead: of the last two of a climb.  best: of the best.
    first, second: (pairs,) edges.  reward: r.  share: t, the part of r that counts for the first edge.
    block: (J * K,) scores given to the matching kernels, 0 where an edge is not useful.
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


@nb.njit(cache=True, nogil=True)
def link(linked, J, K, edges, source_rewards, target_rewards, near):
    """Fills linked with the best (b-)matching of near.block; returns its value there and at the given scores.

    Neither includes rewards of neighbours beyond those in the block.
    """
    capacity = source_rewards.shape[1] + 1
    if capacity == 1 and target_rewards.shape[1] == 0:
        match_block(near.block[: J * K], J, K, near.work)
        mate = near.work.mate
    else:
        bmatch_block(near.block[: J * K], J, K, source_rewards, target_rewards, near.flow)
        mate = near.flow.mate
    linked[:edges] = False
    there, given = 0.0, 0.0
    for slot in range(J * capacity):
        if mate[slot] >= 0:
            c = slot // capacity * K + mate[slot]
            e = near.edge[c]
            if e >= 0:
                linked[e] = True
                there += near.block[c]
                given += near.score[e]
    further = fertility(linked, J, K, edges, source_rewards, target_rewards, near)
    return there + further, given + further


@nb.njit(cache=True, nogil=True)
def rewarded(linked, pairs, near):
    """Σ of the rewards of neighbouring links."""
    total = 0.0
    for p in range(pairs):
        if linked[near.first[p]] and linked[near.second[p]]:
            total += near.reward[p]
    return total


@nb.njit(cache=True, nogil=True)
def climb(value, J, K, edges, pairs, source_rewards, target_rewards, near):
    """From near.linked of this value, better and better matchings by linearisation; keeps the best in near.climbing.

    F is replaced by its tangent, s + Σ r z of the neighbours: Frank-Wolfe steps of full length, which need not gain
    since F is not convex, and end as soon as they do not  [Leordeanu, Hebert and Sukthankar 2009].  Returns the value.
    """
    near.climbing[:edges] = near.linked[:edges]
    while True:
        for e in range(edges):
            near.block[near.cell[e]] = near.score[e]
        for p in range(pairs):
            if near.climbing[near.first[p]]:
                near.block[near.cell[near.second[p]]] += near.reward[p]
            if near.climbing[near.second[p]]:
                near.block[near.cell[near.first[p]]] += near.reward[p]
        _, reached = link(near.ahead, J, K, edges, source_rewards, target_rewards, near)
        reached += rewarded(near.ahead, pairs, near)
        if reached <= value:
            return value
        value = reached
        near.climbing[:edges] = near.ahead[:edges]


@nb.njit(cache=True, nogil=True)
def quadratic_block(scores, parallel, swapped, J, K, source_rewards, target_rewards, iterations, near):
    """The best links found for one block, in near.best.  Returns (edges, value, bound, whether that is the optimum).

    Steps are those of [Polyak 1969] towards the best value known, halved when bounds stop to improve, as that value
    is out of reach where the relaxation is not tight.
    """
    edges = find_useful(scores, parallel, swapped, J, K, near)
    pairs = find_pairs(parallel, swapped, J, K, edges, near)
    near.best[:edges] = False
    value, bound = 0.0, np.inf
    length, waited = 1.0, 0
    for iteration in range(iterations):
        for e in range(edges):
            near.block[near.cell[e]] = near.score[e]
        for p in range(pairs):
            near.block[near.cell[near.first[p]]] += near.share[p]
            near.block[near.cell[near.second[p]]] += near.reward[p] - near.share[p]
        relaxed, reached = link(near.linked, J, K, edges, source_rewards, target_rewards, near)
        reached += rewarded(near.linked, pairs, near)
        if reached > value:
            value = reached
            near.best[:edges] = near.linked[:edges]
        waited += 1
        if relaxed < bound:
            bound = relaxed
            waited = 0
        elif waited == PATIENCE:
            length *= 0.5
            waited = 0
        wasted = 0
        for p in range(pairs):
            one, other = near.linked[near.first[p]], near.linked[near.second[p]]
            wasted += (one and not other and near.share[p] > 0.0) or (
                other and not one and near.share[p] < near.reward[p]
            )
        if iteration > 0 and wasted > 0:  # often the second matching is the optimum already
            reached = climb(reached, J, K, edges, pairs, source_rewards, target_rewards, near)
            if reached > value:
                value = reached
                near.best[:edges] = near.climbing[:edges]
        if wasted == 0 or bound - value <= CLOSED * bound:
            return edges, value, max(bound, value), True
        step = length * (relaxed - value) / wasted
        for p in range(pairs):
            one, other = near.linked[near.first[p]], near.linked[near.second[p]]
            if one and not other:
                near.share[p] = max(0.0, near.share[p] - step)
            elif other and not one:
                near.share[p] = min(near.reward[p], near.share[p] + step)
    return edges, value, max(bound, value), False


@nb.njit(cache=True, nogil=True)
def quadratic_blocks(
    scores,
    parallel,
    swapped,
    shapes,
    offsets,
    words,
    source_rewards,
    target_rewards,
    iterations,
    mates,
    values,
    bounds,
    exact,
):
    """Decode many blocks; fills mates (sum J * capacity,) and value, bound and flag of each.

    words: (n, 2) the first row and the first column of each block in the rewards.
    Returns (code, index of the pair at fault).
    """
    capacity = source_rewards.shape[1] + 1
    near = make_neighbourhood(shapes, capacity, target_rewards.shape[1] + 1)
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        start, end = offsets[i], offsets[i] + J * K
        if not all_below_infinity(scores[start:end]):
            return NOT_FINITE, i
        row, column = words[i, 0], words[i, 1]
        edges, values[i], bounds[i], exact[i] = quadratic_block(
            scores[start:end],
            parallel[start:end],
            swapped[start:end],
            J,
            K,
            source_rewards[row : row + J],
            target_rewards[column : column + K],
            iterations,
            near,
        )
        mates[row * capacity : (row + J) * capacity] = -1
        near.row_links[:J] = 0
        for e in range(edges):
            if near.best[e]:
                j = near.cell[e] // K
                mates[(row + j) * capacity + near.row_links[j]] = near.cell[e] - j * K
                near.row_links[j] += 1
    return FOUND, -1
