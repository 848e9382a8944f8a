"""Signs and penalties of single weights, for any problem."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.errors import SettingError
from aligner.problem import BlockDefaults, BlockProblem, Corners, OfProblem
from corpora.ragged import F64, I64
from corpora.threads import shared_property


@dataclass(frozen=True, eq=False)
class PerCoordinate(OfProblem, BlockDefaults):
    """A problem some of whose weights may not be below, or not above, 0, or have a λ of their own.

    Solvers allow that the last weights must not be above 0: here constrained columns are moved to the end, and those
    that must be >= 0 are negated. λ/2 Σ_c penalties_c w_c² is λ/2 ‖u‖² of u_c = √penalties_c w_c: columns are scaled.
    `weights` turns a solver's u into weights of the wrapped problem.

    positive, negative: columns whose weights must be >= 0, or <= 0.
    penalties: (d,) > 0; by default 1. A bias that is nearly free has a small one, such as 0.01: the bounds of all
    solvers grow with the longest ψ, so that none may be 0.
    Raises SettingError for other penalties, or if a column does not exist, is there twice, or has a weight that the
    problem itself keeps from being above 0.
    """

    problem: BlockProblem
    positive: tuple[int, ...] = ()
    negative: tuple[int, ...] = ()
    penalties: npt.ArrayLike = 1.0

    def __post_init__(self) -> None:
        chosen, free = [*self.positive, *self.negative], self.n_features - self.problem.n_nonpositive
        if len(set(chosen)) != len(chosen) or not set(chosen) <= set(range(free)):
            raise SettingError(f"columns with signs must be different ones below {free}, not {chosen}")
        given = np.asarray(self.penalties)
        fits = given.shape in ((), (self.n_features,)) and given.dtype.kind in "fiu"
        if not (fits and np.isfinite(given).all() and (given > 0.0).all()):
            raise SettingError(f"penalties {given.shape} must be {self.n_features} numbers above 0")

    @property
    def n_nonpositive(self) -> int:  # type: ignore[override]
        return len(self._constrained)

    @property
    def signature(self) -> str:
        parts = f"{self.problem.signature}|signs:{len(self.positive)}+{len(self.negative)}"
        return parts if np.ndim(self.penalties) == 0 else f"{parts}|penalties"

    @shared_property
    def _constrained(self) -> list[int]:
        inner = range(self.n_features - self.problem.n_nonpositive, self.n_features)
        return sorted({*self.positive, *self.negative, *inner})

    @shared_property
    def _order(self) -> tuple[I64, F64]:
        """The order of the columns, and the number by which each is multiplied."""
        free = [c for c in range(self.n_features) if c not in set(self._constrained)]
        order = np.array([*free, *self._constrained])
        lengths = np.broadcast_to(np.asarray(self.penalties, np.float64), self.n_features)[order] ** -0.5
        return order, np.where(np.isin(order, self.positive), -lengths, lengths)

    def weights(self, u: F64) -> F64:
        """The weights of the wrapped problem."""
        order, factors = self._order
        own = np.empty_like(u)
        own[order] = factors * u
        return own

    def corners(self, blocks: I64, w: F64) -> Corners:
        return self._turned(self.problem.corners(blocks, self.weights(w)))

    def exact_corners(self, blocks: I64, w: F64) -> Corners:
        return self._turned(self.problem.exact_corners(blocks, self.weights(w)))

    def _turned(self, corners: Corners) -> Corners:
        order, factors = self._order
        return Corners(factors * corners.dense[:, order], corners.losses)
