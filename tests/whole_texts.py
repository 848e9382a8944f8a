"""Posteriors of whole texts, and error rates of a model on them."""

from __future__ import annotations

from aligner.evaluation.counts import count, scores
from aligner.model.model import Model
from corpora.bitext import Bitext
from corpora.corpus import Corpus
from corpora.links import Links
from features.translation.model import TranslationModel
from features.translation.posteriors import Decoder, Posteriors


def posteriors(model: TranslationModel, bitext: Bitext) -> Posteriors:
    """Those of all pairs at once."""
    return Decoder(bitext, model).posteriors(0, len(bitext))


def aer(model: Model, corpus: Corpus) -> float:
    pairs = ((source.decode().split(), target.decode().split()) for _, source, target in corpus.texts())
    found = Links.from_sets({*alignment} for alignment in model.align_many(pairs))
    return float(scores(count(Links.from_pairs(corpus.links()), found).sum(axis=0)).aer)
