"""Batch Frank-Wolfe on the dual of the structured SVM: the steps of `Block` on all blocks as one  [LJSP13 Alg. 2]."""

from dataclasses import dataclass, replace

import numpy as np

from aligner.problem import BlockDefaults, BlockProblem, Corners, OfProblem
from aligner.solvers.averages import Average, OwnAverage, Suffix
from aligner.solvers.block import Block, BlockState
from aligner.solvers.gap import Answers, ask_all, audit_at
from aligner.solvers.orders import Cyclic
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.steps import BlockStep, Forward
from corpora.ragged import F64, I64


@dataclass(frozen=True, eq=False)
class Together(OfProblem, BlockDefaults):
    """All blocks of a problem as one, whose corners are batch corners: ψ = 1/n Σ_i ψ_i(z_i), L = 1/n Σ_i L_i(z_i).

    answers: the oracle's at the w of the next call, where they are known.
    """

    problem: BlockProblem
    answers: Answers | None = None
    n_blocks = 1

    @property
    def n_nonpositive(self) -> int:  # type: ignore[override]
        return self.problem.n_nonpositive

    @property
    def signature(self) -> str:
        return f"{self.problem.signature}|together"

    def corners(self, blocks: I64, w: F64) -> Corners:
        return self._corners(self.answers or ask_all(self.problem, w, exact=False))

    def exact_corners(self, blocks: I64, w: F64) -> Corners:
        return self._corners(ask_all(self.problem, w))

    def _corners(self, found: Answers) -> Corners:
        return Corners(self.regularization * found.corner_w[None], np.array([found.corner_loss]))


@dataclass(eq=False)
class BatchState:
    """The state of `Block` on all blocks together, and the oracle's answers at its w if an audit had them."""

    origin: Origin
    block: BlockState
    answers: Answers | None = None


@dataclass(frozen=True)
class FrankWolfe:
    """Batch Frank-Wolfe: one step for each pass, towards the corner of all blocks together  [LJSP13 Alg. 2].

    v ← (1 − γ) v + γ v_s with v_s = 1/(λn) Σ_i ψ_i(z_i) of the oracle's answers; γ by line search, or 2/(k + 2).
    Guarantee: gap O(1/k) after k passes  [Jaggi 2013 Thm. 2]; with line search the dual never falls. With away,
    pairwise and blended steps the gap falls linearly [LJ15 Thm. 1], in those steps that drop no corner (at least half
    of away and blended ones; for pairwise steps only a weak bound is known), and at a rate that shrinks with n, so that
    they need not beat forward steps. Memory: O(d), and d for each corner in use where steps keep corners.
    An audit at the iterate is the pass of oracle calls that the next step needs.

    With 2/(k + 2) this is batch subgradient descent on the primal, w ← w − γ/λ (λw − 1/n Σ_i ψ_i(z_i))  [LJSP13 §4]:
    gap O(1/k) for the weighted average  [Lacoste-Julien, Schmidt and Bach 2012]; the objective may rise on the way.
    If weights must not be above 0, the steps are taken in v, and w = clip(v): dual averaging  [Xiao 2010].
    """

    step: BlockStep = Forward()  # noqa: RUF009 - frozen
    average: Average | Suffix | OwnAverage = Average.NONE

    @property
    def signature(self) -> str:
        return f"frank-wolfe|step:{self.step.name}|average:{self.average.value}"

    @property
    def _block(self) -> Block:
        return Block(Cyclic(), self.step, self.average)

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> BatchState:
        return BatchState(Origin(self, problem), self._block.init(Together(problem), rng))

    def resume(self, problem: BlockProblem, state: BatchState) -> None:
        """Go on from the same dual point α in a problem that differs in λ only: v(α) is scaled by 1/λ."""
        self._block.resume(Together(problem), state.block)
        state.origin, state.answers = Origin(self, problem), None

    def sweep(self, problem: BlockProblem, state: BatchState) -> int:
        calls = 0 if state.answers else problem.n_blocks
        self._block.sweep(Together(problem, state.answers), state.block)
        state.answers = None
        return calls

    def audit(self, problem: BlockProblem, state: BatchState) -> Audit:
        """Audit the iterate, and keep the answers for the next step; or audit the average."""
        averaged, w, loss = self._block.answer(problem, state.block)
        answers = ask_all(problem, w)
        if not averaged:
            state.answers = answers
        return audit_at(problem, w, loss, answers, used=not averaged)

    def dual_point(self, problem: BlockProblem, state: BatchState) -> DualPoint:
        """The dual point; its corners are of all blocks at once."""
        found = self._block.dual_point(Together(problem), state.block)
        active = found.active and replace(found.active, blocks=np.full(len(found.active.weights), -1))
        return DualPoint(found.v, found.loss, active)
