"""Nearest points of the matching polytope in three geometries, for many lists of edges at once.

Z = { 0 <= z <= 1 : Σ_k z(j,k) <= capacity of row j,  Σ_j z(j,k) <= capacity of column k }

- Euclidean: argmin ½ ‖z − q‖² = clip(q − u_j − v_k, 0, 1), a min-cost quadratic flow  [TLJ06 §4.1].
- Entropic: argmin Σ z log z − z − z·q, that is KL(z ‖ z' exp(s)) for q = log z' + s: z = min(exp(q − u_j − v_k), 1)
  [TLJ06 §4.2].
- Fermi-Dirac: argmin Σ z log z + (1 − z) log(1 − z) − z·q: z = 1 / (1 + exp(u_j + v_k − q)), links as of logistic
  regression where no capacity binds  [BMN20].

The dual variables u, v >= 0, prices of the words, are found by sweeps, each the best prices of all rows and then of all
columns, and between them Newton steps on the prices of the shorter side, of a piecewise quadratic function for
Euclidean (which ends at the exact answer) and of a smooth one for the others. The returned point is feasible but for
rounding, and its duality gap bounds how far it is from the nearest point: ½ ‖z − z*‖² <= gap, or KL(z* ‖ z) <= gap for
entropic.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from aligner.matching import check_scores
from aligner.matching._price_kernels import ENTROPIC, EUCLIDEAN, FERMI_DIRAC
from aligner.matching._projection_kernels import project_block
from corpora.ragged import F64, I64, Bools, Lists, word_offsets
from corpora.threads import map_threads

_LISTS_AT_ONCE = 32  # by a thread

GEOMETRIES: Final = {"euclidean": EUCLIDEAN, "entropic": ENTROPIC, "fermi-dirac": FERMI_DIRAC}


@dataclass(frozen=True, eq=False)
class Nearest:
    """Nearest points of n polytopes, and how they were found.

    z: (E,), in the order of the scores.  u: (ΣJ,) dual variables of the rows.  v: (ΣK,) of the columns.
    gaps: (n,) duality gaps.  iterations: (n,) sweeps and Newton steps.  converged: (n,) whether gap <= tolerance.
    """

    z: F64
    u: F64
    v: F64
    gaps: F64
    iterations: I64
    converged: Bools


def nearest_points(
    scores: npt.ArrayLike,
    lists: Lists,
    *,
    geometry: str = "euclidean",
    row_capacity: npt.ArrayLike = 1.0,
    column_capacity: npt.ArrayLike = 1.0,
    start: Nearest | None = None,
    tolerance: float = 1e-12,
    max_iterations: int = 200,
) -> Nearest:
    """The point of Z nearest to each list's scores, in one of the GEOMETRIES; entropic scores are log z' + s.

    scores: (E,) of the listed edges, as in `best_matchings`; -inf forbids an edge, as if it were not listed.
    row_capacity, column_capacity: >= 1, one for each word, (ΣJ,) and (ΣK,), or one for all.
    start: where to start from, for instance the result of the last call with nearly the same scores.
    tolerance: of the duality gap, beyond its rounding error.  max_iterations: for each pair.
    Raises ScoreError on NaN or +inf, naming the pair, and ValueError if the arguments do not fit.
    """
    flat = check_scores(scores, lists, "nearest point")
    row_starts, column_starts = word_offsets(lists.shapes).T
    u_capacity = _capacities("row", row_capacity, row_starts[-1])
    v_capacity = _capacities("column", column_capacity, column_starts[-1])
    u, v = np.zeros(row_starts[-1]), np.zeros(column_starts[-1])
    if start is not None:
        for side, prices, given in (("row", u, start.u), ("column", v, start.v)):
            if given.shape != prices.shape or not (given >= 0.0).all():
                raise ValueError(f"the {side} prices to start from do not fit the shapes")
            prices[:] = given
    n, kind = len(lists.shapes), GEOMETRIES[geometry]
    found = Nearest(np.empty(len(flat)), u, v, np.empty(n), np.empty(n, np.int64), np.empty(n, np.bool_))

    def work(first: int) -> None:
        for i in range(first, min(first + _LISTS_AT_ONCE, n)):
            rows, columns = slice(*row_starts[i : i + 2]), slice(*column_starts[i : i + 2])
            edges = slice(*lists.offsets[i : i + 2])
            one_link = (u_capacity[rows] == 1.0).all() or (v_capacity[columns] == 1.0).all()
            found.converged[i], found.gaps[i], found.iterations[i] = project_block(
                kind,
                flat[edges],
                lists.source[edges],
                lists.target[edges],
                u_capacity[rows],
                v_capacity[columns],
                u[rows],
                v[columns],
                np.inf if one_link else 1.0,
                tolerance,
                max_iterations,
                found.z[edges],
            )

    deque(map_threads(work, range(0, n, _LISTS_AT_ONCE)), maxlen=0)
    return found


def _capacities(side: str, capacity: npt.ArrayLike, words: int) -> F64:
    given = np.asarray(capacity, np.float64)
    if given.shape not in ((), (words,)):
        raise ValueError(f"{given.shape} {side} capacities for {words} words")
    if not ((given >= 1.0) & (given < np.inf)).all():
        raise ValueError(f"{side} capacities must be numbers of at least 1")
    return np.broadcast_to(given, (words,)).copy()
