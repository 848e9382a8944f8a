"""Association: how often two words occur together, and how frequent each is."""

import numpy as np

from features.batch import EdgeBatch
from features.table import Matrix

NAMES = ("dice", "frequency_source", "frequency_target", "frequency_difference")
OF_WORD_PAIRS = True


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Dice of the two words, and their log-frequencies; each in [0, 1].

    dice: 2 C_ef / (C_e + C_f)  [TLK05 §3].  frequency_source, frequency_target: log(1 + C) / log(1 + N) with N the
    sentence pairs of the corpus.  frequency_difference: the absolute difference of the two  [TLK05 §3].
    """
    pairs, text = batch.word_pairs, batch.text
    out[:, 0] = batch.dice_of_pairs.take(batch.kept)
    out[:, 1] = of_source = text.source_words.frequencies[pairs.source]
    out[:, 2] = of_target = text.target_words.frequencies[pairs.target]
    out[:, 3] = np.abs(of_source - of_target)
