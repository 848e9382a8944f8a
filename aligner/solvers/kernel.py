"""Kernelised block-coordinate Frank-Wolfe for matchings: `Block` on the features of a kernel  [LJSP13 App. B.5]."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.losses.hinge import MatchingProblem
from aligner.losses.kernel_functions import RBF, Kernel, KernelFeatures, kernel_signature, make_kernel
from aligner.problem import BlockProblem
from aligner.solvers.averages import Average
from aligner.solvers.block import Block, BlockState
from aligner.solvers.orders import Permuted, Visiting
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.steps import Forward
from corpora.ragged import F64, I64

_MOST_BYTES = 1 << 31
"""Most bytes of the kernel's matrix."""


@dataclass(eq=False)
class KernelState:
    """The problem in the kernel's features, and the state of `Block` on it.

    landmarks: (m,) one edge of each that have the same features.  root: (m, r), see `KernelFeatures`.
    """

    origin: Origin
    problem: MatchingProblem
    block: BlockState
    landmarks: I64
    root: F64

    def expansion(self, w: F64) -> F64:
        """The coefficients (E,) of the edges in the kernel's expansion of weights (r,)."""
        coefficients = np.zeros(len(self.problem.labels))
        coefficients[self.landmarks] = self.root @ w
        return coefficients


@dataclass(frozen=True)
class KernelBlock:
    """Block-coordinate Frank-Wolfe in the feature space of a kernel on edges  [LJSP13 Alg. B.1].

    The features of a matching are a sum over its edges, and `KernelFeatures` of all edges have the kernel's values as
    their products: so `Block` on them takes the steps of the kernelised algorithm, which uses products alone.

    Guarantee: as of `Block` with forward steps. Each step adds one matching to a block, so that O(R²/(λε)) matchings
    are enough for a gap of ε, R the longest ψ_i in the kernel's space.
    Time: O(m³) once for m different edges, r numbers an edge in each pass, r at most m. Solver memory: O(m²).
    It returns the coefficients (E,) of the edges as weights: Σ_e coefficients[e] K(φ_e, φ) is the score of φ.
    """

    kernel: Kernel = RBF()  # noqa: RUF009 - frozen
    order: Visiting = Permuted()  # noqa: RUF009 - frozen
    step: Forward = Forward()  # noqa: RUF009 - frozen
    average: Average = Average.NONE

    @property
    def signature(self) -> str:
        parts = ["kernel-bcfw", kernel_signature(self.kernel), f"order:{self.order.name}", f"step:{self.step.name}"]
        return "|".join([*parts, f"average:{self.average.value}"])

    @property
    def _block(self) -> Block:
        return Block(self.order, self.step, self.average)

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> KernelState:
        if not isinstance(problem, MatchingProblem):
            raise SettingError("kernel-bcfw needs the features of single edges, which this problem does not have")
        if problem.n_nonpositive:
            raise SettingError("kernel-bcfw has one link a word only (choose another solver, bcfw for instance)")
        if problem.prior.any():
            raise SettingError("kernel-bcfw knows no prior weights, which are of features (leave out the prior)")
        points, landmarks = np.unique(problem.edges.features, axis=0, return_index=True)
        if 8 * len(points) ** 2 > _MOST_BYTES:
            raise SettingError(
                f"kernel-bcfw keeps a number for each two of {len(points):,} different edges (make features of fewer "
                "landmarks by KernelFeatures)"
            )
        features = KernelFeatures.of(self.kernel, points)
        mapped = problem.with_features(features(problem.edges.features))
        return KernelState(Origin(self, problem), mapped, self._block.init(mapped, rng), landmarks, features.root)

    def resume(self, problem: BlockProblem, state: KernelState) -> None:
        """Go on from the same dual point in a problem that differs in λ only."""
        state.problem = state.problem.at(problem.regularization)
        self._block.resume(state.problem, state.block)
        state.origin = Origin(self, problem)

    def sweep(self, problem: BlockProblem, state: KernelState) -> int:
        return self._block.sweep(state.problem, state.block)

    def audit(self, problem: BlockProblem, state: KernelState) -> Audit:
        found = self._block.audit(state.problem, state.block)
        return replace(found, w=state.expansion(found.w))

    def dual_point(self, problem: BlockProblem, state: KernelState) -> DualPoint:
        """The dual point, where v has coefficients of the edges."""
        point = state.block.point
        return DualPoint(state.expansion(point.v), float(point.loss[0]))


def kernel_block(
    kernel: str = "rbf",
    degree: int | None = None,
    bandwidth: float | None = None,
    **options: Any,
) -> KernelBlock:
    """Make the solver with the kernel of this name and its parameters."""
    given = {name: value for name, value in (("degree", degree), ("bandwidth", bandwidth)) if value is not None}
    return KernelBlock(make_kernel(kernel, **given), **options)
