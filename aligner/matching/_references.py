"""What the reference oracles share: one pair at a time, in Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aligner.matching import F64, I32, I64


def bmatch_one_by_one(
    best: Callable[[F64, F64, F64], tuple[I64, I64]],
    scores: F64,
    shapes: I64,
    offsets: I64,
    words: I64,
    source_rewards: F64,
    target_rewards: F64,
    mates: I32,
) -> int:
    """Fill mates with the answers of best((J, K) scores, rewards) -> rows and columns of links; see `BMatch`."""
    mates[:] = -1
    slots = mates.reshape(len(source_rewards), -1) if len(source_rewards) else mates.reshape(0, 1)
    for i, (J, K) in enumerate(shapes.tolist()):
        block = scores[offsets[i] : offsets[i + 1]].reshape(J, K)
        if not (block < np.inf).all():
            return i
        if block.size == 0:
            continue
        row, column = words[i].tolist()
        rows, columns = best(block, source_rewards[row : row + J], target_rewards[column : column + K])
        useful = block[rows, columns] > 0
        for j in range(J):
            found = np.sort(columns[useful & (rows == j)])
            slots[row + j, : len(found)] = found
    return -1


def match_one_by_one(
    best: Callable[[F64, F64, F64], tuple[I64, I64]],
    scores: F64,
    shapes: I64,
    offsets: I64,
    row_offsets: I64,
    mates: I32,
) -> int:
    """`bmatch_one_by_one` for one link a word, without rewards; see `Match`."""
    words = np.zeros((len(shapes), 2), np.int64)
    np.cumsum(shapes[:-1], axis=0, out=words[1:])
    rows, columns = shapes.sum(axis=0).tolist()
    return bmatch_one_by_one(
        best, scores, shapes, offsets, words, np.zeros((rows, 0)), np.zeros((columns, 0)), mates
    )  # fmt: skip
