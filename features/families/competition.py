"""Competition: how an edge's Dice compares with its rivals, the other edges of its two words."""

import numpy as np

from corpora.compiled import MAXIMA, compiled
from features.batch import EdgeBatch
from features.table import Matrix, Vector

NAMES = "rank_row", "rank_column", "margin_row", "margin_column", "share_row", "share_column", "mutual_best"


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Rank, margin and share of the edge in its row (its source word's edges) and column (its target word's edges).

    rank: 1 / (1 + number of edges with a higher Dice), in (0, 1].  margin: Dice less the best rival's, in [-1, 1].
    share: Dice over the best in the row or column, in [0, 1].
    mutual_best: nothing in row or column is higher, and the Dice is above 0  [Melamed 2000, competitive linking].
    """
    fill_standing(batch, batch.dice, out)


def fill_standing(batch: EdgeBatch, values: Vector, out: Matrix) -> None:
    """Fill the columns of NAMES by any values >= 0 of all edges, in rectangles, instead of Dice."""
    _stand(values, batch.lists, batch.tokens.edge_offsets, out.T)


@compiled(fastmath=MAXIMA)
def _stand(values, lists, offsets, out):
    longest, widest, most = 1, 1, 1
    for i in range(len(lists.shapes)):
        longest = max(longest, lists.shapes[i, 0])
        widest = max(widest, lists.shapes[i, 1])
        most = max(most, lists.shapes[i, 0] * lists.shapes[i, 1])
    across = np.empty(most, np.float32)  # the values of a pair, column by column
    row_best, row_second = np.empty((2, longest), np.float32)
    column_best, column_second = np.empty((2, widest), np.float32)
    for i in range(len(lists.shapes)):
        J, K = lists.shapes[i]
        column_best[:K] = 0.0
        column_second[:K] = 0.0
        for j in range(J):
            row = values[offsets[i] + j * K : offsets[i] + (j + 1) * K]
            best = np.float32(0.0)
            second = np.float32(0.0)
            for k in range(K):
                second = max(second, min(best, row[k]))
                best = max(best, row[k])
            row_best[j] = best
            row_second[j] = second
            for k in range(K):
                column_second[k] = max(column_second[k], min(column_best[k], row[k]))
                column_best[k] = max(column_best[k], row[k])
            for k in range(K):
                across[k * J + j] = row[k]
        for edge in range(lists.offsets[i], lists.offsets[i + 1]):
            j, k = lists.source[edge], lists.target[edge]
            row = values[offsets[i] + j * K : offsets[i] + (j + 1) * K]
            value = row[k]
            out[0, edge], out[2, edge], out[4, edge] = _standing(value, row, row_best[j], row_second[j])
            column = across[k * J : (k + 1) * J]
            out[1, edge], out[3, edge], out[5, edge] = _standing(value, column, column_best[k], column_second[k])
            out[6, edge] = (value > 0.0) & (value == row_best[j]) & (value == column_best[k])


@compiled(fastmath=MAXIMA | {"reassoc"})
def _standing(value, line, best, second):
    """Rank, margin and share of a value in its line, whose two highest values are given."""
    higher = np.float32(0.0)
    for x in range(len(line)):
        higher += np.float32(1.0) if line[x] > value else np.float32(0.0)
    margin = value - (second if value == best else best)
    return np.float32(1.0) / (np.float32(1.0) + higher), margin, value / (best if best > 0.0 else np.float32(1.0))
