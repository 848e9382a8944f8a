"""Averages: which mean of the iterates a solver returns."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from aligner.errors import SettingError
from aligner.solvers import _block_kernels as kernels


class Average(Enum):
    """Which iterate, or mean of iterates, is audited and returned."""

    NONE = "none"
    UNIFORM = "uniform"
    WEIGHTED = "weighted"
    SUFFIX = "suffix"

    @property
    def code(self) -> kernels.Averaging:
        """The code of this average in the kernels."""
        codes = {Average.NONE: kernels.LAST, Average.UNIFORM: kernels.UNIFORM, Average.WEIGHTED: kernels.WEIGHTED}
        return kernels.Averaging(codes.get(self, kernels.SUFFIX), 0.5)

    def weight(self, step: int) -> float:
        """The weight ρ of the iterate after step 0, 1, 2… in mean += ρ (iterate − mean)."""
        return float(kernels.average_weight(self.code, step))


@dataclass(frozen=True)
class Suffix:
    """The mean of the last iterates: of `share` of all or less, as it begins anew at times  [LJSP13 §5]."""

    share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise SettingError(f"the share of a suffix must be between 0 and 1, not {self.share}")

    @property
    def value(self) -> str:
        return f"suffix:{self.share:g}"

    @property
    def code(self) -> kernels.Averaging:
        return kernels.Averaging(kernels.SUFFIX, self.share)

    def weight(self, step: int) -> float:
        return float(kernels.average_weight(self.code, step))


@dataclass(frozen=True)
class OwnAverage:
    """An average of one's own.  weight: as of `Average`, from 0 to 1, and 1 for the first step.

    Compiled steps need a function that numba has compiled (`numba.njit`).
    """

    weight: Callable[[int], float]

    value = "own"
    code = kernels.Averaging(kernels.OWN, 0.0)
