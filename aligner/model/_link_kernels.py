"""Compiled kernels of links that were found: from matchings to lists of links, and to text."""

from __future__ import annotations

import numba as nb
import numpy as np

_ZERO = ord("0")


@nb.njit(cache=True, nogil=True)
def unpack_mates(mates, slots, shapes, offsets):
    """The pair, the row, the column and the edge of each link of packed b-matchings, four arrays.

    mates: so many slots of each row, with the column of a link or -1.
    """
    m = 0
    for mate in mates:
        m += mate >= 0
    pair = np.empty(m, np.int64)
    row = np.empty(m, np.int64)
    column = np.empty(m, np.int64)
    edge = np.empty(m, np.int64)
    m = 0
    slot = 0
    for i in range(len(shapes)):
        for j in range(shapes[i, 0]):
            for _ in range(slots):
                mate = mates[slot]
                slot += 1
                if mate >= 0:
                    pair[m] = i
                    row[m] = j
                    column[m] = mate
                    edge[m] = offsets[i] + j * shapes[i, 1] + mate
                    m += 1
    return pair, row, column, edge


@nb.njit(cache=True, nogil=True)
def write_lines(source, target, bounds):
    """A line of ``i-j`` links for each pair, as bytes: those between words source[m] and target[m], from 0.

    bounds: (n + 1,) the first link of each pair.
    """
    size = len(bounds) - 1
    for m in range(len(source)):
        size += _count_digits(source[m]) + _count_digits(target[m]) + 2
    out = np.empty(size, np.uint8)
    at = np.int64(0)  # no literal, for which what is called would be compiled once more
    for i in range(len(bounds) - 1):
        for m in range(bounds[i], bounds[i + 1]):
            at = _write_number(source[m], out, at)
            out[at] = ord("-")
            at = _write_number(target[m], out, at + 1)
            out[at] = ord(" ")
            at += 1
        at -= bounds[i] < bounds[i + 1]  # no blank at the end
        out[at] = ord("\n")
        at += 1
    return out[:at]


@nb.njit(cache=True, nogil=True)
def _count_digits(number):
    digits = 1
    while number > 9:
        number //= 10
        digits += 1
    return digits


@nb.njit(cache=True, nogil=True)
def _write_number(number, out, at):
    """Returns where it ends."""
    end = at + _count_digits(number)
    for place in range(end - 1, at - 1, -1):
        out[place] = _ZERO + number % 10
        number //= 10
    return end
