"""Compiled kernels of `corpora.tokens`."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

_END = ord("\n")
_BLANK = ord(" ")
_TAB = ord("\t")
_RETURN = ord("\r")

_OFFSET = 0xCBF29CE484222325
_PRIME = 0x100000001B3
"""Of the hash function FNV-1a."""


class Table(NamedTuple):
    """Open addressing, with linear probing.

    slots: a power of two of them, more than twice as many as there are tokens, each a token or -1.
    hashes: of each token.  letters: their bytes, those of token t from starts[t] to starts[t + 1].
    """

    slots: npt.NDArray[np.int32]
    hashes: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.int64]
    letters: npt.NDArray[np.uint8]


@nb.njit(cache=True, nogil=True)
def fill_slots(slots, hashes, known):
    """Put the known tokens into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for token in range(known):
        slot = hashes[token] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = token


@nb.njit(cache=True, nogil=True)
def _find(text, start, stop, value, slots, hashes, starts, letters, known):
    """The number of the token text[start:stop], whose hash is value; that of a new one is `known`."""
    value ^= value >> np.uint64(32)
    mask = np.uint64(len(slots) - 1)
    slot = value & mask
    while True:
        token = slots[slot]
        if token < 0:
            break
        if hashes[token] == value and starts[token + 1] - starts[token] == stop - start:
            c = 0
            while c < stop - start and letters[starts[token] + c] == text[start + c]:
                c += 1
            if c == stop - start:
                return token
        slot = (slot + np.uint64(1)) & mask
    slots[slot] = known
    hashes[known] = value
    first = starts[known]
    for c in range(stop - start):
        letters[first + c] = text[start + c]
    starts[known + 1] = first + stop - start
    return np.int32(known)


@nb.njit(cache=True, nogil=True)
def number_lines(text, table, known, ids, ends):
    """As `TokenTable.number_lines`.  Returns how many tokens are known, and how many there were."""
    slots, hashes, starts, letters = table
    tokens = 0
    line = 0
    at = 0
    while at < len(text):
        letter = text[at]
        if letter == _END:
            ends[line] = tokens
            line += 1
        if letter == _BLANK or _TAB <= letter <= _RETURN:
            at += 1
            continue
        start = at
        value = np.uint64(_OFFSET)
        while at < len(text):
            letter = text[at]
            if letter == _BLANK or _TAB <= letter <= _RETURN:
                break
            value = (value ^ np.uint64(letter)) * np.uint64(_PRIME)
            at += 1
        token = _find(text, start, at, value, slots, hashes, starts, letters, known)
        known += token == known
        ids[tokens] = token
        tokens += 1
    return known, tokens


@nb.njit(cache=True, nogil=True)
def number_tokens(text, bounds, table, known, ids):
    """Of the tokens text[bounds[t]:bounds[t + 1]].  Returns how many tokens are known."""
    slots, hashes, starts, letters = table
    for t in range(len(ids)):
        value = np.uint64(_OFFSET)
        for at in range(bounds[t], bounds[t + 1]):
            value = (value ^ np.uint64(text[at])) * np.uint64(_PRIME)
        token = _find(text, bounds[t], bounds[t + 1], value, slots, hashes, starts, letters, known)
        known += token == known
        ids[t] = token
    return known
