"""Batch Frank-Wolfe that corrects the weights of earlier corners: away, pairwise, blended and corrective steps."""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from aligner.problem import BlockProblem
from aligner.solvers._block_kernels import best_length
from aligner.solvers.gap import Answers, ask_all, audit_at
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.simplex import Mixture
from corpora.ragged import F64


class Correction(Enum):
    """How the weights of the corners so far are corrected when the oracle has found the next corner, s."""

    AWAY = "away-frank-wolfe"
    """Towards s, or away from the worst corner in use, whichever promises more  [LJ15 Alg. 1]."""
    PAIRWISE = "pairwise-frank-wolfe"
    """Weight is moved from the worst corner in use to s  [LJ15 Alg. 2]."""
    BLENDED = "blended-frank-wolfe"
    """Pairwise between the corners in use, or towards s, whichever promises more  [TTP22 Alg. 1]."""
    FULL = "cutting-plane"
    """All weights are optimised anew, a quadratic program over the corners so far  [JFY09 Alg. 3, LJ15 Alg. 3]."""


@dataclass(eq=False)
class CorrectiveState:
    """A mixture of batch corners, and the oracle's answers at its w if an audit had them."""

    origin: Origin
    mixture: Mixture
    answers: Answers | None = None


@dataclass(frozen=True)
class Corrective:
    """Batch Frank-Wolfe over a kept set of batch corners, with one more corner in each pass  [LJ15].

    A batch corner is a vertex of the product of the n simplices of the dual, given by w_s = Σ_i ψ_i(z_i)/(λn) and
    ℓ_s = Σ_i L_i(z_i)/n; the search starts at the target's, w = 0 and ℓ = 0.

    Guarantee: the dual never falls, and the gap falls linearly [LJ15 Thm. 1]. All but FULL search along their line
    exactly, up to the length at which a corner loses all its weight and is dropped; linear means in those steps that
    drop nothing (at least half of AWAY's and BLENDED's; for PAIRWISE only a weak bound is known) and at a rate that
    shrinks with n, so that in batch they need not beat plain Frank-Wolfe. FULL is the 1-slack cutting-plane method
    [LJSP13 §4]: its program is solved to rounding, so that its dual is the greatest over all corners so far; ε takes
    O(1/ε) passes.
    Solver memory: d numbers for each corner in use, and for FULL for each corner found: none is pruned.
    An audit is the pass of oracle calls that the next step needs.
    """

    correction: Correction = Correction.FULL

    @property
    def signature(self) -> str:
        return self.correction.value

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> CorrectiveState:
        return CorrectiveState(Origin(self, problem), Mixture.of_target(problem.n_features, problem.n_nonpositive))

    def resume(self, problem: BlockProblem, state: CorrectiveState) -> None:
        """Go on from the same corners and weights in a problem that differs in λ only: their w are scaled by 1/λ."""
        state.mixture.points *= state.origin.regularization / problem.regularization
        state.origin, state.answers = Origin(self, problem), None

    def sweep(self, problem: BlockProblem, state: CorrectiveState) -> int:
        answers, calls, mixture = state.answers, 0, state.mixture
        if answers is None:
            answers, calls = ask_all(problem, mixture.w, exact=False), problem.n_blocks
        corner = mixture.find(answers.corner_w, answers.corner_loss)
        if self.correction is Correction.FULL:
            mixture.optimise(problem.regularization)
        else:
            shift_weight(mixture, corner, problem.regularization, self.correction)
        state.answers = None
        return calls

    def audit(self, problem: BlockProblem, state: CorrectiveState) -> Audit:
        w = state.mixture.w
        state.answers = ask_all(problem, w)
        return audit_at(problem, w, state.mixture.loss, state.answers, used=True)

    def dual_point(self, problem: BlockProblem, state: CorrectiveState) -> DualPoint:
        return state.mixture.dual_point


def shift_weight(mixture: Mixture, corner: int, regularization: float, correction: Correction) -> None:
    """One away, pairwise or blended step of a mixture, by exact line search; corners without weight are dropped.

    corner: the place of the oracle's corner s.  With gradient g_c = ℓ_c − λ w·w_c at the weights x and a the corner
    of least g in use, the direction is e_s − e_a for pairwise steps, as far as x_a goes; else e_s − x, as far as 1, if
    g_s − x·g ≥ x·g − g_a, or x − e_a, as far as x_a / (1 − x_a)  [LJ15 Alg. 1 and 2]. Blended steps are pairwise with
    the best corner in use in place of s, if that promises as much as e_s − x, and else along that  [TTP22 Alg. 1].
    """
    x = mixture.weights
    gradient = mixture.losses - regularization * (mixture.points @ mixture.w)
    worst = int(np.where(x > 0, gradient, np.inf).argmin())
    mean = float(x @ gradient)
    unit = np.eye(len(x))
    pairwise = correction is Correction.PAIRWISE
    if correction is Correction.BLENDED:
        top = int(np.where(x > 0, gradient, -np.inf).argmax())
        pairwise = bool(gradient[top] - gradient[worst] >= gradient[corner] - mean)
        corner = top if pairwise else corner
    if pairwise:
        direction, longest = unit[corner] - unit[worst], float(x[worst])
    elif correction is Correction.BLENDED or gradient[corner] - mean >= mean - gradient[worst]:
        direction, longest = unit[corner] - x, 1.0
    else:
        direction, longest = x - unit[worst], float(x[worst] / (1.0 - x[worst])) if x[worst] < 1.0 else 0.0
    slope = float(direction @ gradient)
    change: F64 = direction @ mixture.points
    curvature = regularization * float(change @ change)
    length = best_length(slope, curvature, longest)
    weights = np.maximum(x + length * direction, 0.0)
    if length == longest and direction[worst] < 0:
        weights[worst] = 0.0
    mixture.weights = weights / weights.sum()
    mixture.keep(mixture.weights > 0)
