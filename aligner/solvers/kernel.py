"""Kernelised block-coordinate Frank-Wolfe: the dual point is kept instead of weights  [LJSP13 App. B.5, Alg. B.1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner.errors import ScoreError
from aligner.matching import Oracle, get_oracle
from aligner.model.scoring import (
    RBF,
    Kernel,
    KernelScorer,
    Linear,
    LinearScorer,
    Scorer,
    kernel_signature,
    score_in_threads,
)
from aligner.solvers.driver import Solver
from aligner.solvers.orders import Order, Permuted
from aligner.solvers.records import F64, Audit
from aligner.svm._corner_kernels import HINGE_TOLERANCE, NEGATIVE_HINGE, SURE
from aligner.svm.hinge import EdgeProblem, check_code, edges_of
from aligner.svm.protocols import BlockProblem
from corpora.ragged import edge_offsets
from features.table import EdgeTable

I64 = npt.NDArray[np.int64]


@dataclass(eq=False)
class KernelState:
    """moved: (E,) = y - z, from the target matchings y to the marginals z of the dual point.

    The weights in the kernel's space are w = Σ_e moved[e] Φ(φ_e) / (λn), and the losses ℓ = -Σ_e costs[e] moved[e] / n,
    because L_i is linear in z and 0 at y.
    """

    rng: np.random.Generator
    moved: F64


@dataclass(frozen=True)
class KernelBlock:
    """Block-coordinate Frank-Wolfe with line search, in the feature space of a kernel on edges  [LJSP13 Alg. B.1].

    The features of a matching are a sum over its edges, so that the dual variables of all matchings of a block come
    down to their marginals: one number for each edge that the target or some answer of the oracle has, the support.
    These are the expansion of the weights in the kernel.

    Guarantee: that of `Block` with forward steps; with the linear kernel its iterates, too. Time of a pass: as many
    values of the kernel as edges × support. Solver memory: a number for each edge.
    The weights it returns are coefficients (E,) of the edges, mostly 0; `scorer` makes a function of them.
    """

    kernel: Kernel = RBF()  # noqa: RUF009 - frozen
    order: Order = Permuted()  # noqa: RUF009 - frozen

    @property
    def signature(self) -> str:
        return f"kernel-bcfw|{kernel_signature(self.kernel)}|order:{self.order.name}"

    def scorer(self, edges: EdgeTable, coefficients: F64) -> Scorer:
        """How these coefficients (E,) of edges score any edge; the expansion of the linear kernel is its weights."""
        expansion = self._expansion(edges, coefficients, 1.0)
        if isinstance(self.kernel, Linear):
            return LinearScorer(expansion.coefficients @ expansion.support)
        return expansion

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> KernelState:
        return KernelState(rng, np.zeros(len(edges_of(problem, "kernel-bcfw").labels)))

    def resume(self, problem: BlockProblem, state: KernelState) -> None:
        """Go on from the same dual point in a problem that differs in λ only: its marginals are the same."""

    def sweep(self, problem: BlockProblem, state: KernelState) -> int:
        matchings = edges_of(problem, "kernel-bcfw")
        chosen = self.order.draw(problem.n_blocks, state.rng)
        for block in chosen.tolist():
            self._step(matchings, state, block)
        return len(chosen)

    def _step(self, problem: EdgeProblem, state: KernelState, block: int) -> None:
        """The step of BCFW: along the direction to the oracle's answer the dual gains γ · slope - γ²/2 · curvature."""
        edges, scale = problem.edges, problem.regularization * problem.n_blocks
        rows = slice(edges.offsets[block], edges.offsets[block + 1])
        labels = problem.labels[rows]
        scores = score_in_threads(self._expansion(edges, state.moved, scale), edges.features[rows])
        augmented = scores + problem.costs[labels]
        corner = (labels == SURE) - _best(problem.oracle, augmented, edges.shapes[block : block + 1])
        direction = corner - state.moved[rows]
        slope = -float(direction @ augmented)
        if slope <= 0:
            return
        changed = np.flatnonzero(direction)
        along = KernelScorer(self.kernel, edges.features[rows][changed], direction[changed])
        curvature = float(along.coefficients @ along.scores(along.support)) / scale
        gamma = min(1.0, slope / curvature) if curvature > 0 else 1.0
        if gamma < 1:
            state.moved[rows] += gamma * direction
        else:  # exactly, so that what leaves the support is 0
            state.moved[rows] = corner

    def audit(self, problem: BlockProblem, state: KernelState) -> Audit:
        matchings = edges_of(problem, "kernel-bcfw")
        edges, n, regularization = matchings.edges, problem.n_blocks, problem.regularization
        coefficients = state.moved / (regularization * n)
        scores = score_in_threads(self._expansion(edges, coefficients, 1.0), edges.features)
        costs = matchings.costs[matchings.labels]
        oracle = matchings.oracle if matchings.oracle.exact else get_oracle("assignment")
        surplus = _best(oracle, scores + costs, edges.shapes) - (matchings.labels == SURE)
        block = np.repeat(np.arange(n), np.diff(edges.offsets))
        hinges, losses = (np.bincount(block, surplus * values, n) for values in (scores + costs, costs))
        worst = int(np.argmin(hinges / np.maximum(1.0, losses)))
        if hinges[worst] < -HINGE_TOLERANCE * max(1.0, losses[worst]):
            check_code(NEGATIVE_HINGE, worst)
        half_norm = 0.5 * regularization * float(coefficients @ scores)
        primal = half_norm + float(hinges.mean())
        dual = -float(costs @ state.moved) / n - half_norm
        return Audit(coefficients, primal, dual)

    def _expansion(self, edges: EdgeTable, values: F64, scale: float) -> KernelScorer:
        """Σ_e values[e] K(φ_e, ·) / scale."""
        support = np.flatnonzero(values)
        return KernelScorer(self.kernel, edges.features[support], values[support] / scale)


def _best(oracle: Oracle, scores: F64, shapes: I64) -> F64:
    """Best matchings as (E,) 0 and 1.  Raises ScoreError where the scores are not finite."""
    row_offsets = np.zeros(len(shapes) + 1, np.int64)
    np.cumsum(shapes[:, 0], out=row_offsets[1:])
    mates = np.full(row_offsets[-1], -1, np.int32)
    finite = bool(np.isfinite(scores).all())  # the oracles take -inf for a forbidden edge
    if not finite or oracle.match(scores, shapes, edge_offsets(shapes), row_offsets, mates) >= 0:
        raise ScoreError("the weights are not finite")
    chosen = np.zeros(len(scores))
    widths = np.repeat(shapes[:, 1], shapes[:, 0])
    chosen[(np.cumsum(widths) - widths + mates)[mates >= 0]] = 1.0
    return chosen


def scorer_of(solver: Solver[Any, Any], edges: EdgeTable, w: F64) -> Scorer:
    """The function of an edge's features that a solver's answer is.  edges: of the problem it solved.

    Weights of fertility, which follow those of edges, are left aside.
    """
    return solver.scorer(edges, w) if isinstance(solver, KernelBlock) else LinearScorer(w[: len(edges.names)])
