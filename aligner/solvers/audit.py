"""What every solver in the space of weights measures: the objective, exactly, by one oracle call a block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aligner.problem import BlockProblem
from aligner.solvers.records import F64

_BLOCKS_AT_ONCE = 16384


@dataclass(frozen=True, eq=False)
class Answers:
    """The oracle's answers z_i of all blocks at some weights.

    hinges: (n,) H_i(z_i; w).  corner_w: Σ_i ψ_i(z_i)/(λn), not clipped.  corner_loss: Σ_i L_i(z_i)/n: the batch corner.
    mix_w, mix_loss: the same sums with each block multiplied by its share.
    """

    hinges: F64
    corner_w: F64
    corner_loss: float
    mix_w: F64
    mix_loss: float


def clip(problem: BlockProblem, v: F64) -> F64:
    """The w of a dual point, v = w(α) with its last coordinates cut to at most 0, see `problem.BlockProblem`.

    v itself where nothing is to be cut.
    """
    if problem.n_nonpositive == 0:
        return v
    w = v.copy()
    tail = w[-problem.n_nonpositive :]
    np.minimum(tail, 0.0, out=tail)
    return w


def ask_all(problem: BlockProblem, w: F64, *, exact: bool = True, shares: F64 | None = None) -> Answers:
    """One oracle call for every block at w.

    exact: whatever oracle the problem trains with; otherwise the gap of an approximate one is a lower estimate.
    shares: (n,) of the blocks, 1 by default.
    """
    find = problem.exact_corners if exact else problem.corners
    n = problem.n_blocks
    hinges = np.empty(n)
    psi, losses = np.zeros_like(w), 0.0
    mix_psi, mix_losses = np.zeros_like(w), 0.0
    share = np.ones(n) if shares is None else shares
    for first in range(0, n, _BLOCKS_AT_ONCE):
        blocks = np.arange(first, min(first + _BLOCKS_AT_ONCE, n))
        corners = find(blocks, w)
        hinges[blocks] = corners.losses - corners.psi @ w
        psi += corners.psi.sum(axis=0)
        losses += float(corners.losses.sum())
        mix_psi += share[blocks] @ corners.psi
        mix_losses += float(share[blocks] @ corners.losses)
    scale = problem.regularization * n
    return Answers(hinges, psi / scale, losses / n, mix_psi / scale, mix_losses / n)


def primal_value(problem: BlockProblem, w: F64, answers: Answers) -> float:
    """P(w) = λ/2 ‖w‖² + 1/n Σ_i max_z H_i(z; w)  [SPEC §3], of exact answers at w."""
    return 0.5 * problem.regularization * float(w @ w) + float(answers.hinges.mean())


def dual_value(problem: BlockProblem, w: F64, loss: float) -> float:
    """D(α) = ℓ(α) - λ/2 ‖w(α)‖²  [SPEC §3], with w clipped."""
    return loss - 0.5 * problem.regularization * float(w @ w)
