"""Kernelised block-coordinate Frank-Wolfe: the dual point is kept instead of weights  [LJSP13 App. B.5, Alg. B.1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aligner.matching import Oracle, best_matchings
from aligner.solvers.orders import Order, Permuted
from aligner.solvers.records import Audit
from aligner.svm._corner_kernels import HINGE_TOLERANCE, NEGATIVE_HINGE, NOT_FINITE, SURE, Blocks
from aligner.svm.corners import check_code
from aligner.svm.kernels import RBF, Kernel, expand, in_threads, kernel_signature, make_kernel
from aligner.svm.protocols import BlockProblem, EdgeProblem, edges_of
from corpora.ragged import F32, F64, Lists


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

    Guarantee: as of `Block` with forward steps; with the linear kernel its iterates, too. Time of a pass: as many
    values of the kernel as edges × support. Solver memory: a number for each edge.
    The weights it returns are coefficients (E,) of the edges, mostly 0: the others have the support.
    """

    kernel: Kernel = RBF()  # noqa: RUF009 - frozen
    order: Order = Permuted()  # noqa: RUF009 - frozen

    @property
    def signature(self) -> str:
        return f"kernel-bcfw|{kernel_signature(self.kernel)}|order:{self.order.name}"

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> KernelState:
        return KernelState(rng, np.zeros(len(edges_of(problem, "kernel-bcfw").arrays.labels)))

    def resume(self, problem: BlockProblem, state: KernelState) -> None:
        """Go on from the same dual point in a problem that differs in λ only: its marginals are the same."""

    def sweep(self, problem: BlockProblem, state: KernelState) -> int:
        matchings = edges_of(problem, "kernel-bcfw")
        edges = matchings.arrays
        for block in self.order.draw(problem.n_blocks, state.rng).tolist():
            self._step(matchings, edges, state, block)
        return problem.n_blocks

    def _step(self, problem: EdgeProblem, edges: Blocks, state: KernelState, block: int) -> None:
        """The step of BCFW: along the direction to the oracle's answer the dual gains γ · slope - γ²/2 · curvature."""
        scale = problem.regularization * problem.n_blocks
        rows = slice(edges.lists.offsets[block], edges.lists.offsets[block + 1])
        labels = edges.labels[rows]
        scores = self._scores(edges, state.moved / scale, edges.features[rows])
        augmented = scores + edges.costs[rows]
        corner = (labels == SURE) - _best(problem.oracle, augmented, edges.lists.take(np.array([block])))
        direction = corner - state.moved[rows]
        slope = -float(direction @ augmented)
        if slope <= 0:
            return
        changed = np.flatnonzero(direction)
        features, along = edges.features[rows][changed], direction[changed]
        curvature = float(along @ expand(self.kernel, features, along, features)) / scale
        gamma = min(1.0, slope / curvature) if curvature > 0 else 1.0
        if gamma < 1:
            state.moved[rows] += gamma * direction
        else:  # exactly, so that what leaves the support is 0
            state.moved[rows] = corner

    def audit(self, problem: BlockProblem, state: KernelState) -> Audit:
        matchings = edges_of(problem, "kernel-bcfw")
        edges, n, regularization = matchings.arrays, problem.n_blocks, problem.regularization
        coefficients = state.moved / (regularization * n)
        scores = self._scores(edges, coefficients, edges.features)
        costs = edges.costs
        oracle = matchings.oracle if matchings.oracle.exact else "assignment"
        surplus = _best(oracle, scores + costs, edges.lists) - (edges.labels == SURE)
        hinges, losses = (np.bincount(edges.lists.pairs, surplus * values, n) for values in (scores + costs, costs))
        size = np.maximum(1.0, np.abs(losses))
        worst = int(np.argmin(hinges / size))
        if hinges[worst] < -HINGE_TOLERANCE * size[worst]:
            check_code(NEGATIVE_HINGE, worst)
        half_norm = 0.5 * regularization * float(coefficients @ scores)
        return Audit(coefficients, half_norm + float(hinges.mean()), -float(costs @ state.moved) / n - half_norm)

    def _scores(self, edges: Blocks, coefficients: F64, features: F32) -> F64:
        """Σ_e coefficients[e] K(φ_e, ·) of edges with these features."""
        support = np.flatnonzero(coefficients)
        kept, some = edges.features[support], coefficients[support]
        return in_threads(lambda part: expand(self.kernel, kept, some, part), features, len(support))


def _best(oracle: str | Oracle, scores: F64, lists: Lists) -> F64:
    """Best matchings as (E,) 0 and 1.  Raises ScoreError where the scores are not finite."""
    if not np.isfinite(scores).all():  # the oracles take -inf for a forbidden edge
        check_code(NOT_FINITE, -1)
    return best_matchings(scores, lists, oracle=oracle).astype(np.float64)


def kernel_block(
    kernel: str = "rbf",
    degree: int | None = None,
    bandwidth: float | None = None,
    order: Order = Permuted(),  # noqa: B008 - frozen
) -> KernelBlock:
    """The solver with the kernel of this name and its parameters."""
    given = {name: value for name, value in (("degree", degree), ("bandwidth", bandwidth)) if value is not None}
    return KernelBlock(make_kernel(kernel, **given), order)
