"""Steps: how a block moves towards its corner, and which average of the iterates is the answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from aligner.solvers import _block_kernels as kernels
from aligner.solvers._active_kernels import FORWARD
from aligner.solvers.records import F64
from aligner.svm.protocols import BlockProblem


@dataclass(frozen=True)
class Forward:
    """Step from the block's point towards the corner the oracle found.

    line_search: the step of greatest dual gain, clipped to [0, 1], so the dual never falls; otherwise
    γ = 2n/(k + 2n) at step k, for blocks, and 2/(k + 2) for whole passes  [LJSP13 Alg. 2 and 4].
    """

    line_search: bool = True
    kind: int = FORWARD

    @property
    def name(self) -> str:
        return "line-search" if self.line_search else "decreasing"

    def size(self, regularization: float, difference: F64, w: F64, loss_gain: float, *, decreasing: float) -> float:
        """γ of the step along -difference, whose corner has loss_gain more of ℓ; `decreasing` without line search."""
        if not self.line_search:
            return decreasing
        slope = regularization * float(difference @ w) + loss_gain
        curvature = regularization * float(difference @ difference)
        if curvature > 0:
            return min(1.0, max(0.0, slope / curvature))
        return 1.0 if slope > 0 else 0.0  # the corner has the same w: only the loss can differ


STEPS = {step.name: step for step in (Forward(True), Forward(False))}


class Average(Enum):
    """Which iterate is judged and returned."""

    NONE = "none"
    UNIFORM = "uniform"
    WEIGHTED = "weighted"
    SUFFIX = "suffix"

    @property
    def code(self) -> int:
        """Its code in the kernels."""
        return {
            "none": kernels.LAST,
            "uniform": kernels.UNIFORM,
            "weighted": kernels.WEIGHTED,
            "suffix": kernels.SUFFIX,
        }[self.value]


AVERAGES = {average.value: average for average in Average}


def new_point(problem: BlockProblem) -> kernels.Point:
    """All mass on the targets: w = 0, ℓ = 0."""
    n, d = problem.n_blocks, problem.n_features
    return kernels.Point(
        np.zeros(d), np.zeros(problem.n_nonpositive), np.zeros(1), np.zeros((n, d)), np.zeros(n), np.zeros(d),
        np.zeros(1), np.zeros(1, np.int64),
    )  # fmt: skip
