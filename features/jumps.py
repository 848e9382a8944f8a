"""Jump weights of the HMM, from expected jumps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from features._lattice_kernels import END, INSIDE, N_JUMPS, START, WIDTHS, WINDOW, Jumps

F64 = npt.NDArray[np.float64]

_ROUNDS = 5
_LEAST = 1e-8
"""Weights stay above this: a jump that is needed must not be impossible."""


def even_jumps() -> F64:
    """(N_JUMPS,) weights with which all jumps in the window are as likely."""
    return np.ones(N_JUMPS)


def new_jumps() -> Jumps:
    """No jumps, to be counted."""
    return Jumps(np.zeros(N_JUMPS), np.zeros((3, WINDOW + 1, WINDOW + 1)))


def fit_jumps(jumps: Jumps, weights: F64) -> F64:
    """Weights, (N_JUMPS,), that make the expected jumps more likely than the given weights do, or as likely.

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
