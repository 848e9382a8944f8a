"""Compiled kernels of block-coordinate Frank-Wolfe: whole passes of steps, and the weights of averages."""

from __future__ import annotations

import numba as nb
import numpy as np

from aligner._kernels import DONE, block_corner, make_scratch

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


@nb.njit(cache=True, nogil=True)
def forward_steps(
    order, steps_done, line_search, average, blocks, regularization,
    w, loss, block_w, block_loss, mean_w, mean_loss,
):  # fmt: skip
    """BCFW over the blocks in this order  [LJSP13 Alg. 4]; updates the state in place.

    loss, mean_loss: (1,) arrays.  Returns (code, block at fault).
    """
    n = len(blocks.shapes)
    d = len(w)
    scale = 1.0 / (regularization * n)
    scratch = make_scratch(blocks)
    corner_w = np.empty(d)
    for t in range(len(order)):
        i = order[t]
        code, corner_loss, _ = block_corner(i, blocks, w, scratch, corner_w)
        if code != DONE:
            return code, i
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
