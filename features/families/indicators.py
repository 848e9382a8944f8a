"""Indicators of single words: what no feature of all words can say of *the*, *not* or *de*."""

from collections.abc import Sequence

import numpy as np

from corpora.bitext import Text
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
    lists, tokens = batch.lists, batch.tokens
    positions, first = ((lists.source, tokens.source_offsets), (lists.target, tokens.target_offsets))[side]
    out[:] = places[tokens[side][first[lists.pairs] + positions]][:, None] == np.arange(len(words))
