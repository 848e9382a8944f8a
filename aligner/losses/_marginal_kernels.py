"""Compiled kernels of the marginals of matchings: scores, moments and nearest points of their parts.

The parts of a block are its edges and then, for each link after the first that a word may have, that it is *not* taken:
r(j,t) for each source word j and t = 2, 3..., then the same for target words. As the t-th link of a word is worth ρ_t,
r is worth −ρ_t, and it takes one of the word's links, so that it is an edge to a word without a limit:

    Σ_k z(j,k) + Σ_t r(j,t) <= source capacity,  Σ_j z(j,k) + Σ_t r(k,t) <= target capacity,  0 <= z, r <= 1
"""

from typing import NamedTuple

import numpy as np

from aligner.losses._corner_kernels import SURE, score_edges
from aligner.matching._projection_kernels import project_block
from corpora.compiled import SUMS, compiled
from corpora.ragged import F64, I32

ITERATIONS = 200
"""The most iterations of a projection; its point is feasible even if it is not yet exact."""


class Polytope(NamedTuple):
    """The polytope of a block.  source, target: (P,) words of the parts; words without a limit come last.

    row_capacity, column_capacity: of source and target words.
    """

    source: I32
    target: I32
    row_capacity: F64
    column_capacity: F64


@compiled
def make_polytope(blocks, i):
    """Make the polytope of a block."""
    lists, of_source, of_target = blocks.lists, blocks.source_capacity - 1, blocks.target_capacity - 1
    J, K = lists.shapes[i, 0], lists.shapes[i, 1]
    first, last = lists.offsets[i], lists.offsets[i + 1]
    parts = last - first + J * of_source + K * of_target
    source, target = np.empty(parts, np.int32), np.empty(parts, np.int32)
    source[: last - first] = lists.source[first:last]
    target[: last - first] = lists.target[first:last]
    part = last - first
    for j in range(J):
        for t in range(of_source):
            source[part], target[part] = j, K + t
            part += 1
    for k in range(K):
        for t in range(of_target):
            source[part], target[part] = J + t, k
            part += 1
    row_capacity, column_capacity = np.empty(J + of_target), np.empty(K + of_source)
    row_capacity[:J], row_capacity[J:] = of_source + 1.0, K
    column_capacity[:K], column_capacity[K:] = of_target + 1.0, J
    return Polytope(source, target, row_capacity, column_capacity)


@compiled
def nearest_block(geometry, i, blocks, points, tolerance, prices, z):
    """z = the marginals of a block nearest to points, (P,); the search starts at the given prices and updates them.

    Returns the number of the block's prices.
    """
    own = make_polytope(blocks, i)
    rows, words = len(own.row_capacity), len(own.row_capacity) + len(own.column_capacity)
    ceiling = np.inf if blocks.source_capacity == 1 and blocks.target_capacity == 1 else 1.0
    project_block(
        geometry,
        points,
        own.source,
        own.target,
        own.row_capacity,
        own.column_capacity,
        prices[:rows],
        prices[rows:words],
        ceiling,
        tolerance,
        ITERATIONS,
        z,
    )
    return words


@compiled
def score_block(i, blocks, w, scores):
    """scores (P,) = F_iᵀ w + c_i."""
    d, of_source, of_target = blocks.features.shape[1], blocks.source_capacity - 1, blocks.target_capacity - 1
    first, last = blocks.lists.offsets[i], blocks.lists.offsets[i + 1]
    score_edges(blocks.features[first:last], w[:d], scores[: last - first])
    for e in range(last - first):
        scores[e] += blocks.costs[first + e]
    part = last - first
    for _ in range(blocks.lists.shapes[i, 0]):
        reward = 0.0
        for t in range(of_source):
            reward += w[d + t]
            scores[part] = -reward
            part += 1
    for _ in range(blocks.lists.shapes[i, 1]):
        reward = 0.0
        for t in range(of_target):
            reward += w[d + of_source + t]
            scores[part] = -reward
            part += 1


@compiled
def add_block(i, blocks, z, moments):
    """moments (d + 1,) += (F_i z, c_i·z)."""
    d, of_source, of_target = blocks.features.shape[1], blocks.source_capacity - 1, blocks.target_capacity - 1
    first, last = blocks.lists.offsets[i], blocks.lists.offsets[i + 1]
    for e in range(last - first):
        if z[e] != 0.0:
            for c in range(d):
                moments[c] += z[e] * blocks.features[first + e, c]
            moments[len(moments) - 1] += z[e] * blocks.costs[first + e]
    part = last - first
    for _ in range(blocks.lists.shapes[i, 0]):
        for t in range(of_source):
            for c in range(d, d + t + 1):
                moments[c] -= z[part]
            part += 1
    for _ in range(blocks.lists.shapes[i, 1]):
        for t in range(of_target):
            for c in range(d + of_source, d + of_source + t + 1):
                moments[c] -= z[part]
            part += 1


@compiled(fastmath=SUMS)
def squared_norm(i, blocks):
    """Return ‖F_i‖², by Frobenius' norm: the sum of the eigenvalues of F_iᵀF_i."""
    lists, of_source, of_target = blocks.lists, blocks.source_capacity - 1, blocks.target_capacity - 1
    total = 0.0
    for e in range(lists.offsets[i], lists.offsets[i + 1]):
        for c in range(blocks.features.shape[1]):
            total += blocks.features[e, c] * blocks.features[e, c]
    total += lists.shapes[i, 0] * of_source * (of_source + 1) / 2  # a t-th link has t - 1 features of 1
    total += lists.shapes[i, 1] * of_target * (of_target + 1) / 2
    return total


@compiled
def target_block(i, blocks, z):
    """z (P,) = the target matching of a block."""
    own = make_polytope(blocks, i)
    first, last = blocks.lists.offsets[i], blocks.lists.offsets[i + 1]
    J, K = blocks.lists.shapes[i, 0], blocks.lists.shapes[i, 1]
    of_rows, of_columns = np.zeros(len(own.row_capacity), np.int64), np.zeros(len(own.column_capacity), np.int64)
    for e in range(last - first):
        z[e] = 1.0 if blocks.labels[first + e] == SURE else 0.0
        if z[e] > 0.0:
            of_rows[own.source[e]] += 1
            of_columns[own.target[e]] += 1
    for part in range(last - first, len(z)):
        j, k = own.source[part], own.target[part]
        taken = of_rows[j] > k - K + 1 if k >= K else of_columns[k] > j - J + 1
        z[part] = 0.0 if taken else 1.0


@compiled
def part_scores(chosen, blocks, w, starts, scores):
    """Call `score_block` for each of these blocks; the b-th has the scores from starts[b] on, starts (m + 1,)."""
    for b in range(len(chosen)):
        score_block(chosen[b], blocks, w, scores[starts[b] : starts[b + 1]])


@compiled
def part_moments(chosen, blocks, z, starts, moments):
    """Call `add_block` for each of these blocks."""
    for b in range(len(chosen)):
        add_block(chosen[b], blocks, z[starts[b] : starts[b + 1]], moments)


@compiled
def nearest_parts(geometry, chosen, blocks, points, tolerance, starts, prices, z):
    """Call `nearest_block` for each of these blocks; prices are one block after the other."""
    first = 0
    for b in range(len(chosen)):
        own = slice(starts[b], starts[b + 1])
        first += nearest_block(geometry, chosen[b], blocks, points[own], tolerance, prices[first:], z[own])


@compiled
def target_parts(blocks, starts, z):
    """Call `target_block` for each block."""
    for i in range(len(blocks.lists.shapes)):
        target_block(i, blocks, z[starts[i] : starts[i + 1]])
