"""Arrays: names of their types, offsets of ragged arrays, and candidate edges of sentence pairs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]  # by name


def edge_offsets(shapes: I64) -> I64:
    """First edge of each pair, and the number of edges at the end, if every edge is a candidate: (n + 1,) int64."""
    offsets = np.zeros(len(shapes) + 1, np.int64)
    np.cumsum(shapes[:, 0] * shapes[:, 1], out=offsets[1:])
    return offsets


def word_offsets(shapes: I64) -> I64:
    """First source and first target word of each pair, and the numbers of words at the end: (n + 1, 2)."""
    return np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(shapes, axis=0)])


class Lists(NamedTuple):
    """The candidate edges of n sentence pairs: the edges of pair i are offsets[i] .. offsets[i + 1].

    source, target: (E,) int32, positions of the two words; ascending by source, then target, within a pair.
    shapes: (n, 2) numbers of source and target words.  offsets: (n + 1,).
    """

    source: I32
    target: I32
    shapes: I64
    offsets: I64

    @classmethod
    def of_all(cls, shapes: npt.ArrayLike) -> "Lists":
        """Every edge of pairs with these numbers of words, (n, 2)."""
        sizes = np.asarray(shapes, np.int64).reshape(-1, 2)
        offsets = edge_offsets(sizes)
        widths = np.repeat(sizes[:, 1], np.diff(offsets))
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
        return cls((within // widths).astype(np.int32), (within % widths).astype(np.int32), sizes, offsets)

    @classmethod
    def join(cls, parts: "Sequence[Lists]") -> "Lists":
        """The edges of all parts, one after the other."""
        none = cls.of_all(np.empty((0, 2), np.int64))
        source, target, shapes = (
            np.concatenate(arrays) for arrays in zip(*(part[:3] for part in (none, *parts)), strict=True)
        )
        sizes = np.concatenate([np.diff(part.offsets) for part in (none, *parts)])
        return cls(source, target, shapes, np.concatenate([[0], np.cumsum(sizes)]))

    @property
    def pairs(self) -> I64:
        """The pair of each edge, (E,)."""
        return np.repeat(np.arange(len(self.shapes)), np.diff(self.offsets))

    def take(self, pairs: I64) -> "Lists":
        """The edges of these pairs alone, (m,) indices, in their order."""
        edges = [slice(self.offsets[pair], self.offsets[pair + 1]) for pair in pairs.tolist()]
        source, target = (np.concatenate([all_[:0], *(all_[part] for part in edges)]) for all_ in self[:2])
        offsets = np.concatenate([[0], np.cumsum(np.diff(self.offsets)[pairs])])
        return Lists(source, target, self.shapes[pairs], offsets)

    def find(self, pairs: I64, source: I32, target: I32) -> I64:
        """The candidate edges (m,) of these words of these pairs; -1 where there is no such candidate."""
        rectangles = edge_offsets(self.shapes)
        here = rectangles[self.pairs] + self.source * self.shapes[self.pairs, 1] + self.target
        wanted = rectangles[pairs] + source * self.shapes[pairs, 1] + target
        edges = np.searchsorted(here, wanted)
        return np.where(np.append(here, -1)[edges] == wanted, edges, -1)
