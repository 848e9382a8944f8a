"""Sign constraints on the weights of any problem."""

from dataclasses import dataclass

import numpy as np

from aligner.problem import BlockDefaults, BlockProblem, Corners, OfProblem
from corpora.ragged import F64, I64
from corpora.threads import shared_property


@dataclass(frozen=True, eq=False)
class Signed(OfProblem, BlockDefaults):
    """A problem some of whose weights may not be below, or not above, 0.

    Solvers allow that the last weights must not be above 0: here constrained columns are moved to the end, and those
    that must be >= 0 are negated. `weights` turns a solver's w into weights of the wrapped problem.

    positive, negative: columns whose weights must be >= 0, or <= 0.  Raises ValueError if one does not exist, is there
    twice, or has a weight that the problem itself keeps from being above 0.
    """

    problem: BlockProblem
    positive: tuple[int, ...] = ()
    negative: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        chosen, free = [*self.positive, *self.negative], self.n_features - self.problem.n_nonpositive
        if len(set(chosen)) != len(chosen) or not set(chosen) <= set(range(free)):
            raise ValueError(f"columns with signs must be different ones below {free}, not {chosen}")

    @property
    def n_nonpositive(self) -> int:  # type: ignore[override]
        return len(self._constrained)

    @property
    def signature(self) -> str:
        return f"{self.problem.signature}|signs:{len(self.positive)}+{len(self.negative)}"

    @shared_property
    def _constrained(self) -> list[int]:
        inner = range(self.n_features - self.problem.n_nonpositive, self.n_features)
        return sorted({*self.positive, *self.negative, *inner})

    @shared_property
    def _order(self) -> tuple[I64, F64]:
        """The order of the columns, and the sign by which each is multiplied."""
        free = [c for c in range(self.n_features) if c not in set(self._constrained)]
        order = np.array([*free, *self._constrained])
        return order, np.where(np.isin(order, self.positive), -1.0, 1.0)

    def weights(self, w: F64) -> F64:
        """The weights of the wrapped problem."""
        order, signs = self._order
        own = np.empty_like(w)
        own[order] = signs * w
        return own

    def corners(self, blocks: I64, w: F64) -> Corners:
        return self._turned(self.problem.corners(blocks, self.weights(w)))

    def exact_corners(self, blocks: I64, w: F64) -> Corners:
        return self._turned(self.problem.exact_corners(blocks, self.weights(w)))

    def _turned(self, corners: Corners) -> Corners:
        order, signs = self._order
        return Corners(signs * corners.psi[:, order], corners.losses)
