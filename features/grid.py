"""The grid that features are rounded to, so that their sums are exact in floating point, in whatever order."""

from __future__ import annotations

import numpy as np

from corpora.compiled import compiled

GRID = 128
"""Steps between 0 and 1: a power of two, so that products are exact."""


@compiled
def round_to_grid(features):
    """Round features (E, d) to the nearest multiples of 1 / GRID, in place."""
    for e in range(features.shape[0]):
        for c in range(features.shape[1]):
            features[e, c] = np.rint(features[e, c] * np.float32(GRID)) / np.float32(GRID) + np.float32(0.0)
