"""Scores of edges: linear in their features, and the same to the last bit in whatever order they are summed."""

import numpy as np

from aligner.model import _score_kernels as _kernels
from corpora.ragged import F64
from features.batch import EdgeBatch
from features.extractor import FeatureSet
from features.table import GRID, Matrix

_LARGEST = 64
"""Features are smaller."""


def score_table(weights: F64, features: Matrix) -> F64:
    """Return the scores w·φ, (E,), of edges with these features, (E, d); no score depends on other edges  [TLK05]."""
    scores = np.zeros(len(features))
    _kernels.add_scores(features, exact_weights(weights), scores)
    return scores


def score_batch(weights: F64, features: FeatureSet, batch: EdgeBatch) -> F64:
    """Return the scores, (E,), of the candidates of a batch by (d,) weights, without a table of features."""
    weights = exact_weights(weights)
    scores, scores_of_pairs = np.zeros(len(batch.cells)), np.zeros(len(batch.word_pairs.source))
    for columns, values, of_pairs in features.parts(batch):
        _kernels.add_rounded_scores(values, weights[columns], scores_of_pairs if of_pairs else scores)
    scores += scores_of_pairs.take(batch.word_pairs.of_edge)
    return scores


def exact_weights(weights: F64) -> F64:
    """Return weights rounded so that their products with features, and all sums of such products, are exact.

    Then a score is the same to the last bit in whatever order, and of however many parts, it is summed. Features are
    whole multiples of 1 / GRID; weights are rounded to multiples of a step so long that no sum reaches 2^53 steps:
    each changes by less than 1e-11 of the sum of their absolute values.
    """
    total = np.abs(weights).sum()
    if not 1e-280 < total < np.inf:  # as good as nothing, of which a step would be 0
        return weights
    step = 2.0 ** (np.ceil(np.log2(total)) + np.log2(GRID * _LARGEST) - 53)
    return np.asarray(np.rint(weights / step) * step)
