"""From a batch of sentence pairs to links and their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from aligner.matching import best_matchings
from aligner.model._link_kernels import unpack_mates, write_lines
from aligner.model.scoring import Scorer, score_in_threads
from aligner.svm.prices import LinkRewards
from aligner.svm.protocols import Edges
from corpora.alignment import Links, PairLinks
from corpora.bitext import Bitext
from corpora.threads import map_threads
from features.batch import EdgeBatch, Encoded
from features.extractor import EDGES_AT_ONCE, FeatureSet, batches
from features.statistics import CorpusStatistics

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

PAIRS_AT_ONCE = 1024
"""Pairs per task of a text that is aligned as it is read. With more, short texts would leave cores idle; with fewer,
what is done once a task, in Python, would cost."""


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
        return ("%d-%d " * len(self.links))[:-1] % tuple(chain.from_iterable(self.links))


@dataclass(frozen=True, eq=False)
class Alignments(Sequence[Alignment]):
    """The alignments of n sentence pairs, packed: the links of pair i are rows bounds[i]:bounds[i + 1].

    As a sequence it is one of `Alignment`; sequences of equal alignments are equal.
    """

    source: I64  # (m,) word positions, ascending by (source, target) within a pair
    target: I64  # (m,)
    scores: F64  # (m,) as those of Alignment
    bounds: I64  # (n + 1,)

    @classmethod
    def pack(cls, found: Sequence[Alignment]) -> Alignments:
        both = np.array([link for alignment in found for link in alignment.links], np.int64).reshape(-1, 2)
        scores = np.array([score for alignment in found for score in alignment.scores], np.float64)
        return cls(both[:, 0], both[:, 1], scores, np.cumsum([0, *map(len, found)]))

    @classmethod
    def join(cls, parts: Sequence[Alignments]) -> Alignments:
        """Those of all parts, one after the other."""
        nothing = np.empty(0, np.int64)
        counts = np.concatenate([nothing, *(np.diff(part.bounds) for part in parts)])
        return cls(
            np.concatenate([nothing, *(part.source for part in parts)]),
            np.concatenate([nothing, *(part.target for part in parts)]),
            np.concatenate([np.empty(0), *(part.scores for part in parts)]),
            np.concatenate([[0], np.cumsum(counts)]),
        )

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @overload
    def __getitem__(self, index: int) -> Alignment: ...
    @overload
    def __getitem__(self, index: slice) -> list[Alignment]: ...
    def __getitem__(self, index: int | slice) -> Alignment | list[Alignment]:
        if isinstance(index, slice):
            return list(self)[index]
        pair = range(len(self))[index]
        rows = slice(self.bounds[pair], self.bounds[pair + 1])
        links = zip(self.source[rows].tolist(), self.target[rows].tolist(), strict=True)
        return Alignment(tuple(links), tuple(self.scores[rows].tolist()))

    def __iter__(self) -> Iterator[Alignment]:
        links = tuple(zip(self.source.tolist(), self.target.tolist(), strict=True))
        scores = tuple(self.scores.tolist())
        return (Alignment(links[start:end], scores[start:end]) for start, end in pairwise(self.bounds.tolist()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # equal by content

    def lines(self) -> bytes:
        """A line of links in Pharaoh format for each pair."""
        return bytes(write_lines(self.source, self.target, self.bounds))


def decode(
    bitext: Bitext,
    statistics: CorpusStatistics,
    features: FeatureSet,
    scorer: Scorer,
    links: Sequence[Links] = (),
    rewards: LinkRewards = LinkRewards(),  # noqa: B008 - frozen
    probabilities: Callable[[F64], F64] | None = None,
) -> Alignments:
    """The best alignment of every pair of a bitext; very long pairs may use all cores.

    Where further links cost nothing and no word has more edges above 0 than it may have links, they are the links.

    links: other aligners' links of the whole bitext, one for each of features.families.links.
    rewards: of further links of a word.  probabilities: of links by their scores, given in place of these.
    """
    parts = score_batches(bitext, statistics, features, scorer, links)
    return Alignments.join(
        [_alignments(scores, batch.shapes, batch.offsets, rewards, probabilities) for batch, scores in parts]
    )


def score_batches(
    bitext: Bitext,
    statistics: CorpusStatistics,
    features: FeatureSet,
    scorer: Scorer,
    links: Sequence[Links] = (),
) -> Iterator[tuple[EdgeBatch, F64]]:
    """The scores of every edge of a bitext, (E,) of each batch of pairs; links as for `decode`."""
    encoded = Encoded(bitext, statistics)
    # One piece of memory for all batches: fresh memory costs more than what is computed in it.
    edges = encoded.shapes.prod(axis=1)
    largest = min(max(EDGES_AT_ONCE, int(edges.max(initial=0))), int(edges.sum()))
    space = np.empty(largest * scorer.columns_at_once(features), np.float32)
    for batch in batches(encoded):
        yield batch, scorer.score_batch(features, batch, links, space)


def decode_in_threads(
    bitext: Bitext,
    statistics: CorpusStatistics,
    features: FeatureSet,
    scorer: Scorer,
    rewards: LinkRewards = LinkRewards(),  # noqa: B008 - frozen
    probabilities: Callable[[F64], F64] | None = None,
) -> Iterator[Alignment]:
    """The same for every pair of a large bitext, in order, on all cores; few alignments are held."""

    def work(batch: EdgeBatch) -> Alignments:
        space = np.empty(int(batch.offsets[-1]) * scorer.columns_at_once(features), np.float32)
        scores = scorer.score_batch(features, batch, (), space)
        return _alignments(scores, batch.shapes, batch.offsets, rewards, probabilities)

    for found in map_threads(work, batches(Encoded(bitext, statistics))):
        yield from found


def decode_edges(edges: Edges, scorer: Scorer, rewards: LinkRewards = LinkRewards()) -> Alignments:  # noqa: B008 - frozen
    """The best alignment of every pair of a table of features, on all cores; rewards: of further links of a word."""
    return _alignments(score_in_threads(scorer, edges.features), edges.shapes, edges.offsets, rewards)


def links_of(found: Iterable[Alignment]) -> Links:
    """The links of alignments, packed; all are sure."""
    return Links.from_pairs(PairLinks(frozenset(alignment.links), frozenset()) for alignment in found)


class FoundLinks(NamedTuple):
    """m links of several pairs: of which pair, between which words of it, and by which edge; (m,) each, ascending."""

    pair: I64
    source: I64
    target: I64
    edge: I64


def best_links(scores: F64, shapes: I64, offsets: I64, rewards: LinkRewards) -> FoundLinks:
    """The links of the best alignments.  scores: (E,) of all edges of pairs with these shapes and offsets."""
    return unpack_links(best_matchings(scores, shapes, rewards.source, rewards.target), shapes, offsets)


def unpack_links(mates: npt.NDArray[np.int32], shapes: I64, offsets: I64) -> FoundLinks:
    """The links of packed matchings or b-matchings, as `aligner.matching` returns them."""
    slots = len(mates) // max(int(shapes[:, 0].sum()), 1)
    return FoundLinks(*unpack_mates(mates, slots, shapes, offsets))


def _alignments(
    scores: F64,
    shapes: I64,
    offsets: I64,
    rewards: LinkRewards,
    probabilities: Callable[[F64], F64] | None = None,
) -> Alignments:
    found = best_links(scores, shapes, offsets, rewards)
    chosen = scores[found.edge]
    bounds = np.concatenate([[0], np.cumsum(np.bincount(found.pair, minlength=len(shapes)))])
    return Alignments(found.source, found.target, chosen if probabilities is None else probabilities(chosen), bounds)
