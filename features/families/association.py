"""Association: how often two words occur together, and how frequent each is."""

from __future__ import annotations

import numpy as np

from corpora.ragged import F64
from features.batch import EdgeBatch, Encoded
from features.table import Matrix

NAMES = ("dice", "frequency_source", "frequency_target", "frequency_difference")
OF_WORD_PAIRS = True


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Dice of the two words, and their log-frequencies; each in [0, 1].

    dice: 2 C_ef / (C_e + C_f)  [TLK05 §3].  frequency_source, frequency_target: log(1 + C) / log(1 + N) with N the
    sentence pairs of the corpus.  frequency_difference: the absolute difference of the two  [TLK05 §3].
    """
    source_frequency, target_frequency = batch.text.once(_frequencies)
    pairs = batch.listed.word_pairs
    out[:, 0] = batch.dice_of_pairs.take(batch.listed.kept)
    out[:, 1] = of_source = source_frequency[pairs.source]
    out[:, 2] = of_target = target_frequency[pairs.target]
    out[:, 3] = np.abs(of_source - of_target)


def _frequencies(text: Encoded) -> tuple[F64, F64]:
    """(V,) of each source and each target word."""
    scale = np.log1p(max(text.statistics.cooccurrence.pairs, 1))
    return np.log1p(text.source_words.counts) / scale, np.log1p(text.target_words.counts) / scale
