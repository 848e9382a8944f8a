"""Compiled search in word pairs that are compressed by source word, with ascending target words in each row."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def search_together(row, wanted, places):
    """The place of each wanted word in a row, or -1.

    All searches take a step before any takes the next: what they read is far apart, and is fetched at the same time.
    """
    n = len(wanted)
    places[:n] = 0
    size = len(row)
    while size > 1:
        half = size >> 1
        upper = row[half:]
        step = np.int32(half)
        for x in range(n):
            # Without a branch, whose outcome could not be predicted.
            place = places[x]
            places[x] = place + (step if upper[np.uint32(place)] <= wanted[x] else np.int32(0))
        size -= half
    for x in range(n):
        if size < 1 or row[places[x]] != wanted[x]:
            places[x] = -1
