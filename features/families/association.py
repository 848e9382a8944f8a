"""Association: how often two words occur together, and how frequent each is."""

from __future__ import annotations

import numba as nb
import numpy as np

from features.batch import EdgeBatch
from features.table import Matrix

NAMES = ("dice", "frequency_source", "frequency_target", "frequency_difference")


def fill(batch: EdgeBatch, out: Matrix, column: int) -> None:
    """Dice of the two words, and their log-frequencies; each in [0, 1].

    dice: 2 C_ef / (C_e + C_f)  [TLK05 §3].  frequency_source, frequency_target: log(1 + C) / log(1 + N) with N the
    sentence pairs of the corpus.  frequency_difference: the absolute difference of the two  [TLK05 §3].
    """
    scale = np.log1p(max(batch.statistics.cooccurrence.pairs, 1))
    source_frequency = np.log1p(batch.source_words.counts) / scale
    target_frequency = np.log1p(batch.target_words.counts) / scale
    pairs = batch.word_pairs
    _fill(batch.dice_of_pairs, source_frequency, target_frequency, pairs.source, pairs.target, out, column)


@nb.njit(cache=True, nogil=True)
def _fill(dice, source_frequency, target_frequency, source, target, out, column):
    for pair in range(len(source)):
        of_source = source_frequency[source[pair]]
        of_target = target_frequency[target[pair]]
        out[pair, column] = dice[pair]
        out[pair, column + 1] = of_source
        out[pair, column + 2] = of_target
        out[pair, column + 3] = abs(of_source - of_target)
