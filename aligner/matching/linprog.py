"""A reference oracle: the linear program over the matching polytope, solved by HiGHS through scipy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from aligner.errors import ScoreError
from aligner.matching import F64, I32, I64
from aligner.matching._references import match_one_by_one


def match(scores: F64, shapes: I64, offsets: I64, row_offsets: I64, mates: I32) -> int:
    """Exact: the constraints are totally unimodular, so a vertex optimum is a matching  [TLK05 §2]."""
    return match_one_by_one(_best, scores, shapes, offsets, row_offsets, mates)


def _best(scores: F64) -> tuple[I64, I64]:
    rows, columns = np.nonzero(scores > 0)
    if len(rows) == 0:
        return rows, columns
    J, K = scores.shape
    edges = np.arange(len(rows))
    constraints = coo_array(
        (np.ones(2 * len(rows)), (np.concatenate([rows, J + columns]), np.concatenate([edges, edges]))),
        shape=(J + K, len(rows)),
    )
    gain = scores[rows, columns]
    # HiGHS works to absolute tolerances of 1e-7; scaling makes them relative to the greatest score. The dual
    # simplex ends in a vertex.
    answer = linprog(-gain / gain.max(), A_ub=constraints.tocsr(), b_ub=np.ones(J + K), method="highs-ds")
    if answer.status != 0:
        raise ScoreError(f"the linear program could not be solved: {answer.message}")
    chosen = answer.x > 0.5
    return rows[chosen], columns[chosen]
