"""A reference oracle: ``scipy.optimize.linear_sum_assignment`` on max(scores, 0), one call a pair."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from aligner.matching import Task
from aligner.matching._references import match_one_by_one
from corpora.ragged import F64, I32, I64


def match(task: Task, column_of_row: I32) -> None:
    """Exact: pairs of score <= 0 that the complete assignment has to make are dropped."""
    match_one_by_one(_best, task, column_of_row)


def _best(scores: F64, source_rewards: F64, target_rewards: F64) -> tuple[I64, I64]:
    rows, columns = linear_sum_assignment(np.maximum(scores, 0.0), maximize=True)
    return rows, columns
