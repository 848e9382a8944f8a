"""Neighbours: Dice of the edges next to an edge, as links often continue along the diagonal."""

import numpy as np

from corpora.compiled import MAXIMA, compiled
from features.batch import EdgeBatch
from features.table import Matrix
from features.word_pairs import U

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
DIAGONAL = np.array([(-1, -1), (1, 1), (-1, 1), (1, -1)])
"""Steps to the neighbours: before, after, and crossed before and after."""


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Dice of (j-1, k-1), (j+1, k+1) and of the crossed (j-1, k+1), (j+1, k-1); 0 outside the pair  [TLK05 §3].

    best: the same for whether the neighbour is the mutual best of its row and column.
    """
    best = find_mutual_best(batch.dice, batch.tokens.shapes, batch.tokens.edge_offsets)
    fill_neighbours(batch.dice, batch.lists, batch.tokens.edge_offsets, DIAGONAL, out[:, :4].T)
    fill_neighbours(best, batch.lists, batch.tokens.edge_offsets, DIAGONAL, out[:, 4:].T)


@compiled
def fill_neighbours(values, lists, offsets, steps, out):
    """Copy the values of each listed edge's neighbours: out[c] has those of (j, k) + steps[c], 0 outside the pair.

    values: (E,) of all edges, in rectangles.  steps: (C, 2).
    """
    for i in range(len(lists.shapes)):
        J, K = lists.shapes[i, 0], lists.shapes[i, 1]
        for edge in range(lists.offsets[i], lists.offsets[i + 1]):
            for c in range(len(steps)):
                j, k = lists.source[edge] + steps[c, 0], lists.target[edge] + steps[c, 1]
                inside = (j >= 0) & (j < J) & (k >= 0) & (k < K)
                out[c, edge] = values[offsets[i] + j * K + k] if inside else 0.0


@compiled(fastmath=MAXIMA)
def find_mutual_best(values, shapes, offsets):
    """Return 1 where a value, in rectangles, is above 0 and the highest of its row and column, else 0."""
    out = np.empty(len(values), np.float32)
    widest = 1
    for i in range(len(shapes)):
        widest = max(widest, shapes[i, 1])
    column_best = np.empty(widest, np.float32)
    for i in range(len(shapes)):
        J, K, start = U(shapes[i, 0]), U(shapes[i, 1]), U(offsets[i])
        for k in range(K):
            column_best[k] = 0.0
        for j in range(J):
            row = start + j * K
            for k in range(K):
                column_best[k] = max(column_best[k], values[row + k])
        for j in range(J):
            row = start + j * K
            row_best = np.float32(0.0)
            for k in range(K):
                row_best = max(row_best, values[row + k])
            for k in range(K):
                value = values[row + k]
                out[row + k] = (value > 0.0) & (value == row_best) & (value == column_best[k])
    return out
