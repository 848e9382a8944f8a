"""Indicators of single words: what no feature of all words can say of *the*, *not* or *de*."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corpora.bitext import Text
from corpora.compiled import compiled
from features.batch import EdgeBatch
from features.table import Matrix


def most_frequent(text: Text, most: int) -> tuple[str, ...]:
    """The `most` words that occur most often in a text, from the most frequent on; of equals the first."""
    counts = np.bincount(text.ids, minlength=len(text.vocabulary))
    ids = np.argsort(-counts, kind="stable")[:most]
    return tuple(text.vocabulary.words[i] for i in ids.tolist() if counts[i])


def fill(batch: EdgeBatch, side: int, words: Sequence[str], out: Matrix) -> None:
    """A column for each of these words: 1 where it is the edge's source word, side 0, or its target word, side 1."""
    vocabulary = (batch.text.source_words, batch.text.target_words)[side]
    places = np.full(len(vocabulary.index), -1, np.int32)
    for place, word in enumerate(words):
        if word in vocabulary.index:
            places[vocabulary.index[word]] = place
    _fill(places, batch.tokens[side], side, batch.shapes, batch.offsets, out.T)


@compiled
def _fill(places, tokens, side, shapes, offsets, out):
    """places: column of each word, or -1.  tokens: word of every position of the batch on this side."""
    width = len(out)
    first = 0
    for i in range(len(shapes)):
        edge = offsets[i]
        for j in range(shapes[i, 0]):
            for k in range(shapes[i, 1]):
                place = places[tokens[first + (j if side == 0 else k)]]
                for c in range(width):
                    out[c, edge] = c == place
                edge += 1
        first += shapes[i, side]
