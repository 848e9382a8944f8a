"""Compiled kernels of the stochastic subgradient method: steps, averages, and each block's weight in them."""

from typing import Any, NamedTuple

import numpy as np

from aligner.solvers._block_kernels import average_weight, clip_into
from aligner.templates import DONE, template
from corpora.compiled import compiled
from corpora.ragged import F64, I64


class Walk(NamedTuple):
    """The iterate v_k = 1/k Σ_t ψ_t/λ, the mean of the corners found at visits t = 1…k, and its average.

    In the average Σ_j u_j v_j / Σ_j u_j over j ≤ k, visit t has the weight (A_k − A_{t−1}) / Σ_j u_j, where
    A_k = Σ_j u_j / j: so both are kept as sums, to which a visit adds the nonzero entries of ψ_t.
    sums: (d,) Σ_t ψ_t/λ.  behind: (d,) Σ_t A_{t−1} ψ_t/λ.  loss_sum, loss_behind: (1,), the same of ℓ.
    w: (d,) = clip(v_k), the last n_nonpositive cut to at most 0.  steps: (1,), k.  visits: (n,), of each block.
    reach: (1,) A_k.  total: (1,) Σ_j u_j.  credit: (n,), the sum of A_{t−1} over a block's visits.
    """

    sums: F64
    behind: F64
    loss_sum: F64
    loss_behind: F64
    w: F64
    steps: I64
    visits: I64
    reach: F64
    total: F64
    credit: F64
    n_nonpositive: int


@compiled
def count_visit(i, loss, average, walk):
    """Count a visit of block i, whose corner has this loss; returns A_{k−1}, the factor of its ψ_i in `behind`."""
    k = walk.steps[0] + 1
    rho = average_weight(average, k - 1)
    if rho == 1.0:  # the average begins here: what visits before gave to v_k all blocks have in full
        walk.reach[0] = walk.total[0] = walk.loss_behind[0] = 0.0
        walk.credit[:] = 0.0
        walk.behind[:] = 0.0
    before = walk.reach[0]
    walk.loss_sum[0] += loss
    walk.loss_behind[0] += before * loss
    walk.visits[i] += 1
    walk.credit[i] += before
    if rho > 0.0:
        weight = 1.0 if rho == 1.0 else walk.total[0] * rho / (1.0 - rho)
        walk.reach[0] += weight / k
        walk.total[0] += weight
    walk.steps[0] = k
    return before


@compiled
def visit(i, psi, loss, average, regularization, walk):
    """Take the step v ← (1 − γ) v + γ ψ_i/λ, γ = 1/k at visit k, and the same for ℓ; adds it to the average."""
    before = count_visit(i, loss, average, walk)
    for c in range(len(psi)):
        walk.sums[c] += psi[c] / regularization
        walk.behind[c] += before * psi[c] / regularization
        walk.w[c] = walk.sums[c] / walk.steps[0]
    clip_into(walk.w, walk.n_nonpositive, walk.w)


make_scratch: Any = None
corner: Any = None
sparse_corner: Any = None


@template
def visit_blocks(order, average, arrays, regularization, walk):
    """Visit the blocks in this order, with the problem's oracle.  Returns (code, block at fault)."""
    scratch = make_scratch(arrays)
    psi = np.empty(len(walk.w))
    for i in order:
        code, loss, _ = corner(i, arrays, walk.w, scratch, psi)
        if code != DONE:
            return code, i
        visit(i, psi, loss, average, regularization, walk)
    return DONE, -1


@template
def visit_sparsely(order, average, arrays, regularization, walk):
    """`visit_blocks` in time proportional to nonzero entries: the oracle maximises k L_i(z) − (k v_k)·ψ_i(z)."""
    scratch = make_scratch(arrays)
    for i in order:
        code, m, loss, _ = sparse_corner(i, arrays, walk.sums, scratch, max(1.0, walk.steps[0]))
        if code != DONE:
            return code, i
        before = count_visit(i, loss, average, walk)
        for e in range(m):
            walk.sums[scratch.columns[e]] += scratch.values[e] / regularization
            walk.behind[scratch.columns[e]] += before * scratch.values[e] / regularization
    return DONE, -1
