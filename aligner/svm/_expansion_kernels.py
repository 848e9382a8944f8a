"""Compiled sums of kernel functions: the scores of edges by an expansion over support edges."""

from __future__ import annotations

from math import factorial

import numba as nb
import numpy as np

LINEAR = 0
POLYNOMIAL = 1
RBF = 2

_TILE = 64
"""Support edges at once: their features and the values at one edge stay in the nearest cache."""

_LEAST_EXPONENT = -700.0
_LOG2_E = 1.4426950408889634
# ln 2 in two parts, the first short enough that its product with a whole number of three digits is exact.
_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_ROUNDER = 1.5 * 2.0**52
_C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (1.0 / factorial(i) for i in range(3, 14))


# A sum may be taken in any order; NaN and infinities keep their meaning.
@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def add_expansion(features, kind, parameter, support, coefficients, scores):
    """scores[e] += Σ_m coefficients[m] · K(features[e], support[m]).

    features (E, d), support (m, d) float32, the sums in float64.  kind, parameter: K(x, y) is x·y of LINEAR,
    (1 + x·y)^parameter / parameter of POLYNOMIAL, and exp(-parameter ‖x - y‖²) of RBF.
    What an edge scores does not depend on the others: the order of its sum is that of the support.
    """
    d = features.shape[1]
    tile = np.empty((d, _TILE))
    squares = np.empty(_TILE)
    edge = np.empty(d)
    values = np.empty(_TILE)
    powers = np.empty(_TILE)
    bits = np.empty(_TILE, np.int64)
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
                    values[t] = -parameter * max(0.0, square + squares[t] - 2.0 * values[t])
                _exponentials(size, values, powers, bits)
            total = 0.0
            for t in range(size):
                total += coefficients[first + t] * values[t]
            scores[e] += total


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
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


# Without reassociation: what is added here to round a number is not to be taken off again.
@nb.njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def _exponentials(size, values, powers, bits):
    """values[t] = exp(values[t]) of values <= 0, all at once: the library's exp would be called for each.

    exp(x) = 2^k · exp(r) with |r| <= ln 2 / 2, by its series; 2^k is made of its bits. Below -700, where a term cannot
    matter, it is exp(-700).  powers, bits: scratch.
    """
    rounded = powers.view(np.int64)
    scales = bits.view(np.float64)
    for t in range(size):
        value = max(_LEAST_EXPONENT, values[t])
        k = np.floor(value * _LOG2_E + 0.5)
        values[t] = (value - k * _LN2_HIGH) - k * _LN2_LOW
        powers[t] = k + _ROUNDER  # its lowest bits are those of k as a whole number
    for t in range(size):
        bits[t] = (rounded[t] + 1023) << 52
    for t in range(size):
        r = values[t]
        series = _C13
        series = series * r + _C12
        series = series * r + _C11
        series = series * r + _C10
        series = series * r + _C9
        series = series * r + _C8
        series = series * r + _C7
        series = series * r + _C6
        series = series * r + _C5
        series = series * r + _C4
        series = series * r + _C3
        series = series * r + 0.5
        series = series * r + 1.0
        series = series * r + 1.0
        values[t] = series * scales[t]
