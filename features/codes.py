"""Features in a byte each: what training reads again and again, in a quarter of the room.

Every feature is a whole number of steps 1 / GRID, see `round_to_grid`. Such numbers, their sums and their products with
small integers are exact in floating point, so that codes say the same as the table, to the last bit.

A dense column has a byte for each edge. Those of pair i are codes[starts[i] : starts[i + 1]], a (dense columns, P)
matrix with one row a column and P the number of edges rounded up to a multiple of PIECE: scores are then sums of whole
columns, and the codes of a pair stream as one piece. A sparse column has the same value for most edges. Where an edge
has a value that is not that, or that does not fit into a byte, there is an entry for the difference.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from corpora.threads import map_threads

GRID = 128
"""Steps between 0 and 1: a power of two, so that products are exact."""

PIECE = 64
"""Edges that kernels take at once; a column of a pair has a multiple of it."""

LINE = 64
"""Bytes of a cache line."""

KAPPA = 0.5
"""Added to distances: what a step along the centre counts for, see `aligner.svm._screening_kernels`."""

LARGEST = 255
"""The greatest code of a byte."""

SPARSE = 0.0625
"""Columns of which a smaller share differs from the usual value are kept as entries, of 8 bytes."""

COLUMN_BITS = 15
CODE_BITS = 18
"""An entry is an edge, counted within its pair, a column, and a difference in steps, with its sign, in one uint64:
unsigned, because an index that might be negative costs a comparison at every use."""

_PAIRS_AT_ONCE = 512
_SAMPLE = 1 << 15


class Codes(NamedTuple):
    """The features of n pairs; all arrays are empty where there are no codes.

    base: (d,) in steps, the value of an edge where neither codes nor entries add to it.  dense: columns with codes.
    codes: flat uint8, those of pair i from starts[i] on, aligned to a cache line.
    entries: uint64, those of pair i from entry_starts[i] on.
    centre: (d,) a point in the middle of the features.  distances: (E,) float32 of each edge from it, plus KAPPA, not
    rounded down.
    """

    base: npt.NDArray[np.int64]
    dense: npt.NDArray[np.int64]
    codes: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    entries: npt.NDArray[np.uint64]
    entry_starts: npt.NDArray[np.int64]
    centre: npt.NDArray[np.float64]
    distances: npt.NDArray[np.float32]


@nb.njit(cache=True, nogil=True)
def round_to_grid(features):
    """Round features (E, d) to the nearest multiples of 1 / GRID, in place."""
    for e in range(features.shape[0]):
        for c in range(features.shape[1]):
            features[e, c] = np.rint(features[e, c] * np.float32(GRID)) / np.float32(GRID) + np.float32(0.0)


@nb.njit(cache=True, nogil=True, inline="always")
def pack_entry(edge, column, steps):
    return np.uint64((edge << (COLUMN_BITS + CODE_BITS)) | (column << CODE_BITS) | (steps & ((1 << CODE_BITS) - 1)))


@nb.njit(cache=True, nogil=True, inline="always")
def entry_edge(entry):
    return entry >> np.uint64(COLUMN_BITS + CODE_BITS)


@nb.njit(cache=True, nogil=True, inline="always")
def entry_column(entry):
    return (entry >> np.uint64(CODE_BITS)) & np.uint64((1 << COLUMN_BITS) - 1)


@nb.njit(cache=True, nogil=True, inline="always")
def entry_steps(entry):
    return np.int64(entry << np.uint64(64 - CODE_BITS)) >> (64 - CODE_BITS)


@nb.njit(cache=True, nogil=True)
def _survey(features, least, most):
    """Whether all features are multiples of 1 / GRID in [-1, 1]; least, most: (d,) widened to hold each column."""
    for e in range(features.shape[0]):
        strays = 0
        for c in range(features.shape[1]):
            value = features[e, c]
            steps = value * np.float32(GRID)
            strays += not (abs(value) <= 1) or np.rint(steps) != steps
            least[c] = min(least[c], value)
            most[c] = max(most[c], value)
        if strays > 0:
            return False
    return True


@nb.njit(cache=True, nogil=True)
def _count_steps(features):
    """(d, 2 GRID + 1) how often each value occurs."""
    counts = np.zeros((features.shape[1], 2 * GRID + 1), np.int64)
    for e in range(features.shape[0]):
        for c in range(features.shape[1]):
            counts[c, np.int64(features[e, c] * GRID) + GRID] += 1
    return counts


@nb.njit(cache=True, nogil=True)
def _count_entries(features, offsets, low, high, counts):
    for i in range(len(counts)):
        found = 0
        for e in range(offsets[i], offsets[i + 1]):
            for c in range(features.shape[1]):
                found += (features[e, c] < low[c]) | (features[e, c] > high[c])
        counts[i] = found


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _measure_distances(features, centre, distances):
    """Fill distances with those of features (E, d) from the centre, plus KAPPA, not rounded down."""
    for e in range(features.shape[0]):
        square = 0.0
        for c in range(features.shape[1]):
            square += (features[e, c] - centre[c]) ** 2
        distances[e] = (np.sqrt(square) + KAPPA) * (1.0 + 1e-6)


@nb.njit(cache=True, nogil=True)
def _encode(features, offsets, low, high, spilling, coded):
    """Write the codes and entries of consecutive pairs.

    low, high: what the codes of each column can hold.  spilling: the columns that have more.
    """
    codes, entries = coded.codes, coded.entries
    for i in range(len(offsets) - 1):
        first = offsets[i]
        size = offsets[i + 1] - first
        P = (size + PIECE - 1) // PIECE * PIECE
        t = coded.entry_starts[i]
        for piece in range(0, size, PIECE):
            until = min(piece + PIECE, size)
            for e in range(piece, until):
                at = coded.starts[i] + e
                for c in coded.dense:
                    value = min(features[first + e, c], high[c]) - low[c]
                    codes[at] = np.uint8(np.int32(value * np.float32(GRID)))
                    at += P
            for c in spilling:
                for e in range(piece, until):
                    value = features[first + e, c]
                    if value < low[c] or value > high[c]:
                        rest = value - (low[c] if value < low[c] else high[c])
                        entries[t] = pack_entry(e, c, np.int64(rest * np.float32(GRID)))
                        t += 1


def encode(features: npt.NDArray[np.float32], offsets: npt.NDArray[np.int64]) -> Codes:
    """Codes of the features (E, d) float32 of pairs with these offsets; empty where one is not on the grid.

    There are none for features in a file either: codes are for memory.
    """
    none = np.zeros(0, np.int64)
    nowhere = np.zeros(0), np.zeros(0, np.float32)
    empty = Codes(none, none, np.zeros(0, np.uint8), none, np.zeros(0, np.uint64), none, *nowhere)
    n, d = len(offsets) - 1, features.shape[1]
    if isinstance(features, np.memmap) or d >> COLUMN_BITS or not len(features):
        return empty
    parts = [slice(first, min(first + _PAIRS_AT_ONCE, n)) for first in range(0, n, _PAIRS_AT_ONCE)]
    lows, highs = np.empty((2, len(parts), d), np.float32)

    def survey(k: int) -> bool:
        lows[k], highs[k] = np.inf, -np.inf
        return bool(_survey(features[offsets[parts[k].start] : offsets[parts[k].stop]], lows[k], highs[k]))

    if not all(map_threads(survey, range(len(parts)))):
        return empty
    least, most = lows.min(axis=0), highs.max(axis=0)
    sample = features[:: max(1, len(features) // _SAMPLE)]
    counts = _count_steps(sample)
    sparse = counts.max(axis=1) > (1 - SPARSE) * len(sample)
    base = np.where(sparse, counts.argmax(axis=1) - GRID, (least * GRID).astype(np.int64))
    low = (base / GRID).astype(np.float32)
    high = np.where(sparse, low, low + np.float32(LARGEST / GRID)).astype(np.float32)
    dense, spilling = np.flatnonzero(~sparse), np.flatnonzero((least < low) | (most > high))

    starts = np.zeros(n + 1, np.int64)
    np.cumsum(-(-np.diff(offsets) // PIECE) * PIECE * len(dense), out=starts[1:])
    room = np.zeros(starts[-1] + LINE, np.uint8)
    shift = -room.ctypes.data % LINE
    entry_starts = np.zeros(n + 1, np.int64)

    def count(part: slice) -> None:
        _count_entries(
            features, offsets[part.start : part.stop + 1], low, high, entry_starts[part.start + 1 : part.stop + 1]
        )

    deque(map_threads(count, parts), maxlen=0)
    np.cumsum(entry_starts, out=entry_starts)
    entries = np.empty(entry_starts[-1], np.uint64)
    coded = Codes(
        base, dense, room[shift : shift + starts[-1]], starts, entries, entry_starts, sample.mean(axis=0, dtype=float),
        np.empty(len(features), np.float32),
    )  # fmt: skip

    def write(part: slice) -> None:
        pairs = slice(part.start, part.stop + 1)
        part_codes = coded._replace(starts=starts[pairs], entry_starts=entry_starts[pairs])
        _encode(features, offsets[pairs], low, high, spilling, part_codes)
        edges = slice(offsets[part.start], offsets[part.stop])
        _measure_distances(features[edges], coded.centre, coded.distances[edges])

    deque(map_threads(write, parts), maxlen=0)
    return coded
