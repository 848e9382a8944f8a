"""The approximate oracle of [LJSP13 §5]: best edge first, at least half of the optimum."""

from __future__ import annotations

from aligner.matching import F64, I32, I64
from aligner.matching._bmatching_kernels import bmatch_blocks
from aligner.matching._kernels import match_blocks_greedily


def match(scores: F64, shapes: I64, offsets: I64, row_offsets: I64, mates: I32) -> int:
    """Multiplicative accuracy >= 1/2 of the best score; of tied edges any may come first."""
    return int(match_blocks_greedily(scores, shapes, offsets, row_offsets, mates)[1])


def bmatch(
    scores: F64, shapes: I64, offsets: I64, words: I64, source_rewards: F64, target_rewards: F64, mates: I32
) -> int:
    """Multiplicative accuracy >= 1/2 as well: each time the edge that adds most, with the rewards it brings."""
    return int(bmatch_blocks(scores, shapes, offsets, words, source_rewards, target_rewards, False, mates)[1])
