"""Nearest points of the matching polytope, Euclidean and entropic, of whole batches of matrices.

Z = { 0 <= z <= 1 : Σ_k z(j,k) <= capacity of row j,  Σ_j z(j,k) <= capacity of column k }

- Euclidean: argmin ½ ‖z − q‖² = clip(q − u_j − v_k, 0, 1), a min-cost quadratic flow  [TLJ06 §4.1].
- Entropic: argmin Σ z log z − z − z·q, that is KL(z ‖ z' exp(s)) for q = log z' + s: z = min(exp(q − u_j − v_k), 1)
  [TLJ06 §4.2].

The dual variables u, v >= 0, prices of the words, are found exactly: sweeps, each the best prices of all rows and then
of all columns, and between them Newton steps on the prices of the shorter side, that of a piecewise quadratic function
for Euclidean (which ends at the exact answer) and of a smooth one for entropic. What is returned is feasible but for
rounding, and its own duality gap bounds how far it is from the nearest point: ½ ‖z − z*‖² <= gap, as KL(z* ‖ z) <= gap
for entropic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.errors import ScoreError
from aligner.matching import _projection_kernels as kernels
from aligner.matching._price_kernels import ENTROPIC, EUCLIDEAN
from corpora.ragged import edge_offsets
from corpora.threads import map_threads

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_BLOCKS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class Nearest:
    """Nearest points of n polytopes and how they were found.

    z: (E,), stacked as the scores were.  u: (ΣJ,) dual variables of the rows.  v: (ΣK,) of the columns.
    gaps: (n,) duality gaps.  iterations: (n,) sweeps and Newton steps.  converged: (n,) whether gap <= tolerance.
    """

    z: F64
    u: F64
    v: F64
    gaps: F64
    iterations: I64
    converged: npt.NDArray[np.bool_]


def nearest_euclidean(
    q: npt.ArrayLike,
    shapes: npt.ArrayLike,
    *,
    row_capacity: npt.ArrayLike = 1.0,
    column_capacity: npt.ArrayLike = 1.0,
    start: Nearest | None = None,
    tolerance: float = 1e-12,
    max_iterations: int = 200,
) -> Nearest:
    """argmin over z in Z of ½ ‖z − q‖², for each of many matrices  [TLJ06 §4.1].

    q: (E,) the matrices one after another, each row by row, as in `best_matchings`; -inf forbids an edge.
    shapes: (n, 2) rows and columns of each.
    row_capacity, column_capacity: >= 1, of every word or one for all, (sum J,) and (sum K,).
    start: prices to go on from, for instance of the last call with scores nearly the same.
    tolerance: of the duality gap, beyond what rounding hides of it.  max_iterations: for each matrix.
    Raises ScoreError on NaN or +inf, naming the matrix, and ValueError where the arguments do not fit.
    """
    return _nearest(
        EUCLIDEAN, q, shapes, row_capacity, column_capacity, start, tolerance, max_iterations
    )  # fmt: skip


def nearest_entropic(
    logits: npt.ArrayLike,
    shapes: npt.ArrayLike,
    *,
    row_capacity: npt.ArrayLike = 1.0,
    column_capacity: npt.ArrayLike = 1.0,
    start: Nearest | None = None,
    tolerance: float = 1e-12,
    max_iterations: int = 200,
) -> Nearest:
    """argmin over z in Z of KL(z ‖ exp(logits)) = Σ z log z − z logits − z + exp(logits), as `nearest_euclidean`.

    logits: (E,) = log z' + s for the Bregman projection of z' exp(s)  [TLJ06 §4.2]; -inf forbids an edge.
    """
    return _nearest(ENTROPIC, logits, shapes, row_capacity, column_capacity, start, tolerance, max_iterations)


def _nearest(
    geometry: int,
    scores: npt.ArrayLike,
    shapes: npt.ArrayLike,
    row_capacity: npt.ArrayLike,
    column_capacity: npt.ArrayLike,
    start: Nearest | None,
    tolerance: float,
    max_iterations: int,
) -> Nearest:
    flat = np.ascontiguousarray(scores, np.float64)
    sizes = np.ascontiguousarray(shapes, np.int64).reshape(-1, 2)
    offsets, row_offsets, column_offsets = edge_offsets(sizes), _starts(sizes[:, 0]), _starts(sizes[:, 1])
    if flat.shape != (offsets[-1],):
        raise ValueError(f"{flat.shape} scores for shapes that need ({offsets[-1]},)")
    bad = ~(flat < np.inf)
    if bad.any():
        pair = int(np.searchsorted(offsets, np.argmax(bad), side="right")) - 1
        raise ScoreError(f"the scores of pair {pair} are not finite (no nearest point exists)")
    row_capacities = _capacities("row", row_capacity, row_offsets[-1])
    column_capacities = _capacities("column", column_capacity, column_offsets[-1])
    found = Nearest(
        np.empty(offsets[-1]),
        np.zeros(row_offsets[-1]),
        np.zeros(column_offsets[-1]),
        np.zeros(len(sizes)),
        np.zeros(len(sizes), np.int64),
        np.ones(len(sizes), np.bool_),
    )
    if start is not None:
        for name, prices, given in (
            ("row", found.u, start.u),
            ("column", found.v, start.v),
        ):
            if given.shape != prices.shape or not (given >= 0.0).all():
                raise ValueError(f"the {name} prices to start from do not fit the shapes")
            prices[:] = given

    blocks = kernels.Projections(
        scores=flat, shapes=sizes, offsets=offsets, row_offsets=row_offsets, column_offsets=column_offsets,
        row_capacities=row_capacities, column_capacities=column_capacities, **vars(found),
    )  # fmt: skip

    def work(first: int) -> None:
        last = min(first + _BLOCKS_AT_ONCE, len(sizes))
        kernels.project_blocks(geometry, first, last, blocks, tolerance, max_iterations)

    for _ in map_threads(work, range(0, len(sizes), _BLOCKS_AT_ONCE)):
        pass
    return found


def _starts(counts: I64) -> I64:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def _capacities(side: str, capacity: npt.ArrayLike, words: int) -> F64:
    given = np.asarray(capacity, np.float64)
    if given.shape not in ((), (words,)):
        raise ValueError(f"{given.shape} {side} capacities for {words} words")
    if not ((given >= 1.0) & (given < np.inf)).all():
        raise ValueError(f"{side} capacities must be numbers of at least 1")
    return np.ascontiguousarray(np.broadcast_to(given, (words,)))
