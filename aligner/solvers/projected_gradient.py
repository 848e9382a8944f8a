"""Block-coordinate projected gradient in the marginal dual  [Nesterov 2012]."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from aligner.solvers import _projected_kernels as kernels
from aligner.solvers.audit import ask_all, judge
from aligner.solvers.orders import Permuted, Uniform
from aligner.solvers.records import Audit, DualPoint
from aligner.svm._corner_kernels import SURE, Blocks
from aligner.svm.corners import check_code
from aligner.svm.protocols import BlockProblem, edges_of
from corpora.ragged import word_offsets

_BLOCKS_AT_ONCE = 512
"""Blocks of one compiled call, between which Ctrl-C is heard."""


class GradientStep(Enum):
    """How far along its gradient a block goes, before the projection."""

    LIPSCHITZ = "lipschitz"
    """1/L_i, L_i = ‖F_i‖²/(λn²) by the norm of Frobenius, which is at least the Lipschitz constant of ∇_i."""
    SPECTRAL = "spectral"
    """‖Δ‖²/(Δ·H_iΔ), where the block's last step was Δ and the dual's Hessian is −H_i: at least as long, and often a
    hundred times; it falls to 1/L_i only where the dual is as curved as that  [Birgin, Martínez and Raydan 2000]."""


@dataclass(eq=False)
class MarginalState:
    """A point of the marginal dual.  regularization: the λ that its w is scaled by."""

    rng: np.random.Generator
    edges: Blocks
    regularization: float
    point: kernels.Marginals


@dataclass(frozen=True)
class ProjectedGradient:
    """Projected gradient steps of one block at a time, on marginals z_i in place of weights of matchings.

    Features are linear in z, so the dual is D(z) = ℓ(z) − λ/2 ‖w(z)‖² with w(z) = Σ_i F_i (y_i − z_i)/(λn). Its
    gradient in z_i is 1/n times the loss-augmented scores, F_iᵀw + c_i. A step goes from z_i towards
    Π_Z(z_i + ∇_i/L_i), as far as the dual gains. No oracle is asked but for audits; an inexact projection is feasible
    all the same.

    Guarantee: the dual never falls. With steps 1/L_i in uniform order the expected suboptimality after k steps is at
    most n/(n + k) · (D* − D(y) + 1/2 Σ_i L_i ‖y_i − z_i*‖²)  [Lu and Xiao 2015 Thm. 1, which sharpens Nesterov's].
    Solver memory: a number for each edge and each word.
    """

    order: Uniform | Permuted = Permuted()  # noqa: RUF009 - frozen
    step: GradientStep = GradientStep.SPECTRAL

    @property
    def signature(self) -> str:
        return f"projected-gradient|order:{self.order.name}|step:{self.step.value}"

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> MarginalState:
        """z = y, where w = 0 and ℓ = 0.  Raises SettingError where single edges are not at hand."""
        edges = edges_of(problem, "projected-gradient").arrays
        bounds = np.empty(problem.n_blocks)
        kernels.curvature_bounds(edges.features, edges.lists.offsets, bounds)
        starts = word_offsets(edges.lists.shapes)
        point = kernels.Marginals(
            (edges.labels == SURE).astype(np.float64), np.zeros(problem.n_features), bounds, bounds.copy(),
            np.zeros(starts[-1, 0]), np.zeros(starts[-1, 1]), starts,
        )  # fmt: skip
        return MarginalState(rng, edges, problem.regularization, point)

    def resume(self, problem: BlockProblem, state: MarginalState) -> None:
        """Go on from the same dual point in a problem that differs in λ only: w(z) is scaled by 1/λ."""
        state.point.w[:] *= state.regularization / problem.regularization
        state.regularization = problem.regularization

    def sweep(self, problem: BlockProblem, state: MarginalState) -> int:
        scale, spectral = problem.regularization * problem.n_blocks, self.step is GradientStep.SPECTRAL
        order = self.order.draw(problem.n_blocks, state.rng)
        for first in range(0, len(order), _BLOCKS_AT_ONCE):
            part = order[first : first + _BLOCKS_AT_ONCE]
            check_code(*kernels.projected_steps(part, spectral, state.edges, scale, state.point))
        kernels.settle(state.edges, scale, state.point)
        return 0

    def audit(self, problem: BlockProblem, state: MarginalState) -> Audit:
        w = state.point.w.copy()
        moved = state.point.z - (state.edges.labels == SURE)  # L_i is linear in z, and 0 at the target
        loss = float(state.edges.costs @ moved) / problem.n_blocks
        return judge(problem, w, loss, ask_all(problem, w))

    def dual_point(self, problem: BlockProblem, state: MarginalState) -> DualPoint:
        moved = state.point.z - (state.edges.labels == SURE)
        loss = float(state.edges.costs @ moved) / problem.n_blocks
        return DualPoint(state.point.w, loss, marginals=state.point.z)
