"""The matching polytope: the best matching of a score matrix, by one of several oracles.

Z = { z >= 0 : row and column sums <= 1 };  argmax_z <scores, z> over Z is a matching, words may stay unmatched, and
an edge that scores <= 0 is never needed. All exact oracles find the same optimum; on ties they may pick different
matchings of equal score.

To add an oracle: write a module with ``match(scores, shapes, offsets, row_offsets, mates)`` and name it in ORACLES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import numpy as np
import numpy.typing as npt

from aligner.errors import ScoreError, SettingError
from features.table import edge_offsets

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

Match = Callable[[F64, I64, I64, I64, I32], int]
"""Fills mates; returns the index of a pair whose scores are NaN or +inf, or -1."""


@dataclass(frozen=True)
class Oracle:
    """A way to find best matchings.  exact: whether its answer is the optimum.  match: see `Match`."""

    name: str
    exact: bool
    match: Match


_MODULES = {
    "assignment": ("aligner.matching.assignment", True),
    "scipy": ("aligner.matching.scipy_assignment", True),
    "flow": ("aligner.matching.flow", True),
    "lp": ("aligner.matching.linprog", True),
    "greedy": ("aligner.matching.greedy", False),
}
ORACLES = tuple(_MODULES)


@cache
def get_oracle(name: str) -> Oracle:
    """The oracle of that name; its libraries are imported now and not before.  Raises SettingError."""
    if name not in _MODULES:
        raise SettingError(f"unknown oracle {name!r} (choose from {', '.join(ORACLES)})")
    module, exact = _MODULES[name]
    return Oracle(name, exact, import_module(module).match)


def best_matchings(scores: npt.ArrayLike, shapes: npt.ArrayLike, *, oracle: str = "assignment") -> I32:
    """Best matching of each of many score matrices, stacked.

    scores: (E,) the matrices one after another, each row by row, any sign; -inf forbids an edge.
    shapes: (n, 2) rows and columns of each.
    Returns (sum of rows,) int32: the column of every row, or -1 for an unmatched word.
    Raises ScoreError on NaN or +inf, naming the matrix, and ValueError where scores and shapes do not fit.
    """
    flat = np.ascontiguousarray(scores, np.float64)
    sizes = np.ascontiguousarray(shapes, np.int64).reshape(-1, 2)
    offsets = edge_offsets(sizes)
    if flat.shape != (offsets[-1],):
        raise ValueError(f"{flat.shape} scores for shapes that need ({offsets[-1]},)")
    row_offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes[:, 0], out=row_offsets[1:])
    mates = np.full(row_offsets[-1], -1, np.int32)
    at_fault = get_oracle(oracle).match(flat, sizes, offsets, row_offsets, mates)
    if at_fault >= 0:
        raise ScoreError(f"the scores of pair {at_fault} are not finite (no best matching exists)")
    return mates


def best_matching(scores: npt.ArrayLike, *, oracle: str = "assignment") -> npt.NDArray[np.bool_]:
    """Return the matching of greatest total score; edges scoring <= 0 stay out.

    argmax_z <scores, z>  over z in {0,1}^(J, K), row and column sums <= 1   [TLK05 eq. 1]

    scores: (J, K) float, any sign.  Returns (J, K) bool.  Raises ScoreError on NaN or +inf.
    """
    matrix = np.asarray(scores, np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"scores must be a matrix, not an array of shape {matrix.shape}")
    mates = best_matchings(matrix.ravel(), [matrix.shape], oracle=oracle)
    links = np.zeros(matrix.shape, np.bool_)
    matched = np.flatnonzero(mates >= 0)
    links[matched, mates[matched]] = True
    return links
