"""What solvers that work on marginals ask of a problem, many blocks at a time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.svm.protocols import BlockProblem, SaddleProblem
from corpora.ragged import I64
from corpora.threads import map_threads

_PARTS_AT_ONCE = 1 << 18
"""Parts that a thread takes at once; what they add up to is added in order, so that it is the same on all machines."""


def marginals_of(problem: BlockProblem, solver: str, geometry: str) -> SaddleProblem:
    """The problem, if it has marginals and knows which are nearest in this geometry.  Raises SettingError."""
    if not isinstance(problem, SaddleProblem) or geometry not in problem.geometries:
        raise SettingError(f"{solver} needs a problem with marginals in {geometry} geometry (see SaddleProblem)")
    return problem


def sum_blocks(problem: SaddleProblem, work: Callable[[I64, slice], Any]) -> Any:
    """The sum over all blocks of what `work` makes of some of them and of the slice of their parts.

    It is called for many at a time, in threads where the problem is compiled, and adds up in order.
    """
    firsts = np.unique(problem.parts[:-1] // _PARTS_AT_ONCE, return_index=True)[1]
    ends = pairwise([*firsts.tolist(), problem.n_blocks])
    run = map if problem.compiled() is None else map_threads
    return sum(run(lambda end: work(np.arange(*end), slice(*problem.parts[list(end)])), ends))
