"""A reference oracle: the linear program over the matching polytope, solved by HiGHS through scipy."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from aligner.errors import OracleError
from aligner.matching import Task
from aligner.matching._references import Positive, match_one_by_one
from corpora.ragged import F64, Bools


def match(task: Task, linked: Bools) -> None:
    """Exact: the constraints are totally unimodular, so a vertex optimum is a matching  [TLK05 §2].

    Further links are variables of their own, and the constraints are still those of a flow.
    """
    match_one_by_one(_best, task, linked)


def _best(positive: Positive, source_rewards: F64, target_rewards: F64) -> Bools:
    """Solve max s·z + ρ·y,  Σ_k z(j,k) <= 1 + Σ_t y_t(j) for every j, likewise for every k,  0 <= z, y <= 1."""
    J, K, rows, columns, scores = positive
    words = np.repeat(np.arange(J + K), [len(source_rewards)] * J + [len(target_rewards)] * K)
    edges, further = np.arange(len(rows)), len(rows) + np.arange(len(words))
    constraints = coo_array(
        (
            np.concatenate([np.ones(2 * len(rows)), -np.ones(len(words))]),
            (np.concatenate([rows, J + columns, words]), np.concatenate([edges, edges, further])),
        ),
        shape=(J + K, len(rows) + len(words)),
    )
    gain = np.concatenate([scores, np.tile(source_rewards, J), np.tile(target_rewards, K)])
    # HiGHS works to absolute tolerances of 1e-7; scaling makes them relative to the greatest score. The dual
    # simplex ends in a vertex.
    answer = linprog(-gain / gain.max(), constraints.tocsr(), np.ones(J + K), bounds=(0, 1), method="highs-ds")
    if answer.status != 0:
        raise OracleError(f"the linear program could not be solved: {answer.message} (choose another oracle)")
    return np.asarray(answer.x[: len(rows)] > 0.5)
