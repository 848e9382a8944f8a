"""Compiled kernels of scores by linear weights, whose sums are exact on the grid of features."""

import numpy as np

from corpora.compiled import compiled
from features.table import GRID

_EDGES_AT_ONCE = 512
"""Edges that are scored at once, so few that their scores stay in the fastest cache."""


@compiled
def add_scores(features, w, scores):
    """scores[e] += w · features[e]; features (E, d) float32."""
    for first in range(0, len(scores), _EDGES_AT_ONCE):
        some = scores[first : first + _EDGES_AT_ONCE]
        for c in range(features.shape[1]):
            column = features[first : first + _EDGES_AT_ONCE, c]
            weight = w[c]
            for e in range(len(some)):
                some[e] += column[e] * weight


@compiled
def add_rounded_scores(features, w, scores):
    """`add_scores` of features (d, E), rounded here as `features.table.round_to_grid` does it; for many edges."""
    for first in range(0, len(scores), _EDGES_AT_ONCE):
        some = scores[first : first + _EDGES_AT_ONCE]
        for c in range(len(features)):
            column = features[c, first : first + _EDGES_AT_ONCE]
            weight = w[c] / GRID
            for e in range(len(some)):
                some[e] += np.rint(column[e] * np.float32(GRID)) * weight
