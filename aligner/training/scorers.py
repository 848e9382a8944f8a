"""From what a solver returns to a function of an edge's features."""

from __future__ import annotations

from typing import Any

import numpy as np

from aligner.model.scoring import KernelScorer, LinearScorer, Scorer
from aligner.solvers.driver import Solver
from aligner.solvers.kernel import KernelBlock
from aligner.svm.kernels import Linear
from aligner.svm.protocols import Edges
from corpora.ragged import F64


def scorer_of(solver: Solver[Any, Any], edges: Edges, w: F64) -> Scorer:
    """The function of an edge's features that a solver's answer is.  edges: of the problem it solved.

    Weights of fertility, which follow those of edges, are left aside; a linear kernel gives weights, too.
    """
    if not isinstance(solver, KernelBlock):
        return LinearScorer(w[: len(edges.names)])
    support = np.flatnonzero(w)
    if isinstance(solver.kernel, Linear):
        return LinearScorer(w[support] @ edges.features[support])
    return KernelScorer(solver.kernel, edges.features[support], w[support])
