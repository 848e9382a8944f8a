"""The matching polytope: the best matching or b-matching of a list of edges, by one of several oracles.

Z = { z >= 0 : row and column sums <= 1 };  argmax_z <scores, z> over Z is a matching, words may stay unmatched, and
an edge that scores <= 0 is never needed. All exact oracles find the same optimum; on ties they may pick different
matchings of equal score. With several links a word at decreasing rewards the optimum is a min-cost flow  [LTKJ06 §3].

To add an oracle: write a module with ``match(task, linked)``, see `Match`, and name it in ORACLES.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aligner.errors import ScoreError, SettingError
from corpora.ragged import F64, Bools, Lists

_FOR_KERNELS: Final = ("C", "E", "W")
"""Other arrays are copied: kernels are compiled only for contiguous ones that can be written."""


class Task(NamedTuple):
    """Lists of edges whose best matchings are wanted.

    scores: (E,) of the edges.  lists: their words, rows the source and columns the target words of each pair.
    source_rewards: (B - 1,) of the second to B-th link of a row, at most B.  target_rewards: of columns likewise.
    """

    scores: F64
    lists: Lists
    source_rewards: F64
    target_rewards: F64

    @property
    def several(self) -> bool:
        """Whether a word may have several links."""
        return len(self.source_rewards) + len(self.target_rewards) > 0


Match = Callable[[Task, Bools], None]
"""Sets (E,) which edges are linked.  No score is NaN or +inf."""


@dataclass(frozen=True)
class Oracle:
    """A way to find best matchings.

    exact: whether its matchings are optimal.  several: whether words may have several links.
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
    "assignment": ("aligner.matching.bmatching", True, True),
    "scipy": ("aligner.matching.scipy_reference", True, False),
    "flow": ("aligner.matching.flow_reference", True, True),
    "lp": ("aligner.matching.linprog_reference", True, True),
    "greedy": ("aligner.matching.greedy", False, True),
}
ORACLES = tuple(_MODULES)


@cache
def get_oracle(name: str) -> Oracle:
    """Return the oracle of this name; its libraries are imported now and not before.  Raises SettingError."""
    if name not in _MODULES:
        raise SettingError(f"unknown oracle {name!r} (choose from {', '.join(ORACLES)})")
    path, exact, several = _MODULES[name]
    return Oracle(name, exact, several, import_module(path).match)


def best_matchings(
    scores: npt.ArrayLike,
    lists: Lists,
    source_rewards: npt.ArrayLike = (),
    target_rewards: npt.ArrayLike = (),
    *,
    oracle: str | Oracle = "assignment",
) -> Bools:
    """Find the best matching of each of many lists of edges; words may have several links, at decreasing rewards.

    argmax_z Σ_jk s(j,k) z(j,k) + Σ_j Σ_{t=2..deg(j)} ρ_t + Σ_k Σ_{t=2..deg(k)} σ_t   [LTKJ06 §3]

    scores: (E,) of the listed edges, any sign; -inf forbids an edge, as if it were not listed.
    source_rewards: (B - 1,) ρ_2, ρ_3 ... of any row, 0 >= ρ_2 >= ρ_3 >= ..., where B is the capacity of a row.
    target_rewards: (C - 1,) σ_2, σ_3 ... of any column likewise.
    Returns (E,) which edges are linked.
    Raises ScoreError on NaN or +inf, naming the pair, ValueError if arrays do not fit or rewards are not as above, and
    SettingError for an oracle with a capacity of one link only.
    """
    return answer(make_task(scores, lists, source_rewards, target_rewards), oracle)


def make_task(
    scores: npt.ArrayLike, lists: Lists, source_rewards: npt.ArrayLike = (), target_rewards: npt.ArrayLike = ()
) -> Task:
    """Make the task of `best_matchings` from its arguments, which are checked."""
    flat = check_scores(scores, lists, "best matching")
    return Task(flat, lists, check_rewards("source", source_rewards), check_rewards("target", target_rewards))


def answer(task: Task, oracle: str | Oracle) -> Bools:
    """Return (E,) which edges this oracle links.  SettingError if the task allows words more links than it can find."""
    chosen = oracle if isinstance(oracle, Oracle) else get_oracle(oracle)
    if task.several:
        chosen.check_several()
    linked = np.zeros(len(task.scores), np.bool_)
    chosen.match(task, linked)
    return linked


def check_scores(scores: npt.ArrayLike, lists: Lists, what: str) -> F64:
    """Return scores (E,) as kernels take them.

    Raises ValueError if they do not fit the lists, and ScoreError on NaN or +inf.  what: does not exist then.
    """
    flat = np.require(scores, np.float64, _FOR_KERNELS)
    if flat.shape != (lists.offsets[-1],):
        raise ValueError(f"{flat.shape} scores for lists that need ({lists.offsets[-1]},)")
    if not flat.max(initial=-np.inf) < np.inf:
        pair = np.searchsorted(lists.offsets, np.argmin(flat < np.inf), side="right") - 1
        raise ScoreError(f"the scores of pair {pair} are not finite (no {what} exists)")
    return flat


def check_rewards(side: str, given: npt.ArrayLike) -> F64:
    """Return the rewards of a side's further links as kernels take them.  Raises ValueError if they are impossible."""
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
    return best_matchings(matrix.ravel(), Lists.of_all([matrix.shape]), oracle=oracle).reshape(matrix.shape)
