"""The matching polytope: the best matching or b-matching of a score matrix, by one of several oracles.

Z = { z >= 0 : row and column sums <= 1 };  argmax_z <scores, z> over Z is a matching, words may stay unmatched, and
an edge that scores <= 0 is never needed. All exact oracles find the same optimum; on ties they may pick different
matchings of equal score. With several links a word at decreasing rewards the optimum is a min-cost flow  [LTKJ06 §3].

To add an oracle: write a module with ``match(scores, shapes, offsets, row_offsets, mates)`` and, if it can do that,
``bmatch(scores, shapes, offsets, words, source_rewards, target_rewards, mates)``, and name it in ORACLES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import numpy as np
import numpy.typing as npt

from aligner.errors import ScoreError, SettingError
from corpora.ragged import edge_offsets

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

Match = Callable[[F64, I64, I64, I64, I32], int]
"""Fills mates; returns the index of a pair whose scores are NaN or +inf, or -1."""

BMatch = Callable[[F64, I64, I64, I64, F64, F64, I32], int]
"""The same for several links a word.  words: (n, 2) the first row and the first column of each pair in the rewards."""


@dataclass(frozen=True)
class Oracle:
    """A way to find best matchings.

    exact: whether its answer is the optimum.  match: see `Match`.  bmatch: see `BMatch`; None: one link a word only.
    """

    name: str
    exact: bool
    match: Match
    bmatch: BMatch | None = None


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
    path, exact = _MODULES[name]
    module = import_module(path)
    return Oracle(name, exact, module.match, getattr(module, "bmatch", None))


def best_matchings(scores: npt.ArrayLike, shapes: npt.ArrayLike, *, oracle: str = "assignment") -> I32:
    """Best matching of each of many score matrices, stacked.

    scores: (E,) the matrices one after another, each row by row, any sign; -inf forbids an edge.
    shapes: (n, 2) rows and columns of each.
    Returns (sum of rows,) int32: the column of every row, or -1 for an unmatched word.
    Raises ScoreError on NaN or +inf, naming the matrix, and ValueError where scores and shapes do not fit.
    """
    flat, sizes, offsets = _checked(scores, shapes)
    row_offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes[:, 0], out=row_offsets[1:])
    mates = np.full(row_offsets[-1], -1, np.int32)
    _check_fault(get_oracle(oracle).match(flat, sizes, offsets, row_offsets, mates))
    return mates


def best_bmatchings(
    scores: npt.ArrayLike,
    shapes: npt.ArrayLike,
    source_rewards: npt.ArrayLike,
    target_rewards: npt.ArrayLike,
    *,
    oracle: str = "assignment",
) -> I32:
    """Best b-matching of each of many score matrices, stacked: words may have several links, at decreasing rewards.

    argmax_z Σ_jk s(j,k) z(j,k) + Σ_j Σ_{t=2..deg(j)} ρ_t(j) + Σ_k Σ_{t=2..deg(k)} ρ_t(k)   [LTKJ06 §3]

    scores, shapes: as for `best_matchings`.
    source_rewards: (sum of rows, B - 1) ρ_2, ρ_3 ... of each row, 0 >= ρ_2 >= ρ_3 >= ..., where B links are the most
    a row may have.  target_rewards: (sum of columns, C - 1), with C of columns likewise.
    Returns (sum of rows * B,) int32: for each row its B slots, that is its columns in ascending order, then -1.
    Raises ScoreError on NaN or +inf, naming the matrix, ValueError where the arrays do not fit or rewards are not as
    said, and SettingError for an oracle that knows one link a word only.
    """
    flat, sizes, offsets = _checked(scores, shapes)
    words = np.zeros((len(sizes) + 1, 2), np.int64)
    np.cumsum(sizes, axis=0, out=words[1:])
    source = _checked_rewards("source", source_rewards, words[-1, 0])
    target = _checked_rewards("target", target_rewards, words[-1, 1])
    if source.shape[1] == target.shape[1] == 0:
        return best_matchings(flat, sizes, oracle=oracle)
    mates = np.full(len(source) * (source.shape[1] + 1), -1, np.int32)
    _check_fault(bmatch_of(get_oracle(oracle))(flat, sizes, offsets, words[:-1], source, target, mates))
    return mates


def bmatch_of(oracle: Oracle) -> BMatch:
    """How an oracle finds b-matchings.  Raises SettingError if it cannot."""
    if oracle.bmatch is None:
        able = [name for name in ORACLES if get_oracle(name).bmatch is not None]
        raise SettingError(f"the {oracle.name} oracle has one link a word only (choose from {', '.join(able)})")
    return oracle.bmatch


def _checked(scores: npt.ArrayLike, shapes: npt.ArrayLike) -> tuple[F64, I64, I64]:
    """Scores, shapes and offsets.  Raises ValueError where they do not fit."""
    flat = np.ascontiguousarray(scores, np.float64)
    sizes = np.ascontiguousarray(shapes, np.int64).reshape(-1, 2)
    offsets = edge_offsets(sizes)
    if flat.shape != (offsets[-1],):
        raise ValueError(f"{flat.shape} scores for shapes that need ({offsets[-1]},)")
    return flat, sizes, offsets


def _checked_rewards(side: str, given: npt.ArrayLike, size: int) -> F64:
    """The rewards of so many words of a side.  Raises ValueError."""
    rewards = np.asarray(given, np.float64)
    if rewards.ndim != 2 or len(rewards) != size:
        raise ValueError(f"{side} rewards of shape {rewards.shape} for {size} words")
    different = rewards[:1] if rewards.strides[0] == 0 else rewards  # the same of all words, as a rule
    if not (np.isfinite(different).all() and (np.diff(different, axis=1, prepend=0.0) <= 0).all()):
        raise ValueError(f"{side} rewards must be finite, at most 0, and must not rise with the links of a word")
    return np.ascontiguousarray(rewards)


def _check_fault(at_fault: int) -> None:
    if at_fault >= 0:
        raise ScoreError(f"the scores of pair {at_fault} are not finite (no best matching exists)")


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
