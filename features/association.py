"""Association: how often two words occur together, and how frequent each is."""

from __future__ import annotations

import numba as nb
import numpy as np

from features.edges import EdgeBatch
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
    _fill(
        batch.dice, source_frequency[batch.source_tokens], target_frequency[batch.target_tokens],
        batch.source_offsets, batch.target_offsets, batch.offsets, out, column,
    )  # fmt: skip


@nb.njit(cache=True, nogil=True)
def _fill(dice, source_frequency, target_frequency, source_offsets, target_offsets, offsets, out, column):
    for i in range(len(offsets) - 1):
        edge = offsets[i]
        for j in range(source_offsets[i], source_offsets[i + 1]):
            for k in range(target_offsets[i], target_offsets[i + 1]):
                out[edge, column] = dice[edge]
                out[edge, column + 1] = source_frequency[j]
                out[edge, column + 2] = target_frequency[k]
                out[edge, column + 3] = abs(source_frequency[j] - target_frequency[k])
                edge += 1
