"""The default oracle: shortest augmenting paths, compiled, whole batches on all cores."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np

from aligner.matching import Task
from aligner.matching._kernels import bmatch_blocks
from corpora.ragged import I64, Bools
from corpora.threads import cores, map_threads

_EDGES_WORTH_A_THREAD = 50_000


def match(task: Task, linked: Bools) -> None:
    """Exact: shortest augmenting paths, far from their worst case as a rule.

    A path for each link, O(capacity · J) of O(edges + words²) each.
    """

    def run(part: tuple[int, int]) -> None:
        bmatch_blocks(task.scores, task.lists, *part, task.source_rewards, task.target_rewards, True, linked)

    parts = _parts(task.lists.offsets)
    if len(parts) == 1:
        run(parts[0])
    else:
        deque(map_threads(run, parts), maxlen=0)


def _parts(offsets: I64) -> list[tuple[int, int]]:
    """Runs of pairs with about as many edges each, enough for all cores."""
    n = len(offsets) - 1
    n_runs = max(1, min(4 * cores(), int(offsets[-1]) // _EDGES_WORTH_A_THREAD)) if cores() > 1 else 1
    cuts = np.searchsorted(offsets, np.linspace(0, offsets[-1], n_runs + 1)).clip(0, n).tolist()
    return [*pairwise(cuts)]
