"""The labelled problems that the benchmarks of training and of solvers run on."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import aligner
from aligner.svm.hinge import MatchingProblem
from aligner.training.inputs import Inputs
from corpora.alignment import Links, PairLinks
from corpora.bitext import Bitext, BitextBuilder
from corpora.normalize import Normalizer
from corpora.readers import Corpus, open_corpus
from features.extractor import FeatureSet
from features.statistics import CorpusStatistics


def hansards_problem(data: Path, pairs: int, regularization: float) -> MatchingProblem:
    """The first pairs of the Hansards with the links of a model trained on gold-train, for any number of them."""
    hansards = data / "hansards"
    model = aligner.train(str(hansards / "train"), gold=[str(hansards / "gold-train")]).model
    builder, corpus = model.builder(), open_corpus(hansards / "train")
    builder.add_texts(corpus, list(islice(corpus.texts(), pairs)))
    bitext = builder.bitext()
    links = Links.from_pairs(PairLinks(frozenset(found.links), frozenset()) for found in model.align_bitext(bitext))
    edges = FeatureSet().extract(bitext, model.statistics)
    return MatchingProblem.from_links(edges, links, regularization=regularization)


def text_with_gold(corpus: Corpus, pairs: int | None, gold: Iterable[Corpus]) -> Bitext:
    """The first pairs of a corpus, or all, and the text of gold."""
    builder = BitextBuilder(Normalizer(), Normalizer(), corpus.source_language, corpus.target_language)
    builder.add_texts(corpus, list(islice(corpus.texts(), pairs)))
    for part in gold:
        builder.add_texts(part, list(part.texts()))
    return builder.bitext()


def comtrans_problem(data: Path, regularization: float) -> MatchingProblem:
    """All pairs of comtrans de-en with their GIZA++ links."""
    bitext, labelled = Inputs.open(str(data / "comtrans-de-en" / "train"), ()).read()
    edges = FeatureSet().extract(labelled.bitext, CorpusStatistics.from_bitext(bitext), memory=8 << 30)
    return MatchingProblem.from_links(edges, labelled.links, regularization=regularization)
