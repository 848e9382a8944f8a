"""Excessive gap reduction: batch steps on the smoothed objective  [ZSV11, N05].

[ZSV11] Zhang, Saha and Vishwanathan 2011, Accelerated training of max-margin Markov networks with kernels.
[N05] Nesterov 2005, Excessive gap technique in nonsmooth convex minimization.
"""

from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from aligner.errors import SettingError
from aligner.problem import BlockProblem, Marginals, marginals_of
from aligner.solvers.gap import ask_all, clip, dual_value, primal_value
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.saddle import sum_blocks
from corpora.ragged import F64, I64

_LEAST = 1e-300
"""Least divisor, and least argument of a logarithm."""


@dataclass(eq=False)
class SmoothState:
    """w (d,), and a dual point α by its moments (d + 1,), the mean of (F_i z_i, c_i·z_i).

    of_target: moments of y.  answers: moments of the smoothed oracle's z at w; None before the first step.
    smoothing: μ_0.  spread: S, the mean entropy at most.  start: the first gap.  steps: k.
    """

    origin: Origin
    marginals: Marginals
    of_target: F64
    smoothing: float
    spread: float
    w: F64
    moments: F64
    answers: F64 | None = None
    start: float = inf
    steps: int = 0

    @property
    def left(self) -> float:
        """μ_k/μ_0 = Π_{j<k} (1 − τ_j)."""
        return 2.0 / ((self.steps + 1.0) * (self.steps + 2.0))

    @property
    def bound(self) -> float:
        return self.left * (self.smoothing * self.spread + self.start)

    def dual(self, problem: BlockProblem, moments: F64) -> tuple[F64, float]:
        """Return (v, ℓ) of a dual point with these moments."""
        moved = moments - self.of_target
        return -moved[:-1] / problem.regularization, float(moved[-1])


@dataclass(frozen=True)
class ExcessiveGap:
    """Accelerated steps that keep the dual value above an objective smoothed by the entropy Ω, ever less  [ZSV11].

        P_μ(w) = λ/2 ‖w‖² + 1/n Σ_i max_z [ ⟨F_iᵀ w + c_i, z − y_i⟩ − μ Ω_i(z) ],  attained at z_i(w, μ)
        w⁺ = (1 − τ) w + τ w((1 − τ) α + τ z(w, μ));  μ⁺ = (1 − τ) μ;  α⁺ = (1 − τ) α + τ z(w⁺, μ⁺);  τ = 2/(k + 3)

    The gradient step of the source is z(w⁺, μ⁺), as scores are linear in w: one expectation pass a step, O(d) memory.

    Guarantee: the gap is at most `Audit.bound` = 2 (μ_0 S + g)/((k + 1)(k + 2)), g the first gap, S at least the mean
    entropy of a block's answers, for entropies of distributions over answers, as chains and classes have them, and
    `smoothing` μ_0 >= 2L, L = Σ_i D_i²/(4λn) of the dual's gradient, D_i at least the distance of two corners of a
    block: D(α) >= P_μ(w) − g Π (1 − τ) at every step. That is far above the curvature along answers, so by default μ_0
    is adaptive, with nothing promised: where its bound is twice the first gap, and raised by an audit that finds a gap
    above the bound until it is not.
    """

    smoothing: float | None = None

    def __post_init__(self) -> None:
        if self.smoothing is not None and not (isfinite(self.smoothing) and self.smoothing > 0):
            raise SettingError(f"smoothing must be a number above 0, not {self.smoothing}")

    @property
    def signature(self) -> str:
        return f"excessive-gap|smoothing:{'adaptive' if self.smoothing is None else format(self.smoothing, 'g')}"

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> SmoothState:
        """Begin at w = 0, with all mass on the targets.  Raises SettingError without marginals."""
        marginals, n = marginals_of(problem, "excessive-gap", "entropic"), problem.n_blocks
        smoothing = 1.0 if self.smoothing is None else self.smoothing  # the first audit makes it adaptive
        target = marginals.target
        of_target = sum_blocks(marginals, lambda blocks, own: marginals.moments(blocks, target[own])) / n
        spread = sum_blocks(marginals, lambda blocks, own: _entropy(marginals, blocks, own)) / n
        w = np.zeros(problem.n_features)
        return SmoothState(Origin(self, problem), marginals, of_target, smoothing, spread, w, of_target)

    def sweep(self, problem: BlockProblem, state: SmoothState) -> int:
        tau, mu = 2.0 / (state.steps + 3.0), state.smoothing * state.left
        if state.answers is None:
            state.answers = _smoothed(state.marginals, state.w, mu)
        mixed = (1.0 - tau) * state.moments + tau * state.answers
        state.w = (1.0 - tau) * state.w + tau * clip(state.dual(problem, mixed)[0], problem.n_nonpositive)
        state.answers = _smoothed(state.marginals, state.w, (1.0 - tau) * mu)
        state.moments = (1.0 - tau) * state.moments + tau * state.answers
        state.steps += 1
        return 0

    def audit(self, problem: BlockProblem, state: SmoothState) -> Audit:
        answers, (v, loss) = ask_all(problem, state.w), state.dual(problem, state.moments)
        primal, dual = (
            primal_value(problem, state.w, answers),
            dual_value(problem, clip(v, problem.n_nonpositive), loss),
        )
        if state.steps == 0:
            state.start = primal - dual
        bound, adaptive = state.bound, self.smoothing is None
        if adaptive and (state.steps == 0 or primal - dual > bound):
            state.smoothing = (primal - dual) / (state.left * max(state.spread, _LEAST))
        return Audit(state.w.copy(), primal, dual, used=adaptive, bound=None if adaptive else bound)

    def dual_point(self, problem: BlockProblem, state: SmoothState) -> DualPoint:
        return DualPoint(*state.dual(problem, state.moments))


def _smoothed(marginals: Marginals, w: F64, smoothing: float) -> F64:
    """The moments of the smoothed answers z_i(w, μ), as the mean over blocks."""

    def find(blocks: I64, own: slice) -> F64:
        points = marginals.scores(blocks, w) / max(smoothing, _LEAST)
        return marginals.moments(blocks, marginals.nearest(blocks, points, "entropic"))

    moments: F64 = sum_blocks(marginals, find) / (len(marginals.parts) - 1)
    return moments


def _entropy(marginals: Marginals, blocks: I64, own: slice) -> float:
    """An upper bound on the sum of these blocks' greatest entropies: Σ (z − z log z) of the most even marginals.

    Of several numbers the joint entropy is at most the sum of those of each, and −(1 − z) log(1 − z) <= z.
    """
    z = marginals.nearest(blocks, np.zeros(own.stop - own.start), "entropic")
    return float((z - z * np.log(np.maximum(z, _LEAST))).sum())
