"""Neighbours: the standing of the edges next to an edge, because translations come in runs."""

from __future__ import annotations

import numba as nb

from features.edges import EdgeBatch
from features.table import Matrix

NAMES = (
    "dice_before",
    "dice_after",
    "dice_before_crossed",
    "dice_after_crossed",
    "best_before",
    "best_after",
    "best_before_crossed",
    "best_after_crossed",
)


def fill(batch: EdgeBatch, out: Matrix, column: int) -> None:
    """Dice of (j-1, k-1), (j+1, k+1) and of the crossed (j-1, k+1), (j+1, k-1); 0 outside the pair  [TLK05 §3].

    best: the same for whether the neighbour is the mutual best of its row and column.
    """
    _fill(batch.dice, batch.shapes, batch.offsets, out, column)
    _fill(batch.mutual_best, batch.shapes, batch.offsets, out, column + 4)


@nb.njit(cache=True, nogil=True)
def _fill(values, shapes, offsets, out, column):
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        for j in range(J):
            for k in range(K):
                edge = offsets[i] + j * K + k
                out[edge, column] = values[edge - K - 1] if j > 0 and k > 0 else 0.0
                out[edge, column + 1] = values[edge + K + 1] if j + 1 < J and k + 1 < K else 0.0
                out[edge, column + 2] = values[edge - K + 1] if j > 0 and k + 1 < K else 0.0
                out[edge, column + 3] = values[edge + K - 1] if j + 1 < J and k > 0 else 0.0
