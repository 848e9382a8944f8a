"""Newton's method for the logistic loss, with the duality gap as its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from operator import add
from typing import NamedTuple

import numpy as np

from aligner.solvers.records import Audit
from aligner.svm._logistic_kernels import add_logistic
from aligner.svm.logistic import LogisticProblem
from corpora.ragged import F64
from corpora.threads import map_threads

_EDGES_AT_ONCE = 1 << 14
"""Edges that a thread takes at once; their sums are added up in order, whatever the number of threads."""

_SUFFICIENT = 1e-4
"""Share of the decrease that the slope promises which a step must reach  [Armijo 1966]."""

_SHORTEST = 1e-9
"""Shorter steps change nothing but rounding."""


class Sums(NamedTuple):
    """The loss at some w.  value: 1/n Σ c log(1 + exp(-y w·x)).  gradient: (d,), curvature: (d, d) of it.

    entropy: 1/n Σ c H(a) of the dual point a = σ(-y w·x).
    """

    value: float
    entropy: float
    gradient: F64
    curvature: F64


@dataclass(eq=False)
class NewtonState:
    """w: (d,).  sums: at w.  stalled: no step lowers the objective any more but by rounding."""

    w: F64
    sums: Sums
    stalled: bool = False


@dataclass(frozen=True)
class Newton:
    """Newton steps with backtracking: a few passes to any gap, of O(E d + C d²) for C edges whose loss is not flat.

    The dual point of log(1 + e^{-z}) = max_a H(a) - a z at a = σ(-z) gives, with g = 1/n Σ c a y x,

        D(a) = 1/n Σ c H(a) - w₀·g - ‖g‖²/(2λ)  <=  P(w*)  <=  P(w),

    equal at the optimum, where w = w₀ + g/λ  [Yu, Huang and Lin 2011, Dual coordinate descent methods for logistic
    regression, (4)].

    Guarantee: the objective is strictly convex and smooth, and falls with every step, at last quadratically. (The
    curvature of nearly flat edges is left out of the step, which makes the last steps linear, at a small rate.)
    The same sums in the same order whatever the number of cores.
    """

    @property
    def signature(self) -> str:
        return "newton"

    def init(self, problem: LogisticProblem, rng: np.random.Generator) -> NewtonState:
        """At the prior."""
        w = problem.prior.copy()
        return NewtonState(w, _sums(problem, w))

    def resume(self, problem: LogisticProblem, state: NewtonState) -> None:
        """Go on from the same w in a problem of another λ: the sums are the same."""
        state.stalled = False

    def sweep(self, problem: LogisticProblem, state: NewtonState) -> int:
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
            found = _sums(problem, w)
            lower = _primal(problem, w, found)
            if lower < here and lower <= here + _SUFFICIENT * length * promised:
                state.w, state.sums = w, found
                return 0
            length /= 2
        state.stalled = True
        return 0

    def audit(self, problem: LogisticProblem, state: NewtonState) -> Audit:
        sums = state.sums
        pull = -sums.gradient
        dual = sums.entropy - float(problem.prior @ pull) - float(pull @ pull) / (2 * problem.regularization)
        return Audit(state.w.copy(), _primal(problem, state.w, sums), dual)


def _primal(problem: LogisticProblem, w: F64, sums: Sums) -> float:
    away = w - problem.prior
    return 0.5 * problem.regularization * float(away @ away) + sums.value


def _sums(problem: LogisticProblem, w: F64) -> Sums:
    costs = np.array([problem.false_cost, problem.miss_cost]) / problem.n_blocks
    features, d = problem.edges.features, len(w)

    def work(first: int) -> Sums:
        gradient, curvature = np.zeros(d), np.zeros((d, d))
        last = min(first + _EDGES_AT_ONCE, len(features))
        value, entropy = add_logistic(features, problem.signs, first, last, w, costs, gradient, curvature)
        return Sums(value, entropy, gradient, curvature)

    total = Sums(0.0, 0.0, np.zeros(d), np.zeros((d, d)))
    for part in map_threads(work, range(0, len(features), _EDGES_AT_ONCE)):
        total = Sums(*map(add, total, part))
    return total
