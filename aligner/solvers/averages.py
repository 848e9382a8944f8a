"""Averages: which mean of the iterates is the answer."""

from enum import Enum

from aligner.solvers import _block_kernels as kernels


class Average(Enum):
    """Which iterate is judged and returned."""

    NONE = "none"
    UNIFORM = "uniform"
    WEIGHTED = "weighted"
    SUFFIX = "suffix"

    @property
    def code(self) -> int:
        """Its code in the kernels."""
        codes = {Average.NONE: kernels.LAST, Average.UNIFORM: kernels.UNIFORM, Average.WEIGHTED: kernels.WEIGHTED}
        return codes.get(self, kernels.SUFFIX)
