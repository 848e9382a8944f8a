"""Averages: which mean of the iterates a solver returns."""

from enum import Enum

from aligner.solvers import _block_kernels as kernels


class Average(Enum):
    """Which iterate, or mean of iterates, is audited and returned."""

    NONE = "none"
    UNIFORM = "uniform"
    WEIGHTED = "weighted"
    SUFFIX = "suffix"

    @property
    def code(self) -> int:
        """The code of this average in the kernels."""
        codes = {Average.NONE: kernels.LAST, Average.UNIFORM: kernels.UNIFORM, Average.WEIGHTED: kernels.WEIGHTED}
        return codes.get(self, kernels.SUFFIX)
