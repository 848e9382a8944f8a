"""Compiled kernels of randomised away steps: rounds over all blocks, and the oracle over some of the columns."""

from __future__ import annotations

import numba as nb
import numpy as np

from aligner.solvers._active_kernels import AWAY, active_step, kept_extremes, make_room, take_answer


@nb.njit(cache=True, nogil=True)
def take_answers(blocks, start, psi, losses, regularization, point, pool):
    """Take the corners psi (m, d), losses (m,) of these blocks into the pool, from position `start` on.

    psi is overwritten.  Returns the position reached: that of a block the pool has no room for, or m.
    """
    for b in range(start, len(blocks)):
        if not make_room(blocks[b], pool.slots.shape[1], pool):
            return b
        take_answer(blocks[b], psi[b], losses[b], regularization, point, pool)
    return len(blocks)


@nb.njit(cache=True, nogil=True)
def away_steps(order, regularization, direction, point, pool):
    """A step of each of these blocks: towards the best corner it has or away from the worst of its active set.

    Corners without weight after it are dropped.  direction: (d,) scratch.
    """
    for t in range(len(order)):
        i = order[t]
        if pool.counts[i] > 1:
            best = kept_extremes(i, regularization, point.w, pool)[0]
            active_step(i, best, AWAY, True, False, regularization, direction, point, pool)


# A dot product may be summed in any order; NaN and infinities keep their meaning.
@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def best_column(chosen, columns, residual, signed):
    """Which of the chosen columns has the greatest product with the residual, in absolute value where signed.

    columns: (p, N).  Returns (column, its sign).
    """
    best = -1
    sign = 1.0
    highest = -np.inf
    for t in range(len(chosen)):
        value = 0.0
        for c in range(len(residual)):
            value += columns[chosen[t], c] * residual[c]
        size = abs(value) if signed else value
        if size > highest:
            highest = size
            best = chosen[t]
            sign = -1.0 if signed and value < 0.0 else 1.0
    return best, sign
