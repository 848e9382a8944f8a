"""Arrays: names of their types, and offsets of ragged ones, where the part of each pair begins in what is stacked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]


def edge_offsets(shapes: I64) -> I64:
    """First edge of each pair, and the number of edges at the end: (n + 1,) int64."""
    offsets = np.zeros(len(shapes) + 1, np.int64)
    np.cumsum(shapes[:, 0] * shapes[:, 1], out=offsets[1:])
    return offsets


def word_offsets(shapes: I64) -> I64:
    """(n + 1, 2) first source and first target word of each pair, and the numbers of words at the end."""
    return np.concatenate([np.zeros((1, 2), np.int64), np.cumsum(shapes, axis=0)])
