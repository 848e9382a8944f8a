"""Compiled kernels of training: scores, corners, and whole passes of block-coordinate Frank-Wolfe."""

from __future__ import annotations

import numba as nb
import numpy as np

from aligner.matching._kernels import make_workspace, match_block

OTHER = 0
POSSIBLE = 1
SURE = 2
"""What gold says of an edge."""

DONE = 0
NEGATIVE_HINGE = 1
NOT_FINITE = 2

HINGE_TOLERANCE = 1e-9


# A dot product may be summed in any order; NaN and infinities keep their meaning.
@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def score_edges(features, w, scores):
    """scores[e] = w · features[e]; features (E, d) float32, the sums in float64."""
    for e in range(features.shape[0]):
        total = 0.0
        for c in range(features.shape[1]):
            total += features[e, c] * w[c]
        scores[e] = total


@nb.njit(cache=True, nogil=True)
def add_costs(labels, costs, scores):
    """Loss-augment: add to each edge what linking it costs, costs[label]  [SPEC §2]."""
    for e in range(len(labels)):
        scores[e] += costs[labels[e]]


@nb.njit(cache=True, nogil=True)
def augmented_scores(blocks, features, shapes, offsets, labels, costs, w, starts, scores):
    """Loss-augmented scores of some blocks, block b from scores[starts[b]] on."""
    for b in range(len(blocks)):
        i = blocks[b]
        first = offsets[i]
        last = offsets[i + 1]
        part = scores[starts[b] : starts[b] + last - first]
        score_edges(features[first:last], w, part)
        add_costs(labels[first:last], costs, part)


@nb.njit(cache=True, nogil=True)
def take_corner(mate, K, features, labels, costs, miss_cost, sure, gold, psi):
    """psi = gold - (features of the links of this matching), in place; returns the matching's loss."""
    loss = miss_cost * sure
    psi[:] = gold
    for j in range(len(mate)):
        if mate[j] >= 0:
            edge = j * K + mate[j]
            loss += costs[labels[edge]]
            for c in range(len(psi)):
                psi[c] -= features[edge, c]
    return loss


@nb.njit(cache=True, nogil=True)
def take_corners(
    blocks, mates, row_offsets, features, shapes, offsets, labels, costs, miss_cost, sure, gold, psi, losses
):
    """The corners of some blocks from their matchings: psi (m, d) and losses (m,)."""
    for b in range(len(blocks)):
        i = blocks[b]
        losses[b] = take_corner(
            mates[row_offsets[b] : row_offsets[b + 1]], shapes[i, 1], features[offsets[i] : offsets[i + 1]],
            labels[offsets[i] : offsets[i + 1]], costs, miss_cost, sure[i], gold[i], psi[b],
        )  # fmt: skip


@nb.njit(cache=True, nogil=True)
def forward_steps(
    order, steps_done, line_search, average,
    features, shapes, offsets, labels, costs, miss_cost, sure, gold, regularization,
    w, loss, block_w, block_loss, mean_w, mean_loss,
):  # fmt: skip
    """BCFW over the blocks in this order  [LJSP13 Alg. 4]; updates the state in place.

    loss, mean_loss: (1,) arrays.  Returns (code, block at fault).
    """
    n = len(shapes)
    d = len(w)
    scale = 1.0 / (regularization * n)
    work = make_workspace(shapes)
    scores = np.empty(len(work.flipped))
    corner_w = np.empty(d)
    for t in range(len(order)):
        i = order[t]
        J = shapes[i, 0]
        K = shapes[i, 1]
        block_features = features[offsets[i] : offsets[i + 1]]
        block_labels = labels[offsets[i] : offsets[i + 1]]
        block_scores = scores[: J * K]
        size = 0.0
        for c in range(d):
            size += w[c] * w[c]
        if not np.isfinite(size):  # the matching kernels must never see a NaN
            return NOT_FINITE, i
        score_edges(block_features, w, block_scores)
        add_costs(block_labels, costs, block_scores)
        match_block(block_scores, J, K, work)
        corner_loss = take_corner(
            work.mate[:J], K, block_features, block_labels, costs, miss_cost, sure[i], gold[i], corner_w
        )
        hinge = corner_loss
        for c in range(d):
            hinge -= corner_w[c] * w[c]
        if hinge < -HINGE_TOLERANCE * max(1.0, corner_loss):
            return NEGATIVE_HINGE, i
        corner_loss /= n
        slope = corner_loss - block_loss[i]
        curvature = 0.0
        for c in range(d):
            corner_w[c] *= scale
            difference = block_w[i, c] - corner_w[c]
            slope += regularization * difference * w[c]
            curvature += regularization * difference * difference
        if line_search:
            if curvature > 0.0:
                gamma = min(1.0, max(0.0, slope / curvature))
            else:  # the corner is where the block is, in w: only the loss can differ
                gamma = 1.0 if slope > 0.0 else 0.0
        else:
            gamma = 2.0 * n / (steps_done + t + 2.0 * n)
        for c in range(d):
            change = gamma * (corner_w[c] - block_w[i, c])
            block_w[i, c] += change
            w[c] += change
        change = gamma * (corner_loss - block_loss[i])
        block_loss[i] += change
        loss[0] += change
        rho = average_weight(average, steps_done + t)
        if rho > 0.0:
            for c in range(d):
                mean_w[c] += rho * (w[c] - mean_w[c])
            mean_loss[0] += rho * (loss[0] - mean_loss[0])
    return DONE, -1


LAST = 0
WEIGHTED = 1
SUFFIX = 2
UNIFORM = 3


@nb.njit(cache=True, nogil=True)
def average_weight(average, step):
    """Weight of the iterate after step 0, 1, 2… in its average; 0 where there is no average.

    UNIFORM: 1 / (k + 1).  WEIGHTED: 2 / (k + 2)  [LJSP13 §4].  SUFFIX: the uniform average since the last power
    of 2, which holds the last half or less of the iterates  [LJSP13 §5, Rakhlin et al. 2012].
    """
    if average == UNIFORM:
        return 1.0 / (step + 1.0)
    if average == WEIGHTED:
        return 2.0 / (step + 2.0)
    if average == SUFFIX:
        restart = 1
        while 2 * restart <= step + 1:
            restart *= 2
        return 1.0 / (step + 2.0 - restart)
    return 0.0
