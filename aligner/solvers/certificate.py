"""What a duality gap certifies: how large it is beside the objective, and whether solving ends by it."""

from math import copysign, inf
from typing import NamedTuple

from aligner.solvers.records import Status, Stop

_EXACT = 4e-15
"""A gap of this share of its terms is 0 but for rounding."""

_ROUNDING = 1e-9
"""A gap that is further below 0 than this share of its terms is no rounding error, but a wrong oracle."""

_UNSEEN = 1e-13
"""The share of its terms by which rounding may take a gap below 0, however small the objective is."""


class Certificate(NamedTuple):
    """The least value so far, and the greatest lower bound.  terms: of the value, see `Audit.size`."""

    value: float
    lower: float
    terms: float = 0.0

    @property
    def gap(self) -> float:
        return self.value - self.lower

    @property
    def size(self) -> float:
        """The largest number that the gap is a difference of: rounding errors are a share of it."""
        return max(self.terms, abs(self.value), abs(self.lower))

    @property
    def relative(self) -> float:
        """gap / |value|; 0 if the gap is 0 but for rounding, ±∞ if only the value is 0."""
        if abs(self.gap) <= _EXACT * self.size:
            return 0.0
        return self.gap / abs(self.value) if self.value else copysign(inf, self.gap)

    def ends(self, stop: Stop) -> Status | None:
        """CONVERGED within the limits of `stop`, NEGATIVE_GAP further below 0 than these and rounding; else None."""
        small = max(max(stop.gap, _ROUNDING) * abs(self.value), stop.absolute_gap, _UNSEEN * self.size)
        if self.gap < -min(small, _ROUNDING * self.size):
            return Status.NEGATIVE_GAP
        return Status.CONVERGED if self.relative <= stop.gap or self.gap <= stop.absolute_gap else None
