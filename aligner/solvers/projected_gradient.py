"""Block-coordinate projected gradient in the marginal dual  [Nesterov 2012]."""

from dataclasses import dataclass
from enum import Enum

import numpy as np

from aligner.errors import OracleError
from aligner.matching.projection import GEOMETRIES
from aligner.problem import BlockProblem, marginals_of
from aligner.solvers import _projected_kernels as kernels
from aligner.solvers.gap import ask_all, audit_at, clip
from aligner.solvers.orders import Permuted, Uniform, draw_blocks
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.saddle import Projection, Spans, sum_blocks
from aligner.templates import CompiledMarginals, check_code
from corpora.ragged import F64

_ROUNDS = 10
"""Rounds of the power method for the norm of a block's features."""

_SPREAD = 0.01
"""Weight of the most even marginals beside the target in the entropic start, so that no part has 0."""

_MORE = 1e-5
"""How much better marginals may be than the best corner, relative to their terms: the error of projections."""

_BLOCKS_AT_ONCE = 512
"""Blocks of one compiled call, between which Ctrl-C is heard."""


class GradientStep(Enum):
    """How far a block steps along its gradient, before the projection."""

    LIPSCHITZ = "lipschitz"
    """1/L_i, L_i = ‖F_i‖²/(λn²) the Lipschitz constant of ∇_i, or more: of matchings by the norm of Frobenius;
    of other problems an estimate from below, with which the dual does not fall but nothing is promised."""
    SPECTRAL = "spectral"
    """‖Δ‖²/(Δ·H_iΔ), where the block's last step was Δ and the dual's Hessian is −H_i: at least as long, and often a
    hundred times; it falls to 1/L_i only where the dual is as curved as that  [Birgin, Martínez and Raydan 2000].
    Entropic has the symmetric divergence in place of ‖Δ‖²."""


@dataclass(eq=False)
class MarginalState:
    """A point of the marginal dual.  duals: dual variables of all projections; None if steps are not compiled."""

    origin: Origin
    rng: np.random.Generator
    spans: Spans
    point: kernels.MarginalPoint
    compiled: CompiledMarginals | None
    duals: F64 | None


@dataclass(frozen=True)
class ProjectedGradient:
    """Projected gradient steps of one block at a time, on marginals z_i instead of weights of corners.

    Features are linear in z, so the dual is D(z) = ℓ(z) − λ/2 ‖w(z)‖² with w(z) = Σ_i F_i (y_i − z_i)/(λn). Its
    gradient in z_i is 1/n times the loss-augmented scores, F_iᵀw + c_i. A step goes from z_i towards
    Π_Z(z_i + ∇_i/L_i), as far as the dual gains, Π_Z the nearest point by Euclidean distance or by divergence: with
    `projection` entropic it is block-coordinate exponentiated gradient. Only audits call the oracle; an inexact
    projection is feasible all the same.

    Guarantee: the dual never falls. With Euclidean steps 1/L_i in uniform order the expected suboptimality after k
    steps is at most n/(n + k) · (D* − D(y) + 1/2 Σ_i L_i ‖y_i − z_i*‖²)  [Lu and Xiao 2015 Thm. 1, which sharpens
    Nesterov's].
    Solver memory: a number for each part, and for matchings, whose steps are compiled, one for each word.
    """

    order: Uniform | Permuted = Permuted()  # noqa: RUF009 - frozen
    step: GradientStep = GradientStep.SPECTRAL
    projection: Projection = Projection.EUCLIDEAN

    @property
    def _name(self) -> str:
        return "exponentiated-gradient" if self.projection is Projection.ENTROPIC else "projected-gradient"

    @property
    def signature(self) -> str:
        return f"projected-gradient|order:{self.order.name}|step:{self.step.value}|projection:{self.projection.value}"

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> MarginalState:
        """Begin at z = y, w = 0, ℓ = 0, mixed with all parts for entropic.  Raises SettingError without marginals."""
        geometry, n = self.projection.value, problem.n_blocks
        spans = Spans.of(marginals_of(problem, self._name, geometry), geometry)
        z = np.array(spans.marginals.target, np.float64)
        if self.projection is Projection.ENTROPIC:
            even = spans.gather(lambda span: spans.nearest(span, np.zeros(spans.size(span))))
            z += _SPREAD * (even - z)
        bounds, compiled, duals = np.empty(n), spans.marginals.compiled_marginals(), None
        if compiled is not None:
            compiled.fill(kernels.curvature_bounds)(compiled.arrays, bounds)
            duals = np.zeros(compiled.dual_starts[-1])
        else:
            for i in range(n):
                bounds[i] = _largest_eigenvalue(spans, i, problem.n_features)
        point = kernels.MarginalPoint(z, np.zeros(problem.n_features), bounds, bounds.copy())
        state = MarginalState(Origin(self, problem), rng, spans, point, compiled, duals)
        self._settle(problem, state)
        return state

    def resume(self, problem: BlockProblem, state: MarginalState) -> None:
        """Go on from the same dual point in a problem that differs in λ only: v is scaled by 1/λ."""
        state.point.v[:] *= state.origin.regularization / problem.regularization
        state.origin = Origin(self, problem)

    def sweep(self, problem: BlockProblem, state: MarginalState) -> int:
        scale, spectral = problem.regularization * problem.n_blocks, self.step is GradientStep.SPECTRAL
        geometry, compiled = GEOMETRIES[self.projection.value], state.compiled
        order = draw_blocks(self.order, problem.n_blocks, state.rng)
        if compiled is None:
            for i in order.tolist():
                self._step(problem, state, i, scale)
        else:
            take_steps = compiled.fill(kernels.projected_steps)
            for first in range(0, len(order), _BLOCKS_AT_ONCE):
                code = take_steps(
                    order[first : first + _BLOCKS_AT_ONCE],
                    geometry,
                    spectral,
                    compiled.arrays,
                    state.spans.marginals.parts,
                    scale,
                    problem.n_nonpositive,
                    state.duals,
                    compiled.dual_starts,
                    state.point,
                )
                check_code(*code)
        self._settle(problem, state)
        return 0

    def _step(self, problem: BlockProblem, state: MarginalState, i: int, scale: float) -> None:
        """Take a step of block i; see `kernels.projected_steps`."""
        spans, point, block = state.spans, state.point, np.array([i])
        rows = spans.rows((i, i + 1))
        z = point.z[rows]
        score = spans.marginals.scores(block, clip(point.v, problem.n_nonpositive))
        points = spans.points(z, rows, kernels.LEAST)
        goal = spans.nearest((i, i + 1), points + scale / point.curvatures[i] * score)
        ahead = goal - z
        slope, length = float(ahead @ score), float(ahead @ (spans.points(goal, rows, kernels.LEAST) - points))
        spectral = self.step is GradientStep.SPECTRAL
        if not slope > 0.0:
            if spectral and self.projection is Projection.ENTROPIC:
                point.curvatures[i] = kernels.next_curvature(0.0, point.curvatures[i], point.bounds[i])
            return
        change = spans.marginals.moments(block, ahead)[:-1]
        curvature = float(change @ change)
        gamma = 1.0 if scale * slope >= curvature else scale * slope / curvature
        point.z[rows] += gamma * ahead
        point.v[:] -= gamma / scale * change
        if spectral and length > 0.0:
            point.curvatures[i] = kernels.next_curvature(curvature / length, point.curvatures[i], point.bounds[i])

    def _settle(self, problem: BlockProblem, state: MarginalState) -> float:
        """Make v anew from z, free of rounding errors; returns the loss ℓ, as L_i is linear in z."""
        marginals, moved = state.spans.marginals, state.spans.marginals.target - state.point.z
        sums = sum_blocks(marginals, lambda blocks, own: marginals.moments(blocks, moved[own]))
        state.point.v[:] = sums[:-1] / (problem.regularization * problem.n_blocks)
        return -float(sums[-1]) / problem.n_blocks

    def audit(self, problem: BlockProblem, state: MarginalState) -> Audit:
        loss = self._settle(problem, state)
        w = clip(state.point.v, problem.n_nonpositive)
        answers = ask_all(problem, w)
        if state.compiled is None:
            _check_feasible(state, w, answers.hinges)
        return audit_at(problem, w, loss, answers)

    def dual_point(self, problem: BlockProblem, state: MarginalState) -> DualPoint:
        loss = self._settle(problem, state)
        return DualPoint(state.point.v, loss, marginals=state.point.z)


def _check_feasible(state: MarginalState, w: F64, hinges: F64) -> None:
    """Raise OracleError if a block's marginals are better at w than its best corner: they are no mixture of corners."""
    spans = state.spans

    def excess(span: tuple[int, int]) -> F64:
        """How much better each block's marginals are than its best corner, beyond the error of projections."""
        marginals, rows, blocks = spans.marginals, spans.rows(span), np.arange(*span)
        owner = np.repeat(blocks - span[0], np.diff(marginals.parts[span[0] : span[1] + 1]))
        terms = marginals.scores(blocks, w) * (state.point.z[rows] - marginals.target[rows])
        values, sizes = np.bincount(owner, terms, len(blocks)), np.bincount(owner, np.abs(terms), len(blocks))
        found: F64 = values - hinges[blocks] - _MORE * (1.0 + sizes)
        return found

    more = spans.gather(excess)
    if (more > 0.0).any():
        what = f"the marginals of block {int(more.argmax())} have a greater L − w·ψ than its best corner"
        raise OracleError(f"{what} (check_problem says more)")


def _largest_eigenvalue(spans: Spans, i: int, d: int) -> float:
    """The largest eigenvalue of F_iᵀF_i, from below (96 % or more in trials), by the power method; 1 if F_i is 0."""
    marginals, block = spans.marginals, np.array([i])
    costs = marginals.scores(block, np.zeros(d))
    x, found = np.random.default_rng(0).standard_normal(len(costs)), 0.0
    for _ in range(_ROUNDS):
        x = marginals.scores(block, marginals.moments(block, x)[:-1]) - costs
        found = float(np.linalg.norm(x))
        if found == 0.0:
            return 1.0
        x /= found
    return found
