"""First order: matchings and b-matchings where neighbouring links earn a reward  [LTKJ06 §4].

maximise  Σ_jk s(j,k) z(j,k) + Σ_j Σ_{t=2..deg(j)} ρ_t(j) + Σ_k Σ_{t=2..deg(k)} ρ_t(k)
          + Σ_jk r(j,k) z(j,k) z(j+1,k+1) + Σ_jk q(j,k) z(j,k+1) z(j+1,k),     r, q >= 0, z a matching or b-matching:

words that follow one another in both languages (parallel), or change places (swapped). A quadratic assignment problem,
NP-hard in general. Its linear relaxation is tight on nearly all sentence pairs whose scores decide most links, and its
dual is one matching after another, so that the optimum is found and proved after a few.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from aligner.matching import F64, I32, _check_fault, _checked, _checked_rewards
from aligner.matching._quadratic_kernels import quadratic_blocks
from aligner.matching.assignment import in_runs
from corpora.ragged import edge_offsets

Bools = npt.NDArray[np.bool_]

ITERATIONS = 100
"""Matchings that are spent on the relaxation."""

BRANCHES = 50
"""Branches that are tried where the relaxation is not tight."""

EFFORT = 8
"""About as many times as long as a matching, as a rule."""


@dataclass(frozen=True, eq=False)
class QuadraticAnswer:
    """Links of n pairs with rewards for neighbouring links, and what is known about them.

    mates: (sum of rows * B,) int32, as `best_bmatchings` returns it.
    value: (n,) of these links.  bound: (n,) no links of the pair are worth more.
    exact: (n,) whether the two are equal but for rounding (1e-9 of the value), so that the links are an optimum.
    """

    mates: I32
    value: F64
    bound: F64
    exact: Bools


def best_quadratic(
    scores: npt.ArrayLike,
    shapes: npt.ArrayLike,
    source_rewards: npt.ArrayLike,
    target_rewards: npt.ArrayLike,
    parallel: npt.ArrayLike,
    swapped: npt.ArrayLike,
    *,
    iterations: int = ITERATIONS,
    branches: int = BRANCHES,
) -> QuadraticAnswer:
    """Best links of each of many score matrices, stacked, where neighbouring links earn rewards.

    scores, shapes, source_rewards, target_rewards: as for `best_bmatchings`; (words, 0) rewards: one link a word.
    parallel: (E,) r(j,k) >= 0 at edge (j, k), for links (j, k) and (j+1, k+1).  swapped: (E,) q(j,k) >= 0 at edge
    (j, k), for links (j, k+1) and (j+1, k).  Or one number for all. Those in a last row or column count for nothing.
    iterations: the most matchings, at least 1, that the bound of a pair may take.  branches: the most cases to tell
    apart, some ten matchings each, where that bound stays above the links. If a gap is left after them, the links are
    the best of all matchings seen and of local improvements of these.

    Loss-augmented decoding is the same problem with augmented scores, as the loss is linear in the links.
    Raises as `best_bmatchings` does, and ValueError for rewards that are negative or not finite.
    """
    flat, sizes, offsets = _checked(scores, shapes)
    words = np.zeros((len(sizes) + 1, 2), np.int64)
    np.cumsum(sizes, axis=0, out=words[1:])
    source = _checked_rewards("source", source_rewards, words[-1, 0])
    target = _checked_rewards("target", target_rewards, words[-1, 1])
    r = _checked_pairs("parallel", parallel, len(flat))
    q = _checked_pairs("swapped", swapped, len(flat))
    if iterations < 1 or branches < 0:
        raise ValueError(f"{iterations} iterations and {branches} branches: at least 1 and 0 are needed")
    n = len(sizes)
    mates = np.empty(len(source) * (source.shape[1] + 1), np.int32)
    answer = QuadraticAnswer(mates, np.empty(n), np.empty(n), np.empty(n, np.bool_))

    def run(part: slice) -> int:
        at_fault = quadratic_blocks(
            flat,
            r,
            q,
            sizes[part],
            offsets[part],
            words[part],
            source,
            target,
            iterations,
            branches,
            mates,
            answer.value[part],
            answer.bound[part],
            answer.exact[part],
        )
        return int(at_fault[1])

    _check_fault(in_runs(run, offsets, EFFORT))
    return answer


def neighbouring_links(links: Bools, shapes: npt.ArrayLike) -> tuple[Bools, Bools]:
    """Where pairs of neighbouring links are: (parallel, swapped), at the edges where rewards for them would stand.

    links: (E,) of score matrices of these shapes, stacked.  Summed by pair, these are the counts, and weighted sums
    the features, whose weights are a constant or a linear reward.
    """
    sizes = np.asarray(shapes, np.int64).reshape(-1, 2)
    parallel, swapped = np.zeros_like(links), np.zeros_like(links)
    for (J, K), (first, last) in zip(sizes.tolist(), pairwise(edge_offsets(sizes).tolist()), strict=True):
        z = links[first:last].reshape(J, K)
        parallel[first:last].reshape(J, K)[:-1, :-1] = z[:-1, :-1] & z[1:, 1:]
        swapped[first:last].reshape(J, K)[:-1, :-1] = z[:-1, 1:] & z[1:, :-1]
    return parallel, swapped


def _checked_pairs(name: str, given: npt.ArrayLike, size: int) -> F64:
    """(size,) rewards of neighbouring links.  Raises ValueError."""
    rewards = np.asarray(given, np.float64)
    if rewards.shape not in ((), (size,)):
        raise ValueError(f"{name} rewards of shape {rewards.shape} for {size} edges")
    if not (np.isfinite(rewards).all() and (rewards >= 0).all()):
        raise ValueError(f"{name} rewards must be finite and at least 0")
    return np.full(size, float(rewards)) if rewards.ndim == 0 else np.ascontiguousarray(rewards)
