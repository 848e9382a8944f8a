"""Batch Frank-Wolfe on the dual of the structured SVM  [LJSP13 Alg. 2]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aligner._kernels import average_weight
from aligner.problem import BlockProblem
from aligner.solvers.driver import audit_at
from aligner.solvers.records import F64, Audit
from aligner.solvers.steps import Average, Forward


@dataclass(eq=False)
class BatchState:
    """The iterate (w, loss), its average, the passes done, and the last audit if it was at this very iterate."""

    w: F64
    mean_w: F64
    loss: float = 0.0
    mean_loss: float = 0.0
    passes: int = 0
    audit: Audit | None = None


@dataclass(frozen=True)
class FrankWolfe:
    """One step a pass towards the corner of all blocks together.

    Guarantee: gap O(1/k) after k passes; with line search the dual never falls. Solver memory: O(d).
    An audit at the iterate is the very pass of oracle calls that the next step needs, and is used for it.
    """

    step: Forward = Forward()  # noqa: RUF009 - frozen
    average: Average = Average.NONE

    @property
    def signature(self) -> str:
        return f"frank-wolfe|step:{self.step.name}|average:{self.average.value}"

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> BatchState:
        return BatchState(np.zeros(problem.n_features), np.zeros(problem.n_features))

    def sweep(self, problem: BlockProblem, state: BatchState) -> int:
        calls = 0
        if state.audit is None:
            state.audit = audit_at(problem, state.w, state.loss, exact=False)
            calls = problem.n_blocks
        difference = state.w - state.audit.corner_w
        loss_gain = state.audit.corner_loss - state.loss
        gamma = self.step.size(
            problem.regularization, difference, state.w, loss_gain, decreasing=2.0 / (state.passes + 2.0)
        )
        state.w = state.w - gamma * difference
        state.loss += gamma * loss_gain
        rho = average_weight(self.average.code, state.passes)
        state.mean_w = state.mean_w + rho * (state.w - state.mean_w)
        state.mean_loss += rho * (state.loss - state.mean_loss)
        state.passes += 1
        state.audit = None
        return calls

    def iterate(self, state: BatchState) -> tuple[F64, float]:
        if self.average is Average.NONE or state.passes == 0:
            return state.w, state.loss
        return state.mean_w, state.mean_loss

    def absorb(self, state: BatchState, audit: Audit) -> bool:
        at_iterate = bool(np.array_equal(audit.w, state.w)) and audit.loss == state.loss
        if at_iterate:
            state.audit = audit
        return at_iterate
