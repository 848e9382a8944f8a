"""Candidates: the edges of sentence pairs that may be links; the other edges are hardly ever links."""

import numpy as np

from corpora import SettingError
from corpora.compiled import MAXIMA, compiled
from corpora.links import Links
from corpora.ragged import F32, I64, Bools, Lists
from features.word_pairs import Pairs

CANDIDATES = "fewer", "likely", "all"
"""Which edges are candidates: those that `mark_likely` marks; fewer, for the default weights, whose posterior by the
HMM is above LEAST_LINKED or whose words are spelt alike; or every edge, as a reference."""

LEAST_LINKED = 0.003
"""Of links that were found 2 of 171,618 had a smaller posterior."""

LEAST, LEAST_DICE = 0.005, 0.05
"""Edges with a greater posterior by the HMM, or without posteriors with a greater Dice, are candidates."""


def check_candidates(name: str) -> None:
    """Raise SettingError for a name that is not one of CANDIDATES."""
    if name not in CANDIDATES:
        raise SettingError(f"unknown candidates {name!r} (choose from {', '.join(CANDIDATES)})")


@compiled(fastmath=MAXIMA)
def mark_likely(signal, highest, least, pairs, same_spelling, marks):
    """Set marks (E,): which edges of sentence pairs are likely enough to be candidates. An edge is marked if

    - its `highest`, (E,), is above `least`: the greater of both directions' posteriors, or Dice without posteriors; or
    - its `signal`, (E,), is above 0 and among the two best of its row or column, with all that equal the second; or
    - its words are spelt alike: same_spelling[source word] is the target word of that spelling, or -1.
    """
    widest = 1
    for i in range(len(pairs.edge_offsets) - 1):
        widest = max(widest, pairs.target_offsets[i + 1] - pairs.target_offsets[i])
    columns, seconds = np.empty((2, widest), np.float32)
    for i in range(len(pairs.edge_offsets) - 1):
        target = pairs.target[pairs.target_offsets[i] : pairs.target_offsets[i + 1]]
        K = len(target)
        columns[:K] = 0.0
        seconds[:K] = 0.0
        for edge in range(pairs.edge_offsets[i], pairs.edge_offsets[i + 1], max(K, 1)):
            row = signal[edge : edge + K]
            for k in range(K):
                seconds[k] = max(seconds[k], min(columns[k], row[k]))
                columns[k] = max(columns[k], row[k])
        edge = pairs.edge_offsets[i]
        for j in range(pairs.source_offsets[i], pairs.source_offsets[i + 1]):
            row, most, of_row = signal[edge : edge + K], highest[edge : edge + K], marks[edge : edge + K]
            best = np.float32(0.0)
            second = np.float32(0.0)
            for k in range(K):
                second = max(second, min(best, row[k]))
                best = max(best, row[k])
            alike = same_spelling[pairs.source[j]]
            for k in range(K):
                among_best = (row[k] > 0.0) & ((row[k] >= second) | (row[k] >= seconds[k]))
                of_row[k] = among_best | (most[k] > least) | (target[k] == alike)
            edge += K


def find_links(links: Links, pairs: range, tokens: Pairs) -> tuple[I64, F32]:
    """The places (m,) of links in the rectangles of some pairs of a bitext, whose tokens these are; probabilities."""
    part = links.part(pairs.start, pairs.stop)
    pair = part.pairs
    cells = tokens.edge_offsets[pair] + part.source * tokens.shapes[pair, 1] + part.target
    return cells, part.known_scores.astype(np.float32, copy=False)


def count_unlisted(lists: Lists, links: Links) -> int:
    """Return how many links of the same pairs are no candidates."""
    pairs = links.pairs
    return int(np.count_nonzero(lists.find(pairs, links.source, links.target) < 0))


def collect(pairs: Pairs, marks: Bools) -> tuple[I64, Lists]:
    """The places (E,) of the marked edges among all edges, and their lists."""
    offsets = np.empty_like(pairs.edge_offsets)
    source, target = np.empty((2, np.count_nonzero(marks)), np.int32)
    _collect(pairs, marks, source, target, offsets)
    return np.flatnonzero(marks), Lists(source, target, pairs.shapes, offsets)


@compiled
def _collect(pairs, marks, source, target, offsets):
    size = 0
    edge = 0
    for i in range(len(offsets) - 1):
        offsets[i] = size
        K = pairs.target_offsets[i + 1] - pairs.target_offsets[i]
        for j in range(pairs.source_offsets[i + 1] - pairs.source_offsets[i]):
            for k in range(K):
                if marks[edge]:
                    source[size] = j
                    target[size] = k
                    size += 1
                edge += 1
    offsets[len(offsets) - 1] = size
