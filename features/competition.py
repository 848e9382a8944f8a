"""Competition: how an edge's Dice stands against its rivals, the other edges of its two words."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

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
"""Of more rivals than this the higher ones are counted by sorting them."""

_PIECE = 32
"""Rivals that the processor compares in one go; shorter pieces would go one by one."""


class Room(NamedTuple):
    """line: values of a row or column, and space up to a whole number of pieces.  higher: how many are higher.

    ranks: by that.
    """

    line: npt.NDArray[np.float32]
    higher: npt.NDArray[np.int32]
    ranks: npt.NDArray[np.float32]


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
    room = Room(
        np.empty(longest + _PIECE, np.float32), np.empty(longest + _PIECE, np.int32), np.empty(longest, np.float32)
    )
    for n in range(longest):
        room.ranks[n] = 1.0 / (1.0 + n)
    for i in range(len(shapes)):
        J = shapes[i, 0]
        K = shapes[i, 1]
        first = offsets[i]
        for j in range(J):
            for k in range(K):
                room.line[k] = values[first + j * K + k]
            _stand(room, K, out, first + j * K, 1, column)
        for k in range(K):
            for j in range(J):
                room.line[j] = values[first + j * K + k]
            _stand(room, J, out, first + k, K, column + 1)


@nb.njit(cache=True, nogil=True)
def _stand(room, n, out, first, step, column):
    """Rank, margin and share of each of n edges of a row or column, in every second column of the features."""
    line, higher, ranks = room
    best = np.float32(0.0)
    second = np.float32(0.0)
    for x in range(n):
        second = max(second, min(best, line[x]))
        best = max(best, line[x])
    if n > _LONG:
        ascending = np.sort(line[:n])
        for x in range(n):
            higher[x] = n - np.searchsorted(ascending, line[x], side="right")
    else:
        whole = (n + _PIECE - 1) // _PIECE * _PIECE
        line[n:whole] = 0.0
        for x in range(n):
            value = line[x]
            count = np.int32(0)
            for y in range(whole):
                count += np.int32(line[y] > value)
            higher[x] = count
    for x in range(n):
        value = line[x]
        edge = first + x * step
        out[edge, column] = ranks[higher[x]]
        out[edge, column + 2] = value - (second if value == best else best)
        out[edge, column + 4] = value / best if best > 0.0 else 0.0
