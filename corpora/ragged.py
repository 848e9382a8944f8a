"""Offsets of ragged arrays: where the part of each pair begins in what is stacked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def edge_offsets(shapes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """First edge of each pair, and the number of edges at the end: (n + 1,) int64."""
    offsets = np.zeros(len(shapes) + 1, np.int64)
    np.cumsum(shapes[:, 0] * shapes[:, 1], out=offsets[1:])
    return offsets
