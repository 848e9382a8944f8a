"""Neighbours: the standing of the edges next to an edge, because translations come in runs."""

from __future__ import annotations

import numpy as np

from corpora.compiled import compiled
from features.batch import EdgeBatch, find_mutual_best
from features.table import Matrix

NAMES = (
    "dice_before", "dice_after", "dice_before_crossed", "dice_after_crossed",
    "best_before", "best_after", "best_before_crossed", "best_after_crossed",
)  # fmt: skip


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Dice of (j-1, k-1), (j+1, k+1) and of the crossed (j-1, k+1), (j+1, k-1); 0 outside the pair  [TLK05 §3].

    best: the same for whether the neighbour is the mutual best of its row and column.
    """
    _fill(batch.dice, batch.shapes, batch.offsets, out[:, :4].T)
    best = find_mutual_best(batch.dice, batch.shapes, batch.offsets)
    _fill(best, batch.shapes, batch.offsets, out[:, 4:].T)


@compiled
def _fill(values, shapes, offsets, out):
    widest = 0
    for i in range(len(shapes)):
        widest = max(widest, shapes[i, 1])
    nothing = np.zeros(widest, np.float32)
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        for j in range(J if K > 0 else 0):
            first = offsets[i] + j * K
            above = values[first - K : first] if j > 0 else nothing[:K]
            below = values[first + K : first + 2 * K] if j + 1 < J else nothing[:K]
            before = out[0, first : first + K]
            after = out[1, first : first + K]
            before_crossed = out[2, first : first + K]
            after_crossed = out[3, first : first + K]
            before[0] = after_crossed[0] = 0.0
            for k in range(1, K):
                before[k] = above[k - 1]
                after_crossed[k] = below[k - 1]
            for k in range(K - 1):
                after[k] = below[k + 1]
                before_crossed[k] = above[k + 1]
            after[K - 1] = before_crossed[K - 1] = 0.0
