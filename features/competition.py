"""Competition: how an edge's Dice stands against its rivals, the other edges of its two words."""

from __future__ import annotations

import numba as nb
import numpy as np

from features.edges import EdgeBatch, fill_mutual_best
from features.table import Matrix

NAMES = (
    "rank_row",
    "rank_column",
    "margin_row",
    "margin_column",
    "share_row",
    "share_column",
    "mutual_best",
)

_LONG = 200
"""Of so many rivals and more the higher ones are counted by sorting them."""


def fill(batch: EdgeBatch, out: Matrix, column: int) -> None:
    """Where the edge stands in its row (the edges of its source word) and its column (of its target word).

    rank: 1 / (1 + number of edges with a higher Dice), in (0, 1].  margin: Dice less the best rival's, in [-1, 1].
    share: Dice over the best in the row or column, in [0, 1].
    mutual_best: nothing in row or column is higher, and the Dice is above 0  [Melamed 2000, competitive linking].
    """
    fill_standing(batch.dice, batch.shapes, batch.offsets, out, column)


@nb.njit(cache=True, nogil=True)
def fill_standing(values, shapes, offsets, out, column):
    """The columns of NAMES for any values >= 0 of the edges, (E,), in place of Dice."""
    fill_mutual_best(values, shapes, offsets, out[:, column + 6])
    longest = 1
    for i in range(len(shapes)):
        longest = max(longest, shapes[i, 0], shapes[i, 1])
    line = np.empty(longest, np.float32)
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        first = offsets[i]
        for j in range(J):
            _stand(values[first + j * K : first + (j + 1) * K], out, first + j * K, 1, column)
        for k in range(K):
            for j in range(J):
                line[j] = values[first + j * K + k]
            _stand(line[:J], out, first + k, K, column + 1)


@nb.njit(cache=True, nogil=True)
def _stand(line, out, first, step, column):
    """Rank, margin and share of each edge of a row or column, in every second column of the features."""
    best = np.float32(0.0)
    second = np.float32(0.0)
    for value in line:
        if value > best:
            second = best
            best = value
        elif value > second:
            second = value
    ascending = np.sort(line) if len(line) > _LONG else line
    for x in range(len(line)):
        value = line[x]
        higher = 0
        if len(line) > _LONG:
            higher = len(line) - np.searchsorted(ascending, value, side="right")
        else:
            for y in range(len(line)):
                higher += line[y] > value
        edge = first + x * step
        out[edge, column] = 1.0 / (1.0 + higher)
        out[edge, column + 2] = value - (second if value == best else best)
        out[edge, column + 4] = value / best if best > 0.0 else 0.0
