"""Batch Frank-Wolfe on the dual of the structured SVM  [LJSP13 Alg. 2]."""

from dataclasses import dataclass

import numpy as np

from aligner.problem import BlockProblem
from aligner.solvers._block_kernels import best_length
from aligner.solvers.averages import Average
from aligner.solvers.gap import Answers, ask_all, audit_at, clip
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.steps import Forward
from corpora.ragged import F64


@dataclass(eq=False)
class BatchState:
    """The dual point (v, loss), its average, and the passes done.

    v: (d,); w is clip(v).  answers: the oracle's at w, if an audit has just asked for them.
    """

    origin: Origin
    v: F64
    mean_v: F64
    loss: float = 0.0
    mean_loss: float = 0.0
    passes: int = 0
    answers: Answers | None = None


@dataclass(frozen=True)
class FrankWolfe:
    """Batch Frank-Wolfe: one step for each pass, towards the corner of all blocks together  [LJSP13 Alg. 2].

    v ← (1 − γ) v + γ v_s with v_s = 1/(λn) Σ_i ψ_i(z_i) of the oracle's answers; γ by line search, or 2/(k + 2).
    Guarantee: gap O(1/k) after k passes  [Jaggi 2013 Thm. 2]; with line search the dual never falls. Memory: O(d).
    An audit at the iterate is the pass of oracle calls that the next step needs.

    With 2/(k + 2) this is batch subgradient descent on the primal, w ← w − γ/λ (λw − 1/n Σ_i ψ_i(z_i))  [LJSP13 §4]:
    gap O(1/k) for the weighted average  [Lacoste-Julien, Schmidt and Bach 2012]; the objective may rise on the way.
    If weights must not be above 0, the steps are taken in v, and w = clip(v): dual averaging  [Xiao 2010].
    """

    step: Forward = Forward()  # noqa: RUF009 - frozen
    average: Average = Average.NONE

    @property
    def signature(self) -> str:
        return f"frank-wolfe|step:{self.step.name}|average:{self.average.value}"

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> BatchState:
        v, mean_v = np.zeros((2, problem.n_features))
        return BatchState(Origin(self, problem), v, mean_v)

    def resume(self, problem: BlockProblem, state: BatchState) -> None:
        """Go on from the same dual point α in a problem that differs in λ only: v(α) is scaled by 1/λ."""
        state.v = state.v * (state.origin.regularization / problem.regularization)
        state.origin, state.passes, state.answers = Origin(self, problem), 0, None  # averages begin anew

    def sweep(self, problem: BlockProblem, state: BatchState) -> int:
        w, answers, calls = clip(state.v, problem.n_nonpositive), state.answers, 0
        if answers is None:
            answers, calls = ask_all(problem, w, exact=False), problem.n_blocks
        difference = state.v - answers.corner_w
        loss_gain = answers.corner_loss - state.loss
        slope = problem.regularization * float(difference @ w) + loss_gain
        curvature = problem.regularization * float(difference @ difference)
        if not self.step.line_search:
            gamma = 2.0 / (state.passes + 2.0)
        else:
            gamma = best_length(slope, curvature, 1.0)
        state.v, state.loss, state.answers = state.v - gamma * difference, state.loss + gamma * loss_gain, None
        rho = self.average.weight(state.passes)
        state.mean_v = state.mean_v + rho * (state.v - state.mean_v)
        state.mean_loss += rho * (state.loss - state.mean_loss)
        state.passes += 1
        return calls

    def audit(self, problem: BlockProblem, state: BatchState) -> Audit:
        """Audit the iterate, and keep the answers for the next step; or audit the average."""
        averaged = self.average is not Average.NONE and state.passes > 0
        v, loss = (state.mean_v, state.mean_loss) if averaged else (state.v, state.loss)
        w = clip(v, problem.n_nonpositive)
        answers = ask_all(problem, w)
        if not averaged:
            state.answers = answers
        return audit_at(problem, w, loss, answers, used=not averaged)

    def dual_point(self, problem: BlockProblem, state: BatchState) -> DualPoint:
        return DualPoint(state.v, state.loss)
