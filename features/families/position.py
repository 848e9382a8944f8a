"""Position: how far an edge lies from the diagonal of the sentence pair."""

from __future__ import annotations

import numpy as np

from corpora.compiled import compiled
from features.batch import EdgeBatch
from features.table import Matrix

NAMES = ("position", "position_root", "position_square")


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """|j/J - k/K|, its square root and its square, each in [0, 1)  [TLK05 §3]."""
    _fill(batch.shapes, batch.offsets, out.T)


@compiled
def _fill(shapes, offsets, out):
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        for j in range(J):
            row = offsets[i] + j * K
            distances = out[0, row : row + K]
            roots = out[1, row : row + K]
            squares = out[2, row : row + K]
            for k in range(K):
                distance = abs(j / J - k / K)
                distances[k] = distance
                roots[k] = np.sqrt(distance)
                squares[k] = distance * distance
