"""Position: how far an edge is from the diagonal of the sentence pair."""

import numpy as np

from features.batch import EdgeBatch
from features.table import Matrix

NAMES = ("position", "position_root", "position_square")


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """|j/J - k/K|, its square root and its square, each in [0, 1)  [TLK05 §3]."""
    out[:, 0] = distance = batch.off_diagonal
    out[:, 1] = np.sqrt(distance)
    out[:, 2] = distance * distance
