"""Dual extragradient on the saddle point of the structured SVM  [TLJ06, N07]."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from aligner._kernels import SURE
from aligner.errors import SettingError
from aligner.matching._price_kernels import ENTROPIC, EUCLIDEAN
from aligner.problem import BlockProblem, check_code
from aligner.solvers import _saddle_kernels as kernels
from aligner.solvers.audit import ask_all, dual_value, primal_value
from aligner.solvers.kernel import EdgeProblem, edges_of
from aligner.solvers.records import F64, Audit
from aligner.solvers.saddle import Metric, feature_metric
from aligner.solvers.subgradient import StochasticSubgradient
from features.parallel import map_threads

_BLOCKS_AT_ONCE = 128
"""Blocks that a thread takes at once; the sums of these parts are added in order, so that they are always the same."""

_BALANCE = {"euclidean": 0.3, "entropic": 1.0}
"""Primal weight, relative to the ratio of the distances to travel in z and in w; measured on the Hansards."""

_FIRST_PASSES = 2
"""Of stochastic subgradient, from which the distance to travel in w is guessed."""

_RESTART_CHECKS = 8
"""Sweeps between two looks at the gap, for restarts."""

_ENOUGH = 0.3
"""Fall of the gap after which the method begins anew at the average  [Applegate et al. 2021 §5, PDLP]."""

_TOO_LONG = 0.36
"""Share of all iterations after which it does so in any case."""


class Projection(Enum):
    """The geometry of z: which point of the polytope is nearest."""

    EUCLIDEAN = "euclidean"
    ENTROPIC = "entropic"

    @property
    def code(self) -> int:
        """Its code in the kernels."""
        return EUCLIDEAN if self is Projection.EUCLIDEAN else ENTROPIC


PROJECTIONS = {projection.value: projection for projection in Projection}


@dataclass(eq=False)
class Sums:
    """Of the iterates u of a window of iterations: Σ u_w (d,), Σ (F u_z, c·u_z) (d + 1,), and how many there are."""

    w: F64
    z: F64
    count: int = 0

    @classmethod
    def empty(cls, n_features: int) -> Sums:
        return cls(np.zeros(n_features), np.zeros(n_features + 1))

    def add(self, w: F64, z: F64) -> None:
        self.w += w
        self.z += z
        self.count += 1


@dataclass(eq=False)
class SaddleState:
    """center_w: û_w.  since: all iterates since û; older, newer: those since the last two powers of 2.

    target: (d + 1,) Σ_i (f_i(y_i), c_i·y_i).  center_z: the same sums of û_z; at first of y, which is the first answer.
    weight: the primal weight ω.  iterations: all so far.  last_gap: at the last restart.
    """

    rng: np.random.Generator
    edges: kernels.Edges
    stored: kernels.Stored
    target: F64
    metric: Metric
    weight: float
    center_w: F64
    center_z: F64
    since: Sums
    older: Sums
    newer: Sums
    iterations: int = 0
    last_gap: float = field(default=np.inf)


@dataclass(frozen=True)
class Extragradient:
    """Dual extragradient: min over w, max over z of J(w, z) by steps that look ahead  [TLJ06 Fig. 2, N07].

        J(w, z) = Ψ(w) + 1/n Σ_i [ w·(F_i z_i − f_i(y_i)) + c_i·(z_i − y_i) ]

    v = T(û, s);  u = T(v, −F(v));  s ← s − F(u): T is the proximal step of a geometry, in z the projection on the
    matching polytope, Euclidean or entropic  [TLJ06 §4.1-4.2].

    radius: γ, for Ψ = 0 within ‖w‖ <= γ as in the source. By default Ψ(w) = λ/2 ‖w‖², kept whole in the steps of w
    (not linearised), so that the saddle point is that of the problem all other solvers solve and no γ has to be known.
    w moves in the metric of the features' second moments M = Σ_e φ_e φ_eᵀ, in which all directions of w act on scores
    alike: ‖F M^(−1/2)‖ = 1, so that the steps are η = 1 over the primal weight ω and times it, ω balancing the
    distances that w and z have to go, as guessed from two passes of stochastic subgradient. ‖F‖₂ is in the notes.

    Memory-efficient form [TLJ06 §4.3]: s_z = Σ_t (F_iᵀ u_w + c_i)/n is linear in Σ u_w, so that each z_i is computed
    anew from sums of d numbers; solver memory is O(d²) whatever the corpus. stored: keep û_z and Σ u_z instead, and
    the prices of the last projections; the same iterates. restarts: begin anew at the average whenever the gap has
    fallen enough [Applegate et al. 2021]; its û_z has to be stored.

    The answer is the average of the later half or more of the iterates (since the last restart: of all), because the
    first ones are far off. Guarantee: the gap of the average of all u since û is at most `Audit.bound`, (D_w + D_z)/k
    after k of them [N07 Thm. 2]; with restarts linear, where the gap is sharp. A sweep is one iteration, one reading of
    the features and two projections a pair; it calls the oracle only where restarts ask for the gap, and to begin.
    accuracy: of a projection, its duality gap.
    """

    projection: Projection = Projection.EUCLIDEAN
    radius: float | None = None
    restarts: bool = False
    stored: bool = False
    accuracy: float = 1e-5

    def __post_init__(self) -> None:
        if self.radius is not None and not (np.isfinite(self.radius) and self.radius > 0):
            raise SettingError(f"radius must be a number above 0, not {self.radius}")

    @property
    def signature(self) -> str:
        radius = "none" if self.radius is None else f"{self.radius:g}"
        parts = ["extragradient", f"projection:{self.projection.value}", f"radius:{radius}"]
        return "|".join([*parts, *(name for name in ("restarts", "stored") if getattr(self, name))])

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> SaddleState:
        """û: w = 0, all edges of a pair alike.  Raises SettingError where single edges are not at hand."""
        matchings = edges_of(problem, "extragradient")
        table, d = matchings.edges, problem.n_features
        edges = kernels.Edges(table.features, table.shapes, table.offsets, matchings.labels, matchings.costs)
        target = np.zeros(d + 1)
        kernels.add_edges(edges.features, edges.labels, edges.costs, (edges.labels == SURE).astype(float), target)
        return SaddleState(
            rng, edges, self._store(matchings), target, feature_metric(table.features, rng), 1.0, np.zeros(d),
            target.copy(), Sums.empty(d), Sums.empty(d), Sums.empty(d),
        )  # fmt: skip

    def _store(self, problem: EdgeProblem) -> kernels.Stored:
        shapes, offsets = problem.edges.shapes, problem.edges.offsets
        if not (self.stored or self.restarts):
            return kernels.Stored(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), *np.zeros((2, 0), np.int64))
        starts = np.zeros((2, len(shapes) + 1), np.int64)
        np.cumsum(shapes.T, axis=1, out=starts[:, 1:])
        center = np.repeat(1.0 / np.maximum(1, shapes.max(axis=1)), np.diff(offsets))
        return kernels.Stored(
            center, np.zeros(offsets[-1]), np.zeros(starts[0, -1]), np.zeros(starts[1, -1]), starts[0], starts[1]
        )

    def sweep(self, problem: BlockProblem, state: SaddleState) -> int:
        calls = 0
        if state.iterations == 0:
            state.weight = self._first_weight(problem, state)
            calls += _FIRST_PASSES * problem.n_blocks
        n, since = problem.n_blocks, state.since
        v_w = self._step(problem, state, state.center_w, -self._force(state, since.z, since.count), since.count)
        of_v, of_u = self._project(state, v_w)
        u_w = self._step(problem, state, v_w, -self._force(state, of_v, 1), 1)
        for window in (state.since, state.older, state.newer):
            window.add(u_w, of_u)
        state.iterations += 1
        if state.iterations & (state.iterations - 1) == 0:  # a power of 2
            state.older, state.newer = state.newer, Sums.empty(problem.n_features)
        if self.restarts and state.iterations % _RESTART_CHECKS == 0:
            calls += n
            self._restart(problem, state)
        return calls

    def _force(self, state: SaddleState, of_z: F64, count: int) -> F64:
        """Σ ∇_w of the bilinear part at `count` iterates: (Σ F z − count · f(y))/n."""
        force: F64 = (of_z[:-1] - count * state.target[:-1]) / len(state.edges.shapes)
        return force

    def _step(self, problem: BlockProblem, state: SaddleState, center: F64, force: F64, count: int) -> F64:
        """argmax_w force·w − count Ψ(w) − ω/(2n) ‖w − center‖²_M."""
        scale = state.weight / problem.n_blocks
        if self.radius is None:
            return state.metric.step(center, force, scale, count * problem.regularization)
        return state.metric.step_in_ball(center, force, scale, self.radius)

    def _project(self, state: SaddleState, v_w: F64) -> tuple[F64, F64]:
        n, size = len(state.edges.shapes), len(state.target)

        def work(first: int) -> tuple[F64, F64, int, int]:
            of_v, of_u = np.zeros(size), np.zeros(size)
            code, block = kernels.two_steps(
                self.projection.code, first, min(first + _BLOCKS_AT_ONCE, n), state.edges, state.since.w,
                float(state.since.count), v_w, state.weight, self.accuracy, state.stored, of_v, of_u,
            )  # fmt: skip
            return of_v, of_u, code, block

        of_v, of_u = np.zeros(size), np.zeros(size)
        for part_v, part_u, code, block in map_threads(work, range(0, n, _BLOCKS_AT_ONCE)):
            check_code(code, block)
            of_v += part_v
            of_u += part_u
        return of_v, of_u

    def _first_weight(self, problem: BlockProblem, state: SaddleState) -> float:
        """ω: the distance z has to go, over that of w, in its metric."""
        walk = StochasticSubgradient()
        walked = walk.init(problem, state.rng)
        for _ in range(_FIRST_PASSES):
            walk.sweep(problem, walked)
        w = walked.walk.mean_w
        if self.radius is not None:
            w = w * (self.radius / max(float(np.linalg.norm(w)), 1e-300))
        across = state.metric.norm(w)
        links = float(state.edges.shapes.min(axis=1).sum())
        return _BALANCE[self.projection.value] * (links**0.5) / across if across > 0 and links > 0 else 1.0

    def _answer(self, state: SaddleState) -> tuple[F64, F64]:
        """The average to judge: w (d,), and Σ_i (F_i z_i, c_i·z_i) (d + 1,)."""
        window = state.since if self.restarts or state.iterations < 2 else state.older
        if window.count == 0:
            return state.center_w.copy(), state.center_z
        return window.w / window.count, window.z / window.count

    def _values(self, problem: BlockProblem, state: SaddleState, w: F64, of_z: F64, exact: bool) -> tuple[float, float]:
        """Upper and lower value, max_z J(w, z) by the oracle and min_w J(w, z), in closed form  [SPEC §6]."""
        answers = ask_all(problem, w, exact=exact)
        moved = (state.target - of_z) / problem.n_blocks
        loss = -float(moved[-1])
        if self.radius is None:
            return primal_value(problem, w, answers), dual_value(problem, moved[:-1] / problem.regularization, loss)
        return float(answers.hinges.mean()), loss - self.radius * float(np.linalg.norm(moved[:-1]))

    def _restart(self, problem: BlockProblem, state: SaddleState) -> None:
        w, of_z = self._answer(state)
        upper, lower = self._values(problem, state, w, of_z, exact=False)
        too_long = state.since.count >= _TOO_LONG * state.iterations
        if upper - lower > _ENOUGH * state.last_gap and not too_long:
            return
        state.last_gap = upper - lower
        state.center_w, state.center_z = w, of_z
        state.stored.center[:] = state.stored.total / state.since.count
        state.stored.total[:] = 0.0
        state.since = Sums.empty(problem.n_features)

    def _bound(self, problem: BlockProblem, state: SaddleState, of_z: F64) -> float | None:
        """(D_w + D_z)/k, each half a squared distance from û, over its step; None before the first iteration."""
        n, center = problem.n_blocks, state.center_w
        if state.since.count == 0:
            return None
        if self.radius is None:
            best = (state.target - of_z)[:-1] / (n * problem.regularization)
            of_w = state.metric.norm(best - center) ** 2 / 2
        else:
            of_w = float(state.metric.values.max()) * (self.radius + float(np.linalg.norm(center))) ** 2 / 2
        shorter, longer = state.edges.shapes.min(axis=1), state.edges.shapes.max(axis=1)
        if self.projection is Projection.EUCLIDEAN:
            of_z_steps = float(shorter.sum())  # ‖z‖² and ‖û‖² are at most the shorter side
        else:
            least = kernels.LEAST if self.restarts else 1.0 / np.maximum(longer, 1)
            of_z_steps = float((shorter * np.maximum(1.0, -np.log(least))).sum())
        return (state.weight * of_w + of_z_steps / state.weight) / (n * state.since.count)

    def audit(self, problem: BlockProblem, state: SaddleState) -> Audit:
        w, of_z = self._answer(state)
        upper, lower = self._values(problem, state, w, of_z, exact=True)
        notes = [f"‖F‖₂ = {state.metric.feature_norm:.6g}, primal weight {state.weight:.4g}"]
        if self.radius is not None:
            notes.append(f"the gap is that of the game within ‖w‖ <= {self.radius:g}; λ plays no part in it")
        return Audit(w, upper, lower, bound=self._bound(problem, state, of_z), notes=tuple(notes))
