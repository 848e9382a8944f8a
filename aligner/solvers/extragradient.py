"""Dual extragradient on the saddle point of the structured SVM  [TLJ06, N07]."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from aligner.errors import SettingError
from aligner.matching.projection import GEOMETRIES
from aligner.solvers import _saddle_kernels as kernels
from aligner.solvers.audit import ask_all, dual_value, primal_value
from aligner.solvers.records import Audit, DualPoint
from aligner.solvers.saddle import Look, Start, feature_norm, look_ahead, measure_start
from aligner.svm._corner_kernels import Blocks
from aligner.svm.protocols import BlockProblem, edges_of
from corpora.ragged import F64, word_offsets

_CHECKS = 10
"""Sweeps between two looks at the gap, for restarts."""

_ENOUGH = 0.2
_LITTLE = 0.8
_TOO_LONG = 0.36
"""When to begin anew: the gap has fallen to this share, or to this share and rises again, or after this share of all
iterations  [Applegate et al. 2021 §3.2, PDLP]."""

_LEAST = 1e-300
"""What a center is raised to before its logarithm is taken."""


class Projection(Enum):
    """The geometry of z: which point of the polytope is nearest."""

    EUCLIDEAN = "euclidean"
    ENTROPIC = "entropic"

    @property
    def code(self) -> int:
        """Its code in the kernels."""
        return GEOMETRIES[self.value]


class Candidate(NamedTuple):
    """An answer: w (d,) and (F z, c·z) (d + 1,), its upper and its lower value."""

    w: F64
    of_z: F64
    upper: float
    lower: float

    @property
    def gap(self) -> float:
        return self.upper - self.lower


@dataclass(eq=False)
class SaddleState:
    """Two vectors of sums stand for û, s and the average, and two more for the present step: O(d) memory.

    norm: ‖F‖₂.  weight: the primal weight ω.  center_w: û_w.  sum_w, sum_z, total: Σ η u_w, Σ η (F u_z, c·u_z) and Σ η
    since û.  ahead_w, of_ahead: v.  point_w, of_point: u.  step: η, relative to 1/L.  tries: steps tried.
    sweeps, since: iterations, all and since û.  best: û, once there was a restart; last_gap: at the last look.
    """

    edges: Blocks
    stored: kernels.Stored
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
    best: Candidate | None = None
    last_gap: float = inf

    @property
    def lipschitz(self) -> float:
        """L = ‖F‖₂/√n of J's gradient, where the distance in z is the mean over pairs."""
        return (self.norm if self.norm > 0.0 else 1.0) / sqrt(max(1, len(self.edges.lists.shapes)))

    @property
    def w_step(self) -> float:
        return self.weight / self.lipschitz

    @property
    def z_step(self) -> float:
        return 1.0 / (self.weight * self.lipschitz)

    def force(self, of_z: F64, count: float) -> F64:
        """Σ ∇_w of the bilinear part at iterates that count so much together: (Σ F z − count Σ_i f_i(y_i))/n."""
        force: F64 = (of_z[:-1] - count * self.start.of_target[:-1]) / len(self.edges.lists.shapes)
        return force

    def begin(self, w: F64, of_z: F64) -> None:
        """Begin anew at û = (w, z), where stored.center is z."""
        self.center_w = w.copy()
        self.sum_w, self.sum_z, self.total, self.since = np.zeros_like(w), np.zeros_like(of_z), 0.0, 0
        self.ahead_w, self.of_ahead = w.copy(), of_z.copy()


@dataclass(frozen=True)
class Extragradient:
    """Dual extragradient: min over w, max over z of J(w, z), by steps that look ahead  [TLJ06 Fig. 2, N07].

        J(w, z) = Ψ(w) + 1/n Σ_i [ w·(F_i z_i − f_i(y_i)) + c_i·(z_i − y_i) ]
        v = T(û, s);  u = T(v, −η ∇J(v));  s ← s − η ∇J(u);  the answer is the mean of all u, weighted by η

    T is the proximal step, in z the projection on the matching polytope, Euclidean or entropic  [TLJ06 §4.1-4.2].

    radius: γ, for Ψ = 0 within ‖w‖ <= γ as in the source. By default Ψ(w) = λ/2 ‖w‖², kept whole in the steps of w
    (not linearised): the saddle point solves the problem of all other solvers, its values primal and dual.
    Steps grow beyond η = 1/L, L = ‖F‖₂/√n, as long as Nesterov's proof allows it where they are taken:
    η ⟨∇J(u) − ∇J(v), u − v⁺⟩ <= d(u, v) + d(v⁺, u), v⁺ the next v. The dense direction of F that makes L large is
    hardly ever moved along by matchings, so that they grow a hundredfold; a step that went too far is taken again.
    The primal weight ω = √(D_w/D_z) (steps ω/L in w and 1/(ωL) in z) makes both halves of the bound equal.

    Memory-efficient form [TLJ06 §4.3]: s_z = Σ η (F_iᵀ u_w + c_i) is linear in Σ η u_w, so that every z_i is computed
    anew from sums of d numbers: solver memory is O(d) whatever the corpus (but for d x d moments, which `feature_norm`
    sums once). restarts: begin anew at the average or the last u, whichever has the smaller gap, when it has fallen
    enough, with ω anew from the distances gone  [Applegate et al. 2021]; û_z is then any point, so that what belongs to
    edges and words is stored, five numbers an edge: the same iterates up to the first restart.

    Guarantee: the gap is at most `Audit.bound` = (D_w/ω + ω D_z) L / Σ η, with D the largest distance from û, or,
    without a radius, that to the best w against the average z [N07 Thm. 2]; none is told after a restart, from where
    convergence is linear with a rate not known. A sweep is one iteration: one reading of the features and three
    projections a pair (two in the stored form), repeated if the step went too far. It asks the oracle only where
    restarts need to know the gap.
    """

    projection: Projection = Projection.EUCLIDEAN
    radius: float | None = None
    restarts: bool = False

    def __post_init__(self) -> None:
        if self.radius is not None and not (np.isfinite(self.radius) and self.radius > 0):
            raise SettingError(f"radius must be a number above 0, not {self.radius}")

    @property
    def signature(self) -> str:
        radius = "none" if self.radius is None else f"{self.radius:g}"
        parts = ["extragradient", f"projection:{self.projection.value}", f"radius:{radius}"]
        return "|".join([*parts, "restarts"] if self.restarts else parts)

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> SaddleState:
        """û: w = 0, and the target z = y, mixed with all edges for entropic.  Raises SettingError without edges."""
        edges = edges_of(problem, "extragradient").arrays
        shapes = edges.lists.shapes if self.restarts else edges.lists.shapes[:0]
        starts = word_offsets(shapes)
        of_edges = np.zeros((5, edges.lists.offsets[len(shapes)]))
        of_rows, of_columns = (np.zeros((2, m)) for m in starts[-1])
        stored = kernels.Stored(starts, *of_edges, *of_rows, *of_columns)
        start = measure_start(edges, stored, self.projection.code)
        # λ/2 ‖w*‖² <= P(0), the mean of the largest losses.
        of_w = self.radius**2 / 2 if self.radius is not None else start.loss / problem.regularization
        weight = sqrt(of_w / start.span) if of_w > 0.0 and start.span > 0.0 else 1.0
        state = SaddleState(edges, stored, start, feature_norm(edges), weight)
        state.begin(np.zeros(problem.n_features), start.of_center)
        return state

    def sweep(self, problem: BlockProblem, state: SaddleState) -> int:
        geometry, fits = self.projection.code, False
        while not fits:
            step = state.step
            point_w = self._move(problem, state, state.ahead_w, state.force(state.of_ahead, 1.0) * step, step)
            weights = kernels.Step(geometry, state.sum_w, state.total, state.ahead_w, point_w, step, state.z_step)
            look = look_ahead(state.edges, state.stored, weights)
            sum_z, total = state.sum_z + step * look.of_point, state.total + step
            ahead_w = self._move(problem, state, state.center_w, state.force(sum_z, total), total)
            fits = self._adapt(state, look, point_w, ahead_w)
        state.sum_w, state.sum_z, state.total = state.sum_w + step * point_w, sum_z, total
        state.ahead_w, state.of_ahead, state.point_w, state.of_point = ahead_w, look.of_ahead, point_w, look.of_point
        state.sweeps += 1
        state.since += 1
        if not self.restarts:
            return 0
        kept = state.stored
        kept.total[:] += step * kept.z
        state.stored = kept._replace(
            pull=kept.next_pull, row_prices=kept.next_row_prices, column_prices=kept.next_column_prices,
            next_pull=kept.pull, next_row_prices=kept.row_prices, next_column_prices=kept.column_prices,
        )  # fmt: skip
        if state.sweeps % _CHECKS > 0:
            return 0
        self._consider_restart(problem, state)
        return 2 * problem.n_blocks

    def _move(self, problem: BlockProblem, state: SaddleState, center: F64, force: F64, count: float) -> F64:
        """argmin_w force·w + count Ψ(w) + ‖w − center‖²/(2 w_step)."""
        w: F64 = center - state.w_step * force
        if self.radius is None:
            w /= 1.0 + state.w_step * count * problem.regularization
            return w
        size = float(np.linalg.norm(w))
        return w if size <= self.radius else w * (self.radius / size)

    def _adapt(self, state: SaddleState, look: Look, point_w: F64, ahead_w: F64) -> bool:
        """Whether the step was not too long; and how long the next one is, by the rule of PDLP."""
        n, step = len(state.edges.lists.shapes), state.step
        past, coming = point_w - state.ahead_w, ahead_w - point_w
        twist = (state.of_ahead - look.of_point)[:-1] @ coming + (look.of_ahead - look.of_point)[:-1] @ past
        lead = step * float(twist) / n
        allowed = look.moved / state.z_step + 0.5 * float(past @ past + coming @ coming) / state.w_step
        state.tries += 1
        limit = step * allowed / lead if lead > 0.0 else inf
        shrunk = (1.0 - (state.tries + 1.0) ** -0.3) * limit
        state.step = max(1.0, min(shrunk, (1.0 + (state.tries + 1.0) ** -0.6) * step))
        return lead <= allowed or step <= 1.0  # η = 1/L is never too long, but for rounding

    def _judge(self, problem: BlockProblem, state: SaddleState, w: F64, of_z: F64) -> Candidate:
        """Upper and lower value, max_z J(w, z) by the oracle and min_w J(w, z) in closed form  [TLJ06]."""
        answers = ask_all(problem, w)
        moved = (state.start.of_target - of_z) / problem.n_blocks
        loss = -float(moved[-1])
        if self.radius is None:
            lower = dual_value(problem, moved[:-1] / problem.regularization, loss)
            return Candidate(w, of_z, primal_value(problem, w, answers), lower)
        return Candidate(w, of_z, float(answers.hinges.mean()), loss - self.radius * float(np.linalg.norm(moved[:-1])))

    def _consider_restart(self, problem: BlockProblem, state: SaddleState) -> None:
        average = self._judge(problem, state, state.sum_w / state.total, state.sum_z / state.total)
        last = self._judge(problem, state, state.point_w.copy(), state.of_point)
        best = min(average, last, key=lambda candidate: candidate.gap)
        before, state.last_gap = state.last_gap, best.gap
        first = state.best.gap if state.best is not None else inf
        enough = best.gap <= _ENOUGH * first or (best.gap <= _LITTLE * first and best.gap > before)
        if not (enough or state.since >= _TOO_LONG * state.sweeps):
            return
        kept = state.stored
        entropic = self.projection is Projection.ENTROPIC
        left = np.exp(kept.center) if entropic else kept.center
        center = kept.total / state.total if best is average else kept.z
        gone_z = float(((center - left) ** 2).sum()) / problem.n_blocks
        kept.center[:] = np.log(np.maximum(center, _LEAST)) if entropic else center
        gone_w = float(np.linalg.norm(best.w - state.center_w))
        if gone_w > 0.0 and gone_z > 0.0:
            state.weight = sqrt(state.weight * gone_w / sqrt(gone_z))
        for array in (kept.pull, kept.total, kept.row_prices, kept.column_prices):
            array[:] = 0.0
        state.begin(best.w, best.of_z)
        state.best, state.last_gap = best, inf

    def audit(self, problem: BlockProblem, state: SaddleState) -> Audit:
        """The average since û; where û of the last restart is better, that one, and the better of the lower values."""
        w, of_z, bound = state.center_w, state.of_ahead, None  # û before the first step
        if state.total > 0.0:
            w, of_z = state.sum_w / state.total, state.sum_z / state.total
            if state.best is None:
                best_w = -state.force(of_z, 1.0) / problem.regularization
                of_w = 0.5 * (float(best_w @ best_w) if self.radius is None else self.radius**2)
                bound = (of_w / state.w_step + state.start.span / state.z_step) / state.total
        answers = [self._judge(problem, state, w, of_z), *([] if state.best is None else [state.best])]
        best, lower = min(answers, key=lambda answer: answer.upper), max(answer.lower for answer in answers)
        steps = f"step 1/L times {state.step:.3g}, L = {state.lipschitz:.6g}, primal weight {state.weight:.4g}"
        notes = [f"‖F‖₂ = {state.norm:.6g}; {steps}"]
        if self.radius is not None:
            notes.append(f"the gap is that of the game within ‖w‖ <= γ = {self.radius:g}, in which λ has no part")
        if self.restarts:
            notes.append("restarts keep five numbers for each edge in memory")
        return Audit(best.w.copy(), best.upper, lower, bound=bound, notes=tuple(notes))

    def dual_point(self, problem: BlockProblem, state: SaddleState) -> DualPoint:
        """The mean of z; its marginals are not kept."""
        of_z = state.sum_z / state.total if state.total > 0.0 else state.of_ahead
        moved = (state.start.of_target - of_z) / problem.n_blocks
        return DualPoint(moved[:-1] / problem.regularization, -float(moved[-1]))
