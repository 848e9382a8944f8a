"""Indicators of single words: *the*, *not* or *de* link in ways that features of all words cannot express."""

from collections.abc import Sequence

import numpy as np

from corpora.bitext import Text
from features.batch import EdgeBatch
from features.table import Matrix


def most_frequent(text: Text, most: int) -> tuple[str, ...]:
    """The `most` most frequent words of a text, the most frequent first; among equals the one seen first."""
    counts = text.occurrences
    ids = np.argsort(-counts, kind="stable")[:most]
    return tuple(text.vocabulary.words[i] for i in ids.tolist() if counts[i])


def fill(batch: EdgeBatch, side: int, words: Sequence[str], out: Matrix) -> None:
    """Fill a column for each word: 1 where it is the edge's source word (side 0) or target word (side 1), else 0."""
    vocabulary = (batch.text.source_words, batch.text.target_words)[side]
    places = np.full(len(vocabulary.index), -1, np.int32)
    for place, word in enumerate(words):
        if word in vocabulary.index:
            places[vocabulary.index[word]] = place
    lists, tokens = batch.lists, batch.tokens
    positions, first = ((lists.source, tokens.source_offsets), (lists.target, tokens.target_offsets))[side]
    out[:] = places[tokens[side][first[lists.pairs] + positions]][:, None] == np.arange(len(words))
