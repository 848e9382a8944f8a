"""Compiled kernels of the stochastic subgradient method: steps, averages, and what each block has got of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aligner.solvers._block_kernels import average_weight, clip_into
from aligner.svm._answers import DONE, block_corner, make_scratch
from corpora.compiled import compiled
from corpora.ragged import F64, I64


class Walk(NamedTuple):
    """The iterate v_k = 1/k Σ_t ψ_t/λ, which is the mean of the corners met at the visits t = 1…k, and its average.

    v, mean_v: (d,).  w: (d,) = clip(v_k), the last n_nonpositive cut to at most 0.
    loss, mean_loss: (1,), ℓ in the same proportions.  steps: (1,), k.  visits: (n,), of each block.
    The average Σ_j u_j v_j / Σ_j u_j over j ≤ k holds visit t with the weight (A_k − A_{t−1}) / Σ_j u_j, where
    A_k = Σ_j u_j / j. reach: (1,) A_k.  total: (1,) Σ_j u_j.  credit: (n,), the sum of A_{t−1} over a block's visits.
    """

    v: F64
    w: F64
    loss: F64
    mean_v: F64
    mean_loss: F64
    steps: I64
    visits: I64
    reach: F64
    total: F64
    credit: F64
    n_nonpositive: int


@compiled
def visit(i, psi, loss, average, regularization, walk):
    """The step v ← (1 − γ) v + γ ψ_i/λ, γ = 1/k at visit k, and the same for ℓ; takes it up into the average."""
    k = walk.steps[0] + 1
    for c in range(len(psi)):
        walk.v[c] += (psi[c] / regularization - walk.v[c]) / k
    clip_into(walk.v, walk.n_nonpositive, walk.w)
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
        for c in range(len(psi)):
            walk.mean_v[c] += rho * (walk.v[c] - walk.mean_v[c])
        walk.mean_loss[0] += rho * (walk.loss[0] - walk.mean_loss[0])
    walk.steps[0] = k


@compiled
def visit_blocks(order, average, blocks, regularization, walk):
    """Visit the blocks in this order, with the assignment oracle.  Returns (code, block at fault)."""
    scratch = make_scratch(blocks)
    psi = np.empty(len(walk.w))
    for i in order:
        code, loss, _ = block_corner(i, blocks, walk.w, scratch, psi)
        if code != DONE:
            return code, i
        visit(i, psi, loss, average, regularization, walk)
    return DONE, -1
