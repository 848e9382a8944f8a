"""Compiled search and order in word pairs that are compressed by source word, with ascending target words in a row."""

import numpy as np

from corpora.compiled import compiled


@compiled
def sort_row(row):
    """Sort in place: a shell sort, as NumPy's takes seconds to compile."""
    gap = len(row)
    while gap > 1:
        gap = max(1, gap * 4 // 9)
        for x in range(gap, len(row)):
            value = row[x]
            while x >= gap and row[x - gap] > value:
                row[x] = row[x - gap]
                x -= gap
            row[x] = value


@compiled
def list_occurrences(first, last, tokens, offsets, n_words):
    """List the occurrences of each word in sentences first .. last.

    Word w has the occurrences starts[w] : starts[w + 1], in order, each in sentence pair_of at position place.
    """
    start = offsets[first]
    n = offsets[last] - start
    starts = np.empty(n_words + 1, np.int64)
    starts[:] = 0
    for t in range(start, start + n):
        starts[tokens[t] + 1] += 1
    for w in range(n_words):
        starts[w + 1] += starts[w]
    pair_of = np.empty(n, np.int32)
    place = np.empty(n, np.int32)
    free = starts[:-1].copy()
    for i in range(first, last):
        for t in range(offsets[i], offsets[i + 1]):
            w = tokens[t]
            pair_of[free[w]] = i
            place[free[w]] = t - offsets[i]
            free[w] += 1
    return starts, pair_of, place


@compiled(inline="always")
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
