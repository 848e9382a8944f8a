"""From a batch of sentence pairs to links and their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from aligner.matching import best_matchings
from aligner.scoring import Scorer, score_in_threads
from corpora.alignment import Links
from corpora.bitext import Bitext
from features.edges import Encoded
from features.extractor import EDGES_AT_ONCE, FeatureSet, batches
from features.statistics import CorpusStatistics
from features.table import EdgeTable


@dataclass(frozen=True, slots=True)
class Alignment:
    """The links of one sentence pair.

    links: 0-based (source, target) positions in ascending order.  scores: of each link, by the model's scorer, above 0;
    the higher, the surer, on a scale that is the model's own.  Iterating, len() and ``in`` are those of the links.
    """

    links: tuple[tuple[int, int], ...]
    scores: tuple[float, ...]

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
    bitext: Bitext, statistics: CorpusStatistics, features: FeatureSet, scorer: Scorer, links: Sequence[Links] = ()
) -> list[Alignment]:
    """The best matching of every pair of a bitext; very long pairs may use all cores.

    links: other aligners' links of the whole bitext, one for each of features.links.
    """
    found: list[Alignment] = []
    encoded = Encoded(bitext, statistics)
    # One table for all batches: fresh memory costs more than what is computed in it.
    largest = max(EDGES_AT_ONCE, int(encoded.shapes.prod(axis=1).max(initial=0)))
    space = np.empty((min(largest, int(encoded.shapes.prod(axis=1).sum())), len(features.names)), np.float32)
    for batch in batches(encoded):
        table = space[: batch.offsets[-1]]
        features.fill(batch, links, table)
        found.extend(_alignments(scorer.scores(table), batch.shapes, batch.offsets))
    return found


def decode_edges(edges: EdgeTable, scorer: Scorer) -> list[Alignment]:
    """The best matching of every pair of a table of features, on all cores."""
    return _alignments(score_in_threads(scorer, edges.features), edges.shapes, edges.offsets)


def _alignments(
    scores: npt.NDArray[np.float64], shapes: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64]
) -> list[Alignment]:
    mates = best_matchings(scores, shapes)
    ends = np.cumsum(shapes[:, 0])
    pair = np.repeat(np.arange(len(shapes)), shapes[:, 0])
    rows = np.arange(len(mates)) - (ends - shapes[:, 0])[pair]
    linked = mates >= 0
    link_scores = scores[(offsets[pair] + rows * shapes[pair, 1] + mates)[linked]].tolist()
    links = list(zip(rows[linked].tolist(), mates[linked].tolist(), strict=True))
    bounds = np.concatenate([[0], np.cumsum(np.bincount(pair[linked], minlength=len(shapes)))]).tolist()
    return [Alignment(tuple(links[start:end]), tuple(link_scores[start:end])) for start, end in pairwise(bounds)]
