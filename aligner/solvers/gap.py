"""The duality gap: exact primal and dual values of a solver's weights, by one oracle call for each block."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aligner.errors import OracleError
from aligner.problem import BlockProblem, Corners
from aligner.solvers.records import Audit
from aligner.templates import NOT_FINITE, check_code, sum_corners, sum_sparse_corners
from corpora.ragged import F64, I64, Bools
from corpora.threads import map_threads

_BYTES_AT_ONCE = 1 << 28
"""Bytes of corners that are asked for at once of a problem in Python."""

_BLOCKS_OF_A_THREAD = 512
"""Blocks that a thread takes at once; their sums are added up in order, whatever the number of threads."""


@dataclass(frozen=True, eq=False)
class Answers:
    """The oracle's corners z_i of all blocks at some weights, summed up.

    hinges: (n,) H_i(z_i; w).  corner_w, corner_loss: the batch corner, Σ_i ψ_i(z_i)/(λn) unclipped, and Σ_i L_i(z_i)/n.
    mix_w, mix_loss: the same sums with each block multiplied by its share.
    """

    hinges: F64
    corner_w: F64
    corner_loss: float
    mix_w: F64
    mix_loss: float


def clip(v: F64, n_nonpositive: int) -> F64:
    """The w of a dual point: a copy of v with the last coordinates cut to at most 0, see `BlockProblem`."""
    w = v.copy()
    tail = w[len(w) - n_nonpositive :]
    np.minimum(tail, 0.0, out=tail)
    return w


def ask(problem: BlockProblem, blocks: I64, w: F64, *, exact: bool = False) -> Corners:
    """Call the oracle for some blocks.  From Python, corners are copied to float64; OracleError if they do not fit.

    ScoreError if they are not finite.
    """
    found = problem.exact_corners(blocks, w) if exact else problem.corners(blocks, w)
    if problem.compiled() is not None:
        return found
    name = "exact_corners()" if exact else "corners()"
    if not isinstance(found, Corners):
        raise OracleError(f"{name} returns {type(found).__name__} (Corners(psi, losses))")
    losses, psi = np.array(found.losses, np.float64), found.psi
    if problem.sparse or hasattr(psi, "tocsr"):
        from scipy.sparse import csr_array

        psi = csr_array(psi, dtype=np.float64, copy=True)
    else:
        psi = np.array(psi, np.float64, order="C")
    wanted = (len(blocks), problem.n_features), (len(blocks),)
    if (psi.shape, losses.shape) != wanted:
        raise OracleError(f"{name} has psi {psi.shape} and losses {losses.shape} (not {wanted[0]} and {wanted[1]})")
    rows = psi if isinstance(psi, np.ndarray) else abs(psi).sum(axis=1)[:, None]
    _check_finite(blocks, w, np.isfinite(losses) & np.isfinite(rows).all(axis=1))
    return Corners(psi, losses)


def _check_finite(blocks: I64, w: F64, finite: Bools) -> None:
    """ScoreError that names the first block whose corner at w is not finite, or w."""
    if not finite.all():
        check_code(NOT_FINITE, int(blocks[np.argmin(finite)]) if np.isfinite(w).all() else -1)


def ask_all(problem: BlockProblem, w: F64, *, exact: bool = True, shares: F64 | None = None) -> Answers:
    """Call the oracle for every block at w.

    exact: call the exact oracle, also if the problem trains with an approximate one, whose gap is a lower estimate.
    shares: (n,) for `mix_w` and `mix_loss`, 1 by default.  Raises ScoreError if a hinge is not finite.
    """
    n, compiled = problem.n_blocks, problem.compiled()
    add_up: Any = compiled and compiled.fill(sum_sparse_corners if problem.sparse else sum_corners)
    arrays = compiled and compiled.arrays
    share = np.ones(n) if shares is None else np.ascontiguousarray(shares, np.float64)
    hinges, total_psi, total_losses = np.empty(n), np.zeros((2, len(w))), np.zeros(2)

    def sum_compiled(first: int) -> tuple[F64, F64]:
        """Sum ψ_i (2, d) and L_i (2,) over some blocks, plain, and multiplied by shares; no corner is kept."""
        psi, losses = np.zeros((2, len(w))), np.zeros(2)
        last = min(first + _BLOCKS_OF_A_THREAD, n)
        check_code(*add_up(first, last, arrays, w, share, hinges, psi, losses))
        return psi, losses

    def sum_generic(first: int) -> tuple[F64, F64]:
        part = np.arange(first, min(first + at_once, n))
        corners = ask(problem, part, w, exact=exact)
        hinges[part] = corners.losses - corners.psi @ w
        psi = np.stack([corners.psi.sum(axis=0), share[part] @ corners.psi])
        return psi, np.array([corners.losses.sum(), share[part] @ corners.losses])

    at_once = max(1, _BYTES_AT_ONCE // (8 * len(w)))
    some, many = range(0, n, _BLOCKS_OF_A_THREAD), range(0, n, at_once)
    for psi, losses in map(sum_generic, many) if compiled is None else map_threads(sum_compiled, some):
        total_psi += psi
        total_losses += losses
    _check_finite(np.arange(n), w, np.isfinite(hinges))
    (corner_psi, mix_psi), (corner_loss, mix_loss), scale = total_psi, total_losses, problem.regularization * n
    return Answers(hinges, corner_psi / scale, corner_loss / n, mix_psi / scale, mix_loss / n)


def primal_value(problem: BlockProblem, w: F64, answers: Answers) -> float:
    """P(w) = λ/2 ‖w‖² + 1/n Σ_i max_z H_i(z; w)  [LJSP13].  answers: exact ones at w."""
    return 0.5 * problem.regularization * float(w @ w) + float(answers.hinges.mean())


def dual_value(problem: BlockProblem, w: F64, loss: float) -> float:
    """D(α) = ℓ - λ/2 ‖w‖²  [LJSP13].  w: of the dual point α, clipped.  loss: its ℓ."""
    return loss - 0.5 * problem.regularization * float(w @ w)


def audit_at(problem: BlockProblem, w: F64, loss: float, answers: Answers, *, used: bool = False) -> Audit:
    """The primal value of w, and the dual value of the dual point with this w and ℓ.  answers: exact ones at w."""
    primal, dual = primal_value(problem, w, answers), dual_value(problem, w, loss)
    return Audit(w, primal, dual, used=used, size=answers.corner_loss)
