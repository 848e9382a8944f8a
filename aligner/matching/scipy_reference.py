"""A reference oracle: ``scipy.optimize.linear_sum_assignment`` on the scores above 0, one call for each pair."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from aligner.matching import Task
from aligner.matching._references import Positive, match_one_by_one
from corpora.ragged import F64, Bools


def match(task: Task, linked: Bools) -> None:
    """Exact: pairs of score <= 0 that the complete assignment has to make are dropped."""
    match_one_by_one(_best, task, linked)


def _best(edges: Positive, source_rewards: F64, target_rewards: F64) -> Bools:
    scores, chosen = np.zeros((edges.J, edges.K)), np.zeros((edges.J, edges.K), np.bool_)
    scores[edges.rows, edges.columns] = edges.scores
    chosen[linear_sum_assignment(scores, maximize=True)] = True
    return chosen[edges.rows, edges.columns]
