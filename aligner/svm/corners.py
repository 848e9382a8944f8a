"""Corners of blocks, as oracles find them, and what kernels' codes say of them."""

from __future__ import annotations

import numpy as np

from aligner.errors import AlignerError, OracleError, ScoreError
from aligner.svm import _corner_kernels as _kernels
from aligner.svm.protocols import BlockProblem, Corners
from corpora.ragged import F64, I64


def ask(problem: BlockProblem, blocks: I64, w: F64, *, exact: bool = False) -> Corners:
    """The oracle's answers; of one in Python a copy in float64, contiguous, or OracleError where they do not fit."""
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
    return Corners(psi, losses)


def check_code(code: int, block: int) -> None:
    """Raise what a kernel's code says of a block: AlignerError, ScoreError or ValueError."""
    if code == _kernels.NEGATIVE_HINGE:
        raise AlignerError(
            f"labelled pair {block + 1}: the oracle's answer is worse than the target matching "
            "(its features or the oracle are wrong; please report this)"
        )
    if code == _kernels.POSITIVE_REWARD:
        raise ValueError("weights of fertility must be at most 0")
    if code == _kernels.NOT_FINITE:
        raise ScoreError("the weights are not finite")
