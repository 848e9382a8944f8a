"""The default oracle: shortest augmenting paths, compiled, whole batches on all cores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from aligner.matching import F64, I32, I64
from aligner.matching._kernels import make_workspace, match_block, match_blocks
from features.parallel import cores, map_threads

_EDGES_WORTH_A_THREAD = 50_000


def match(scores: F64, shapes: I64, offsets: I64, row_offsets: I64, mates: I32) -> int:
    """Exact, O(min(J, K)^2 max(J, K)) at worst and far less as a rule  [Jonker and Volgenant 1987]."""
    n_runs = int(min(4 * cores(), offsets[-1] // _EDGES_WORTH_A_THREAD)) if cores() > 1 else 1
    if n_runs <= 1:
        return int(match_blocks(scores, shapes, offsets, row_offsets, mates)[1])
    cuts = np.searchsorted(offsets, np.linspace(0, offsets[-1], n_runs + 1)).clip(0, len(shapes))

    def run(ends: tuple[int, int]) -> int:
        first, last = ends
        fault = match_blocks(scores, shapes[first:last], offsets[first:last], row_offsets[first:last], mates)[1]
        return int(fault + first if fault >= 0 else -1)

    faults = list(map_threads(run, zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)))
    return next((fault for fault in faults if fault >= 0), -1)


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
