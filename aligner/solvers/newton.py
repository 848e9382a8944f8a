"""Newton's method for Fenchel-Young losses, with the duality gap as its certificate.

[LN89] Liu and Nocedal 1989, On the limited memory BFGS method for large scale optimization.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from aligner.problem import SmoothProblem, Sums
from aligner.solvers.records import Audit, DualPoint, Origin
from corpora.ragged import F64

_SUFFICIENT = 1e-4
"""The share that a step must reach of the decrease predicted by the slope  [Armijo 1966]."""

_SHORTEST = 1e-9
"""The shortest step that is tried; shorter ones only change rounding errors."""


_PAIRS = 20
"""How many last steps, with their changes of the gradient, replace an unknown curvature."""


@dataclass(eq=False)
class NewtonState:
    """The weights w (d,), and the sums there.  stalled: no step lowers the objective any more but by rounding.

    pairs: the last steps and changes of the objective's gradient, the latest last.
    """

    origin: Origin
    w: F64
    sums: Sums
    stalled: bool = False
    pairs: deque[tuple[F64, F64]] = field(default_factory=lambda: deque(maxlen=_PAIRS))


@dataclass(frozen=True)
class Newton:
    """Newton steps with backtracking: a few passes to any gap, of O(E d + C d²) for C edges whose z is neither 0 nor 1.

    The points z_i of the polytopes nearest to the scores give, with g = 1/n Σ F_i (y_i − z_i),

        D(z) = 1/n Σ Ω(y_i) − Ω(z_i) + ⟨c_i, z_i − y_i⟩ − w₀·g − ‖g‖²/(2λ)  <=  P(w*)  <=  P(w),

    equal at the optimum, where w = w₀ + g/λ; for the logistic loss see [Yu, Huang and Lin 2011, (4)].

    Guarantee: the objective is strongly convex and its gradient Lipschitz, and it falls with every step, for smooth Ω
    at last quadratically. (The curvature of nearly flat edges is left out of the step, which makes the last steps
    linear, at a small rate.) Sums are taken in the same order whatever the number of cores. If the problem does not
    give its curvature, or it is not to be used, steps are those of limited-memory BFGS [LN89], and convergence is
    linear.
    """

    curvature: bool = True

    smooth = True  # for `solve`: it needs `SmoothProblem`

    @property
    def signature(self) -> str:
        return "newton" if self.curvature else "lbfgs"

    def init(self, problem: SmoothProblem, rng: np.random.Generator) -> NewtonState:
        """Begin at the prior weights."""
        w = problem.prior.copy()
        return NewtonState(Origin(self, problem), w, problem.sums(w))

    def resume(self, problem: SmoothProblem, state: NewtonState) -> None:
        """Go on from the same w in a problem with another λ: the sums are the same."""
        state.origin, state.stalled = Origin(self, problem), False
        state.pairs.clear()

    def sweep(self, problem: SmoothProblem, state: NewtonState) -> int:
        """Take one step; no oracle is called."""
        if state.stalled:
            return 0
        slope = _slope(problem, state.w, state.sums)
        step = -_newton_step(problem, state, slope, state.sums.curvature if self.curvature else None)
        here, promised, length = _primal(problem, state.w, state.sums), float(slope @ step), 1.0
        while length > _SHORTEST:
            w = state.w + length * step
            found = problem.sums(w, state.sums.nearest)
            lower = _primal(problem, w, found)
            if lower < here and lower <= here + _SUFFICIENT * length * promised:
                state.pairs.append((w - state.w, _slope(problem, w, found) - slope))
                state.w, state.sums = w, found
                return 0
            length /= 2
        state.stalled = True
        return 0

    def audit(self, problem: SmoothProblem, state: NewtonState) -> Audit:
        sums = state.sums
        pull = -sums.gradient
        dual = sums.entropy - float(problem.prior @ pull) - float(pull @ pull) / (2 * problem.regularization)
        return Audit(state.w.copy(), _primal(problem, state.w, sums), dual)

    def dual_point(self, problem: SmoothProblem, state: NewtonState) -> DualPoint:
        v = -state.sums.gradient / problem.regularization
        nearest = state.sums.nearest
        return DualPoint(v, state.sums.entropy, marginals=None if nearest is None else nearest.z)


def lbfgs() -> Newton:
    """Make the solver that estimates the curvature by its last steps  [LN89]."""
    return Newton(curvature=False)


def _primal(problem: SmoothProblem, w: F64, sums: Sums) -> float:
    away = w - problem.prior
    return 0.5 * problem.regularization * float(away @ away) + sums.value


def _slope(problem: SmoothProblem, w: F64, sums: Sums) -> F64:
    """The gradient (d,) of the objective."""
    return sums.gradient + problem.regularization * (w - problem.prior)


def _newton_step(problem: SmoothProblem, state: NewtonState, slope: F64, curvature: F64 | None) -> F64:
    """The slope times the inverse curvature of the objective, or its estimate by the last steps [LN89 Alg. 2.1]."""
    if curvature is not None:
        whole = np.tril(curvature) + np.tril(curvature, -1).T
        return np.linalg.solve(whole + problem.regularization * np.eye(len(slope)), slope).astype(np.float64)
    if not state.pairs:
        return slope / max(1.0, float(np.linalg.norm(slope)))
    step: F64 = slope.copy()
    shares: list[float] = []
    for move, change in reversed(state.pairs):
        shares.append(float(move @ step) / float(move @ change))
        step -= shares[-1] * change
    move, change = state.pairs[-1]
    step *= float(move @ change) / float(change @ change)
    for (move, change), share in zip(state.pairs, reversed(shares), strict=True):
        step += (share - float(change @ step) / float(move @ change)) * move
    return step
