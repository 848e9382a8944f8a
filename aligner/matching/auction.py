"""An approximate oracle that promises an additive error: an auction, whose prices certify it  [Bertsekas 1992]."""

from __future__ import annotations

import numpy as np

from aligner.matching import Task
from aligner.matching._auction_kernels import Side, auction
from aligner.matching.assignment import edge_words
from corpora.ragged import I64, Bools, word_offsets


def match(task: Task, linked: Bools) -> None:
    """Within `task.errors` of the best score, or within 1e-9 of the pair's greatest edge where that is more.

    Of the positive edges only. ε falls until the prices, see `task.prices`, prove the error, so that a large one takes
    a bid or two a word.
    """
    lists, edges = task.lists, np.flatnonzero(task.scores > 0.0)
    first = word_offsets(lists.shapes)
    _, *words = edge_words(lists, edges)
    rows, columns = (_side(first[:, side], words[side]) for side in (0, 1))
    errors = np.zeros(len(lists.shapes)) if task.errors is None else task.errors
    auction(task.scores[edges], errors, rows, columns)
    linked[edges[rows.link[rows.link >= 0]]] = True
    if task.prices is not None:
        task.prices[:] = columns.price[first[lists.pairs, 1] + lists.target]


def _side(first: I64, words: I64) -> Side:
    """The words of the edges, (E,), without links, at the price 0.  first: (n + 1,) of each pair."""
    n = int(first[-1])
    order = np.argsort(words, kind="stable")
    starts = np.searchsorted(words[order], np.arange(n + 1))
    return Side(np.ascontiguousarray(first), starts, order, words, np.zeros(n), np.full(n, -1))
