"""The arrays of single edges, for kernels of solvers that know the matching polytope."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aligner.svm.protocols import BlockProblem, edges_of
from corpora.ragged import F32, F64, I64, U8


class Edges(NamedTuple):
    """The edges of a problem.  features: (E, d) float32.  shapes: (n, 2).  offsets: (n + 1,).  labels: (E,).
    costs: (3,), of each label.
    """

    features: F32
    shapes: I64
    offsets: I64
    labels: U8
    costs: F64


def edge_arrays(problem: BlockProblem, solver: str) -> Edges:
    """The edges of a problem, for this solver.  Raises SettingError where they are not at hand."""
    matchings = edges_of(problem, solver)
    table = matchings.edges
    return Edges(table.features, table.shapes, table.offsets, matchings.labels, matchings.costs)


def word_starts(shapes: I64) -> I64:
    """(n + 1, 2) where the source and the target words of each block begin.  shapes: (n, 2)."""
    return np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(shapes, axis=0)])
