"""Batch Frank-Wolfe on the dual of the structured SVM  [LJSP13 Alg. 2]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aligner.problem import BlockProblem
from aligner.solvers._block_kernels import average_weight
from aligner.solvers.audit import Answers, ask_all, dual_value, primal_value
from aligner.solvers.records import F64, Audit
from aligner.solvers.steps import Average, Forward


@dataclass(eq=False)
class BatchState:
    """The iterate (w, loss), its average, the passes done, and the oracle's answers at w where an audit had them."""

    w: F64
    mean_w: F64
    loss: float = 0.0
    mean_loss: float = 0.0
    passes: int = 0
    answers: Answers | None = None


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
        answers, calls = state.answers, 0
        if answers is None:
            answers, calls = ask_all(problem, state.w, exact=False), problem.n_blocks
        difference = state.w - answers.corner_w
        loss_gain = answers.corner_loss - state.loss
        gamma = self.step.size(
            problem.regularization, difference, state.w, loss_gain, decreasing=2.0 / (state.passes + 2.0)
        )
        state.w = state.w - gamma * difference
        state.loss += gamma * loss_gain
        rho = average_weight(self.average.code, state.passes)
        state.mean_w = state.mean_w + rho * (state.w - state.mean_w)
        state.mean_loss += rho * (state.loss - state.mean_loss)
        state.passes += 1
        state.answers = None
        return calls

    def audit(self, problem: BlockProblem, state: BatchState) -> Audit:
        averaged = self.average is not Average.NONE and state.passes > 0
        w, loss = (state.mean_w, state.mean_loss) if averaged else (state.w, state.loss)
        answers = ask_all(problem, w)
        if not averaged:
            state.answers = answers
        return Audit(
            w.copy(), primal_value(problem, w, answers), dual_value(problem, w, loss), used=state.answers is not None
        )
