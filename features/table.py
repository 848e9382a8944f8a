"""EdgeTable: the features of the candidates of many sentence pairs, and the grid that they are rounded to."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from corpora.compiled import compiled
from corpora.files import spill_file, spill_folder
from corpora.ragged import F32, F64, I64, Lists

_EDGES_AT_ONCE = 1 << 20
"""Edges that are worked on at once, as a table may be on disk and is not to be copied whole."""

DEFAULT_MEMORY = 2 << 30
"""Bytes of features that are held in memory; larger tables go to an unnamed temporary file."""

GRID = 128
"""Features are multiples of 1 / GRID, a power of two: so their sums are exact, in whatever order."""

Matrix = F32
"""Features (E, d), a row for each edge."""

Vector = F32
"""A flat buffer for features."""


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """Features of the candidates of n pairs.

    features: (E, d) float32, C-contiguous.  lists: the edges.  names: (d,) of the features.
    Raises ValueError if these do not fit together.
    """

    features: Matrix
    lists: Lists
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.features.dtype != np.float32 or not self.features.flags.c_contiguous:
            raise ValueError("features must be a C-contiguous float32 matrix")
        shapes, lists = self.lists.shapes, self.lists
        if shapes.ndim != 2 or shapes.shape[1] != 2 or (shapes < 0).any() or len(lists.offsets) != len(shapes) + 1:
            raise ValueError("shapes must be an (n, 2) matrix of word counts, with an offset each and one at the end")
        needed = int(lists.offsets[-1])
        if not len(lists.source) == len(lists.target) == needed or self.features.shape != (needed, len(self.names)):
            raise ValueError(f"features has shape {self.features.shape}; the lists need {(needed, len(self.names))}")

    def __len__(self) -> int:
        return len(self.lists.shapes)

    def ranges(self) -> F64:
        """The least and the greatest value of each feature, (d, 2); 0 and 0 without edges."""
        if not len(self.features):
            return np.zeros((len(self.names), 2))
        firsts = range(0, len(self.features), _EDGES_AT_ONCE)
        parts = [self.features[first : first + _EDGES_AT_ONCE] for first in firsts]
        ranges = np.min([p.min(axis=0) for p in parts], axis=0), np.max([p.max(axis=0) for p in parts], axis=0)
        return np.stack(ranges, axis=1).astype(np.float64)

    def __getitem__(self, pair: int) -> F32:
        """Features of the edges of a pair, (E, d), a view; negative counts from the end, IndexError beyond the last."""
        first, last = self.lists.offsets[range(len(self))[pair] :][:2]
        return self.features[first:last]

    def take(self, pairs: I64, *, memory: int | None = None) -> "EdgeTable":
        """A table of these pairs alone, (m,) indices, in their order: a copy.

        memory: bytes that its features may take before they go to a temporary file.
        """
        parts = (self[pair] for pair in pairs.tolist())
        features = gather(parts, len(self.names), DEFAULT_MEMORY if memory is None else memory)
        return EdgeTable(features, self.lists.take(pairs), self.names)


def gather(parts: Iterable[Matrix], columns: int, memory: int) -> Matrix:
    """Join features that come in parts (E, columns).

    Features of more bytes than memory are mapped from a temporary file, gone with them.  OSError if the disk is full.
    """
    held: list[Matrix] = []
    size = 0
    rest = iter(parts)
    for part in rest:
        held.append(part)
        size += part.nbytes
        if size > memory:
            return _spill(chain(held, rest), columns)
    features = np.empty((size // 4 // columns, columns), np.float32)
    last = len(features)
    while held:  # each part is let go as soon as it is copied
        part = held.pop()
        features[last - len(part) : last] = part
        last -= len(part)
    return features


def _spill(parts: Iterable[Matrix], columns: int) -> Matrix:
    with spill_file("features") as file:
        try:
            for part in parts:
                file.write(np.ascontiguousarray(part).data)
            file.flush()
        except OSError as error:
            raise OSError(error.errno, "no space for features", spill_folder()) from error
        size = file.tell() // 4 // columns
        return np.memmap(file, np.float32, "r+", shape=(size, columns))  # the mapping outlives the unlinked file


@compiled
def round_to_grid(features):
    """Round features (E, d) to the nearest multiples of 1 / GRID, in place."""
    for e in range(features.shape[0]):
        for c in range(features.shape[1]):
            features[e, c] = np.rint(features[e, c] * np.float32(GRID)) / np.float32(GRID) + np.float32(0.0)
