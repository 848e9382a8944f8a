"""Compiled sums of kernel functions: the scores of edges by an expansion over support edges."""

from __future__ import annotations

import numpy as np

from aligner.matching._price_kernels import exponentials
from corpora.compiled import SUMS, compiled

LINEAR = 0
POLYNOMIAL = 1
RBF = 2

_TILE = 64
"""Support edges at once: their features and the values at one edge stay in the nearest cache."""


# A sum may be taken in any order; NaN and infinities keep their meaning.
@compiled(fastmath=SUMS)
def add_expansion(features, kind, parameter, support, coefficients, scores):
    """scores[e] += Σ_m coefficients[m] · K(features[e], support[m]).

    features (E, d), support (m, d) float32, the sums in float64.  kind, parameter: K(x, y) is x·y of LINEAR,
    (1 + x·y)^parameter / parameter of POLYNOMIAL, and exp(-parameter ‖x - y‖²) of RBF.
    What an edge scores does not depend on the others: the order of its sum is the support's.
    """
    d = features.shape[1]
    tile = np.empty((d, _TILE))
    squares = np.empty(_TILE)
    edge = np.empty(d)
    values = np.empty(_TILE)
    powers = np.empty(_TILE)
    bits = np.empty(_TILE)
    for first in range(0, len(support), _TILE):
        size = min(_TILE, len(support) - first)
        for t in range(size):
            square = 0.0
            for c in range(d):
                value = np.float64(support[first + t, c])
                tile[c, t] = value
                square += value * value
            squares[t] = square
        for e in range(len(features)):
            square = 0.0
            for c in range(d):
                value = np.float64(features[e, c])
                edge[c] = value
                square += value * value
            _products(edge, tile, size, values)
            if kind == POLYNOMIAL:
                for t in range(size):
                    powers[t] = 1.0 + values[t]
                    values[t] = 1.0 / parameter
                for _ in range(int(parameter)):
                    for t in range(size):
                        values[t] *= powers[t]
            elif kind == RBF:
                for t in range(size):  # rounding may have made the distance of equals negative
                    powers[t] = -parameter * max(0.0, square + squares[t] - 2.0 * values[t])
                exponentials(powers[:size], bits[:size], values[:size])
            total = 0.0
            for t in range(size):
                total += coefficients[first + t] * values[t]
            scores[e] += total


@compiled(fastmath=SUMS)
def _products(edge, tile, size, values):
    """values[t] = edge · tile[:, t]; four features at once, which halves the traffic with the cache."""
    d = len(edge)
    whole = d - d % 4
    for t in range(size):
        values[t] = 0.0
    for c in range(0, whole, 4):
        x0, x1, x2, x3 = edge[c], edge[c + 1], edge[c + 2], edge[c + 3]
        row0, row1, row2, row3 = tile[c], tile[c + 1], tile[c + 2], tile[c + 3]
        for t in range(size):
            values[t] += x0 * row0[t] + x1 * row1[t] + x2 * row2[t] + x3 * row3[t]
    for c in range(whole, d):
        row = tile[c]
        for t in range(size):
            values[t] += edge[c] * row[t]
