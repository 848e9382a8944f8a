"""Compiled kernels of away, pairwise and blended steps, on sets of corners that each block keeps."""

from typing import Any, NamedTuple

import numpy as np

from aligner.solvers import _block_kernels as kernels
from aligner.templates import DONE, template
from corpora.compiled import compiled
from corpora.ragged import F64, I64

FORWARD = 0
AWAY = 1
PAIRWISE = 2
BLENDED = 3

FULL = 8
"""Code: a block, or the pool, cannot keep another corner; nothing was done for this block."""

SHARE_OF_BLOCK = 0.25
SHARE_OF_ALL = 0.01
"""F and ν of the rule for using a kept corner in place of the oracle  [OAD16 §3.2]."""


class Pool(NamedTuple):
    """The corners each block keeps: its active set, with weights > 0, and others to use instead of the oracle.

    slots: (n, limit) places in the pool, the first counts[i] of a row in use.  counts: (n,).
    vectors: (P, d) ψ/(λn).  losses: (P,) L/n.  weights: (P,) α, summing to 1 in each block.
    free: (P,) the first n_free[0] places that are not in use.
    """

    slots: I64
    counts: I64
    vectors: F64
    losses: F64
    weights: F64
    free: I64
    n_free: I64


@compiled
def drop_corner(i, slot, pool):
    pool.free[pool.n_free[0]] = pool.slots[i, slot]
    pool.n_free[0] += 1
    pool.counts[i] -= 1
    for s in range(slot, pool.counts[i]):  # in order, so that the first is the oldest
        pool.slots[i, s] = pool.slots[i, s + 1]


@compiled
def make_room(i, limit, pool):
    """Make room for a corner of a block, which at its limit drops the oldest one without weight; False if it cannot."""
    if pool.counts[i] >= min(limit, pool.slots.shape[1]) or pool.n_free[0] == 0:
        for slot in range(pool.counts[i]):
            if pool.weights[pool.slots[i, slot]] == 0.0:
                drop_corner(i, slot, pool)
                return True
    return pool.counts[i] < pool.slots.shape[1] and pool.n_free[0] > 0


@compiled
def kept_extremes(i, regularization, w, pool):
    """Find a block's best corner and its H/n at w, the same for the active set's worst, and for the active set's best.

    Returns the place and H/n of each of the three, and the size of the active set.
    """
    best, worst, top, active = -1, -1, -1, 0
    highest, lowest, upmost = -np.inf, np.inf, -np.inf
    for slot in range(pool.counts[i]):
        place = pool.slots[i, slot]
        value = pool.losses[place]
        for c in range(len(w)):
            value -= regularization * pool.vectors[place, c] * w[c]
        if value > highest:
            highest, best = value, place
        if pool.weights[place] > 0.0:
            active += 1
            if value < lowest:
                lowest, worst = value, place
            if value > upmost:
                upmost, top = value, place
    return best, highest, worst, lowest, top, upmost, active


@compiled
def active_step(i, towards, kind, line_search, keep, regularization, direction, point, pool):
    """Take a step of block i, towards the corner at this place or another way  [LJ15 Alg. 1 and 2; TTP22].

    kind: FORWARD, AWAY, PAIRWISE or BLENDED; all but the first need line search.  keep: whether corners of weight 0
    stay.  direction: (d,) scratch.
    """
    d = len(point.w)
    weights = pool.weights
    _, _, worst, lowest, top, upmost, active = kept_extremes(i, regularization, point.w, pool)
    own = point.block_loss[i]
    highest = pool.losses[towards]
    for c in range(d):
        own -= regularization * point.block_w[i, c] * point.w[c]
        highest -= regularization * pool.vectors[towards, c] * point.w[c]
    if kind == BLENDED and upmost - lowest >= highest - own:
        kind, towards = PAIRWISE, top
    if kind == PAIRWISE:
        longest = weights[worst]
        loss_gain = pool.losses[towards] - pool.losses[worst]
        direction[:] = pool.vectors[towards] - pool.vectors[worst]
    elif kind == AWAY and own - lowest > highest - own and active > 1:
        longest = weights[worst] / (1.0 - weights[worst])
        loss_gain = point.block_loss[i] - pool.losses[worst]
        direction[:] = point.block_w[i] - pool.vectors[worst]
    else:
        kind = FORWARD
        longest = 1.0
        loss_gain = pool.losses[towards] - point.block_loss[i]
        direction[:] = pool.vectors[towards] - point.block_w[i]
    if line_search:
        gamma = kernels.best_step(regularization, direction, loss_gain, longest, point)
    else:
        gamma = kernels.fixed_step(point)
    kernels.move_block(i, gamma, direction, loss_gain, point)
    if kind != PAIRWISE:
        growth = 1.0 - gamma if kind == FORWARD else 1.0 + gamma
        for slot in range(pool.counts[i]):
            weights[pool.slots[i, slot]] *= growth
    if kind != AWAY:
        weights[towards] += gamma
    if kind != FORWARD:
        weights[worst] = weights[worst] - gamma if gamma < longest else 0.0
    if not keep:
        slot = 0
        while slot < pool.counts[i]:
            if weights[pool.slots[i, slot]] == 0.0:
                drop_corner(i, slot, pool)
            else:
                slot += 1


@compiled
def kept_answer(i, gaps, regularization, point, pool):
    """Return the place of a kept corner that is good enough to use instead of the oracle's, or -1  [OAD16 §3.2]."""
    best, highest = kept_extremes(i, regularization, point.w, pool)[:2]
    gap = kernels.block_gap(i, highest * len(point.block_loss), point.w, regularization, point)
    enough = max(SHARE_OF_BLOCK * gaps.last[i], SHARE_OF_ALL * gaps.total[0] / len(gaps.last))
    return best if gap >= enough and gap > 0.0 else -1


@compiled
def take_answer(i, psi, loss, regularization, point, pool):
    """Return the place of the oracle's corner in the block's set, added if it is new; psi = ψ_i is overwritten.

    Matchings with the same ψ and loss count as one corner.
    """
    n = len(point.block_loss)
    for c in range(len(psi)):
        psi[c] /= regularization * n
    for slot in range(pool.counts[i]):
        place = pool.slots[i, slot]
        if pool.losses[place] == loss / n and np.all(pool.vectors[place] == psi):
            return place
    pool.n_free[0] -= 1
    place = pool.free[pool.n_free[0]]
    pool.slots[i, pool.counts[i]] = place
    pool.counts[i] += 1
    pool.vectors[place] = psi
    pool.losses[place] = loss / n
    pool.weights[place] = 0.0
    return place


class Rule(NamedTuple):
    """The rule by which steps are taken.

    kind: FORWARD, AWAY, PAIRWISE or BLENDED.  cached: whether kept corners may stand in for the oracle.  limit: of the
    corners a block keeps for that.  average: of the iterates.
    """

    kind: int
    line_search: bool
    cached: bool
    limit: int
    average: kernels.Averaging


make_scratch: Any = None
corner: Any = None
own_weight: Any = None


@template
def active_steps(order, start, gaps, rule, arrays, regularization, point, pool):
    """Take steps with the problem's oracle, from position `start` of the order on.

    Returns (code, block at fault, position reached, oracle calls).
    """
    scratch = make_scratch(arrays)
    psi = np.empty(len(point.w))
    calls = 0
    for t in range(start, len(order)):
        i = order[t]
        place = kept_answer(i, gaps, regularization, point, pool) if rule.cached else -1
        if place < 0:
            if not make_room(i, rule.limit, pool):
                return FULL, i, t, calls
            code, loss, hinge = corner(i, arrays, point.w, scratch, psi)
            if code != DONE:
                return code, i, t, calls
            calls += 1
            kernels.set_gap(gaps, i, kernels.block_gap(i, hinge, point.w, regularization, point))
            place = take_answer(i, psi, loss, regularization, point, pool)
        active_step(i, place, rule.kind, rule.line_search, rule.cached, regularization, psi, point, pool)
        k, average = point.steps[0], rule.average
        own = average.kind == kernels.OWN
        kernels.count_step(kernels.share_of(own_weight(k)) if own else kernels.average_weight(average, k), point)
    return DONE, -1, len(order), calls


@compiled
def settle_active(point, pool):
    """Make the weights of each block sum to 1 again, and compute the point from them, free of rounding errors."""
    point.v[:] = 0.0
    point.loss[0] = 0.0
    for i in range(len(pool.counts)):
        total = 0.0
        for slot in range(pool.counts[i]):
            total += pool.weights[pool.slots[i, slot]]
        point.block_w[i] = 0.0
        point.block_loss[i] = 0.0
        for slot in range(pool.counts[i]):
            place = pool.slots[i, slot]
            pool.weights[place] /= total
            for c in range(len(point.v)):
                point.block_w[i, c] += pool.weights[place] * pool.vectors[place, c]
            point.block_loss[i] += pool.weights[place] * pool.losses[place]
        for c in range(len(point.v)):
            point.v[c] += point.block_w[i, c]
        point.loss[0] += point.block_loss[i]
    kernels.clip_into(point.v, point.n_nonpositive, point.w)


@compiled
def take_answers(blocks, start, psi, losses, regularization, point, pool):
    """Take the corners psi (m, d), losses (m,) of these blocks into the pool, from position `start` on.

    psi is overwritten.  Returns the position of the first block whose corner the pool cannot keep, or m.
    """
    for b in range(start, len(blocks)):
        if not make_room(blocks[b], pool.slots.shape[1], pool):
            return b
        take_answer(blocks[b], psi[b], losses[b], regularization, point, pool)
    return len(blocks)


@compiled
def away_steps(order, regularization, direction, point, pool):
    """Take a step of each block, towards its best corner or away from the worst of its active set.

    Corners that are left without weight are dropped.  direction: (d,) scratch.
    """
    for t in range(len(order)):
        i = order[t]
        if pool.counts[i] > 1:
            best = kept_extremes(i, regularization, point.w, pool)[0]
            active_step(i, best, AWAY, True, False, regularization, direction, point, pool)
