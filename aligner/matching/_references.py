"""What the reference oracles share: one pair at a time, in Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aligner.matching import F64, I32, I64


def match_one_by_one(
    best: Callable[[F64], tuple[I64, I64]],
    scores: F64,
    shapes: I64,
    offsets: I64,
    row_offsets: I64,
    mates: I32,
) -> int:
    """Fill mates with the answers of best((J, K) scores) -> rows and columns of links; see `Match`."""
    mates[:] = -1
    for i, (J, K) in enumerate(shapes.tolist()):
        block = scores[offsets[i] : offsets[i + 1]].reshape(J, K)
        if not (block < np.inf).all():
            return i
        if block.size == 0:
            continue
        rows, columns = best(block)
        useful = block[rows, columns] > 0
        mates[row_offsets[i] + rows[useful]] = columns[useful]
    return -1
