"""Compiled kernels of steps whose corners several threads ask for, a minibatch of blocks at the same w.

One thread, the leader, takes all steps, and says up to where blocks may be asked about: it lets the others ask about a
minibatch before it takes the steps of the one before, so that no thread waits for another. Every thread, the leader
too, claims blocks one by one. So the results depend on the size of the minibatches and on nothing else, and a thread
that comes late, or not at all, holds nothing up.  [WSDNX16, with the threads of one process as workers]
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner._intrinsics import borrow, exchange_shared, give_way, load_shared, store_shared
from aligner._kernels import DONE, block_corner, make_scratch
from aligner.solvers._block_kernels import (
    ask_for_row,
    block_gap,
    count_step,
    draw_by_gap,
    forward_step,
    set_gap,
)

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

CLAIMED = 0
ALLOWED = 8
OVER = 16
ANSWERED = 24
"""Places of the numbers that threads share, the first three in a cache line of their own: how many blocks are claimed,
how many may be claimed, whether all is over; and of the answer in each slot, how many blocks were before its own, + 1.
"""

PATIENCE = 2000
"""Looks at a number before others may have the processor: some microseconds, as long as a few answers take."""


class Minibatches(NamedTuple):
    """What threads share besides the problem. Slots: 2 minibatches, one that is asked about and one of steps.

    shared: (ANSWERED + slots,) zeros at first.  chosen: (m,) the blocks in order, or to be filled with those drawn.
    w: (2, d) where each of the two minibatches is asked.  psi: (slots, d).  losses, hinges, codes: (slots,).
    """

    shared: I64
    chosen: I64
    w: F64
    psi: F64
    losses: F64
    hinges: F64
    codes: I64


def share(chosen: I64, size: int, n_features: int) -> Minibatches:
    """For steps of the chosen blocks in minibatches of this size."""
    slots = 2 * size
    codes = np.empty(slots, np.int64)
    shared = np.zeros(ANSWERED + slots, np.int64)
    return Minibatches(
        shared,
        chosen,
        np.empty((2, n_features)),
        np.empty((slots, n_features)),
        np.empty(slots),
        np.empty(slots),
        codes,
    )


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


@nb.njit(cache=True, nogil=True)
def answer(place, following, blocks, minibatches, scratch, point):
    """Ask about the block at a place of the order and put the answer where the leader finds it.

    following: the place that this thread is likely to ask about next.
    """
    chosen, losses = minibatches.chosen, minibatches.losses
    slot = place % len(losses)
    w = minibatches.w[slot * 2 // len(losses)]
    i = chosen[place]
    code, loss, hinge = block_corner(i, chosen[following], blocks, w, scratch, minibatches.psi[slot])
    losses[slot] = loss
    minibatches.hinges[slot] = hinge
    minibatches.codes[slot] = code
    store_shared(minibatches.shared, ANSWERED + slot, place + 1)


@nb.njit(cache=True, nogil=True)
def help_along(blocks, point, minibatches):
    """What each thread but the leader does, until all is over."""
    help_with(blocks, point, minibatches, make_scratch(blocks))


@nb.njit(cache=True, nogil=True)
def help_with(blocks, point, minibatches, scratch):
    """`help_along` with its scratch. Claims a block ahead, so that it can ask for the memory of it."""
    blocks, point = borrow(blocks), borrow(point)
    minibatches, scratch = borrow(minibatches), borrow(scratch)
    shared = minibatches.shared
    following = -1
    waited = 0
    while load_shared(shared, OVER) == 0:
        place = following
        following = claim_block(shared)
        if place >= 0:
            answer(place, max(place, following), blocks, minibatches, scratch, point)
            waited = 0
        elif following < 0:
            waited += 1
            if waited > PATIENCE:
                give_way()


@nb.njit(cache=True, nogil=True)
def allow_minibatch(first, draws, gaps, point, minibatches):
    """Let threads ask about the minibatch from a place of the order on, at the present w."""
    size = len(minibatches.losses) // 2
    chosen = minibatches.chosen
    last = min(len(chosen), first + size)
    for t in range(first, min(last, len(draws))):
        chosen[t] = draw_by_gap(gaps, draws[t])
    minibatches.w[first // size % 2] = point.w
    store_shared(minibatches.shared, ALLOWED, last)
    return last


@nb.njit(cache=True, nogil=True)
def lead(draws, gaps, line_search, average, blocks, regularization, point, minibatches):
    """Forward steps with the assignment oracle for the chosen blocks, or as many as there are draws by gap.

    draws: (m,) uniform in [0, 1), or (0,).  Returns (code, block at fault).
    """
    scratch = make_scratch(blocks)
    return lead_with(draws, gaps, line_search, average, blocks, regularization, point, minibatches, scratch)


@nb.njit(cache=True, nogil=True)
def lead_with(draws, gaps, line_search, average, blocks, regularization, point, minibatches, scratch):
    """`lead` with its scratch."""
    gaps, blocks, point = borrow(gaps), borrow(blocks), borrow(point)
    minibatches, scratch = borrow(minibatches), borrow(scratch)
    shared, chosen, psi, losses = minibatches.shared, minibatches.chosen, minibatches.psi, minibatches.losses
    slots = len(losses)
    first = 0
    last = allow_minibatch(0, draws, gaps, point, minibatches)
    while first < len(chosen):
        following = allow_minibatch(last, draws, gaps, point, minibatches) if last < len(chosen) else last
        for t in range(first, last):
            i = chosen[t]
            slot = t % slots
            waited = 0
            while load_shared(shared, ANSWERED + slot) <= t:
                place = claim_block(shared)
                if place >= 0:
                    answer(place, min(place + 2, following - 1), blocks, minibatches, scratch, point)
                    continue
                waited += 1
                if waited > PATIENCE:
                    if load_shared(shared, OVER) != 0:  # the thread that was to answer has failed
                        return DONE, -1
                    give_way()
            ask_for_row(point.block_w, chosen[min(t + 1, last - 1)])
            if load_shared(shared, ANSWERED + (t + 1) % slots) > t + 1:
                ask_for_row(psi, (t + 1) % slots)
            if minibatches.codes[slot] != DONE:
                return minibatches.codes[slot], i
            if len(gaps.last) > 0:
                asked = minibatches.w[slot * 2 // slots]
                set_gap(gaps, i, block_gap(i, minibatches.hinges[slot], asked, regularization, point))
            forward_step(i, psi[slot], losses[slot], line_search, regularization, point)
            count_step(average, point)
        first, last = last, following
    return DONE, -1
