"""Competition: how an edge's Dice compares with its rivals, the other edges of its two words."""

import numpy as np

from corpora.compiled import MAXIMA, compiled
from features.batch import EdgeBatch
from features.table import Matrix, Vector
from features.word_pairs import U

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
        J, K = U(lists.shapes[i, 0]), U(lists.shapes[i, 1])
        start = U(offsets[i])
        for k in range(K):
            column_best[k] = column_second[k] = 0.0
        for j in range(J):
            row = start + j * K
            best = second = np.float32(0.0)
            for k in range(K):
                second = max(second, min(best, values[row + k]))
                best = max(best, values[row + k])
            row_best[j], row_second[j] = best, second
            for k in range(K):
                column_second[k] = max(column_second[k], min(column_best[k], values[row + k]))
                column_best[k] = max(column_best[k], values[row + k])
            for k in range(K):
                across[k * J + j] = values[row + k]
        for edge in range(U(lists.offsets[i]), U(lists.offsets[i + 1])):
            e, f = U(lists.source[edge]), U(lists.target[edge])
            value = values[start + e * K + f]
            of_row = _standing(value, values, start + e * K, K, row_best[e], row_second[e])
            of_column = _standing(value, across, f * J, J, column_best[f], column_second[f])
            for x in range(3):
                out[2 * x, edge], out[2 * x + 1, edge] = of_row[x], of_column[x]
            out[6, edge] = (value > 0.0) & (value == row_best[e]) & (value == column_best[f])


@compiled(fastmath=MAXIMA | {"reassoc"})
def _standing(value, values, first, n, best, second):
    """Rank, margin and share of a value in its line of n values, of which the two highest are given."""
    higher = np.float32(0.0)
    for x in range(first, first + n):
        higher += np.float32(1.0) if values[x] > value else np.float32(0.0)
    margin = value - (second if value == best else best)
    return np.float32(1.0) / (np.float32(1.0) + higher), margin, value / (best if best > 0.0 else np.float32(1.0))
