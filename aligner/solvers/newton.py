"""Newton's method for Fenchel-Young losses, with the duality gap as its certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aligner.solvers.records import Audit, DualPoint
from aligner.svm.fenchel_young import FenchelYoungProblem, Sums
from corpora.ragged import F64

_SUFFICIENT = 1e-4
"""Share of the decrease that the slope promises which a step must reach  [Armijo 1966]."""

_SHORTEST = 1e-9
"""Shorter steps change nothing but rounding."""


@dataclass(eq=False)
class NewtonState:
    """w: (d,).  sums: at w.  stalled: no step lowers the objective any more but by rounding."""

    w: F64
    sums: Sums
    stalled: bool = False


@dataclass(frozen=True)
class Newton:
    """Newton steps with backtracking: a few passes to any gap, of O(E d + C d²) for C edges whose z is neither 0 nor 1.

    The points z_i of the polytopes nearest to the scores give, with g = 1/n Σ F_i (y_i − z_i),

        D(z) = 1/n Σ Ω(y_i) − Ω(z_i) + ⟨c_i, z_i − y_i⟩ − w₀·g − ‖g‖²/(2λ)  <=  P(w*)  <=  P(w),

    equal at the optimum, where w = w₀ + g/λ; for the logistic loss see [Yu, Huang and Lin 2011, (4)].

    Guarantee: the objective is strongly convex and its gradient Lipschitz, and it falls with every step, for smooth Ω
    at last quadratically. (The curvature of nearly flat edges is left out of the step, which makes the last steps
    linear, at a small rate.) The same sums in the same order whatever the number of cores.
    """

    @property
    def signature(self) -> str:
        return "newton"

    def init(self, problem: FenchelYoungProblem, rng: np.random.Generator) -> NewtonState:
        """At the prior."""
        w = problem.prior.copy()
        return NewtonState(w, problem.sums(w))

    def resume(self, problem: FenchelYoungProblem, state: NewtonState) -> None:
        """Go on from the same w in a problem of another λ: the sums are the same."""
        state.stalled = False

    def sweep(self, problem: FenchelYoungProblem, state: NewtonState) -> int:
        """One step; no oracle is asked."""
        if state.stalled:
            return 0
        regularization, sums = problem.regularization, state.sums
        slope = sums.gradient + regularization * (state.w - problem.prior)
        curvature = np.tril(sums.curvature) + np.tril(sums.curvature, -1).T
        step = -np.linalg.solve(curvature + regularization * np.eye(len(slope)), slope)
        here, promised, length = _primal(problem, state.w, sums), float(slope @ step), 1.0
        while length > _SHORTEST:
            w = state.w + length * step
            found = problem.sums(w, sums.nearest)
            lower = _primal(problem, w, found)
            if lower < here and lower <= here + _SUFFICIENT * length * promised:
                state.w, state.sums = w, found
                return 0
            length /= 2
        state.stalled = True
        return 0

    def audit(self, problem: FenchelYoungProblem, state: NewtonState) -> Audit:
        sums = state.sums
        pull = -sums.gradient
        dual = sums.entropy - float(problem.prior @ pull) - float(pull @ pull) / (2 * problem.regularization)
        return Audit(state.w.copy(), _primal(problem, state.w, sums), dual)

    def dual_point(self, problem: FenchelYoungProblem, state: NewtonState) -> DualPoint:
        v = -state.sums.gradient / problem.regularization
        return DualPoint(v, state.sums.entropy, marginals=state.sums.nearest.z)


def _primal(problem: FenchelYoungProblem, w: F64, sums: Sums) -> float:
    away = w - problem.prior
    return 0.5 * problem.regularization * float(away @ away) + sums.value
