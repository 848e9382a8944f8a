"""What the scripts measure on: gold sets with their corpora, and what `aligner train` learns from their pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from pathlib import Path

import numpy as np
import numpy.typing as npt
from gold_sets import GOLD_SETS, GoldSet

import aligner
from aligner.evaluation.comparison import Evaluation
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
from corpora.bitext import Bitext, BitextBuilder, Text, read_bitext
from corpora.corpus import Corpus
from corpora.link_files import read_links
from corpora.links import Links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.extractor import FeatureSet, with_words
from features.families.links import numbered
from features.statistics import CorpusStatistics
from features.table import EdgeTable
from features.translation.posteriors import Decoder

F64, Bools = npt.NDArray[np.float64], npt.NDArray[np.bool_]

OFFSET = 0.2
"""Added to all scores of default weights: AER weighs a false link less than a missed one."""
STRENGTH = 1.0
"""1 over λ n of the weights of single gold sets, of which default weights are the mean."""

PRIOR = {"hmm_soft": 8.0, "bias": -4.0}
"""The unsupervised decoder as a linear score: above 0 where the soft posterior is above a half."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Gold pairs: text, links, and other aligners' links.

    annotated: of each source and each target word of the bitext, whether it is; None: all are.  Links of others are
    possible in `links`, so that they teach nothing, and are not judged.
    """

    bitext: Bitext
    links: Links
    corpora: tuple[Corpus, ...]
    others: tuple[Links, ...] = ()
    annotated: tuple[Bools, Bools] | None = None

    @classmethod
    def open(
        cls,
        data: Path,
        prefixes: Iterable[str],
        source: str,
        target: str,
        others: Iterable[str] = (),
        words: str | None = None,
    ) -> Labelled:
        """others: files of other aligners' links of these pairs.  words: see `GoldSet`."""
        corpora = tuple(open_corpus(str(data / prefix), source=source, target=target) for prefix in prefixes)
        bitext = read_bitext(corpora, Normalizer(), Normalizer())
        pairs = [pair for part in corpora for pair in part.links()]
        annotated = None
        if words is not None:
            lines = (data / words).read_text("utf-8").splitlines()
            known = [[[*map(int, side.split())] for side in line.split("|||")] for line in lines]
            source_words, target_words = zip(*known, strict=True)
            annotated = _marks(bitext.source, source_words), _marks(bitext.target, target_words)
            shapes = zip(bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True)
            every = (set(product(range(J), range(K))) for J, K in shapes)
            pairs = [
                pair._replace(possible=frozenset(cells.difference(product(*of_pair))))
                for pair, of_pair, cells in zip(pairs, known, every, strict=True)
            ]
        read = tuple(read_links(data / other, probable=True) for other in others)
        return cls(bitext, Links.from_pairs(pairs), corpora, read, annotated)

    def take(self, pairs: npt.NDArray[np.int64]) -> Labelled:
        """These pairs alone, (m,) indices."""
        annotated = self.annotated
        if annotated is not None:
            texts = zip(annotated, (self.bitext.source, self.bitext.target), strict=True)
            source, target = (np.concatenate([marks[a:b] for a, b in _bounds(text, pairs)]) for marks, text in texts)
            annotated = source, target
        others = tuple(other.take(pairs) for other in self.others)
        return replace(
            self, bitext=self.bitext.take(pairs), links=self.links.take(pairs), others=others, annotated=annotated
        )

    def _known(self, links: Links) -> Bools:
        """Of links, whether both words are annotated."""
        if self.annotated is None:
            return np.ones(len(links.source), np.bool_)
        texts, words = (self.bitext.source, self.bitext.target), (links.source, links.target)
        sides = zip(self.annotated, texts, words, strict=True)
        return np.logical_and(*(marks[text.offsets[links.pairs] + places] for marks, text, places in sides))

    def calibrating(self, found: Links) -> Links:
        """The links that are judged, sure where they are right."""
        return judged(found, self.links).where(self._known(found))

    def count(self, found: Links) -> npt.NDArray[np.int64]:
        """(n, 5) of the links that are judged, see `aligner.evaluation.counts.count`."""
        if self.annotated is None:
            return count(self.links, found)
        gold, ours = (links.where(self._known(links) & links.sure) for links in (self.links, found))
        return count(gold, ours)

    def aer(self, found: Links) -> float:
        return 100 * float(scores(self.count(found).sum(axis=0)).aer)


def _bounds(text: Text, pairs: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Where the words of these pairs begin and end."""
    yield from zip(text.offsets[pairs].tolist(), text.offsets[pairs + 1].tolist(), strict=True)


def _marks(text: Text, positions: Iterable[Sequence[int]]) -> Bools:
    marks = np.zeros(len(text.ids), np.bool_)
    for start, of_pair in zip(text.offsets[:-1].tolist(), positions, strict=True):
        marks[[start + position for position in of_pair]] = True
    return marks


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
        return self.labelled.aer(decoder.posteriors(0, len(self.labelled.bitext)).soft_links())

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


def view(data: Path, name: str, gold: GoldSet, prefix: str, pairs: int) -> View:
    """A gold set under the first pairs of a corpus and its own text, or of its first pairs alone, see `GoldSet`."""
    labelled = Labelled.open(data, gold.prefixes, gold.source, gold.target, words=gold.words)
    if not prefix:
        alone = labelled.take(np.arange(min(pairs, len(labelled.links))))
        return View(name, len(alone.links), alone, CorpusStatistics.from_bitext(alone.bitext))
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
    found = decode_with(shipped_weights(), edges).links
    return MatchingProblem.from_links(edges, found, regularization=regularization)
