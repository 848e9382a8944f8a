"""Indicators of single words: what no feature of all words can say of *the*, *not* or *de*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numba as nb
import numpy as np
import numpy.typing as npt

from corpora.bitext import Text

I32 = npt.NDArray[np.int32]


def most_frequent(text: Text, most: int) -> tuple[str, ...]:
    """The `most` words that occur most often in a text, from the most frequent on; of equals the first."""
    counts = np.bincount(text.ids, minlength=len(text.vocabulary))
    ids = np.argsort(-counts, kind="stable")[:most]
    return tuple(text.vocabulary.words[i] for i in ids.tolist() if counts[i])


def places_of(words: Sequence[str], index: Mapping[str, int]) -> I32:
    """The place of every word of a vocabulary among these, or -1; (V,).  index: id of each word."""
    places = np.full(len(index), -1, np.int32)
    for place, word in enumerate(words):
        if word in index:
            places[index[word]] = place
    return places


@nb.njit(cache=True, nogil=True)
def fill(places, tokens, side, width, shapes, offsets, out):
    """1 in the column of one of the two words of each edge, if it has one, and 0 in the others.

    places: column of each word, from 0, or -1.  tokens: word of every position of the batch on side 0, source, or 1.
    """
    first = 0
    for i in range(len(shapes)):
        edge = offsets[i]
        for j in range(shapes[i, 0]):
            for k in range(shapes[i, 1]):
                place = places[tokens[first + (j if side == 0 else k)]]
                for c in range(width):
                    out[edge, c] = c == place
                edge += 1
        first += shapes[i, side]
