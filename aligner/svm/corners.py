"""What kernels' codes say of a block."""

from __future__ import annotations

from aligner.errors import AlignerError, ScoreError
from aligner.svm import _corner_kernels as _kernels


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
