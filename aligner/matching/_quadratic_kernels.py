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

import numba as nb
import numpy as np

from aligner.matching._bmatching_kernels import bmatch_block
from aligner.matching._kernels import FOUND, NOT_FINITE, all_below_infinity, match_block
from aligner.matching._neighbour_kernels import fertility, find_pairs, find_useful, make_neighbourhood

PATIENCE = 10
"""Steps without a better bound after which they are halved."""

CLOSED = 1e-9
"""A gap that is this small beside the value is rounding."""

BRANCH_ITERATIONS = 10
"""Matchings for the bound of a branch."""

FREE, FORCED, DROPPED = 0, 1, 2


@nb.njit(cache=True, nogil=True)
def link(linked, J, K, edges, pairs, source_rewards, target_rewards, near):
    """Fills linked with the best (b-)matching of near.block; returns its value F."""
    capacity = source_rewards.shape[1] + 1
    if capacity == 1 and target_rewards.shape[1] == 0:
        match_block(near.block[: J * K], J, K, near.work)
        mate = near.work.mate
    else:
        bmatch_block(near.block[: J * K], J, K, source_rewards, target_rewards, near.flow)
        mate = near.flow.mate
    linked[:edges] = False
    value = 0.0
    for slot in range(J * capacity):
        if mate[slot] >= 0:
            e = near.edge[slot // capacity * K + mate[slot]]
            if e >= 0:
                linked[e] = True
                value += near.score[e]
    for p in range(pairs):
        if linked[near.first[p]] and linked[near.second[p]]:
            value += near.reward[p]
    return value + fertility(linked, J, K, edges, source_rewards, target_rewards, near)


@nb.njit(cache=True, nogil=True)
def climb(value, J, K, edges, pairs, source_rewards, target_rewards, near):
    """From near.linked of this value, better and better matchings by linearisation; keeps the best in near.climbing.

    F is replaced by its tangent, s + Σ r z of the neighbours: Frank-Wolfe steps of full length, which need not gain
    since F is not concave, and end as soon as they do not  [Leordeanu, Hebert and Sukthankar 2009].  Returns the value.
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
        reached = link(near.ahead, J, K, edges, pairs, source_rewards, target_rewards, near)
        if reached <= value:
            return value
        value = reached
        near.climbing[:edges] = near.ahead[:edges]


@nb.njit(cache=True, nogil=True, inline="always")
def closed(bound, value):
    return bound - value <= CLOSED * value


@nb.njit(cache=True, nogil=True)
def share_out(edges, pairs, force, near):
    """Fills near.block with scores that include the shares of rewards, as the fate of edges has it.

    A pair with a forced edge is a reward of its other edge alone, and one with a dropped edge is none.
    force: what a forced edge gets on top, so that no matching without it is best.
    """
    for e in range(edges):
        near.block[near.cell[e]] = 0.0 if near.fate[e] == DROPPED else near.score[e]
        if near.fate[e] == FORCED:
            near.block[near.cell[e]] += force
    for p in range(pairs):
        one, other = near.first[p], near.second[p]
        if near.fate[one] == DROPPED or near.fate[other] == DROPPED:
            continue
        if near.fate[one] == FORCED:
            near.share[p] = 0.0
        elif near.fate[other] == FORCED:
            near.share[p] = near.reward[p]
        near.block[near.cell[one]] += near.share[p]
        near.block[near.cell[other]] += near.reward[p] - near.share[p]


@nb.njit(cache=True, nogil=True, inline="always")
def wasted_share(p, near):
    """The share of a pair's reward that counts for its only linked edge: t or r - t; 0 if both or none are linked."""
    one, other = near.linked[near.first[p]], near.linked[near.second[p]]
    if one == other or near.fate[near.first[p]] == DROPPED or near.fate[near.second[p]] == DROPPED:
        return 0.0
    return near.share[p] if one else near.reward[p] - near.share[p]


@nb.njit(cache=True, nogil=True)
def tighten(limit, value, force, J, K, edges, pairs, source_rewards, target_rewards, near):
    """Bring the bound down by at most so many matchings, and the best value up, by what they show.

    Steps are those of [Polyak 1969] towards the best value known, halved when bounds stop to improve, as that value
    is out of reach where the relaxation is not tight.  Returns (value, bound), the latter of the links that the fate
    of edges allows, -inf if there are none.
    """
    bound, length, waited = np.inf, 1.0, 0
    for iteration in range(limit):
        share_out(edges, pairs, force, near)
        reached = link(near.linked, J, K, edges, pairs, source_rewards, target_rewards, near)
        for e in range(edges):
            if near.fate[e] == FORCED and not near.linked[e]:
                return value, -np.inf
        if reached > value:
            value = reached
            near.best[:edges] = near.linked[:edges]
        relaxed, wasted = reached, 0
        for p in range(pairs):
            waste = wasted_share(p, near)
            relaxed += waste
            wasted += waste > 0.0
        waited += 1
        if relaxed < bound:
            bound = relaxed
            waited = 0
        elif waited == PATIENCE:
            length *= 0.5
            waited = 0
        if wasted == 0:
            return value, min(bound, reached)
        if iteration > 0:  # often the second matching is the optimum already
            reached = climb(reached, J, K, edges, pairs, source_rewards, target_rewards, near)
            if reached > value:
                value = reached
                near.best[:edges] = near.climbing[:edges]
        if closed(bound, value):
            break
        step = length * (relaxed - value) / wasted
        for p in range(pairs):
            if wasted_share(p, near) > 0.0:
                if near.linked[near.first[p]]:
                    near.share[p] = max(0.0, near.share[p] - step)
                else:
                    near.share[p] = min(near.reward[p], near.share[p] + step)
    return value, bound


@nb.njit(cache=True, nogil=True)
def to_branch_on(pairs, near):
    """The linked edge of the greatest reward that the other edge misses."""
    edge, most = -1, 0.0
    for p in range(pairs):
        one, other = near.first[p], near.second[p]
        if near.linked[one] != near.linked[other] and near.reward[p] > most:
            lone, missing = (one, other) if near.linked[one] else (other, one)
            if near.fate[lone] == FREE and near.fate[missing] == FREE:
                edge, most = lone, near.reward[p]
    return edge


@nb.njit(cache=True, nogil=True)
def quadratic_block(scores, parallel, swapped, J, K, source_rewards, target_rewards, iterations, branches, near):
    """The best links found for one block, in near.best.  Returns (edges, value, bound, whether that is the optimum).

    Where the relaxation is not tight: branch and bound, depth first, on whether an edge is linked.
    """
    edges = find_useful(scores, parallel, swapped, J, K, near)
    pairs = find_pairs(parallel, swapped, J, K, edges, near)
    near.best[:edges] = False
    near.fate[:edges] = FREE
    force = -2.0 * (source_rewards.sum() + target_rewards.sum())
    for e in range(edges):
        force += 2.0 * abs(near.score[e])
    for p in range(pairs):
        force += 2.0 * near.reward[p]
    value, bound, depth = 0.0, np.inf, 0
    for branch in range(branches + 1):
        limit = iterations if branch == 0 else BRANCH_ITERATIONS
        value, below = tighten(limit, value, force, J, K, edges, pairs, source_rewards, target_rewards, near)
        bound = min(bound, below)
        if closed(bound, value):  # on to the edge decided last whose other fate is open
            while depth > 0 and near.fate[near.decided[depth - 1]] == DROPPED:
                depth -= 1
                near.fate[near.decided[depth]] = FREE
            if depth == 0:
                return edges, value, max(bound, value), True
            near.fate[near.decided[depth - 1]] = DROPPED
            bound = near.open_bound[depth - 1]
        else:
            near.decided[depth] = to_branch_on(pairs, near)
            near.open_bound[depth] = bound
            near.fate[near.decided[depth]] = FORCED
            depth += 1
    for level in range(depth):
        if near.fate[near.decided[level]] == FORCED:
            bound = max(bound, near.open_bound[level])
    return edges, value, max(bound, value), closed(bound, value)


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
    branches,
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
            branches,
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
