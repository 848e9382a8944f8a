"""Compiled kernels of training: scores, and the oracle's corners of the blocks of a matching problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aligner.matching._bmatching_kernels import Flow, bmatch_block, make_flow
from aligner.matching._kernels import Workspace, largest_sides, make_workspace, match_block
from aligner.svm._bound_kernels import Bounds, dot, keep_scores, no_bounds, score_likely
from corpora.compiled import SUMS, compiled
from corpora.ragged import F32, F64, I32, I64, U8

OTHER = 0
POSSIBLE = 1
SURE = 2
"""What gold says of an edge."""

DONE = 0
NEGATIVE_HINGE = 1
NOT_FINITE = 2
POSITIVE_REWARD = 3

HINGE_TOLERANCE = 1e-9


@compiled(fastmath=SUMS)
def score_edges(features, w, scores):
    """scores[e] = w · features[e]; features (E, d) float32, the sums in float64."""
    for e in range(features.shape[0]):
        total = 0.0
        for c in range(features.shape[1]):
            total += features[e, c] * w[c]
        scores[e] = total


@compiled
def add_costs(labels, costs, scores):
    """Loss-augment: add to each edge what linking it costs, costs[label]  [TLK05]."""
    for e in range(len(labels)):
        scores[e] += costs[labels[e]]


class Blocks(NamedTuple):
    """The arrays of a matching problem: what compiled solvers work on.

    features: (E, d) float32.  shapes: (n, 2).  offsets: (n + 1,).  labels: (E,).  costs: (3,), of linking an edge of
    each label.  sure: (n,) links of the targets.  gold: (n, d + r) summed features of the targets.
    source_capacity, target_capacity: links a word may have, whose prices make the last r columns, see
    `aligner.svm.prices.Fertility`.
    """

    features: F32
    shapes: I64
    offsets: I64
    labels: U8
    costs: F64
    sure: I64
    gold: F64
    source_capacity: int
    target_capacity: int


class Scratch(NamedTuple):
    """Workspaces for one block.

    column_of_row: the matching found, source_capacity columns or -1 for each row.  bounds: those of all blocks.
    """

    column_of_row: I32
    scores: F64
    likely: I64
    bounds: Bounds
    matching: Workspace
    flow: Flow


@compiled
def several_links(blocks):
    """Whether a word may have several links."""
    return max(blocks.source_capacity, blocks.target_capacity) > 1


@compiled
def make_scratch(blocks, bounds):
    """Scratch for the largest of the blocks."""
    shapes = blocks.shapes
    short, long, edges = largest_sides(shapes)
    return Scratch(
        column_of_row=np.empty(long * blocks.source_capacity, np.int32),
        scores=np.empty(edges),
        likely=np.empty(edges + 1, np.int64),
        bounds=bounds,
        matching=make_workspace(short, long, edges),
        flow=make_flow(shapes if several_links(blocks) else shapes[:0], blocks.target_capacity),
    )


@compiled
def augmented_scores(i, blocks, w, scores):
    """The loss-augmented scores of a block's edges, into scores."""
    first, last = blocks.offsets[i], blocks.offsets[i + 1]
    score_edges(blocks.features[first:last], w, scores)
    add_costs(blocks.labels[first:last], blocks.costs, scores)


@compiled
def useful_scores(i, blocks, w, bounds, likely, scores):
    """`augmented_scores`, but any number below 0 for some of the edges that do not score above 0."""
    if len(bounds.centre) == 0:
        augmented_scores(i, blocks, w, scores)
        return
    first, last = blocks.offsets[i], blocks.offsets[i + 1]
    features, labels = blocks.features[first:last], blocks.labels[first:last]
    weights, own, centre = bounds.weights[i], w[: len(bounds.centre)], bounds.centre
    known, distances = bounds.scores[first:last], bounds.distances[first:last]
    if not score_likely(own, features, labels, blocks.costs, weights, known, distances, centre, likely, scores):
        augmented_scores(i, blocks, w, scores)
        keep_scores(own, features, scores, weights, known, distances, centre)


@compiled
def subtract_further(links, psi):
    """Subtract max(0, deg − u + 1), u = 2, 3..., of a word with deg links from the columns of its side."""
    for u in range(2, links + 1):
        psi[u - 2] -= links - u + 1


@compiled
def fill_corner(i, column_of_row, blocks, psi):
    """psi = gold - (features of this matching); returns the matching's loss.

    column_of_row: (J * capacity,) the columns of each row or -1.
    """
    J, K = blocks.shapes[i, 0], blocks.shapes[i, 1]
    d, capacity = blocks.features.shape[1], blocks.source_capacity
    loss = -blocks.costs[SURE] * blocks.sure[i]
    psi[:] = blocks.gold[i]
    for slot in range(J * capacity):
        if column_of_row[slot] >= 0:
            edge = blocks.offsets[i] + slot // capacity * K + column_of_row[slot]
            loss += blocks.costs[blocks.labels[edge]]
            for c in range(d):
                psi[c] -= blocks.features[edge, c]
    if several_links(blocks):
        cut = d + capacity - 1
        degree = np.zeros(K, np.int64)
        for j in range(J):
            links = 0
            for column in column_of_row[j * capacity : (j + 1) * capacity]:
                if column >= 0:
                    links += 1
                    degree[column] += 1
            subtract_further(links, psi[d:cut])
        for k in range(K):
            subtract_further(degree[k], psi[cut:])
    return loss


@compiled
def fill_corners(chosen, column_of_row, blocks, psi, losses):
    """The corners of some blocks from their matchings, stacked: psi (m, d + r) and losses (m,)."""
    start = 0
    for b in range(len(chosen)):
        losses[b] = fill_corner(chosen[b], column_of_row[start:], blocks, psi[b])
        start += blocks.shapes[chosen[b], 0] * blocks.source_capacity


@compiled
def block_corner(i, blocks, w, scratch, psi):
    """The corner argmax_z L_i(z) - w·ψ_i(z) of a block, by the assignment oracle  [LJSP13].

    Fills psi (d + r,) = ψ_i(z).  Returns (code, L_i(z), H_i(z; w)).
    """
    if not np.isfinite(dot(w, w)):  # the matching kernels must never see a NaN
        return NOT_FINITE, 0.0, 0.0
    d = blocks.features.shape[1]
    for c in range(d, len(w)):
        if w[c] > 0.0:
            return POSITIVE_REWARD, 0.0, 0.0
    J, K = blocks.shapes[i, 0], blocks.shapes[i, 1]
    scores = scratch.scores[: J * K]
    useful_scores(i, blocks, w, scratch.bounds, scratch.likely, scores)
    if several_links(blocks):
        cut = d + blocks.source_capacity - 1
        source_rewards, target_rewards = np.cumsum(w[d:cut]), np.cumsum(w[cut:])
        bmatch_block(scores, J, K, source_rewards, target_rewards, scratch.flow, scratch.column_of_row)
    else:
        match_block(scores, J, K, scratch.matching, scratch.column_of_row)
    loss = fill_corner(i, scratch.column_of_row, blocks, psi)
    hinge = loss - dot(psi, w)
    if hinge < -HINGE_TOLERANCE * max(1.0, loss):
        return NEGATIVE_HINGE, loss, hinge
    return DONE, loss, hinge


@compiled
def block_corners(chosen, blocks, w, psi, losses):
    """The corners of many blocks: fills psi (m, d + r) and losses (m,).  Returns (code, block at fault)."""
    scratch = make_scratch(blocks, no_bounds())
    for b in range(len(chosen)):
        code, losses[b], _ = block_corner(chosen[b], blocks, w, scratch, psi[b])
        if code != DONE:
            return code, chosen[b]
    return DONE, -1


@compiled
def sum_corners(first, last, blocks, w, shares, hinges, psi, losses):
    """Sums over the corners of blocks first .. last; the corners themselves are not kept.

    shares: (n,).  Fills hinges[first:last], and adds to psi (2, d + r) and losses (2,) the sums of ψ_i and L_i, then
    those of each times its share.  Returns (code, block at fault).
    """
    scratch = make_scratch(blocks, no_bounds())
    own = np.empty(len(w))
    for i in range(first, last):
        code, loss, hinges[i] = block_corner(i, blocks, w, scratch, own)
        if code != DONE:
            return code, i
        losses[0] += loss
        losses[1] += shares[i] * loss
        for c in range(len(w)):
            psi[0, c] += own[c]
            psi[1, c] += shares[i] * own[c]
    return DONE, -1
