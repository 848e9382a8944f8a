"""EdgeTable: the feature vectors of every word pair of many sentence pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corpora.ragged import edge_offsets
from corpora.threads import shared_property
from features.codes import Codes, encode

_EDGES_AT_ONCE = 1 << 20
"""A table may be on disk and is not copied whole."""

Matrix = npt.NDArray[np.float32]
"""(E, d) features, one row an edge."""

Vector = npt.NDArray[np.float32]
"""Room for features, flat."""


@dataclass(frozen=True, eq=False)
class EdgeTable:
    """Ragged feature matrix: edge (j, k) of pair i is row ``offsets[i] + j * K + k`` with (J, K) = shapes[i].

    features: (E, d) float32, C-contiguous.  shapes: (n, 2) int64.  offsets: (n + 1,) int64.  names: (d,).
    Raises ValueError where these do not fit together.
    """

    features: Matrix
    shapes: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
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

    @shared_property
    def codes(self) -> Codes:
        """The same features in a byte each, where they are on the grid; empty otherwise.  Made when first asked for."""
        return encode(self.features, self.offsets)

    def __len__(self) -> int:
        return len(self.shapes)

    def ranges(self) -> npt.NDArray[np.float64]:
        """(d, 2) the least and the greatest value of each feature; 0 and 0 where there are no edges."""
        if not len(self.features):
            return np.zeros((len(self.names), 2))
        parts = [
            self.features[first : first + _EDGES_AT_ONCE] for first in range(0, len(self.features), _EDGES_AT_ONCE)
        ]
        low = np.min([part.min(axis=0) for part in parts], axis=0)
        return np.stack([low, np.max([part.max(axis=0) for part in parts], axis=0)], axis=1).astype(np.float64)

    def __getitem__(self, pair: int) -> npt.NDArray[np.float32]:
        """Features of one pair, (J, K, d), a view; negative counts from the end, IndexError beyond the last."""
        i = range(len(self))[pair]
        J, K = self.shapes[i]
        return self.features[self.offsets[i] : self.offsets[i + 1]].reshape(J, K, len(self.names))
