"""What the scripts measure on: gold sets with their corpora, and what `aligner train` learns from their pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from pathlib import Path

import numpy as np
import numpy.typing as npt
from gold_sets import GOLD_SETS, SETS, GoldSet

from aligner.evaluation.counts import count, scores
from aligner.losses.capacity import LinkRewards
from aligner.losses.fenchel_young import FenchelYoungProblem
from aligner.losses.hinge import MatchingProblem
from aligner.model import default
from aligner.model.calibration import judged
from aligner.model.decoding import Alignments, best_alignments, decode_edges
from aligner.model.default import REWARDS
from aligner.model.operating_point import best_threshold, offset_for, offset_of
from aligner.model.scoring import score_table
from aligner.solvers import Stop, solve
from aligner.solvers.newton import Newton
from aligner.training.cross_validate import cross_validate, edge_weights
from aligner.training.settings import LOSSES, LearnSettings, plan
from corpora.bitext import Bitext, BitextBuilder, read_bitext
from corpora.corpus import Corpus
from corpora.link_files import read_links
from corpora.links import Links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.extractor import FeatureSet, with_words
from features.families.links import numbered
from features.statistics import CorpusStatistics
from features.table import EdgeTable
from features.translation.posteriors import Decoder, Posteriors

F64 = npt.NDArray[np.float64]

OFFSET = 0.2
"""Added to all scores of default weights: AER weighs a false link less than a missed one."""
STRENGTH = 1.0
"""1 over λ n of the weights of single gold sets, of which default weights are the mean."""

PRIOR = {"hmm_soft": 8.0, "bias": -4.0}
"""The unsupervised decoder as a linear score: above 0 where the soft posterior is above a half."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Gold pairs: text, links, and other aligners' links.

    partial: some words are not annotated.  Their links are possible in `links`, so that they teach nothing, and are
    not judged.
    """

    bitext: Bitext
    links: Links
    corpora: tuple[Corpus, ...]
    others: tuple[Links, ...] = ()
    partial: bool = False

    @classmethod
    def open(cls, data: Path, gold: GoldSet, others: Iterable[str] = ()) -> Labelled:
        """others: files of other aligners' links of these pairs."""
        corpora = tuple(gold.corpus(data, prefix) for prefix in gold.prefixes)
        bitext = read_bitext(corpora, Normalizer(), Normalizer())
        pairs = [pair for part in corpora for pair in part.links()]
        if gold.words is not None:
            lines = (data / gold.words).read_text("utf-8").splitlines()
            known = [product(*(map(int, side.split()) for side in line.split("|||"))) for line in lines]
            shapes = zip(bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True)
            every = (set(product(range(J), range(K))) for J, K in shapes)
            pairs = [
                pair._replace(possible=frozenset(cells.difference(of_pair)))
                for pair, of_pair, cells in zip(pairs, known, every, strict=True)
            ]
        read = tuple(read_links(data / other, probable=True) for other in others)
        return cls(bitext, Links.from_pairs(pairs), corpora, read, gold.words is not None)

    def take(self, pairs: npt.NDArray[np.int64]) -> Labelled:
        """These pairs alone, (m,) indices."""
        others = tuple(other.take(pairs) for other in self.others)
        return replace(self, bitext=self.bitext.take(pairs), links=self.links.take(pairs), others=others)

    def _annotated(self, found: Links) -> Links:
        """Those links whose words are both annotated."""
        if not self.partial:
            return found
        pairs = zip(found, self.links, strict=True)
        kept = [link not in gold.possible for own, gold in pairs for link in sorted(own.sure | own.possible)]
        return found.where(np.array(kept, np.bool_))

    def calibrating(self, found: Links) -> Links:
        """The links that are judged, sure where they are right."""
        return self._annotated(judged(found, self.links))

    def count(self, found: Links) -> npt.NDArray[np.int64]:
        """(n, 5) of the links that are judged, see `aligner.evaluation.counts.count`."""
        gold = self.links.where(self.links.sure) if self.partial else self.links
        return count(gold, self._annotated(found))

    def aer(self, found: Links) -> float:
        return 100 * float(scores(self.count(found).sum(axis=0)).aer)


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
    def candidates(self) -> EdgeTable:
        return FeatureSet().extract(self.labelled.bitext, self.statistics)

    @cached_property
    def posteriors(self) -> Posteriors:
        decoder = Decoder(self.labelled.bitext, self.statistics.translation)
        return decoder.posteriors(0, len(self.labelled.bitext))

    @cached_property
    def bare(self) -> Links:
        """The links of the unsupervised decoder."""
        return self.posteriors.soft_links()

    def aligned(self, weights: F64, offset: float = 0.0) -> Links:
        """The links that weights give, see `decode_with`."""
        return decode_with(weights, self.candidates, offset).links

    @cached_property
    def weights(self) -> F64:
        """What the logistic loss learns of the set alone."""
        problem = FenchelYoungProblem.from_links(
            self.edges,
            self.labelled.links,
            regularization=1.0 / (STRENGTH * len(self.labelled.links)),
            training_links=LOSSES["logistic"].links,
        )
        return solve(problem, Newton(), stop=Stop(gap=1e-4, passes=100)).w


def view(data: Path, name: str, prefix: str, pairs: int) -> View:
    """A gold set under the first pairs of a corpus and its own text, or of its first pairs alone, see `GoldSet`."""
    gold = SETS[name]
    labelled = Labelled.open(data, gold)
    if not prefix:
        alone = labelled.take(np.arange(min(pairs, len(labelled.links))))
        return View(name, len(alone.links), alone, CorpusStatistics.from_bitext(alone.bitext))
    bitext = text_with_gold(gold.corpus(data, prefix), pairs, () if gold.inside else labelled.corpora)
    return View(name, pairs, labelled, CorpusStatistics.from_bitext(bitext))


def views(data: Path, most: int, names: Iterable[str] = GOLD_SETS) -> list[View]:
    """Of each gold set under each corpus of at most so many pairs."""
    return [view(data, name, *corpus) for name in names for corpus in SETS[name].corpora if corpus[1] <= most]


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


def decode_with(weights: F64, edges: EdgeTable, offset: float = 0.0) -> Alignments:
    """The alignments that these weights of the features give, decoded as the default model does.

    offset: added to that of the text, as `--offset`.
    """
    scores = score_table(weights, edges.features)
    return best_alignments(scores + offset_for(best_threshold(scores)) + offset, edges.lists, REWARDS)


@dataclass(frozen=True, eq=False)
class Learnt:
    """What `aligner train` learns from labelled pairs, without the corpus statistics.

    held_out: links of the folds, where there are some.
    """

    features: FeatureSet
    weights: F64
    rewards: LinkRewards
    held_out: Links | None

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
    if problem.prior_name == "default":
        known = problem.prior if centre is None else np.append(centre, np.zeros(len(edges.names) - len(centre)))
        problem = replace(problem, prior=known + offset_of(known, edges) * (np.array(edges.names) == "bias"))
    learnt = cross_validate(problem, links, planned, stop=Stop(gap=1e-3, passes=200))
    w = learnt.result.w
    return Learnt(features, edge_weights(problem, w), problem.link_rewards(w), learnt.held_out)


def aer(gold: Links, found: Links) -> float:
    return 100 * float(scores(count(gold, found).sum(axis=0)).aer)


def labelled_problem(prefix: Path, pairs: int, regularization: float, counted: int) -> MatchingProblem:
    """The first pairs of a corpus with the links of the default model, under statistics of the first `counted`."""
    text = text_with_gold(open_corpus(prefix), counted, ())
    statistics = CorpusStatistics.from_bitext(text)
    edges = FeatureSet().extract(text.take(np.arange(pairs)), statistics)
    found = decode_with(shipped_weights(), edges).links
    return MatchingProblem.from_links(edges, found, regularization=regularization)
