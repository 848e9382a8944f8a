"""Neighbours: the standing of the edges next to an edge, because translations come in runs."""

from __future__ import annotations

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
    best = find_mutual_best(batch.dice, batch.tokens.shapes, batch.tokens.edge_offsets)
    _fill(batch.dice, batch.lists, batch.tokens.edge_offsets, out[:, :4].T)
    _fill(best, batch.lists, batch.tokens.edge_offsets, out[:, 4:].T)


@compiled
def _fill(values, lists, offsets, out):
    for i in range(len(lists.shapes)):
        J, K = lists.shapes[i]
        for edge in range(lists.offsets[i], lists.offsets[i + 1]):
            j, k = lists.source[edge], lists.target[edge]
            place = offsets[i] + j * K + k
            out[0, edge] = values[place - K - 1] if j > 0 and k > 0 else 0.0
            out[1, edge] = values[place + K + 1] if j + 1 < J and k + 1 < K else 0.0
            out[2, edge] = values[place - K + 1] if j > 0 and k + 1 < K else 0.0
            out[3, edge] = values[place + K - 1] if j + 1 < J and k > 0 else 0.0
