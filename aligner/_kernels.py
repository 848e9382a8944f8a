"""Compiled kernels of training: scores, and the oracle's corners of the blocks of a matching problem."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.matching._kernels import Workspace, make_workspace, match_block

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


class Blocks(NamedTuple):
    """The arrays of a matching problem: what compiled solvers work on.

    features: (E, d) float32.  shapes: (n, 2).  offsets: (n + 1,).  labels: (E,).  costs: (3,), of linking an edge of
    each label.  miss_cost: c⁺.  sure: (n,) links of the targets.  gold: (n, d) summed features of the targets.
    """

    features: npt.NDArray[np.float32]
    shapes: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    labels: npt.NDArray[np.uint8]
    costs: npt.NDArray[np.float64]
    miss_cost: float
    sure: npt.NDArray[np.int64]
    gold: npt.NDArray[np.float64]


class Scratch(NamedTuple):
    """Room for the work on one block.  work.mate: the matching found, a column or -1 for each row."""

    work: Workspace
    scores: npt.NDArray[np.float64]


@nb.njit(cache=True, nogil=True)
def make_scratch(blocks):
    """Scratch for the largest of the blocks."""
    work = make_workspace(blocks.shapes)
    return Scratch(work, np.empty(len(work.flipped)))


@nb.njit(cache=True, nogil=True)
def block_corner(i, blocks, w, scratch, psi):
    """The corner argmax_z L_i(z) - w·ψ_i(z) of a block, by the assignment oracle  [SPEC §3].

    Fills psi (d,) = ψ_i(z).  Returns (code, L_i(z), H_i(z; w)); the matching is in scratch.work.mate.
    """
    J = blocks.shapes[i, 0]
    K = blocks.shapes[i, 1]
    first = blocks.offsets[i]
    last = blocks.offsets[i + 1]
    features = blocks.features[first:last]
    labels = blocks.labels[first:last]
    scores = scratch.scores[: J * K]
    size = 0.0
    for c in range(len(w)):
        size += w[c] * w[c]
    if not np.isfinite(size):  # the matching kernels must never see a NaN
        return NOT_FINITE, 0.0, 0.0
    score_edges(features, w, scores)
    add_costs(labels, blocks.costs, scores)
    match_block(scores, J, K, scratch.work)
    loss = take_corner(
        scratch.work.mate[:J], K, features, labels, blocks.costs, blocks.miss_cost, blocks.sure[i], blocks.gold[i], psi
    )
    hinge = loss
    for c in range(len(w)):
        hinge -= psi[c] * w[c]
    if hinge < -HINGE_TOLERANCE * max(1.0, loss):
        return NEGATIVE_HINGE, loss, hinge
    return DONE, loss, hinge


@nb.njit(cache=True, nogil=True)
def block_corners(chosen, blocks, w, row_offsets, psi, losses, mates):
    """The corners of many blocks: fills psi (m, d), losses (m,), mates (sum J,).  Returns (code, block at fault)."""
    scratch = make_scratch(blocks)
    for b in range(len(chosen)):
        i = chosen[b]
        code, losses[b], _ = block_corner(i, blocks, w, scratch, psi[b])
        if code != DONE:
            return code, i
        mates[row_offsets[b] : row_offsets[b + 1]] = scratch.work.mate[: blocks.shapes[i, 0]]
    return DONE, -1
