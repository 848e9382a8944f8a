"""Jump weights of the HMM, from expected jumps.

Words that are frequent in the text have weights of their own, for the jump from them to the position of the next word:
past an adjective back to its noun, from an article on to what it belongs to  [He07]. All others share a group.

[He07] He 2007, Using word-dependent transition models in HMM based word alignment for statistical machine translation.
[Hunter 2004] Hunter 2004, MM algorithms for generalized Bradley-Terry models.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from features._lattice_kernels import END, INSIDE, N_JUMPS, START, WIDTHS, WINDOW, Jumps, JumpWeights

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]

_PSEUDO_COUNT = 30.0
"""Jumps that a group is taken to have made, as all words together make them."""

_FREQUENT = 10.0
"""Occurrences from which on a word is a group of its own."""

_ROUNDS = 5
_LEAST = 1e-8
"""Weights stay above this: a jump that is needed must not be impossible."""


def frequent_words(occurrences: F64, known: I32) -> I32:
    """(G - 1,) words that are groups of their own, 1, 2 ...: those known to be, then others that are frequent now."""
    new = np.setdiff1d(np.flatnonzero(occurrences >= _FREQUENT), known)
    return np.concatenate([known, new]).astype(np.int32)


def even_jumps() -> F64:
    """(N_JUMPS,) shared weights with which all jumps in the window are as likely."""
    return np.ones(N_JUMPS)


def new_jumps(groups: int) -> Jumps:
    """No jumps, to be counted."""
    inside, needs = np.zeros((2, groups, WIDTHS))
    return Jumps(np.zeros(N_JUMPS), np.zeros((3, WINDOW + 1, WINDOW + 1)), inside, needs)


def with_groups(jumps: Jumps, groups: int) -> Jumps:
    """The same jumps, with more groups that have made none."""
    room = ((0, groups - len(jumps.inside)), (0, 0))
    return jumps._replace(inside=np.pad(jumps.inside, room), needs=np.pad(jumps.needs, room))


def weigh_jumps(jumps: Jumps, shared: F64, frequent: I32, words: int, pseudo_count: float) -> JumpWeights:
    """The weights of a language of so many words, from what was counted with weights of groups that added up to 1.

    shared: (N_JUMPS,), fitted to these jumps.  frequent: (G - 1,).  pseudo_count: choices among all widths that each
    group is taken to have made as by the shared weights.
    With n(d) jumps of width d, w(d) <- n(d) / needs(d) makes them likelier, or as likely, as `fit_jumps` says.
    """
    mean = shared[INSIDE : INSIDE + WIDTHS] / shared[INSIDE : INSIDE + WIDTHS].sum()
    needs = jumps.needs + pseudo_count
    met = needs > 0.0
    inside = np.where(met, (jumps.inside + pseudo_count * mean) / np.where(met, needs, 1.0), mean)
    inside = np.maximum(inside / inside.sum(axis=1, keepdims=True), _LEAST)
    groups = np.zeros(words, np.int32)
    groups[frequent] = np.arange(1, len(frequent) + 1)
    return JumpWeights(shared, inside, groups)


def weigh_both(
    jumps: tuple[Jumps, Jumps], shared: tuple[F64, F64], frequent: tuple[I32, I32], words: tuple[int, int],
    smoothing: float,
) -> tuple[JumpWeights, JumpWeights]:  # fmt: skip
    """The weights of source and target words, see `weigh_jumps`.  smoothing: factor of the pseudo-count."""
    pseudo_count = smoothing * _PSEUDO_COUNT
    return (
        weigh_jumps(jumps[0], shared[0], frequent[0], words[0], pseudo_count),
        weigh_jumps(jumps[1], shared[1], frequent[1], words[1], pseudo_count),
    )


def fit_jumps(jumps: Jumps, weights: F64) -> F64:
    """Shared weights, (N_JUMPS,), that make the expected jumps more likely than the given ones do, or as likely.

    A jump of width d is chosen with probability w(d) / Σ_r w(r) over the widths r that stay in the sentence: those of a
    few contexts, by the room to either side. The likelihood is that of a Bradley-Terry model with comparisons of many
    at once, and w(d) <- n(d) / Σ_context n(context) / Σ_r w(r) never lowers it  [Hunter 2004].
    """
    near = np.tri(WINDOW, dtype=bool)  # the first n widths, n = 1 .. WINDOW
    room = np.arange(WINDOW + 1)
    width = np.arange(WIDTHS) - WINDOW
    inside = ((width >= -room[:, None, None]) & (width <= room[None, :, None])).reshape(-1, WIDTHS)
    fitted = weights.copy()
    for start, size, reach, n in (
        (START, WINDOW, near, jumps.contexts[0, 0, 1:]),
        (INSIDE, WIDTHS, inside, jumps.contexts[1].ravel()),
        (END, WINDOW, near, jumps.contexts[2, 0, 1:]),
    ):
        part = slice(start, start + size)
        fitted[part] = _fit(jumps.counts[part], reach.astype(np.float64), n, fitted[part])
    return fitted


def _fit(counts: F64, reach: F64, n: F64, weights: F64) -> F64:
    """counts: (D,) jumps by width.  reach: (contexts, D) 1 where the width stays inside.  n: (contexts,) choices."""
    if counts.sum() <= 0.0:
        return weights
    for _ in range(_ROUNDS):
        needed = (n / (reach @ weights)) @ reach
        weights = np.where(needed > 0.0, counts / np.where(needed > 0.0, needed, 1.0), weights)
        weights = np.maximum(weights / weights.sum(), _LEAST)
    return weights
