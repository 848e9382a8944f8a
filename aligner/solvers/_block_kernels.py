"""Compiled kernels of block-coordinate Frank-Wolfe: which block is next, forward steps, averages."""

from typing import Any, NamedTuple

import numpy as np

from aligner.templates import DONE, template
from corpora.compiled import SUMS, compiled
from corpora.ragged import F64, I64

LAST = 0
UNIFORM = 1
WEIGHTED = 2
SUFFIX = 3
OWN = 4
"""Kinds of averages; OWN is also a kind of step length, of the caller's own."""

DECREASING = 0
LINE_SEARCH = 1
"""Kinds of step lengths."""


class Averaging(NamedTuple):
    """A kind of average, and the share of all iterates that a SUFFIX holds at most."""

    kind: int
    share: float


class Along(NamedTuple):
    """The dual gain γ · slope − γ²/2 · curvature of a step of length γ in [0, 1] towards a corner.

    step: steps so far.  blocks: n.
    """

    slope: float
    curvature: float
    step: int
    blocks: int


@compiled
def average_weight(average, step):
    """Return the weight of the iterate after step 0, 1, 2… in its average; 0 without an average.

    UNIFORM: 1 / (k + 1).  WEIGHTED: 2 / (k + 2)  [LJSP13 §4].  SUFFIX: the uniform average since the last power
    of 1/(1 − share), which holds that share or less of the iterates  [LJSP13 §5, Rakhlin et al. 2012].
    """
    if average.kind == UNIFORM:
        return 1.0 / (step + 1.0)
    if average.kind == WEIGHTED:
        return 2.0 / (step + 2.0)
    if average.kind == SUFFIX:
        restart, growth = 1.0, 1.0 / (1.0 - average.share)
        while growth * restart <= step + 1:
            restart *= growth
        return 1.0 / (step + 2.0 - np.ceil(restart))
    return 0.0


class Point(NamedTuple):
    """A dual point and its running average, changed in place.

    v: (d,) = Σ_i block_w[i].  w: (d,) = clip(v), the last n_nonpositive cut to at most 0, see `BlockProblem`.
    loss: (1,) = Σ_i block_loss[i].  block_w: (n, d).  block_loss: (n,).  mean_v: (d,).  mean_loss: (1,).
    steps: (1,) how many so far.
    """

    v: F64
    w: F64
    loss: F64
    block_w: F64
    block_loss: F64
    mean_v: F64
    mean_loss: F64
    steps: I64
    n_nonpositive: int


class Gaps(NamedTuple):
    """The last known gap of each block, and their sum.  last: (n,) >= 0, +inf if not known yet.  total: (1,)."""

    last: F64
    total: F64


@compiled
def set_gap(gaps, i, gap):
    """Store a block's gap, or 0 if rounding has made it negative."""
    gap = max(0.0, gap)
    gaps.total[0] += gap - (gaps.last[i] if np.isfinite(gaps.last[i]) else 0.0)
    gaps.last[i] = gap


@compiled
def clip_into(v, n_nonpositive, w):
    """w = clip(v): the last n_nonpositive coordinates are cut to at most 0."""
    free = len(v) - n_nonpositive
    for c in range(len(v)):
        w[c] = v[c] if c < free else min(0.0, v[c])


@compiled
def move_block(i, gamma, direction, loss_gain, point):
    """Move a block's share of (v, ℓ) by gamma · (direction, loss_gain)."""
    for c in range(len(point.v)):
        change = gamma * direction[c]
        point.block_w[i, c] += change
        point.v[c] += change
    clip_into(point.v, point.n_nonpositive, point.w)
    point.block_loss[i] += gamma * loss_gain
    point.loss[0] += gamma * loss_gain


@compiled
def best_length(slope, curvature, longest):
    """Return the γ in [0, longest] for which γ · slope − γ²/2 · curvature is greatest."""
    if curvature > 0.0:
        return min(longest, max(0.0, slope / curvature))
    return longest if slope > 0.0 else 0.0  # the corner has the same w: only the loss can differ


@compiled(fastmath=SUMS)
def look_along(regularization, direction, loss_gain, point):
    """Return how the dual grows along (direction, loss_gain).

    The dual gains γ (loss_gain − λ direction·w) − γ²/2 λ‖direction‖²  [LJSP13 Alg. 4], or more if w is clipped.
    """
    slope = loss_gain
    curvature = 0.0
    for c in range(len(point.w)):
        slope -= regularization * direction[c] * point.w[c]
        curvature += regularization * direction[c] * direction[c]
    return Along(slope, curvature, point.steps[0], len(point.block_loss))


@compiled
def best_step(regularization, direction, loss_gain, longest, point):
    """Return the step of greatest dual gain along (direction, loss_gain), within [0, longest]."""
    along = look_along(regularization, direction, loss_gain, point)
    return best_length(along.slope, along.curvature, longest)


@compiled
def fixed_step(point):
    """Return 2n/(k + 2n) at step k  [LJSP13 Alg. 4]."""
    n = len(point.block_loss)
    return 2.0 * n / (point.steps[0] + 2.0 * n)


@compiled
def aim(i, psi, corner_loss, regularization, point):
    """Make of psi = ψ_i the direction of a step towards this corner; returns the gain of loss.  corner_loss: L_i."""
    n = len(point.block_loss)
    share = 1.0 / (regularization * n)
    for c in range(len(psi)):
        psi[c] = psi[c] * share - point.block_w[i, c]
    return corner_loss / n - point.block_loss[i]


@compiled
def forward_step(i, psi, corner_loss, line_search, regularization, point):
    """Take a step of a block towards a corner  [LJSP13 Alg. 4]; psi = ψ_i is overwritten, corner_loss = L_i."""
    loss_gain = aim(i, psi, corner_loss, regularization, point)
    if line_search:
        gamma = best_step(regularization, psi, loss_gain, 1.0, point)
    else:
        gamma = fixed_step(point)
    move_block(i, gamma, psi, loss_gain, point)


@compiled(fastmath=SUMS)
def block_gap(i, hinge, w, regularization, point):
    """Return the block's share of the duality gap at w  [LJSP13 eq. 9]: H_i/n − (ℓ_i − λ w_i·w)."""
    value = point.block_loss[i]
    for c in range(len(w)):
        value -= regularization * point.block_w[i, c] * w[c]
    return hinge / len(point.block_loss) - value


@compiled
def count_step(rho, point):
    """Count a step, and add the iterate to the average with the weight ρ."""
    if rho > 0.0:
        for c in range(len(point.v)):
            point.mean_v[c] += rho * (point.v[c] - point.mean_v[c])
        point.mean_loss[0] += rho * (point.loss[0] - point.mean_loss[0])
    point.steps[0] += 1


@compiled
def share_of(number):
    """Return a number of the caller's own cut to [0, 1], so that what it mixes stays feasible; 0 for NaN."""
    return min(1.0, number) if number > 0.0 else 0.0


@compiled
def no_length(along):
    """The place of `own_length` where step lengths are not the caller's."""
    return 0.0


@compiled
def no_weight(step):
    """The place of `own_weight` where the average is not the caller's."""
    return 0.0


make_scratch: Any = None
corner: Any = None
own_length: Any = None
own_weight: Any = None


@template
def forward_steps(order, gaps, length, average, arrays, regularization, point):
    """Take forward steps of blocks in this order, with the problem's oracle.  Returns (code, block at fault).

    length: DECREASING, LINE_SEARCH or OWN, see `own_length`.
    """
    scratch = make_scratch(arrays)
    psi = np.empty(len(point.w))
    for i in order:
        code, loss, hinge = corner(i, arrays, point.w, scratch, psi)
        if code != DONE:
            return code, i
        if len(gaps.last) > 0:
            set_gap(gaps, i, block_gap(i, hinge, point.w, regularization, point))
        if length == OWN:
            loss_gain = aim(i, psi, loss, regularization, point)
            gamma = own_length(look_along(regularization, psi, loss_gain, point))
            move_block(i, share_of(gamma), psi, loss_gain, point)
        else:
            forward_step(i, psi, loss, length == LINE_SEARCH, regularization, point)
        k = point.steps[0]
        count_step(share_of(own_weight(k)) if average.kind == OWN else average_weight(average, k), point)
    return DONE, -1
