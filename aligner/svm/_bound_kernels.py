"""Compiled kernels that score only the edges of a block that may score above 0, as few others can be in a matching.

With x_e the features of an edge, x̄ any fixed vector and s_e(w) its loss-augmented score,

    s_e(w) = s_e(v) + (w − v)·x̄ + (w − v)·(x_e − x̄) <= s_e(v) + (w − v)·x̄ + ‖w − v‖ ‖x_e − x̄‖,

so that the scores at an earlier v, two numbers an edge, tell most of those that are not above 0 at w. Where they tell
too few, all edges are scored, and w is the next v.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corpora.compiled import SUMS, compiled
from corpora.ragged import F32, F64

MOST = 0.2
"""Share of the edges of a block that are scored one by one; where more may be above 0, all are scored."""

ROUNDING = np.float32(1e-6)
"""Share of a bound that is given to its rounding."""

LOWEST = -1e30
"""Bounds are not kept of scores below."""


class Bounds(NamedTuple):
    """What a solver keeps of the blocks; all arrays are empty where it keeps nothing.

    weights: (n, d) v.  scores: (E,) s_e(v), +inf where not known.  distances: (E,) ‖x_e − x̄‖.  centre: (d,) x̄.
    """

    weights: F64
    scores: F32
    distances: F32
    centre: F64


def new_bounds(n_blocks: int, features: F32) -> Bounds:
    """Nothing is known yet of the edges with these features, (E, d)."""
    size, d = features.shape
    some = features[:: max(1, size >> 12)]
    centre = np.asarray(some.sum(axis=0, dtype=np.float64) / max(1, len(some)))
    return Bounds(np.zeros((n_blocks, d)), np.full(size, np.inf, np.float32), np.zeros(size, np.float32), centre)


@compiled
def no_bounds():
    """`Bounds` of a solver that keeps none."""
    none = np.empty(0, np.float32)
    return Bounds(np.empty((0, 0)), none, none, np.empty(0))


@compiled(fastmath=SUMS)
def dot(x, y):
    total = 0.0
    for c in range(len(x)):
        total += x[c] * y[c]
    return total


@compiled(fastmath=SUMS)
def measure_move(w, weights, centre):
    """(‖w − v‖, (w − v)·x̄), v = weights."""
    square = 0.0
    along = 0.0
    for c in range(len(centre)):
        step = w[c] - weights[c]
        square += step * step
        along += step * centre[c]
    return np.sqrt(square), along


@compiled(fastmath=SUMS)
def measure_distances(features, centre, distances):
    """distances[e] = ‖features[e] − centre‖."""
    for e in range(len(distances)):
        square = 0.0
        for c in range(len(centre)):
            square += (features[e, c] - centre[c]) ** 2
        distances[e] = np.sqrt(square)


@compiled
def list_likely(move, along, known, distances, likely):
    """List the edges that may score above 0; returns their number.  known: scores at v."""
    far, shift = np.float32(move), np.float32(along)
    found = 0
    for e in range(len(known)):
        reach = far * distances[e]
        likely[found] = e
        found += known[e] + shift + reach > -ROUNDING * (abs(known[e]) + abs(shift) + reach)
    return found


@compiled
def score_likely(w, features, labels, costs, weights, known, distances, centre, likely, scores):
    """The loss-augmented scores of a block's edges that may be above 0, -1 for the others; False: all are to be scored.

    weights, known, distances: of the block, see `Bounds`.  likely: scratch for an edge more than the block has.
    """
    move, along = measure_move(w, weights, centre)
    if not move + abs(along) < -LOWEST:
        return False
    found = list_likely(move, along, known, distances, likely)
    if found > MOST * len(scores):
        return False
    scores[:] = -1.0
    for t in range(found):
        e = likely[t]
        scores[e] = dot(features[e], w) + costs[labels[e]]
    return True


@compiled
def keep_scores(w, features, scores, weights, known, distances, centre):
    """Keep all scores of a block at w."""
    if len(known) > 0 and known[0] == np.inf:
        measure_distances(features, centre, distances)
    weights[:] = w
    for e in range(len(scores)):
        known[e] = scores[e] if LOWEST < scores[e] < -LOWEST else np.inf
