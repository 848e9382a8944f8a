"""Dual extragradient on the saddle point of the structured SVM  [TLJ06, N07].

[KW97] Kivinen and Warmuth 1997, Exponentiated gradient versus gradient descent for linear predictors.
"""

from dataclasses import dataclass, field
from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import kl_div

from aligner.errors import SettingError
from aligner.problem import BlockProblem, marginals_of
from aligner.solvers.gap import ask_all, clip, dual_value, primal_value
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.saddle import (
    Look,
    Projection,
    Spans,
    Start,
    Step,
    Stored,
    feature_norm,
    look_ahead,
    measure_start,
    restrict,
)
from corpora.ragged import F64

_FIRST = 5
_SHARE = 0.25
"""For restarts the gap is computed after so many sweeps, then again after so many more, or this share of all."""

_GAP_FALLEN = 0.2
_GAP_LOWER = 0.8
_LONGEST_SHARE = 0.36
"""The steps restart if the gap has fallen to the share _GAP_FALLEN, or to _GAP_LOWER and rises again, or after the
share _LONGEST_SHARE of all iterations  [Applegate et al. 2021 §3.2, PDLP]."""


_LEAST = 1e-300
"""Least half of a weight of which the logarithm is taken."""


class Candidate(NamedTuple):
    """A candidate for the answer: its point of w, (F z, c·z) (d + 1,), and its upper and lower value."""

    point_w: F64
    of_z: F64
    upper: float
    lower: float

    @property
    def gap(self) -> float:
        return self.upper - self.lower


@dataclass(eq=False)
class SaddleState:
    """The state of `Extragradient`, in its notation: sums stand for û, s and the average, O(d) memory.

    Points of w are w itself, (d,), but in an ℓ1-ball they are halves (2d,), see `Extragradient.weights`.
    everything: all marginals.  present: those worked with.  stored: numbers of each part, for restarts; else None.
    norm: ‖F‖₂.  weight: the primal weight ω.  center_w: of û.
    sum_w, sum_z (d + 1,), total: Σ η u_w, Σ η (F u_z, c·u_z) and Σ η since û.
    ahead_w, of_ahead (d + 1,): of v, and (F z, c·z) of v.  point_w, of_point: of u, and (F z, c·z) of u.
    step: η, relative to 1/L.  tries: steps tried.  sweeps: iterations so far.  since: those since the last restart.
    next_check: the sweep when the gap is computed next.  best: û, after a restart.  last_gap: as it was last computed.
    """

    origin: Origin
    everything: Spans
    present: Spans
    stored: Stored | None
    start: Start
    norm: float
    weight: float
    center_w: F64 = field(init=False)
    sum_w: F64 = field(init=False)
    sum_z: F64 = field(init=False)
    total: float = field(init=False)
    since: int = field(init=False)
    ahead_w: F64 = field(init=False)
    of_ahead: F64 = field(init=False)
    point_w: F64 = field(init=False)
    of_point: F64 = field(init=False)
    step: float = 1.0
    tries: int = 0
    sweeps: int = 0
    next_check: int = _FIRST
    best: Candidate | None = None
    last_gap: float = inf

    @property
    def n(self) -> int:
        return max(1, len(self.everything.marginals.parts) - 1)

    @property
    def lipschitz(self) -> float:
        """The Lipschitz constant L = ‖F‖₂/√n of J's gradient, if the distance in z is the mean over blocks."""
        return (self.norm if self.norm > 0.0 else 1.0) / sqrt(self.n)

    @property
    def w_step(self) -> float:
        return self.weight / self.lipschitz

    @property
    def z_step(self) -> float:
        return 1.0 / (self.weight * self.lipschitz)

    def force(self, of_z: F64, count: float) -> F64:
        """Σ ∇_w of the bilinear part over iterates of total weight count: (Σ F z − count Σ_i f_i(y_i))/n."""
        force: F64 = (of_z[:-1] - count * self.start.of_target[:-1]) / self.n
        return force

    def begin(self, w: F64, of_z: F64) -> None:
        """Begin anew at û = (w, z)."""
        self.center_w = w.copy()
        self.sum_w, self.sum_z, self.total, self.since = np.zeros_like(w), np.zeros_like(of_z), 0.0, 0
        self.ahead_w, self.of_ahead = w.copy(), of_z.copy()


@dataclass(frozen=True)
class Extragradient:
    """Dual extragradient: min over w, max over z of J(w, z), by steps that look ahead  [TLJ06 Fig. 2, N07].

        J(w, z) = Ψ(w) + 1/n Σ_i [ w·(F_i z_i − f_i(y_i)) + c_i·(z_i − y_i) ]
        v = T(û, s);  u = T(v, −η ∇J(v));  s ← s − η ∇J(u);  the answer is the mean of all u, weighted by η

    T is the proximal step, in z the projection on the hull of answers, Euclidean or entropic  [TLJ06 §4.1-4.2].

    radius: γ, for Ψ = 0 within ‖w‖ <= γ as in the source. By default Ψ(w) = λ/2 ‖w‖², kept whole in the steps of w
    (not linearised): the saddle point solves the problem of all other solvers, its values primal and dual.
    l1_radius: γ, for Ψ = 0 within ‖w‖₁ <= γ. There w = w⁺ − w⁻ of halves that add up to γ, their distance is γ times
    the Kullback-Leibler divergence, and steps multiply them  [KW97 EG±]. In a large ball the optimum may be 0, which
    no relative gap can certify: give `Stop.absolute_gap`.
    Steps grow beyond η = 1/L, L = ‖F‖₂/√n, as long as Nesterov's proof allows it where they are taken:
    η ⟨∇J(u) − ∇J(v), u − v⁺⟩ <= d(u, v) + d(v⁺, u), v⁺ the next v. The dense direction of F that makes L large is
    hardly ever moved along by answers, so that they grow a hundredfold; a step that went too far is taken again.
    The primal weight ω = √(D_w/D_z) (steps ω/L in w and 1/(ωL) in z) makes both halves of the bound equal.

    Memory-efficient form [TLJ06 §4.3]: s_z = Σ η (F_iᵀ u_w + c_i) is linear in Σ η u_w, so that every z_i is computed
    anew from sums of d numbers: solver memory is O(d) whatever the corpus. restarts: begin anew at the average or the
    last u, whichever has the smaller gap, when it has fallen enough, with ω anew from the distances gone  [Applegate et
    al. 2021]; û_z is then any point, so that what belongs to parts is stored: the same iterates up to the first look at
    the gap. From there parts that have no share of z and lower the dual are left out until they do not, see `restrict`.

    Guarantee: the gap is at most `Audit.bound` = (D_w/ω + ω D_z) L / Σ η, with D the largest distance from û, or,
    without a radius, that to the best w against the average z [N07 Thm. 2]; it is None once parts were left out, or
    after a restart, from where convergence is linear with a rate not known. A sweep is one iteration: three projections
    a block (two in the stored form), repeated if the step went too far. It asks the oracle only where restarts need to
    know the gap.
    """

    projection: Projection = Projection.EUCLIDEAN
    radius: float | None = None
    restarts: bool = False
    l1_radius: float | None = None

    def __post_init__(self) -> None:
        for name, radius in (("radius", self.radius), ("l1_radius", self.l1_radius)):
            if radius is not None and not (np.isfinite(radius) and radius > 0):
                raise SettingError(f"{name} must be a number above 0, not {radius}")
        if self.radius is not None and self.l1_radius is not None:
            raise SettingError("radius and l1_radius exclude each other (w is in one ball)")

    @property
    def signature(self) -> str:
        radius = "none" if self.radius is None else f"{self.radius:g}"
        parts = ["extragradient", f"projection:{self.projection.value}", f"radius:{radius}"]
        parts += [] if self.l1_radius is None else [f"l1_radius:{self.l1_radius:g}"]
        return "|".join([*parts, "restarts"] if self.restarts else parts)

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> SaddleState:
        """Begin at û: w = 0, z = y, mixed with all parts for entropic.  Raises SettingError without marginals."""
        marginals = marginals_of(problem, "extragradient", self.projection.value)
        spans = Spans.of(marginals, self.projection.value)
        start = measure_start(spans, problem.n_features)
        stored = None
        if self.restarts:
            center = spans.gather(spans.start)
            duals = {first: marginals.duals(np.arange(first, last)) for first, last in spans.spans}
            z = spans.gather(lambda span: spans.nearest(span, center[spans.rows(span)], duals[span[0]]))
            stored = Stored(center, z, duals, np.ones(len(z), np.bool_))
        # λ/2 ‖w*‖² <= P(0), the mean of the largest losses.
        farthest, d = self._farthest(problem), problem.n_features
        of_w = start.loss / problem.regularization if farthest is None else farthest
        weight = sqrt(of_w / start.span) if of_w > 0.0 and start.span > 0.0 else 1.0
        norm = feature_norm(spans, d)
        state = SaddleState(Origin(self, problem), spans, spans, stored, start, norm, weight)
        state.begin(
            np.zeros(d) if self.l1_radius is None else np.full(2 * d, self.l1_radius / (2 * d)), start.of_center
        )
        return state

    def _farthest(self, problem: BlockProblem) -> float | None:
        """The largest distance of w from 0 within the ball; None without one."""
        if self.l1_radius is not None:
            return self.l1_radius**2 * log(2 * problem.n_features)
        return None if self.radius is None else self.radius**2 / 2

    def weights(self, problem: BlockProblem, point_w: F64) -> F64:
        """The w (d,) of a point: itself, or w⁺ − w⁻ of its halves (2d,), but for the w⁺ of weights of at most 0."""
        if self.l1_radius is None:
            return point_w
        d, free = problem.n_features, problem.n_features - problem.n_nonpositive
        w = -point_w[d:]
        w[:free] += point_w[:free]
        return w

    def _distance_w(self, one: F64, other: F64) -> float:
        if self.l1_radius is not None:
            return self.l1_radius * float(kl_div(one, other).sum())
        return 0.5 * float((one - other) @ (one - other))

    def sweep(self, problem: BlockProblem, state: SaddleState) -> int:
        fits = False
        while not fits:
            step = state.step
            point_w = self._move(problem, state, state.ahead_w, state.force(state.of_ahead, 1.0) * step, step)
            sum_w, ahead_w, now_w = (self.weights(problem, w) for w in (state.sum_w, state.ahead_w, point_w))
            weights = Step(sum_w, state.total, ahead_w, now_w, step, state.z_step)
            look = look_ahead(state.present, state.stored, weights)
            sum_z, total = state.sum_z + step * look.of_point, state.total + step
            ahead_w = self._move(problem, state, state.center_w, state.force(sum_z, total), total)
            fits = self._adapt(problem, state, look, point_w, ahead_w)
        state.sum_w, state.sum_z, state.total = state.sum_w + step * point_w, sum_z, total
        state.ahead_w, state.of_ahead, state.point_w, state.of_point = ahead_w, look.of_ahead, point_w, look.of_point
        state.sweeps += 1
        state.since += 1
        if state.stored is None:
            return 0
        state.stored.accept(step)
        if state.sweeps < state.next_check:
            return 0
        state.next_check += max(_FIRST, int(_SHARE * state.sweeps))
        self._consider_restart(problem, state, state.stored)
        points = [state.center_w] if state.total == 0.0 else [state.sum_w / state.total, state.point_w]
        sum_w, *candidates = (self.weights(problem, w) for w in (state.sum_w, *points))
        state.present = restrict(state.everything, state.present, state.stored, candidates, sum_w, state.total)
        return 2 * problem.n_blocks

    def _move(self, problem: BlockProblem, state: SaddleState, center: F64, force: F64, count: float) -> F64:
        """Return the point of argmin_w force·w + count Ψ(w) + d(w, center)/w_step."""
        if self.l1_radius is not None:
            up = force * (np.arange(len(force)) < len(force) - problem.n_nonpositive)
            logs = np.log(np.maximum(center, _LEAST)) - state.w_step / self.l1_radius * np.concatenate([up, -force])
            halves = np.exp(logs - logs.max())
            return np.asarray(self.l1_radius / halves.sum() * halves)
        w = clip(center - state.w_step * force, problem.n_nonpositive)
        if self.radius is None:
            w /= 1.0 + state.w_step * count * problem.regularization
            return w
        size = float(np.linalg.norm(w))
        return w if size <= self.radius else w * (self.radius / size)

    def _adapt(self, problem: BlockProblem, state: SaddleState, look: Look, point_w: F64, ahead_w: F64) -> bool:
        """Set the length of the next step by the rule of PDLP, and return whether this one was not too long."""
        n, step = state.n, state.step
        past, coming = (self.weights(problem, w) for w in (point_w - state.ahead_w, ahead_w - point_w))
        twist = (state.of_ahead - look.of_point)[:-1] @ coming + (look.of_ahead - look.of_point)[:-1] @ past
        lead = step * float(twist) / n
        moved = self._distance_w(point_w, state.ahead_w) + self._distance_w(ahead_w, point_w)
        allowed = look.moved / state.z_step + moved / state.w_step
        state.tries += 1
        limit = step * allowed / lead if lead > 0.0 else inf
        shrunk = (1.0 - (state.tries + 1.0) ** -0.3) * limit
        state.step = max(1.0, min(shrunk, (1.0 + (state.tries + 1.0) ** -0.6) * step))
        return lead <= allowed or step <= 1.0  # η = 1/L is never too long, but for rounding

    def _values(self, problem: BlockProblem, state: SaddleState, point_w: F64, of_z: F64) -> Candidate:
        """Compute the upper value max_z J(w, z) by the oracle, and the lower min_w J(w, z) in closed form  [TLJ06]."""
        w = self.weights(problem, point_w)
        answers = ask_all(problem, w)
        moved = (state.start.of_target - of_z) / problem.n_blocks
        loss = -float(moved[-1])
        radius, dual_norm = (self.radius, 2) if self.l1_radius is None else (self.l1_radius, inf)
        if radius is None:
            lower = dual_value(problem, clip(moved[:-1] / problem.regularization, problem.n_nonpositive), loss)
            return Candidate(point_w, of_z, primal_value(problem, w, answers), lower)
        lower = loss - radius * float(np.linalg.norm(clip(moved[:-1], problem.n_nonpositive), dual_norm))
        return Candidate(point_w, of_z, float(answers.hinges.mean()), lower)

    def _consider_restart(self, problem: BlockProblem, state: SaddleState, stored: Stored) -> None:
        average = self._values(problem, state, state.sum_w / state.total, state.sum_z / state.total)
        last = self._values(problem, state, state.point_w.copy(), state.of_point)
        best = min(average, last, key=lambda candidate: candidate.gap)
        before, state.last_gap = state.last_gap, best.gap
        first = state.best.gap if state.best is not None else inf
        enough = best.gap <= _GAP_FALLEN * first or (best.gap <= _GAP_LOWER * first and best.gap > before)
        if not (enough or state.since >= _LONGEST_SHARE * state.sweeps):
            return
        z = stored.total / state.total if best is average else stored.z
        gone_z = float(((z - stored.begun) ** 2).sum()) / state.n
        gone_w = float(np.linalg.norm(best.point_w - state.center_w))
        if gone_w > 0.0 and gone_z > 0.0:
            state.weight = sqrt(state.weight * gone_w / sqrt(gone_z))
        stored.begin(state.present.points(z, slice(None)), z)
        state.begin(best.point_w, best.of_z)
        state.best, state.last_gap = best, inf

    def audit(self, problem: BlockProblem, state: SaddleState) -> Audit:
        """Audit the average since û, or û of the last restart if it is better, with the better of the lower values."""
        w, of_z, bound = state.center_w, state.of_ahead, None  # û before the first step
        if state.total > 0.0:
            w, of_z = state.sum_w / state.total, state.sum_z / state.total
            if state.best is None and state.present is state.everything:
                best_w = clip(-state.force(of_z, 1.0) / problem.regularization, problem.n_nonpositive)
                farthest = self._farthest(problem)
                of_w = 0.5 * float(best_w @ best_w) if farthest is None else farthest
                bound = (of_w / state.w_step + state.start.span / state.z_step) / state.total
        answers = [self._values(problem, state, w, of_z), *([] if state.best is None else [state.best])]
        best, lower = min(answers, key=lambda answer: answer.upper), max(answer.lower for answer in answers)
        steps = f"step 1/L times {state.step:.3g}, L = {state.lipschitz:.6g}, primal weight {state.weight:.4g}"
        notes = [f"‖F‖₂ = {state.norm:.6g}; {steps}"]
        for norm, radius in (("‖w‖", self.radius), ("‖w‖₁", self.l1_radius)):
            if radius is not None:
                notes.append(f"the gap is that of the game within {norm} <= γ = {radius:g}, in which λ has no part")
        if self.restarts:
            notes.append("restarts keep eight numbers in memory for each part that has a share")
        return Audit(self.weights(problem, best.point_w).copy(), best.upper, lower, bound=bound, notes=tuple(notes))

    def dual_point(self, problem: BlockProblem, state: SaddleState) -> DualPoint:
        """The dual point of the mean of z; its marginals are not kept."""
        of_z = state.sum_z / state.total if state.total > 0.0 else state.of_ahead
        moved = (state.start.of_target - of_z) / problem.n_blocks
        return DualPoint(moved[:-1] / problem.regularization, -float(moved[-1]))
