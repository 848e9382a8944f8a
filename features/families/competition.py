"""Competition: how an edge's Dice stands against its rivals, the other edges of its two words."""

from __future__ import annotations

import numpy as np

from corpora.compiled import MAXIMA, compiled
from features.batch import EdgeBatch, find_mutual_best
from features.table import Matrix, Vector

NAMES = "rank_row", "rank_column", "margin_row", "margin_column", "share_row", "share_column", "mutual_best"

_LONG = 200
"""Rivals beyond which the higher ones are counted by sorting them."""

_LINES_AT_ONCE = 64
"""Of such a pair, so that what is sorted stays small."""

_PIECE = 16
"""Edges that the processor compares in one go; those of a shorter piece would go one by one."""


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Where the edge stands in its row (the edges of its source word) and its column (of its target word).

    rank: 1 / (1 + number of edges with a higher Dice), in (0, 1].  margin: Dice less the best rival's, in [-1, 1].
    share: Dice over the best in the row or column, in [0, 1].
    mutual_best: nothing in row or column is higher, and the Dice is above 0  [Melamed 2000, competitive linking].
    """
    fill_standing(batch, batch.dice, out)


def fill_standing(batch: EdgeBatch, values: Vector, out: Matrix) -> None:
    """The columns of NAMES for any values >= 0 of the edges, (E,), in place of Dice."""
    shapes, offsets = batch.shapes, batch.offsets
    _stand_among_few(values, shapes, offsets, out.T)
    for i in np.flatnonzero(shapes.max(axis=1, initial=0) > _LONG).tolist():
        edges = slice(offsets[i], offsets[i + 1])
        _stand_among_many(values[edges].reshape(shapes[i]), out[edges])
    out[:, 6] = find_mutual_best(values, shapes, offsets)


@compiled(fastmath=MAXIMA)
def _stand_among_few(values, shapes, offsets, out):
    """The other columns, (columns, E), of pairs with at most _LONG words on either side."""
    longest = _LONG + _PIECE
    padded = np.empty(_LONG * longest, np.float32)  # the values of a pair, each row with zeros up to whole pieces
    higher, best, second, row_best, row_second = np.empty((5, longest), np.float32)
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        if max(J, K) > _LONG:
            continue
        width = (K + _PIECE - 1) // _PIECE * _PIECE
        best[:width] = 0.0
        second[:width] = 0.0
        for j in range(J):
            row = padded[j * width : (j + 1) * width]
            row[K:] = 0.0
            given = values[offsets[i] + j * K : offsets[i] + (j + 1) * K]
            for k in range(K):
                row[k] = given[k]
            for k in range(width):
                second[k] = max(second[k], min(best[k], row[k]))
                best[k] = max(best[k], row[k])
        for j in range(J):
            first = offsets[i] + j * K
            row = padded[j * width : (j + 1) * width]
            # All edges of the row at a time, against the edges below and above each.
            higher[:width] = 0.0
            for y in range(J):
                rivals = padded[y * width : (y + 1) * width]
                for k in range(width):
                    higher[k] += np.float32(1.0) if rivals[k] > row[k] else np.float32(0.0)
            _write(
                row, higher, best, second,
                out[1, first : first + K], out[3, first : first + K], out[5, first : first + K],
            )  # fmt: skip
            higher[:width] = 0.0
            highest = np.float32(0.0)
            second_highest = np.float32(0.0)
            for y in range(K):
                rival = row[y]
                second_highest = max(second_highest, min(highest, rival))
                highest = max(highest, rival)
                for k in range(width):
                    higher[k] += np.float32(1.0) if rival > row[k] else np.float32(0.0)
            row_best[:width] = highest
            row_second[:width] = second_highest
            _write(
                row, higher, row_best, row_second,
                out[0, first : first + K], out[2, first : first + K], out[4, first : first + K],
            )  # fmt: skip


@compiled(fastmath=MAXIMA)
def _write(line, higher, best, second, ranks, margins, shares):
    """Rank, margin and share of the first len(ranks) edges of a line, by what their rivals are.

    In three loops, for which the compiler can still tell that what they write is not what they read.
    """
    for x in range(len(ranks)):
        ranks[x] = np.float32(1.0) / (np.float32(1.0) + higher[x])
    for x in range(len(ranks)):
        margins[x] = line[x] - (second[x] if line[x] == best[x] else best[x])
    for x in range(len(ranks)):
        shares[x] = line[x] / (best[x] if best[x] > 0.0 else np.float32(1.0))


def _stand_among_many(values: Matrix, out: Matrix) -> None:
    """The same for the values (J, K) of one pair, with rivals sorted, some lines at a time."""
    places = out.reshape(*values.shape, out.shape[1])
    for column, lines, standing in ((0, values, places), (1, values.T, places.swapaxes(0, 1))):
        n = lines.shape[1]
        if lines.size == 0:
            return
        for first in range(0, len(lines), _LINES_AT_ONCE):
            some, into = lines[first : first + _LINES_AT_ONCE], standing[first : first + _LINES_AT_ONCE]
            ascending = np.sort(some, axis=1)
            higher = [n - np.searchsorted(line, wanted, "right") for line, wanted in zip(ascending, some, strict=True)]
            best, second = ascending[:, -1:], ascending[:, -2:-1] if n > 1 else np.zeros((1, 1), np.float32)
            into[:, :, column] = 1.0 / (1.0 + np.array(higher, np.float32))
            into[:, :, column + 2] = some - np.where(some == best, second, best)
            into[:, :, column + 4] = some / np.where(best > 0.0, best, np.float32(1.0))
