"""Kernelised block-coordinate Frank-Wolfe: the dual point is kept instead of weights  [LJSP13 App. B.5, Alg. B.1]."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from aligner.losses._corner_kernels import HINGE_TOLERANCE, SURE, Blocks
from aligner.losses.edges import EdgeProblem, edges_of
from aligner.losses.kernel_functions import RBF, Kernel, expand, kernel_signature, make_kernel
from aligner.matching import Oracle, best_matchings
from aligner.problem import BlockProblem
from aligner.solvers._block_kernels import best_length
from aligner.solvers.averages import Average
from aligner.solvers.orders import Permuted, Visiting, draw_blocks
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.steps import Forward
from aligner.templates import NEGATIVE_HINGE, NOT_FINITE, check_code
from corpora.ragged import F32, F64, Lists

_LEAST = 1e-12
"""A smaller gap counts as this in the bound that a note gives."""


@dataclass(eq=False)
class KernelState:
    """The dual point by moved (E,) = y - z, target matchings minus marginals.  mean: (E,) its average.

    The weights in the kernel's space are w = Σ_e moved[e] Φ(φ_e) / (λn), and the losses ℓ = -Σ_e costs[e] moved[e] / n,
    because L_i is linear in z and 0 at y.  steps: the number of steps taken.
    answers: for each block, the matchings with weight beside the target: those found since its last step of length 1.
    squared_radius: R², the largest ‖ψ_i‖² in the kernel's space of the matchings that audits have found.
    """

    origin: Origin
    rng: np.random.Generator
    moved: F64
    mean: F64
    answers: list[set[bytes]]
    steps: int = 0
    squared_radius: float = 0.0

    @property
    def support_vectors(self) -> int:
        return sum(map(len, self.answers))


@dataclass(frozen=True)
class KernelBlock:
    """Block-coordinate Frank-Wolfe in the feature space of a kernel on edges  [LJSP13 Alg. B.1].

    The features of a matching are a sum over its edges, so that the dual variables of a block's matchings reduce to
    their marginals: one number for each edge of the target or of some answer of the oracle, the support. The marginals
    are the coefficients of the weights' expansion in the kernel.

    Guarantee: as of `Block` with forward steps, and with the linear kernel its iterates. Each step adds one matching,
    so that O(R²/(λε)) matchings are enough for a gap of ε, R the longest ψ_i; a note gives that number, and the edges.
    Time of a pass: edges × support values of the kernel. Solver memory: two numbers for each edge, and the matchings
    that have weight.
    It returns coefficients (E,) of the edges as weights, 0 outside the support.
    """

    kernel: Kernel = RBF()  # noqa: RUF009 - frozen
    order: Visiting = Permuted()  # noqa: RUF009 - frozen
    step: Forward = Forward()  # noqa: RUF009 - frozen
    average: Average = Average.NONE

    @property
    def signature(self) -> str:
        parts = ["kernel-bcfw", kernel_signature(self.kernel), f"order:{self.order.name}", f"step:{self.step.name}"]
        return "|".join([*parts, f"average:{self.average.value}"])

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> KernelState:
        edges = len(edges_of(problem, "kernel-bcfw").arrays.labels)
        answers: list[set[bytes]] = [set() for _ in range(problem.n_blocks)]
        return KernelState(Origin(self, problem), rng, np.zeros(edges), np.zeros(edges), answers)

    def resume(self, problem: BlockProblem, state: KernelState) -> None:
        """Go on from the same dual point in a problem that differs in λ only: its marginals are the same."""
        state.origin = Origin(self, problem)
        state.steps = 0  # averages and decreasing steps begin anew

    def sweep(self, problem: BlockProblem, state: KernelState) -> int:
        matchings = edges_of(problem, "kernel-bcfw")
        edges = matchings.arrays
        for block in draw_blocks(self.order, problem.n_blocks, state.rng).tolist():
            self._step(matchings, edges, state, block)
            rho = self.average.weight(state.steps)
            if rho > 0.0:
                state.mean += rho * (state.moved - state.mean)
            state.steps += 1
        return problem.n_blocks

    def _step(self, problem: EdgeProblem, edges: Blocks, state: KernelState, block: int) -> None:
        """Take a step of BCFW: towards the oracle's answer the dual gains γ · slope - γ²/2 · curvature."""
        scale = problem.regularization * problem.n_blocks
        rows = slice(edges.lists.offsets[block], edges.lists.offsets[block + 1])
        labels = edges.labels[rows]
        scores = self._scores(edges, state.moved / scale, edges.features[rows])
        augmented = scores + edges.costs[rows]
        corner = (labels == SURE) - _best(problem.oracle, augmented, edges.lists.take(np.array([block])))
        direction = corner - state.moved[rows]
        if self.step.line_search:
            slope = -float(direction @ augmented)
            if slope <= 0:
                return
            changed = np.flatnonzero(direction)
            features, along = edges.features[rows][changed], direction[changed]
            curvature = float(along @ expand(self.kernel, features, along, features)) / scale
            gamma = best_length(slope, curvature, 1.0)
        else:
            gamma = 2.0 * problem.n_blocks / (state.steps + 2.0 * problem.n_blocks)
        if gamma < 1:
            state.moved[rows] += gamma * direction
        else:  # exactly, so that what leaves the support is 0
            state.moved[rows] = corner
            state.answers[block].clear()
        if corner.any():
            state.answers[block].add(np.packbits(corner < 0).tobytes() + np.packbits(corner > 0).tobytes())

    def audit(self, problem: BlockProblem, state: KernelState) -> Audit:
        matchings = edges_of(problem, "kernel-bcfw")
        edges, n, regularization = matchings.arrays, problem.n_blocks, problem.regularization
        moved = state.mean if self.average is not Average.NONE and state.steps > 0 else state.moved
        coefficients = moved / (regularization * n)
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
        primal, dual = half_norm + float(hinges.mean()), -float(costs @ moved) / n - half_norm
        state.squared_radius = max(state.squared_radius, self._longest(edges, surplus))
        bound = state.squared_radius / (regularization * max(primal - dual, _LEAST))
        note = (
            f"{np.count_nonzero(moved):,} of {len(moved):,} edges have weight in the kernel's expansion, by "
            f"{state.support_vectors:,} matchings; R²/(λε) is {bound:,.0f}"
        )
        return Audit(coefficients, primal, dual, notes=(note,))

    def _longest(self, edges: Blocks, surplus: F64) -> float:
        """The largest ‖ψ_i‖² of the matchings that differ from the targets by `surplus` (E,)."""
        longest = 0.0
        for first, last in pairwise(edges.lists.offsets.tolist()):
            changed = first + np.flatnonzero(surplus[first:last])
            features, along = edges.features[changed], surplus[changed]
            longest = max(longest, float(along @ expand(self.kernel, features, along, features)))
        return longest

    def dual_point(self, problem: BlockProblem, state: KernelState) -> DualPoint:
        """The dual point, where v has coefficients of the edges."""
        edges = edges_of(problem, "kernel-bcfw").arrays
        scale = problem.regularization * problem.n_blocks
        loss = -float(edges.costs @ state.moved) / problem.n_blocks
        return DualPoint(state.moved / scale, loss, marginals=(edges.labels == SURE) - state.moved)

    def _scores(self, edges: Blocks, coefficients: F64, features: F32) -> F64:
        """The scores Σ_e coefficients[e] K(φ_e, ·) of edges with these features."""
        support = np.flatnonzero(coefficients)
        return expand(self.kernel, edges.features[support], coefficients[support], features)


def _best(oracle: str | Oracle, scores: F64, lists: Lists) -> F64:
    """Find the best matchings, (E,) of 0 and 1.  Raises ScoreError if a score is not finite."""
    if not np.isfinite(scores).all():  # the oracles take -inf for a forbidden edge
        check_code(NOT_FINITE, -1)
    return best_matchings(scores, lists, oracle=oracle).astype(np.float64)


def kernel_block(
    kernel: str = "rbf",
    degree: int | None = None,
    bandwidth: float | None = None,
    **options: Any,
) -> KernelBlock:
    """Make the solver with the kernel of this name and its parameters."""
    given = {name: value for name, value in (("degree", degree), ("bandwidth", bandwidth)) if value is not None}
    return KernelBlock(make_kernel(kernel, **given), **options)
