"""Signs that weights must have, for any problem."""

from dataclasses import dataclass

import numpy as np

from aligner.problem import BlockDefaults, BlockProblem, Corners, OfProblem
from corpora.ragged import F64, I64
from corpora.threads import shared_property


@dataclass(frozen=True, eq=False)
class Signed(OfProblem, BlockDefaults):
    """A problem some of whose weights may not be below, or not above, 0.

    Solvers know weights that must not be above 0, and take them to be the last: here columns are put in that order, and
    those of the others' sign are turned round. `weights` makes w of the problem within of a solver's answer.

    positive, negative: columns whose weights must be >= 0, or <= 0.  Raises ValueError where they are none, or not
    different, or have weights that the problem itself keeps from being above 0.
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
        """Which column stands where, and by what it is multiplied."""
        free = [c for c in range(self.n_features) if c not in set(self._constrained)]
        order = np.array([*free, *self._constrained])
        return order, np.where(np.isin(order, self.positive), -1.0, 1.0)

    def weights(self, w: F64) -> F64:
        """Weights of the problem within."""
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
