"""Helpers of the reference oracles, which work on one pair at a time, in Python."""

from collections.abc import Callable
from typing import NamedTuple

from aligner.matching import Task
from corpora.ragged import F64, I32, I64, Bools


class Positive(NamedTuple):
    """The edges of a pair that score above 0, at least one.

    J, K: words of the pair.  rows, columns: (E,) positions.  scores: (E,).
    """

    J: int
    K: int
    rows: I32
    columns: I32
    scores: F64


def match_one_by_one(best: Callable[[Positive, F64, F64], Bools | I64], task: Task, linked: Bools) -> None:
    """Fill linked pair by pair: best(edges, rewards) says which edges of a pair are links; see `Match`."""
    for (J, K), first, last in zip(
        task.lists.shapes.tolist(), task.lists.offsets, task.lists.offsets[1:], strict=False
    ):
        useful = (task.scores[first:last] > 0).nonzero()[0] + first
        if len(useful):
            edges = Positive(J, K, task.lists.source[useful], task.lists.target[useful], task.scores[useful])
            linked[useful[best(edges, task.source_rewards, task.target_rewards)]] = True
