"""Compiled kernels of the stochastic subgradient method: steps, averages, and what each block has got of them."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.solvers._block_kernels import average_weight
from aligner.svm._bound_kernels import no_bounds
from aligner.svm._corner_kernels import DONE, block_corner, make_scratch

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]


class Walk(NamedTuple):
    """The iterate v_k = 1/k Σ_t ψ_t/λ, which is the mean of the corners met at the visits t = 1…k, and its average.

    w: (d,) = clip(v_k): the last r coordinates are cut to at most 0.  tail: (r,) these coordinates of v_k.
    mean_w: (d,) of v.  loss, mean_loss: (1,), ℓ in the same proportions.  steps: (1,), k.
    visits: (n,), of each block.
    The average Σ_j u_j v_j / Σ_j u_j over j ≤ k holds visit t with the weight (A_k − A_{t−1}) / Σ_j u_j, where
    A_k = Σ_j u_j / j. reach: (1,) A_k.  total: (1,) Σ_j u_j.  credit: (n,), the sum of A_{t−1} over a block's visits.
    """

    w: F64
    tail: F64
    loss: F64
    mean_w: F64
    mean_loss: F64
    steps: I64
    visits: I64
    reach: F64
    total: F64
    credit: F64


@nb.njit(cache=True, nogil=True)
def visit(i, psi, loss, average, regularization, walk):
    """The step v ← (1 − γ) v + γ ψ_i/λ, γ = 1/k at visit k, and the same for ℓ; takes it up into the average."""
    k = walk.steps[0] + 1
    free = len(psi) - len(walk.tail)
    for c in range(free):
        walk.w[c] += (psi[c] / regularization - walk.w[c]) / k
    for c in range(len(walk.tail)):
        walk.tail[c] += (psi[free + c] / regularization - walk.tail[c]) / k
        walk.w[free + c] = min(0.0, walk.tail[c])
    walk.loss[0] += (loss - walk.loss[0]) / k
    walk.visits[i] += 1
    rho = average_weight(average, k - 1)
    if rho > 0.0:
        if rho == 1.0:  # the average begins here: what visits before gave to v_k all blocks have in full
            walk.reach[0] = 0.0
            walk.total[0] = 0.0
            walk.credit[:] = 0.0
        walk.credit[i] += walk.reach[0]
        weight = 1.0 if rho == 1.0 else walk.total[0] * rho / (1.0 - rho)
        walk.reach[0] += weight / k
        walk.total[0] += weight
        for c in range(free):
            walk.mean_w[c] += rho * (walk.w[c] - walk.mean_w[c])
        for c in range(len(walk.tail)):
            walk.mean_w[free + c] += rho * (walk.tail[c] - walk.mean_w[free + c])
        walk.mean_loss[0] += rho * (walk.loss[0] - walk.mean_loss[0])
    walk.steps[0] = k


@nb.njit(cache=True, nogil=True)
def visit_blocks(order, average, blocks, regularization, walk):
    """Visit the blocks in this order, with the assignment oracle.  Returns (code, block at fault)."""
    scratch = make_scratch(blocks, no_bounds())
    psi = np.empty(len(walk.w))
    for i in order:
        code, loss, _ = block_corner(i, blocks, walk.w, scratch, psi)
        if code != DONE:
            return code, i
        visit(i, psi, loss, average, regularization, walk)
    return DONE, -1
