"""Compiled kernels of steps whose corners several threads ask for, a minibatch of blocks at the same w.

One thread, the leader, takes all steps, and says up to where blocks may be asked about: it lets the others ask about a
minibatch before it takes the steps of the one before, so that no thread waits for another. Every thread, the leader
too, claims blocks one by one; the leader asks again itself where an answer is long in coming. So the results depend on
the size of the minibatches and on nothing else, and a thread that comes late, or never, or is stopped halfway because
others need its processor, holds nothing up.  [WSDNX16, with the threads of one process as workers]
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.solvers._block_kernels import (
    ask_for_row,
    block_gap,
    count_step,
    draw_by_gap,
    forward_step,
    set_gap,
)
from aligner.svm._corner_kernels import DONE, block_corner, make_scratch
from aligner.svm._intrinsics import borrow, exchange_shared, give_way, load_shared, store_shared

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

CLAIMED = 0
ALLOWED = 8
OVER = 16
ANSWERED = 24
"""Places of the numbers that threads share, the first three in a cache line of their own: how many blocks are claimed,
how many may be claimed, whether all is over; and for each block of the order, whether it is answered.
"""

PATIENCE = 5000
"""Looks at a number before a thread does something else: some microseconds, as long as a few answers take."""


class Minibatches(NamedTuple):
    """What threads share besides the problem.

    shared: (ANSWERED + m,) zeros at first.  chosen: (m,) the blocks in order, or to be filled with those drawn.
    size: of a minibatch.  w: (2, d) where the minibatch that is asked about, and the one of steps, are asked.
    psi: (m, d), losses, hinges, codes: (m,) of the answers. Each has a place of its own, so that one which comes when
    the leader has long gone on does no harm; it may then be nonsense, as w has changed.
    """

    shared: I64
    chosen: I64
    size: int
    w: F64
    psi: F64
    losses: F64
    hinges: F64
    codes: I64


def share(chosen: I64, size: int, n_features: int) -> Minibatches:
    """For steps of the chosen blocks in minibatches of this size."""
    m = len(chosen)
    shared, codes = np.zeros(ANSWERED + m, np.int64), np.empty(m, np.int64)
    psi, w = np.empty((m, n_features)), np.empty((2, n_features))
    return Minibatches(shared, chosen, size, w, psi, np.empty(m), np.empty(m), codes)


def end(minibatches: Minibatches) -> None:
    """Send all threads home."""
    minibatches.shared[OVER] = 1


@nb.njit(cache=True, nogil=True)
def claim_block(shared):
    """The place of a block in the order that is this thread's to ask about; -1: there is none now."""
    while True:
        place = load_shared(shared, CLAIMED)
        if place >= load_shared(shared, ALLOWED):
            return -1
        if exchange_shared(shared, CLAIMED, place, place + 1):
            return place


@nb.njit(cache=True, nogil=True, inline="always")
def answer(place, following, w, blocks, minibatches, scratch):
    """Ask about the block at a place of the order and put the answer where the leader finds it.

    following: the place that this thread is likely to ask about next.  w: must not change meanwhile, as the block
    remembers what it was asked there.
    """
    chosen = minibatches.chosen
    psi = minibatches.psi[place]
    code, loss, hinge = block_corner(chosen[place], chosen[following], blocks, w, scratch, psi)
    minibatches.losses[place] = loss
    minibatches.hinges[place] = hinge
    minibatches.codes[place] = code
    store_shared(minibatches.shared, ANSWERED + place, 1)


@nb.njit(cache=True, nogil=True)
def help_along(blocks, minibatches):
    """What each thread but the leader does, until all is over."""
    help_with(blocks, minibatches, make_scratch(blocks), np.empty(minibatches.w.shape[1]))


@nb.njit(cache=True, nogil=True)
def help_with(blocks, minibatches, scratch, w):
    """`help_along` with its scratch. Claims a block ahead, so that it can ask for the memory of it."""
    blocks, minibatches, scratch, w = borrow(blocks), borrow(minibatches), borrow(scratch), borrow(w)
    shared = minibatches.shared
    following = -1
    waited = 0
    while load_shared(shared, OVER) == 0:
        place = following
        following = claim_block(shared)
        if place >= 0:
            w[:] = minibatches.w[place // minibatches.size % 2]  # the leader may have gone on, and be changing it
            answer(place, max(place, following), w, blocks, minibatches, scratch)
            waited = 0
        elif following < 0:
            waited += 1
            if waited > PATIENCE:
                give_way()


@nb.njit(cache=True, nogil=True)
def allow_minibatch(first, draws, gaps, point, minibatches):
    """Let threads ask about the minibatch from a place of the order on, at the present w."""
    chosen = minibatches.chosen
    last = min(len(chosen), first + minibatches.size)
    for t in range(first, min(last, len(draws))):
        chosen[t] = draw_by_gap(gaps, draws[t])
    minibatches.w[first // minibatches.size % 2] = point.w
    store_shared(minibatches.shared, ALLOWED, last)
    return last


@nb.njit(cache=True, nogil=True)
def lead(draws, gaps, line_search, average, blocks, regularization, point, minibatches):
    """Forward steps with the assignment oracle for the chosen blocks, or as many as there are draws by gap.

    draws: (m,) uniform in [0, 1), or (0,).  Returns (code, block at fault).
    """
    scratch, own = make_scratch(blocks), np.empty(len(point.w))
    return lead_with(draws, gaps, line_search, average, blocks, regularization, point, minibatches, scratch, own)


@nb.njit(cache=True, nogil=True)
def lead_with(draws, gaps, line_search, average, blocks, regularization, point, minibatches, scratch, own):
    """`lead` with its scratch."""
    gaps, blocks, point = borrow(gaps), borrow(blocks), borrow(point)
    minibatches, scratch, own = borrow(minibatches), borrow(scratch), borrow(own)
    shared, chosen, psi, losses = minibatches.shared, minibatches.chosen, minibatches.psi, minibatches.losses
    hinges, codes = minibatches.hinges, minibatches.codes
    first = 0
    last = allow_minibatch(0, draws, gaps, point, minibatches)
    while first < len(chosen):
        following = allow_minibatch(last, draws, gaps, point, minibatches) if last < len(chosen) else last
        asked = minibatches.w[first // minibatches.size % 2]
        for t in range(first, last):
            i = chosen[t]
            waited = 0
            while load_shared(shared, ANSWERED + t) == 0 and waited < PATIENCE:
                place = claim_block(shared)
                if place >= 0:
                    w = minibatches.w[place // minibatches.size % 2]
                    answer(place, min(place + 2, following - 1), w, blocks, minibatches, scratch)
                else:
                    waited += 1
            if waited < PATIENCE:
                code, loss, hinge = codes[t], losses[t], hinges[t]
                own[:] = psi[t]
            else:
                code, loss, hinge = block_corner(i, i, blocks, asked, scratch, own)
            if code != DONE:
                return code, i
            ahead = min(t + 1, last - 1)
            ask_for_row(point.block_w, chosen[ahead])
            if load_shared(shared, ANSWERED + ahead) != 0:
                ask_for_row(psi, ahead)
            if len(gaps.last) > 0:
                set_gap(gaps, i, block_gap(i, hinge, asked, regularization, point))
            forward_step(i, own, loss, line_search, regularization, point)
            count_step(average, point)
        first, last = last, following
    return DONE, -1
