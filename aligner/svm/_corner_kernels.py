"""Compiled kernels of training: scores, and the oracle's corners of the blocks of a matching problem."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.matching._bmatching_kernels import begin, begin_listed, make_flow, match_begun
from aligner.matching._kernels import Workspace, make_workspace, match_block
from aligner.matching._sparse_kernels import EDGE, FIRST, VALUE, match_candidates, write_mates
from aligner.svm._compact_kernels import SUMS, Room, list_edges, make_room, take_listed
from aligner.svm._intrinsics import borrow
from aligner.svm._screening_kernels import Screen, give_record
from features.codes import GRID, Codes

OTHER = 0
POSSIBLE = 1
SURE = 2
"""What gold says of an edge."""

DONE = 0
NEGATIVE_HINGE = 1
NOT_FINITE = 2
POSITIVE_REWARD = 3

HINGE_TOLERANCE = 1e-9

_EDGES_AT_ONCE = 512
"""So few that their scores stay in the fastest cache."""


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def score_edges(features, w, scores):
    """scores[e] = w · features[e]; features (E, d) float32, the sums in float64."""
    for e in range(features.shape[0]):
        total = 0.0
        for c in range(features.shape[1]):
            total += features[e, c] * w[c]
        scores[e] = total


@nb.njit(cache=True, nogil=True)
def add_scores(features, w, scores):
    """scores[e] += w · features[e]; features (E, d) float32."""
    for first in range(0, len(scores), _EDGES_AT_ONCE):
        some = scores[first : first + _EDGES_AT_ONCE]
        for c in range(features.shape[1]):
            column = features[first : first + _EDGES_AT_ONCE, c]
            weight = w[c]
            for e in range(len(some)):
                some[e] += column[e] * weight


@nb.njit(cache=True, nogil=True)
def add_rounded_scores(features, w, scores):
    """`add_scores` of features that are rounded as `features.codes.round_to_grid` does it, for so many scores."""
    for first in range(0, len(scores), _EDGES_AT_ONCE):
        some = scores[first : first + _EDGES_AT_ONCE]
        for c in range(features.shape[1]):
            column = features[first : first + _EDGES_AT_ONCE, c]
            weight = w[c] / GRID
            for e in range(len(some)):
                some[e] += np.rint(column[e] * np.float32(GRID)) * weight


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def dot(x, y):
    total = 0.0
    for c in range(len(x)):
        total += x[c] * y[c]
    return total


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
def take_corner(mate, capacity, K, features, labels, costs, miss_cost, sure, gold, psi):
    """psi = gold - (features of the links of this matching), in place; returns the matching's loss.

    mate: (J * capacity,) columns of each row or -1.  Only columns of edges are subtracted, see `take_fertility`.
    """
    loss = miss_cost * sure
    psi[:] = gold
    for j in range(len(mate) // capacity):
        for slot in range(j * capacity, (j + 1) * capacity):
            if mate[slot] >= 0:
                edge = j * K + mate[slot]
                loss += costs[labels[edge]]
                for c in range(features.shape[1]):
                    psi[c] -= features[edge, c]
    return loss


class Blocks(NamedTuple):
    """The arrays of a matching problem: what compiled solvers work on.

    features: (E, d) float32.  shapes: (n, 2).  offsets: (n + 1,).  labels: (E,).  costs: (3,), of linking an edge of
    each label.  miss_cost: c⁺.  sure: (n,) links of the targets.  gold: (n, d + r) summed features of the targets.
    source_words, target_words: (ΣJ, f) and (ΣK, h) features of words, see `aligner.svm.prices.Fertility`, which make
    r columns after those of edges.  words: (n, 2) first word of each block.  source_capacity, target_capacity: links a
    word may have; where both are 1 the three arrays of words are empty.
    coded: the features again, where they are on the grid.  marks: those edges of each block that have a label, 4 times
    their place in the block and the label; those of block i from mark_starts[i] on.  screen: changed in place.
    """

    features: npt.NDArray[np.float32]
    shapes: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    labels: npt.NDArray[np.uint8]
    costs: npt.NDArray[np.float64]
    miss_cost: float
    sure: npt.NDArray[np.int64]
    gold: npt.NDArray[np.float64]
    source_words: npt.NDArray[np.float64]
    target_words: npt.NDArray[np.float64]
    words: npt.NDArray[np.int64]
    source_capacity: int
    target_capacity: int
    coded: Codes
    marks: npt.NDArray[np.int64]
    mark_starts: npt.NDArray[np.int64]
    screen: Screen


class Scratch(NamedTuple):
    """Room for the work on one block.  work.mate: the matching found, source_capacity columns or -1 for each row.

    It is small for a reason: each array of a tuple that is not borrowed costs two atomic operations a call, which is
    seen in a pass. Arrays for several links a word are made for each block instead, in a fraction of the time that
    these links take.
    """

    work: Workspace
    scores: npt.NDArray[np.float64]
    room: Room


@nb.njit(cache=True, nogil=True)
def make_scratch(blocks):
    """Scratch for the largest of the blocks."""
    work = make_workspace(blocks.shapes, blocks.source_capacity)
    return Scratch(work, np.empty(len(work.flipped)), make_room(blocks.shapes, blocks.coded))


@nb.njit(cache=True, nogil=True)
def add_rewards(words, w, rewards):
    """ρ of each word, summed from the weights of each link and feature; words (J, f), rewards (J, capacity - 1)."""
    f = words.shape[1]
    for j in range(rewards.shape[0]):
        total = 0.0
        for t in range(rewards.shape[1]):
            for c in range(f):
                total += w[t * f + c] * words[j, c]
            rewards[j, t] = total


@nb.njit(cache=True, nogil=True)
def take_links(words, links, psi):
    """Subtract g max(0, deg − u + 1), u = 2, 3..., of one word; words: (f,) its features g, links: deg."""
    for u in range(2, links + 1):
        for c in range(len(words)):
            psi[(u - 2) * len(words) + c] -= (links - u + 1) * words[c]


@nb.njit(cache=True, nogil=True)
def take_fertility(i, mate, blocks, psi):
    """Subtract what this matching has in the columns of fertility."""
    J = blocks.shapes[i, 0]
    K = blocks.shapes[i, 1]
    capacity = blocks.source_capacity
    first = blocks.features.shape[1]
    cut = first + (capacity - 1) * blocks.source_words.shape[1]
    degree = np.zeros(K, np.int64)
    for j in range(J):
        links = 0
        for slot in range(j * capacity, (j + 1) * capacity):
            if mate[slot] >= 0:
                links += 1
                degree[mate[slot]] += 1
        take_links(blocks.source_words[blocks.words[i, 0] + j], links, psi[first:cut])
    for k in range(K):
        take_links(blocks.target_words[blocks.words[i, 1] + k], degree[k], psi[cut:])


@nb.njit(cache=True, nogil=True)
def take_corners(chosen, mates, starts, blocks, psi, losses):
    """The corners of some blocks from their matchings: psi (m, d + r) and losses (m,)."""
    for b in range(len(chosen)):
        i = chosen[b]
        mate = mates[starts[b] : starts[b + 1]]
        first = blocks.offsets[i]
        last = blocks.offsets[i + 1]
        losses[b] = take_corner(
            mate, blocks.source_capacity, blocks.shapes[i, 1], blocks.features[first:last], blocks.labels[first:last],
            blocks.costs, blocks.miss_cost, blocks.sure[i], blocks.gold[i], psi[b],
        )  # fmt: skip
        if max(blocks.source_capacity, blocks.target_capacity) > 1:
            take_fertility(i, mate, blocks, psi[b])


@nb.njit(cache=True, nogil=True)
def match_several(i, rows, blocks, w, scores, room, mate):
    """The best b-matching of a block with the rewards that w gives its words, in mate.

    rows: of the edges listed in room, or -1: then all edges have their scores in scores.
    """
    J = blocks.shapes[i, 0]
    K = blocks.shapes[i, 1]
    row, column = blocks.words[i]
    first = blocks.features.shape[1]
    cut = first + (blocks.source_capacity - 1) * blocks.source_words.shape[1]
    source_rewards = np.empty((J, blocks.source_capacity - 1))
    target_rewards = np.empty((K, blocks.target_capacity - 1))
    add_rewards(blocks.source_words[row : row + J], w[first:cut], source_rewards)
    add_rewards(blocks.target_words[column : column + K], w[cut:], target_rewards)
    flow = make_flow(blocks.shapes[i : i + 1], blocks.source_capacity, blocks.target_capacity)
    if rows < 0:
        begin(scores, J, K, flow)
    else:
        listed = room.whole[FIRST, rows]
        begin_listed(room.whole[EDGE, :listed], room.real[VALUE, :listed], J, K, flow)
    match_begun(J, K, source_rewards, target_rewards, flow)
    mate[: J * blocks.source_capacity] = flow.mate[: J * blocks.source_capacity]


@nb.njit(cache=True, nogil=True, inline="always")
def block_corner(i, following, blocks, w, scratch, psi):
    """The corner argmax_z L_i(z) - w·ψ_i(z) of a block, by the assignment oracle  [SPEC §3].

    following: the block whose corner is asked for next, if that is known, else i.
    Fills psi (d + r,) = ψ_i(z).  Returns (code, L_i(z), H_i(z; w)); the matching is in scratch.work.mate.
    """
    square = dot(w, w)
    if not np.isfinite(square):  # the matching kernels must never see a NaN
        return NOT_FINITE, 0.0, 0.0
    several = max(blocks.source_capacity, blocks.target_capacity) > 1
    if several:
        for c in range(blocks.features.shape[1], len(w)):
            if w[c] > 0.0:
                return POSITIVE_REWARD, 0.0, 0.0
    J = blocks.shapes[i, 0]
    K = blocks.shapes[i, 1]
    features = blocks.features[blocks.offsets[i] : blocks.offsets[i + 1]]
    labels = blocks.labels[blocks.offsets[i] : blocks.offsets[i + 1]]
    scores = scratch.scores[: J * K]
    work, room = scratch.work, scratch.room
    mate = work.mate[: J * blocks.source_capacity]
    rows, remembered, owned = list_edges(i, following, blocks, w, np.sqrt(square), room)
    if rows < 0:
        if square > 0.0:
            score_edges(features, w, scores)
        else:
            scores[:] = 0.0
        add_costs(labels, blocks.costs, scores)
    if several:
        match_several(i, rows, blocks, w, scores, room, mate)
    elif rows < 0:
        match_block(scores, J, K, work)
    else:
        match_candidates(rows, K, room.whole, room.real)
        write_mates(rows, J, K, room.whole, mate)
    if rows < 0:
        loss = take_corner(
            mate, blocks.source_capacity, K, features, labels, blocks.costs, blocks.miss_cost, blocks.sure[i],
            blocks.gold[i], psi,
        )  # fmt: skip
    else:
        packed = blocks.screen.rows if remembered else room.rows
        loss = take_listed(
            mate, blocks.source_capacity, K, room.whole, packed, blocks.costs, blocks.miss_cost, blocks.sure[i],
            blocks.gold[i], psi,
        )  # fmt: skip
    if owned:
        give_record(i, blocks.screen.records)
    if several:
        take_fertility(i, mate, blocks, psi)
    hinge = loss - dot(psi, w)
    if hinge < -HINGE_TOLERANCE * max(1.0, loss):
        return NEGATIVE_HINGE, loss, hinge
    return DONE, loss, hinge


@nb.njit(cache=True, nogil=True)
def block_corners(chosen, blocks, w, starts, psi, losses, mates):
    """The corners of many blocks: fills psi (m, d + r), losses (m,), mates.  Returns (code, block at fault)."""
    return fill_corners(chosen, blocks, w, starts, psi, losses, mates, make_scratch(blocks))


@nb.njit(cache=True, nogil=True)
def fill_corners(chosen, blocks, w, starts, psi, losses, mates, scratch):
    """`block_corners` with its scratch."""
    blocks, w, psi, mates, scratch = borrow(blocks), borrow(w), borrow(psi), borrow(mates), borrow(scratch)
    for b in range(len(chosen)):
        i = chosen[b]
        following = chosen[min(b + 1, len(chosen) - 1)]
        code, losses[b], _ = block_corner(i, following, blocks, w, scratch, psi[b])
        if code != DONE:
            return code, i
        mates[starts[b] : starts[b + 1]] = scratch.work.mate[: starts[b + 1] - starts[b]]
    return DONE, -1


@nb.njit(cache=True, nogil=True)
def sum_corners(first, last, blocks, w, shares, hinges, psi, losses):
    """Sums over the corners of blocks first .. last; the corners themselves are not kept.

    shares: (n,).  Fills hinges[first:last], and adds to psi (2, d + r) and losses (2,) the sums of ψ_i and L_i, then
    those of each times its share.  Returns (code, block at fault).
    """
    return add_corners(first, last, blocks, w, shares, hinges, psi, losses, make_scratch(blocks), np.empty(len(w)))


@nb.njit(cache=True, nogil=True)
def add_corners(first, last, blocks, w, shares, hinges, psi, losses, scratch, own):
    """`sum_corners` with its scratch."""
    blocks, w, shares, hinges = borrow(blocks), borrow(w), borrow(shares), borrow(hinges)
    psi, losses, scratch, own = borrow(psi), borrow(losses), borrow(scratch), borrow(own)
    for i in range(first, last):
        code, loss, hinge = block_corner(i, min(i + 1, last - 1), blocks, w, scratch, own)
        if code != DONE:
            return code, i
        hinges[i] = hinge
        losses[0] += loss
        losses[1] += shares[i] * loss
        for c in range(len(w)):
            psi[0, c] += own[c]
            psi[1, c] += shares[i] * own[c]
    return DONE, -1
