"""Compiled kernels of the auction: words bid for each other at prices that fall short of an optimum by ε an edge.

Throughout a phase u + v >= score − ε on every edge, and u + v = score on every link, with prices u of rows and v of
columns, all >= 0. Once each word without a link has the price 0, Σ u + Σ v is the score of the matching, and no other
scores more by ε a row  [Bertsekas and Castañon 1992, forward and reverse].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corpora.compiled import compiled
from corpora.ragged import F64, I64

_FALL = 0.1
"""What ε is multiplied by from phase to phase."""

_SHARPEST = 1e-9
"""The least error, of the greatest score: a smaller one would drown in rounding."""


class Side(NamedTuple):
    """The words of one side, of all pairs; all change in place but the first three.

    first: (n + 1,) words of each pair.  starts: (words + 1,) and order: (E,) the edges of each word, and word: (E,) the
    word of each edge.  price: (words,) >= 0.  link: (words,) the edge it has, -1 without.
    """

    first: I64
    starts: I64
    order: I64
    word: I64
    price: F64
    link: I64


@compiled
def best_two(word, scores, own, other):
    """(edge, value, value of the second) best at the prices of the other side; 0, and no edge, is the least."""
    edge, best, second = -1, 0.0, 0.0
    for t in range(own.starts[word], own.starts[word + 1]):
        e = own.order[t]
        value = scores[e] - other.price[other.word[e]]
        if value > best:
            edge, best, second = e, value, best
        elif value > second:
            second = value
    return edge, best, second


@compiled
def settle(pair, scores, epsilon, own, other, waiting):
    """Let the words of a pair's side bid until each has a link or the price 0.  waiting: scratch.

    A word takes its best edge, and goes down to the price at which the second would do, less ε; what it bids for goes
    up as much, and its former link is lost.
    """
    size = 0
    for word in range(own.first[pair], own.first[pair + 1]):
        if own.link[word] < 0 and own.price[word] > 0.0:
            waiting[size] = word
            size += 1
    while size > 0:
        word = waiting[size - 1]
        size -= 1
        edge, _, second = best_two(word, scores, own, other)
        own.price[word] = max(0.0, second - epsilon)
        if edge < 0:
            continue
        won = other.word[edge]
        lost = other.link[won]
        if lost >= 0:
            loser = own.word[lost]
            own.link[loser] = -1
            if own.price[loser] > 0.0:
                waiting[size] = loser
                size += 1
        own.link[word] = edge
        other.link[won] = edge
        other.price[won] = scores[edge] - own.price[word]


@compiled
def auction(scores, errors, rows, columns):
    """Matchings of all pairs by edges of positive scores (E,), each within its error (n,) of the best.

    Bids of rows, then of columns, at a smaller and smaller ε, until Σ_j max(0, max_k s(j,k) − v_k) + Σ_k v_k, above all
    matchings, is no more than the error above this one.
    """
    waiting = np.empty(max(len(rows.price), len(columns.price)), np.int64)
    for pair in range(len(errors)):
        first, last = rows.first[pair], rows.first[pair + 1]
        greatest = 0.0
        for e in range(rows.starts[first], rows.starts[last]):
            greatest = max(greatest, scores[e])
        error = max(errors[pair], _SHARPEST * greatest)
        epsilon = greatest
        excess = np.inf
        while excess > error:
            # Half of what would do: rounding must not make it one phase more.
            epsilon = max(_FALL * epsilon, min(0.5 * error / (last - first), _FALL * greatest))
            for j in range(first, last):
                best = best_two(j, scores, rows, columns)[1]
                if rows.price[j] < best - epsilon:
                    rows.price[j] = best
                    if rows.link[j] >= 0:
                        columns.link[columns.word[rows.link[j]]] = -1
                        rows.link[j] = -1
            settle(pair, scores, epsilon, rows, columns, waiting)
            settle(pair, scores, epsilon, columns, rows, waiting)
            excess = 0.0
            for j in range(first, last):
                excess += best_two(j, scores, rows, columns)[1] - rows.price[j]
