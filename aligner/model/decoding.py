"""From the scores of edges to links."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import overload

import numpy as np

from aligner.losses.capacity import LinkRewards
from aligner.losses.edges import Edges
from aligner.matching import best_matchings
from aligner.model.scoring import score_table
from corpora.errors import counted
from corpora.links import Links
from corpora.ragged import F64, I64, Lists


@dataclass(frozen=True, slots=True)
class Alignment:
    """The links of one sentence pair.

    links: 0-based (source, target) positions in ascending order.  scores: of each link; the higher, the surer. If the
    model has a calibration they are probabilities that the link is right, in (0, 1), see `calibration.Calibration`;
    otherwise scores, above 0.  Iterating, len() and ``in`` are those of the links.
    """

    links: tuple[tuple[int, int], ...]
    scores: tuple[float, ...]

    @property
    def score(self) -> float:
        """The mean score of the links, 0 without links; if scores are probabilities, the expected precision."""
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

    def __repr__(self) -> str:
        return f"Alignment('{self}', score {self.score:.4g})"

    def _repr_html_(self) -> str:
        """HTML for notebooks: a matrix of the numbers of words; `aligner.pages.notebook.Drawing` has words."""
        from aligner.pages.notebook import draw_positions

        return draw_positions(self)


@dataclass(frozen=True, eq=False)
class Alignments:
    """The alignments of n sentence pairs.

    links: of all pairs, with scores as those of `Alignment`.  shapes: (n, 2) numbers of source and target words.
    fit: (n, 3) log probability per word by translation models, nan without them; see
    `features.translation.posteriors.Posteriors.fit`.  Iterating gives each as `Alignment`.
    """

    links: Links
    shapes: I64
    fit: F64

    @classmethod
    def of(cls, links: Links, scores: F64, shapes: I64) -> "Alignments":
        """Make alignments of links and the score of each link."""
        return cls(replace(links, scores=scores), shapes, np.full((len(shapes), 3), np.nan))

    @classmethod
    def join(cls, parts: "Sequence[Alignments]") -> "Alignments":
        """Join the alignments of all parts, one after the other."""
        shapes = np.concatenate([np.empty((0, 2), np.int64), *(part.shapes for part in parts)])
        fit = np.concatenate([np.empty((0, 3)), *(part.fit for part in parts)])
        return cls(Links.join(part.links for part in parts), shapes, fit)

    def __repr__(self) -> str:
        return f"Alignments({counted(len(self), 'pair')}, {counted(len(self.links.source), 'link')})"

    def __len__(self) -> int:
        return len(self.shapes)

    @property
    def linked(self) -> I64:
        """The number of words of each pair, of both sides, that have a link, (n,)."""
        pair, linked = self.links.pairs, np.zeros(len(self), np.int64)
        for lengths, places in zip(self.shapes.T, (self.links.source, self.links.target), strict=True):
            offsets = np.append(0, np.cumsum(lengths))
            marks = np.zeros(offsets[-1], np.bool_)
            marks[offsets[pair] + places] = True
            linked += np.diff(np.append(0, np.cumsum(marks))[offsets])
        return linked

    @property
    def unlinked(self) -> F64:
        """The share of each pair's words that have no link, (n,); 1 for a pair without words."""
        return np.asarray(1.0 - self.linked / np.maximum(self.shapes.sum(axis=1), 1))

    @overload
    def __getitem__(self, pair: int) -> Alignment: ...
    @overload
    def __getitem__(self, pair: slice) -> list[Alignment]: ...
    def __getitem__(self, pair: int | slice) -> Alignment | list[Alignment]:
        """The alignment of a pair (negative counts from the end), IndexError beyond the last; or a list for a slice."""
        if isinstance(pair, slice):
            return [self[one] for one in range(len(self))[pair]]
        place = range(len(self))[pair]
        return next(_each(self.links.part(place, place + 1)))

    def __iter__(self) -> Iterator[Alignment]:
        return _each(self.links)

    def lines(self) -> bytes:
        """A line of links in Pharaoh format for each pair."""
        template = "".join([("%d-%d " * links)[:-1] + "\n" for links in np.diff(self.links.offsets).tolist()])
        return (template % tuple(np.stack([self.links.source, self.links.target], axis=1).ravel().tolist())).encode()


def _each(packed: Links) -> Iterator[Alignment]:
    links = tuple(zip(packed.source.tolist(), packed.target.tolist(), strict=True))
    scores = tuple(packed.known_scores.tolist())
    return (Alignment(links[start:end], scores[start:end]) for start, end in pairwise(packed.offsets.tolist()))


def best_alignments(scores: F64, lists: Lists, rewards: LinkRewards) -> Alignments:
    """Return the best alignment of every pair.  scores: (E,) of the candidates; no other edge is a link."""
    linked = np.flatnonzero(best_matchings(scores, lists, rewards.source, rewards.target))
    return Alignments.of(Links.of_edges(lists, linked), scores[linked], lists.shapes)


def decode_edges(edges: Edges, weights: F64, rewards: LinkRewards = LinkRewards()) -> Alignments:  # noqa: B008 - frozen
    """Return each sentence pair's best alignment by weights (d,).  rewards: for further links of a word."""
    return best_alignments(score_table(weights, edges.features), edges.lists, rewards)
