"""Position: how far an edge lies from the diagonal of the sentence pair."""

from __future__ import annotations

import numpy as np

from corpora.compiled import compiled
from features.batch import EdgeBatch
from features.table import Matrix

NAMES = ("position", "position_root", "position_square")


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """|j/J - k/K|, its square root and its square, each in [0, 1)  [TLK05 §3]."""
    _fill(batch.lists, out.T)


@compiled
def _fill(lists, out):
    for i in range(len(lists.shapes)):
        J, K = lists.shapes[i]
        for edge in range(lists.offsets[i], lists.offsets[i + 1]):
            distance = abs(lists.source[edge] / J - lists.target[edge] / K)
            out[0, edge] = distance
            out[1, edge] = np.sqrt(distance)
            out[2, edge] = distance * distance
