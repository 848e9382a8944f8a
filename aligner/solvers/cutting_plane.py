"""The cutting-plane method: batch Frank-Wolfe that optimises the weights of all corners so far  [JFY09, LJ15]."""

from dataclasses import dataclass

import numpy as np

from aligner.problem import BlockProblem
from aligner.solvers.gap import Answers, ask_all, audit_at
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.simplex import Mixture


@dataclass(eq=False)
class CuttingPlaneState:
    """A mixture of batch corners, and the oracle's answers at its w if an audit had them."""

    origin: Origin
    mixture: Mixture
    answers: Answers | None = None


@dataclass(frozen=True)
class CuttingPlane:
    """The 1-slack cutting-plane method, which is fully corrective Frank-Wolfe in batch  [JFY09 Alg. 3, LJ15 Alg. 3].

    A batch corner is a vertex of the product of the n simplices of the dual, given by w_s = Σ_i ψ_i(z_i)/(λn) and
    ℓ_s = Σ_i L_i(z_i)/n; the search starts at the target's, w = 0 and ℓ = 0. Each pass finds one more, and optimises
    all weights anew, a quadratic program over the corners so far.

    Guarantee: the program is solved to rounding, so that its dual is the greatest over all corners so far [LJSP13 §4];
    ε takes O(1/ε) passes, and the gap falls linearly  [LJ15 Thm. 1].
    Solver memory: d numbers for each corner found: none is pruned.
    An audit is the pass of oracle calls that the next step needs.
    """

    signature = "cutting-plane"

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> CuttingPlaneState:
        return CuttingPlaneState(Origin(self, problem), Mixture.of_target(problem.n_features, problem.n_nonpositive))

    def resume(self, problem: BlockProblem, state: CuttingPlaneState) -> None:
        """Go on from the same corners and weights in a problem that differs in λ only: their w are scaled by 1/λ."""
        state.mixture.points *= state.origin.regularization / problem.regularization
        state.origin, state.answers = Origin(self, problem), None

    def sweep(self, problem: BlockProblem, state: CuttingPlaneState) -> int:
        answers, calls, mixture = state.answers, 0, state.mixture
        if answers is None:
            answers, calls = ask_all(problem, mixture.w, exact=False), problem.n_blocks
        mixture.find(answers.corner_w, answers.corner_loss)
        mixture.optimise(problem.regularization)
        state.answers = None
        return calls

    def audit(self, problem: BlockProblem, state: CuttingPlaneState) -> Audit:
        w = state.mixture.w
        state.answers = ask_all(problem, w)
        return audit_at(problem, w, state.mixture.loss, state.answers, used=True)

    def dual_point(self, problem: BlockProblem, state: CuttingPlaneState) -> DualPoint:
        return state.mixture.dual_point
