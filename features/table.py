"""EdgeTable: the feature vectors of every word pair of many sentence pairs, and the grid that they are rounded to."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from corpora.compiled import compiled
from corpora.files import spill_file, spill_folder
from corpora.ragged import F32, F64, I64, edge_offsets

_EDGES_AT_ONCE = 1 << 20
"""A table may be on disk and is not copied whole."""

DEFAULT_MEMORY = 2 << 30
"""Bytes of features that are held in memory; more go to an unnamed temporary file."""

GRID = 128
"""Steps between 0 and 1 that features are rounded to, a power of two: their sums are exact, in whatever order."""

Matrix = F32
"""(E, d) features, one row an edge."""

Vector = F32
"""A flat buffer for features."""


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """Ragged feature matrix: edge (j, k) of pair i is row ``offsets[i] + j * K + k`` with (J, K) = shapes[i].

    features: (E, d) float32, C-contiguous.  shapes: (n, 2) int64.  offsets: (n + 1,) int64.  names: (d,).
    Raises ValueError where these do not fit together.
    """

    features: Matrix
    shapes: I64
    offsets: I64
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.features.dtype != np.float32 or not self.features.flags.c_contiguous:
            raise ValueError("features must be a C-contiguous float32 matrix")
        if self.shapes.ndim != 2 or self.shapes.shape[1] != 2 or (self.shapes < 0).any():
            raise ValueError("shapes must be an (n, 2) matrix of word counts")
        if not np.array_equal(self.offsets, edge_offsets(self.shapes)):
            raise ValueError("offsets do not follow from the shapes")
        if self.features.shape != (self.offsets[-1], len(self.names)):
            needed = (int(self.offsets[-1]), len(self.names))
            raise ValueError(f"features has shape {self.features.shape}; the pairs and names need {needed}")

    def __len__(self) -> int:
        return len(self.shapes)

    def ranges(self) -> F64:
        """(d, 2) the least and the greatest value of each feature; 0 and 0 where there are no edges."""
        if not len(self.features):
            return np.zeros((len(self.names), 2))
        firsts = range(0, len(self.features), _EDGES_AT_ONCE)
        parts = [self.features[first : first + _EDGES_AT_ONCE] for first in firsts]
        ranges = np.min([p.min(axis=0) for p in parts], axis=0), np.max([p.max(axis=0) for p in parts], axis=0)
        return np.stack(ranges, axis=1).astype(np.float64)

    def __getitem__(self, pair: int) -> F32:
        """Features of one pair, (J, K, d), a view; negative counts from the end, IndexError beyond the last."""
        i = range(len(self))[pair]
        J, K = self.shapes[i]
        return self.features[self.offsets[i] : self.offsets[i + 1]].reshape(J, K, len(self.names))

    def take(self, pairs: I64, *, memory: int | None = None) -> EdgeTable:
        """A copy of the edges of these pairs, (m,) indices, in their order.

        memory: bytes the features may take before they go to a temporary file.
        """
        shapes = self.shapes[pairs]
        offsets = edge_offsets(shapes)
        features = allocate((int(offsets[-1]), len(self.names)), DEFAULT_MEMORY if memory is None else memory)
        for pair, first, last in zip(pairs.tolist(), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            features[first:last] = self.features[self.offsets[pair] : self.offsets[pair + 1]]
        return EdgeTable(features, shapes, offsets, self.names)


def allocate(shape: tuple[int, int], memory: int) -> Matrix:
    """Space for features, in a temporary file that is gone with it where they take more bytes than memory."""
    if shape[0] * shape[1] * 4 <= memory:
        return np.empty(shape, np.float32)
    size = shape[0] * shape[1] * 4
    with spill_file("features") as file:
        if hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(file.fileno(), 0, size)  # a full disk is found now, not by a signal at a write
            except OSError as error:
                raise OSError(error.errno, f"no space for {size:,} bytes of features", spill_folder()) from error
        else:
            file.truncate(size)
        return np.memmap(file, np.float32, "r+", shape=shape)  # the mapping outlives the unlinked file


@compiled
def round_to_grid(features):
    """Round features (E, d) to the nearest multiples of 1 / GRID, in place."""
    for e in range(features.shape[0]):
        for c in range(features.shape[1]):
            features[e, c] = np.rint(features[e, c] * np.float32(GRID)) / np.float32(GRID) + np.float32(0.0)
