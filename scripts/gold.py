"""What the scripts measure on: gold sets, the corpora beside them, and what `aligner train` learns from their pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

import aligner
from aligner.evaluation.comparison import Evaluation
from aligner.evaluation.counts import count, scores
from aligner.losses.capacity import LinkRewards
from aligner.losses.fenchel_young import FenchelYoungProblem
from aligner.losses.hinge import MatchingProblem
from aligner.model import default
from aligner.model.calibration import JudgedLinks
from aligner.model.decoding import Alignments, decode_edges
from aligner.model.default import REWARDS
from aligner.solvers import Stop, solve
from aligner.solvers.newton import Newton
from aligner.training.cross_validate import cross_validate, edge_weights
from aligner.training.settings import LOSSES, LearnSettings, plan
from corpora.alignment import Links
from corpora.bitext import Bitext, BitextBuilder, read_bitext
from corpora.corpus import Corpus
from corpora.link_files import read_links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.extractor import FeatureSet, with_words
from features.families.links import numbered
from features.statistics import CorpusStatistics
from features.table import EdgeTable
from features.translation.posteriors import Decoder

F64 = npt.NDArray[np.float64]

OFFSET = 0.3
"""Added to all scores of default weights: AER weighs a false link less than a missed one."""
STRENGTH = 1.0
"""1 over λ n of the weights of single gold sets, of which default weights are the mean."""

PRIOR = {"hmm_soft": 8.0, "bias": -4.0}
"""The unsupervised decoder as a linear score: above 0 where the soft posterior is above a half."""


@dataclass(frozen=True)
class GoldSet:
    """A gold set, and the corpora that its translation models are learnt from.

    corpora: (prefix, pairs), in ascending order of pairs.  inside: whether these contain the text of the gold set.
    """

    prefixes: tuple[str, ...]
    source: str
    target: str
    corpora: tuple[tuple[str, int], ...]
    inside: bool = False


GOLD_SETS: Mapping[str, GoldSet] = {
    "hansards": GoldSet(
        ("hansards/gold-train", "hansards/gold-trial"), "en", "fr",
        (("hansards/train", 2_500), ("hansards/train", 10_000), ("hansards/train", 100_000)),
    ),
    "europarl": GoldSet(
        ("europarl/gold",), "en", "fr",
        (("europarl/train", 2_500), ("europarl/train", 10_000), ("europarl/train", 100_000)),
    ),
    "en-es": GoldSet(("en-es/gold",), "en", "es", (("en-es/train", 2_500), ("en-es/train", 12_037))),
    "fr-en-stories": GoldSet(
        ("fr-en-stories/gold",), "fr", "en", (("europarl/train", 3_000), ("europarl/train", 50_000)),
    ),
    "cs-en": GoldSet(("cs-en/gold-train",), "en", "cs", (("cs-en/text", 2_500),), inside=True),
}  # fmt: skip
"""The gold sets that the default weights are learnt from."""

GERMAN = GoldSet(("rwth-de-en/gold",), "de", "en", (("comtrans-de-en/train", 23_580),))
"""A gold set that no weights are learnt from."""


DEV_SETS: Mapping[str, GoldSet] = {
    "hansards, dev": GoldSet(("hansards/gold-dev",), "en", "fr", (("hansards/train", 10_000),)),
    "cs-en, dev": GoldSet(("cs-en-possible/gold-dev",), "en", "cs", (("cs-en/text", 2_500),), inside=True),
}
"""Gold sets on which no choice is made."""

WIKIPEDIA: Mapping[str, GoldSet] = {
    f"xl-wa, {code}": GoldSet((f"xl-wa/en-{code}/gold",), "en", code, ((f"xl-wa/en-{code}/text", 2_999),))
    for code in "bg da es et hu it nl pt ru sl".split()
}
"""Further ones, of small corpora."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Gold pairs: text, links, and other aligners' links."""

    bitext: Bitext
    links: Links
    corpora: tuple[Corpus, ...]
    others: tuple[Links, ...] = ()

    @classmethod
    def open(
        cls, data: Path, prefixes: Iterable[str], source: str, target: str, others: Iterable[str] = ()
    ) -> Labelled:
        """others: files of other aligners' links of these pairs."""
        corpora = tuple(open_corpus(str(data / prefix), source=source, target=target) for prefix in prefixes)
        bitext = read_bitext(corpora, Normalizer(), Normalizer())
        links = Links.from_pairs(pair for part in corpora for pair in part.links())
        return cls(bitext, links, corpora, tuple(read_links(data / other, probable=True) for other in others))


@dataclass(frozen=True, eq=False)
class View:
    """A gold set under the statistics of one corpus.  pairs: of the corpus."""

    gold: str
    pairs: int
    labelled: Labelled
    statistics: CorpusStatistics

    @cached_property
    def edges(self) -> EdgeTable:
        return FeatureSet(candidates="all").extract(self.labelled.bitext, self.statistics)  # as the shipped weights

    @cached_property
    def unsupervised(self) -> float:
        """AER of the unsupervised decoder."""
        assert self.statistics.translation is not None
        decoder = Decoder(self.labelled.bitext, self.statistics.translation)
        return aer(self.labelled.links, decoder.posteriors(0, len(self.labelled.bitext)).soft_links())

    @cached_property
    def weights(self) -> F64:
        """What the default loss learns of the set alone."""
        problem = FenchelYoungProblem.from_links(
            self.edges, self.labelled.links, regularization=1.0 / (STRENGTH * len(self.labelled.links)),
            training_links=LOSSES["fenchel-young"].links,
        )  # fmt: skip
        return solve(problem, Newton(), stop=Stop(gap=1e-4, passes=100)).w


def view(data: Path, name: str, gold: GoldSet, prefix: str, pairs: int) -> View:
    """A gold set under the first pairs of a corpus and its own text."""
    labelled = Labelled.open(data, gold.prefixes, gold.source, gold.target)
    text = open_corpus(str(data / prefix), source=gold.source, target=gold.target)
    bitext = text_with_gold(text, pairs, () if gold.inside else labelled.corpora)
    return View(name, pairs, labelled, CorpusStatistics.from_bitext(bitext))


def views(data: Path, most: int) -> list[View]:
    """Of each gold set under each corpus of at most so many pairs."""
    return [
        view(data, name, gold, prefix, pairs)
        for name, gold in GOLD_SETS.items()
        for prefix, pairs in gold.corpora
        if pairs <= most
    ]


def text_with_gold(corpus: Corpus, pairs: int | None, gold: Iterable[Corpus]) -> Bitext:
    """The first pairs of a corpus, or all, and the text of gold."""
    builder = BitextBuilder(Normalizer(), Normalizer(), corpus.source_language, corpus.target_language)
    builder.add_texts(corpus, list(islice(corpus.texts(), pairs)))
    for part in gold:
        builder.add_texts(part, list(part.texts()))
    return builder.bitext()


def prior() -> F64:
    """The unsupervised decoder as weights of all features."""
    return np.array([PRIOR.get(name, 0.0) for name in FeatureSet().names])


def shipped_weights() -> F64:
    """The default weights that come with the program."""
    known = default.default_weights().weights
    return np.array([known[name] for name in FeatureSet().names])


def default_weights(seen: Sequence[View], left_out: str | None) -> F64:
    """Default weights without a gold set: the mean over the others, each that of its corpora, and of the prior."""
    sets: dict[str, list[F64]] = {}
    for one in seen:
        if one.gold != left_out:
            sets.setdefault(one.gold, []).append(one.weights)
    mean: F64 = np.mean([*(np.mean(of_set, axis=0) for of_set in sets.values()), prior()], axis=0)
    return mean + OFFSET * (np.array(FeatureSet().names) == "bias")


def decode_with(weights: F64, edges: EdgeTable) -> Alignments:
    """The alignments that these weights of the features give, decoded as the default model does."""
    return decode_edges(edges, weights, REWARDS)


@dataclass(frozen=True, eq=False)
class Learnt:
    """What `aligner train` learns from labelled pairs, without the corpus statistics.

    held_out: links of the folds, where there are some.
    """

    features: FeatureSet
    weights: F64
    rewards: LinkRewards
    held_out: JudgedLinks | None

    def align(self, bitext: Bitext, statistics: CorpusStatistics, others: Sequence[Links] = ()) -> Alignments:
        return decode_edges(self.features.extract(bitext, statistics, links=others), self.weights, self.rewards)


def learn(
    labelled: Labelled,
    pairs: npt.NDArray[np.int64],
    statistics: CorpusStatistics,
    centre: F64 | None = None,
    kinds: Sequence[str] = (),
    settings: LearnSettings = LearnSettings(),
) -> Learnt:
    """Learn from some of the labelled pairs as `aligner train` does with these settings.

    centre: default weights in place of those that come with the program.  kinds: of the others of the labelled pairs.
    """
    planned = plan(settings, len(pairs))
    links, bitext = labelled.links.take(pairs), labelled.bitext.take(pairs)
    features = with_words(FeatureSet(links=numbered(kinds)), bitext, planned.words)
    edges = features.extract(bitext, statistics, links=[other.take(pairs) for other in labelled.others])
    problem = planned.problem(edges, links)
    if centre is not None and problem.prior_name == "default":
        problem = replace(problem, prior=np.concatenate([centre, np.zeros(len(edges.names) - len(centre))]))
    learnt = cross_validate(problem, links, planned, stop=Stop(gap=1e-3, passes=200))
    w = learnt.result.w
    return Learnt(features, edge_weights(problem, w), problem.link_rewards(w), learnt.held_out)


def judge(gold: Links, found: Links) -> Evaluation:
    return aligner.evaluate(gold, found)


def aer(gold: Links, found: Links) -> float:
    return 100 * float(scores(count(gold, found).sum(axis=0)).aer)


def hansards_problem(data: Path, pairs: int, regularization: float, counted: int = 20_000) -> MatchingProblem:
    """The first pairs of the Hansards with the links of the default model, under statistics of the first `counted`."""
    return labelled_problem(data / "hansards" / "train", pairs, regularization, counted)


def labelled_problem(prefix: Path, pairs: int, regularization: float, counted: int) -> MatchingProblem:
    """The first pairs of a corpus with the links of the default model, under statistics of the first `counted`."""
    text = text_with_gold(open_corpus(prefix), counted, ())
    statistics = CorpusStatistics.from_bitext(text)
    edges = FeatureSet().extract(text.take(np.arange(pairs)), statistics)
    found = decode_with(shipped_weights(), edges).to_links()
    return MatchingProblem.from_links(edges, found, regularization=regularization)
