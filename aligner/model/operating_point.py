"""The offset that a text needs: where a model is sure of few links, as of far languages, it must take unsure ones, too.

[Lipton et al. 2014] Lipton, Elkan and Naryanaswamy, Optimal thresholding of classifiers to maximize F1 measure.
"""

from collections.abc import Sequence

import numpy as np

from aligner.losses.edges import Edges
from aligner.model.model import Model
from aligner.model.scoring import score_batch, score_table
from corpora.bitext import Bitext
from corpora.links import Links
from corpora.ragged import F64

PAIRS = 500
"""Pairs of a text whose scores decide its offset."""

SURE, SLOPE = 0.3, 2.25
"""Up to this `best_threshold` a score of 0 leads to the least AER; beyond it, links must be added so many times as far.
Both were chosen by ``scripts/train_default.py``."""

LEARNT_SLOPE = 1.0
"""Of weights that labelled pairs of the text have taught, which have learnt a part of it."""

FURTHEST = 1.5
"""Offset that no gold set exceeds, from which on links would be chance."""


def best_threshold(scores: F64) -> float:
    """How far below 0 candidates of these scores, (E,), should still be links; 0 without candidates.

    The probability that gives the greatest expected F1 as a threshold is half of this F1  [Lipton et al. 2014, theorem
    1]. Probabilities are σ(score).
    """
    likely = np.sort(np.exp(-np.logaddexp(0.0, -scores)))[::-1]
    if not likely.sum() > 0.0:
        return 0.0
    expected = 2.0 * np.cumsum(likely) / (np.arange(1, len(likely) + 1) + likely.sum())
    return float(np.log(2.0 / expected.max() - 1.0))


def offset_for(threshold: float, slope: float = SLOPE) -> float:
    """The offset of the weights for a text with this `best_threshold`; from 0 to FURTHEST."""
    return min(max(0.0, slope * (threshold - SURE)), FURTHEST)


def offset_of(weights: F64, edges: Edges, slope: float = SLOPE) -> float:
    """The offset of weights, (d,), for a text by the scores of the first PAIRS pairs' edges."""
    some = edges.features[: edges.lists.offsets[min(PAIRS, len(edges))]]
    return offset_for(best_threshold(score_table(weights, some)), slope)


def fitting_offset(model: Model, bitext: Bitext, links: Sequence[Links] = ()) -> float:
    """The offset of a model of the default weights for a text, of which at most PAIRS evenly spaced pairs are seen.

    links: other aligners' of the bitext, one for each file that the model knows.
    """
    chosen = np.unique(np.linspace(0, len(bitext) - 1, min(PAIRS, len(bitext))).astype(np.int64))
    some = bitext.take(chosen)
    some = Bitext(some.source.without_other_words(), some.target.without_other_words())  # whose words are looked up
    text = model.features.encode(some, model.statistics, [other.take(chosen) for other in links])
    found = [score_batch(model.weights, model.features, text.batch(*run)) for run in text.runs()]
    return offset_for(best_threshold(np.concatenate([np.empty(0), *found])))
