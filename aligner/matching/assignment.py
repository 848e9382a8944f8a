"""The default oracle: shortest augmenting paths, compiled, whole batches on all cores."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from aligner.matching import F64, I32, I64
from aligner.matching._bmatching_kernels import bmatch_blocks
from aligner.matching._kernels import make_workspace, match_block, match_blocks
from corpora.threads import cores, map_threads

_EDGES_WORTH_A_THREAD = 50_000


def match(scores: F64, shapes: I64, offsets: I64, row_offsets: I64, mates: I32) -> int:
    """Exact, O(min(J, K)^2 max(J, K)) at worst and far less as a rule  [Jonker and Volgenant 1987]."""

    def run(part: slice) -> int:
        return int(match_blocks(scores, shapes[part], offsets[part], row_offsets[part], mates)[1])

    return in_runs(run, offsets)


def bmatch(
    scores: F64, shapes: I64, offsets: I64, words: I64, source_rewards: F64, target_rewards: F64, mates: I32
) -> int:
    """Exact: successive shortest paths, one for each link, O(capacity · J) of O(edges + words²) at worst."""

    def run(part: slice) -> int:
        answer = bmatch_blocks(
            scores, shapes[part], offsets[part], words[part], source_rewards, target_rewards, True, mates
        )
        return int(answer[1])

    return in_runs(run, offsets)


def in_runs(run: Callable[[slice], int], offsets: I64, effort: int = 1) -> int:
    """Run parts of the pairs on all cores; the pair at fault, or -1, of run's answers, which count within its part.

    effort: how many times as long as for a matching an edge takes.
    """
    n = len(offsets) - 1
    n_runs = int(min(4 * cores(), offsets[-1] * effort // _EDGES_WORTH_A_THREAD)) if cores() > 1 else 1
    if n_runs <= 1:
        return run(slice(0, n))
    cuts = np.searchsorted(offsets, np.linspace(0, offsets[-1], n_runs + 1)).clip(0, n).tolist()
    parts = [slice(first, last) for first, last in pairwise(cuts)]
    faults = zip(parts, map_threads(run, parts), strict=True)
    return next((fault + part.start for part, fault in faults if fault >= 0), -1)


def certificate(scores: npt.ArrayLike) -> tuple[F64, F64]:
    """Optimal dual of the matching problem: (profit of each row (J,), price of each column (K,)).

    Both are >= 0, profit[j] + price[k] >= scores[j, k] everywhere, and their sum equals the score of the best
    matching up to rounding: anyone can check the optimum by adding them up (weak duality).
    """
    matrix = np.ascontiguousarray(scores, np.float64)
    work = make_workspace(np.array([matrix.shape], np.int64))
    J, K = matrix.shape
    match_block(matrix.ravel(), J, K, work)
    if J <= K:
        return work.profit[:J].copy(), work.price[:K].copy()
    return work.price[:J].copy(), work.profit[:K].copy()
