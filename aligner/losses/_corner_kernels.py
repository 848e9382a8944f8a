"""Compiled kernels of training: scores, and the oracle's corners of the blocks of a matching problem."""

from typing import NamedTuple

import numpy as np

from aligner.matching._path_kernels import Flow, bmatch_block, largest, make_flow
from aligner.templates import DONE, NEGATIVE_HINGE, NOT_FINITE, POSITIVE_REWARD
from corpora.compiled import SUMS, compiled
from corpora.ragged import F32, F64, U8, Bools, Lists

OTHER = 0
POSSIBLE = 1
SURE = 2
"""Labels of an edge by gold."""

HINGE_TOLERANCE = 1e-9


@compiled(fastmath=SUMS)
def dot(x, y):
    total = 0.0
    for c in range(len(x)):
        total += x[c] * y[c]
    return total


@compiled(fastmath=SUMS)
def score_edges(features, w, scores):
    """scores[e] = w · features[e]; features (E, d) float32, the sums in float64."""
    for e in range(features.shape[0]):
        total = 0.0
        for c in range(features.shape[1]):
            total += features[e, c] * w[c]
        scores[e] = total


class Blocks(NamedTuple):
    """The arrays of a matching problem, for compiled solvers.

    features: (E, d) float32.  lists: the edges.  labels: (E,) uint8, OTHER, POSSIBLE or SURE.
    costs: (E,) what linking each edge adds to the loss.  target_costs: (n,) their sums over the target matchings.
    gold: (n, d + r) summed features of the target matchings.
    source_capacity, target_capacity: the most links of a word; r = source_capacity + target_capacity − 2 columns, the
    last ones, are of link rewards, see `aligner.losses.capacity.Fertility`.
    """

    features: F32
    lists: Lists
    labels: U8
    costs: F64
    target_costs: F64
    gold: F64
    source_capacity: int
    target_capacity: int


class Scratch(NamedTuple):
    """Workspaces for one block.  linked: (E,) the matching found.  scores: (E,)."""

    linked: Bools
    scores: F64
    flow: Flow


@compiled
def matching_scratch(blocks):
    """Make scratch for the largest of the blocks."""
    first, last = np.int64(0), len(blocks.lists.shapes)  # no literal, for which more would be compiled
    _, edges = largest(blocks.lists, first, last)
    flow = make_flow(blocks.lists, first, last, blocks.target_capacity)
    return Scratch(linked=np.empty(edges, np.bool_), scores=np.empty(edges), flow=flow)


@compiled
def augmented_scores(i, blocks, w, scores):
    """Set scores to the loss-augmented scores of a block's edges: to each is added what linking it costs  [TLK05]."""
    first, last = blocks.lists.offsets[i], blocks.lists.offsets[i + 1]
    score_edges(blocks.features[first:last], w, scores)
    for e in range(last - first):
        scores[e] += blocks.costs[first + e]


@compiled
def subtract_further(links, psi):
    """Subtract max(0, deg − u + 1), u = 2, 3..., of a word with deg links from the columns of its side."""
    for u in range(2, links + 1):
        psi[u - 2] -= links - u + 1


@compiled
def fill_corner(i, linked, blocks, psi):
    """psi = gold - (features of this matching); returns the matching's loss.  linked: (E,) of the block's edges."""
    lists, d = blocks.lists, blocks.features.shape[1]
    loss = -blocks.target_costs[i]
    psi[:] = blocks.gold[i]
    links = (np.zeros(lists.shapes[i, 0], np.int64), np.zeros(lists.shapes[i, 1], np.int64))
    first = lists.offsets[i]
    for edge in range(first, lists.offsets[i + 1]):
        if linked[edge - first]:
            loss += blocks.costs[edge]
            links[0][lists.source[edge]] += 1
            links[1][lists.target[edge]] += 1
            for c in range(d):
                psi[c] -= blocks.features[edge, c]
    cut = d + blocks.source_capacity - 1
    for of_word in links[0]:
        subtract_further(of_word, psi[d:cut])
    for of_word in links[1]:
        subtract_further(of_word, psi[cut:])
    return loss


@compiled
def fill_corners(chosen, linked, blocks, psi, losses):
    """Compute the corners of some blocks, psi (m, d + r) and losses (m,), from matchings, one after another."""
    start = 0
    for b in range(len(chosen)):
        losses[b] = fill_corner(chosen[b], linked[start:], blocks, psi[b])
        start += blocks.lists.offsets[chosen[b] + 1] - blocks.lists.offsets[chosen[b]]


@compiled
def matching_corner(i, blocks, w, scratch, psi):
    """Find the corner argmax_z L_i(z) - w·ψ_i(z) of a block, by the assignment oracle  [LJSP13].

    Fills psi (d + r,) = ψ_i(z).  Returns (code, L_i(z), H_i(z; w)).
    """
    if not np.isfinite(dot(w, w)):  # the matching kernels must never see a NaN
        return NOT_FINITE, 0.0, 0.0
    d = blocks.features.shape[1]
    for c in range(d, len(w)):
        if w[c] > 0.0:
            return POSITIVE_REWARD, 0.0, 0.0
    lists = blocks.lists
    first, last = lists.offsets[i], lists.offsets[i + 1]
    scores, linked = scratch.scores[: last - first], scratch.linked[: last - first]
    augmented_scores(i, blocks, w, scores)
    cut = d + blocks.source_capacity - 1
    bmatch_block(
        scores,
        lists.source[first:last],
        lists.target[first:last],
        lists.shapes[i, 0],
        lists.shapes[i, 1],
        np.cumsum(w[d:cut]),
        np.cumsum(w[cut:]),
        scratch.flow,
        linked,
    )
    loss = fill_corner(i, linked, blocks, psi)
    hinge = loss - dot(psi, w)
    if hinge < -HINGE_TOLERANCE * max(1.0, loss):
        return NEGATIVE_HINGE, loss, hinge
    return DONE, loss, hinge
