"""Compiled search in word pairs that are compressed by source word, with ascending target words in each row."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def search(targets, low, high, f):
    """The place of f in targets[low:high], or -1."""
    size = high - low
    while size > 1:
        half = size >> 1
        low = low + half if targets[low + half] <= f else low
        size -= half
    return low if size == 1 and targets[low] == f else -1


@nb.njit(cache=True, nogil=True)
def search_together(row, wanted, places):
    """The place of each wanted word in a row, or -1.

    All searches take a step before any takes the next: what they read is far apart, and is fetched at the same time.
    """
    places[: len(wanted)] = 0
    size = np.int32(len(row))
    while size > 1:
        half = size >> np.int32(1)
        for x in range(len(wanted)):
            # Without a branch, whose outcome could not be predicted.
            places[x] += half * np.int32(row[places[x] + half] <= wanted[x])
        size = np.int32(size - half)
    for x in range(len(wanted)):
        if size < 1 or row[places[x]] != wanted[x]:
            places[x] = -1
