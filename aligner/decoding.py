"""From a batch of sentence pairs to links and their scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from aligner.matching import best_bmatchings
from aligner.scoring import Scorer, score_in_threads
from corpora.alignment import Links, PairLinks
from corpora.bitext import Bitext
from features.edges import EdgeBatch, Encoded
from features.extractor import EDGES_AT_ONCE, FeatureSet, batches
from features.fertility import LinkRewards
from features.parallel import map_threads
from features.statistics import CorpusStatistics
from features.table import EdgeTable


@dataclass(frozen=True, slots=True)
class Alignment:
    """The links of one sentence pair.

    links: 0-based (source, target) positions in ascending order.  scores: of each link; the higher, the surer. By a
    model with a calibration they are probabilities that the link is right, in (0, 1), see `confidence.Calibration`;
    by others the scorer's own numbers, above 0.  Iterating, len() and ``in`` are those of the links.
    """

    links: tuple[tuple[int, int], ...]
    scores: tuple[float, ...]

    @property
    def score(self) -> float:
        """Mean score of the links: of probabilities, the expected precision.  0 of no links."""
        return sum(self.scores) / len(self.scores) if self.scores else 0.0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.links)

    def __len__(self) -> int:
        return len(self.links)

    def __contains__(self, link: object) -> bool:
        return link in self.links

    def __str__(self) -> str:
        """The links in Pharaoh format."""
        return " ".join(f"{j}-{k}" for j, k in self.links)


def decode(
    bitext: Bitext,
    statistics: CorpusStatistics,
    features: FeatureSet,
    scorer: Scorer,
    links: Sequence[Links] = (),
    rewards: LinkRewards = LinkRewards(),  # noqa: B008 - frozen
) -> list[Alignment]:
    """The best alignment of every pair of a bitext; very long pairs may use all cores.

    links: other aligners' links of the whole bitext, one for each of features.links.
    rewards: of further links of a word.
    """
    found: list[Alignment] = []
    for batch, scores in score_batches(bitext, statistics, features, scorer, links):
        found.extend(_alignments(scores, batch.shapes, batch.offsets, rewards))
    return found


def score_batches(
    bitext: Bitext,
    statistics: CorpusStatistics,
    features: FeatureSet,
    scorer: Scorer,
    links: Sequence[Links] = (),
) -> Iterator[tuple[EdgeBatch, npt.NDArray[np.float64]]]:
    """The scores of every edge of a bitext, (E,) of each batch of pairs; links as for `decode`."""
    encoded = Encoded(bitext, statistics)
    # One table for all batches: fresh memory costs more than what is computed in it.
    largest = max(EDGES_AT_ONCE, int(encoded.shapes.prod(axis=1).max(initial=0)))
    space = np.empty((min(largest, int(encoded.shapes.prod(axis=1).sum())), len(features.names)), np.float32)
    for batch in batches(encoded):
        table = space[: batch.offsets[-1]]
        features.fill(batch, links, table)
        yield batch, scorer.scores(table)


def decode_in_threads(
    bitext: Bitext,
    statistics: CorpusStatistics,
    features: FeatureSet,
    scorer: Scorer,
    rewards: LinkRewards = LinkRewards(),  # noqa: B008 - frozen
) -> Iterator[Alignment]:
    """The same for every pair of a large bitext, in order, on all cores; few alignments are held."""

    def work(batch: EdgeBatch) -> list[Alignment]:
        table = np.empty((int(batch.offsets[-1]), len(features.names)), np.float32)
        features.fill(batch, (), table)
        return _alignments(scorer.scores(table), batch.shapes, batch.offsets, rewards)

    for found in map_threads(work, batches(Encoded(bitext, statistics))):
        yield from found


def decode_edges(edges: EdgeTable, scorer: Scorer, rewards: LinkRewards = LinkRewards()) -> list[Alignment]:  # noqa: B008 - frozen
    """The best alignment of every pair of a table of features, on all cores; rewards: of further links of a word."""
    return _alignments(score_in_threads(scorer, edges.features), edges.shapes, edges.offsets, rewards)


def links_of(found: Iterable[Alignment]) -> Links:
    """The links of alignments, packed; all are sure."""
    return Links.from_pairs(PairLinks(frozenset(alignment.links), frozenset()) for alignment in found)


def _alignments(
    scores: npt.NDArray[np.float64],
    shapes: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    rewards: LinkRewards,
) -> list[Alignment]:
    mates = best_bmatchings(scores, shapes, *rewards.of(shapes))
    slots = len(rewards.source) + 1
    ends = slots * np.cumsum(shapes[:, 0])
    pair = np.repeat(np.arange(len(shapes)), slots * shapes[:, 0])
    rows = (np.arange(len(mates)) - (ends - slots * shapes[:, 0])[pair]) // slots
    linked = mates >= 0
    link_scores = scores[(offsets[pair] + rows * shapes[pair, 1] + mates)[linked]].tolist()
    links = list(zip(rows[linked].tolist(), mates[linked].tolist(), strict=True))
    bounds = np.concatenate([[0], np.cumsum(np.bincount(pair[linked], minlength=len(shapes)))]).tolist()
    return [Alignment(tuple(links[start:end]), tuple(link_scores[start:end])) for start, end in pairwise(bounds)]
