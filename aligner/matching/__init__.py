"""The matching polytope: the best matching or b-matching of a score matrix, by one of several oracles.

Z = { z >= 0 : row and column sums <= 1 };  argmax_z <scores, z> over Z is a matching, words may stay unmatched, and
an edge that scores <= 0 is never needed. All exact oracles find the same optimum; on ties they may pick different
matchings of equal score. With several links a word at decreasing rewards the optimum is a min-cost flow  [LTKJ06 §3].

To add an oracle: write a module with ``match(task, column_of_row)``, see `Match`, and name it in ORACLES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aligner.errors import ScoreError, SettingError
from corpora.ragged import F64, I32, I64, Bools, edge_offsets

_FOR_KERNELS: Final = ("C", "E", "W")
"""Arrays that are copied unless they are contiguous and can be written: kernels are compiled for no other kind."""


class Task(NamedTuple):
    """Matrices of scores whose best matchings are asked for.

    scores: (E,) the matrices one after another, each row by row.  shapes: (n, 2) their rows and columns.
    offsets: (n + 1,) where the scores of each begin.  row_offsets: (n + 1,) where its rows do.
    source_rewards: (B - 1,) of the second link of a row and on, which may have B.  target_rewards: of columns likewise.
    """

    scores: F64
    shapes: I64
    offsets: I64
    row_offsets: I64
    source_rewards: F64
    target_rewards: F64

    @property
    def several(self) -> bool:
        """Whether a word may have several links."""
        return len(self.source_rewards) + len(self.target_rewards) > 0


Match = Callable[[Task, I32], None]
"""Fills column_of_row (ΣJ · B,), see `best_matchings`, which is -1 everywhere.  No score is NaN or +inf."""


@dataclass(frozen=True)
class Oracle:
    """A way to find best matchings.

    exact: whether its answer is the optimum.  several: whether words may have several links.
    """

    name: str
    exact: bool
    several: bool
    match: Match

    def check_several(self) -> None:
        """Raise SettingError if words may have one link only."""
        if not self.several:
            able = ", ".join(name for name in ORACLES if _MODULES[name][2])
            raise SettingError(f"the {self.name} oracle has one link a word only (choose from {able})")


_MODULES = {
    "assignment": ("aligner.matching.assignment", True, True),
    "scipy": ("aligner.matching.scipy_assignment", True, False),
    "flow": ("aligner.matching.flow", True, True),
    "lp": ("aligner.matching.linprog", True, True),
    "greedy": ("aligner.matching.greedy", False, True),
}
ORACLES = tuple(_MODULES)


@cache
def get_oracle(name: str) -> Oracle:
    """The oracle of that name; its libraries are imported now and not before.  Raises SettingError."""
    if name not in _MODULES:
        raise SettingError(f"unknown oracle {name!r} (choose from {', '.join(ORACLES)})")
    path, exact, several = _MODULES[name]
    return Oracle(name, exact, several, import_module(path).match)


def best_matchings(
    scores: npt.ArrayLike,
    shapes: npt.ArrayLike,
    source_rewards: npt.ArrayLike = (),
    target_rewards: npt.ArrayLike = (),
    *,
    oracle: str | Oracle = "assignment",
) -> I32:
    """Best matching of each of many score matrices, stacked; words may have several links, at decreasing rewards.

    argmax_z Σ_jk s(j,k) z(j,k) + Σ_j Σ_{t=2..deg(j)} ρ_t + Σ_k Σ_{t=2..deg(k)} σ_t   [LTKJ06 §3]

    scores: (E,) the matrices one after another, each row by row, any sign; -inf forbids an edge.
    shapes: (n, 2) rows and columns of each.
    source_rewards: (B - 1,) ρ_2, ρ_3 ... of any row, 0 >= ρ_2 >= ρ_3 >= ..., where B links are the most a row may have.
    target_rewards: (C - 1,) σ_2, σ_3 ... of any column likewise.
    Returns (ΣJ · B,) for each row its B slots, that is its columns in ascending order, then -1.
    Raises ScoreError on NaN or +inf, naming the matrix, ValueError where the arrays do not fit or rewards are not as
    said, and SettingError for an oracle that knows one link a word only.
    """
    flat, sizes, offsets = check_scores(scores, shapes, "best matching")
    source, target = check_rewards("source", source_rewards), check_rewards("target", target_rewards)
    chosen = oracle if isinstance(oracle, Oracle) else get_oracle(oracle)
    if len(source) + len(target) > 0:
        chosen.check_several()
    row_offsets = np.concatenate([[0], np.cumsum(sizes[:, 0])])
    column_of_row = np.full(row_offsets[-1] * (len(source) + 1), -1, np.int32)
    chosen.match(Task(flat, sizes, offsets, row_offsets, source, target), column_of_row)
    return column_of_row


def check_scores(scores: npt.ArrayLike, shapes: npt.ArrayLike, what: str) -> tuple[F64, I64, I64]:
    """(E,) scores, (n, 2) shapes and (n + 1,) offsets for kernels.

    Raises ValueError where they do not fit, and ScoreError on NaN or +inf, by which no `what` exists.
    """
    flat = np.require(scores, np.float64, _FOR_KERNELS)
    sizes = np.require(shapes, np.int64, _FOR_KERNELS).reshape(-1, 2)
    offsets = edge_offsets(sizes)
    if flat.shape != (offsets[-1],):
        raise ValueError(f"{flat.shape} scores for shapes that need ({offsets[-1]},)")
    if not flat.max(initial=-np.inf) < np.inf:
        pair = np.searchsorted(offsets, np.argmin(flat < np.inf), side="right") - 1
        raise ScoreError(f"the scores of pair {pair} are not finite (no {what} exists)")
    return flat, sizes, offsets


def check_rewards(side: str, given: npt.ArrayLike) -> F64:
    """The rewards of further links of a side.  Raises ValueError."""
    rewards = np.require(given, np.float64, _FOR_KERNELS)
    if rewards.ndim != 1 or not (np.isfinite(rewards).all() and (np.diff(rewards, prepend=0.0) <= 0).all()):
        raise ValueError(f"{side} rewards must be finite, at most 0, and must not rise with the links of a word")
    return rewards


def best_matching(scores: npt.ArrayLike, *, oracle: str | Oracle = "assignment") -> Bools:
    """Return the matching of greatest total score; edges scoring <= 0 stay out.

    argmax_z <scores, z>  over z in {0,1}^(J, K), row and column sums <= 1   [TLK05 eq. 1]

    scores: (J, K) float, any sign.  Returns (J, K) bool.  Raises ScoreError on NaN or +inf.
    """
    matrix = np.asarray(scores, np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"scores must be a matrix, not an array of shape {matrix.shape}")
    column_of_row = best_matchings(matrix.ravel(), [matrix.shape], oracle=oracle)
    links = np.zeros(matrix.shape, np.bool_)
    matched = np.flatnonzero(column_of_row >= 0)
    links[matched, column_of_row[matched]] = True
    return links
