"""What the reference oracles share: one pair at a time, in Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aligner.matching import Task
from corpora.ragged import F64, I32, I64


def match_one_by_one(best: Callable[[F64, F64, F64], tuple[I64, I64]], task: Task, column_of_row: I32) -> None:
    """Fill column_of_row with the answers of best((J, K) scores, rewards) -> rows and columns of links; see `Match`."""
    slots = column_of_row.reshape(-1, len(task.source_rewards) + 1)
    for i, (J, K) in enumerate(task.shapes.tolist()):
        block = task.scores[task.offsets[i] : task.offsets[i + 1]].reshape(J, K)
        if block.size == 0:
            continue
        rows, columns = best(block, task.source_rewards, task.target_rewards)
        useful = block[rows, columns] > 0
        for j in range(J):
            found = np.sort(columns[useful & (rows == j)])
            slots[task.row_offsets[i] + j, : len(found)] = found
