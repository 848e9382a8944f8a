"""The corners that blocks keep, and away and pairwise steps on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aligner.solvers import _active_kernels as kernels
from aligner.solvers._active_kernels import Pool

_ROOM = 8
"""Corners of a block there is room for at first."""


def new_pool(n_blocks: int, n_features: int) -> Pool:
    """Each block with its target as the only corner: ψ = 0, L = 0, weight 1."""
    size = 2 * n_blocks
    places = np.arange(n_blocks)
    slots = np.zeros((n_blocks, _ROOM), np.int64)
    slots[:, 0] = places
    weights = np.zeros(size)
    weights[:n_blocks] = 1.0
    free = np.zeros(size, np.int64)
    free[: size - n_blocks] = np.arange(n_blocks, size)
    return Pool(
        slots, np.ones(n_blocks, np.int64), np.zeros((size, n_features)), np.zeros(size), weights, free,
        np.array([size - n_blocks]),
    )  # fmt: skip


def larger_pool(pool: Pool, block: int) -> Pool:
    """The same corners, with room for more of this block."""
    slots, vectors, losses, weights, free = pool.slots, pool.vectors, pool.losses, pool.weights, pool.free
    if pool.counts[block] >= slots.shape[1]:
        slots = np.concatenate([slots, np.zeros_like(slots)], axis=1)
    if pool.n_free[0] == 0:
        size = len(losses)
        free = np.concatenate([np.arange(size, 2 * size), np.zeros(size, np.int64)])
        pool.n_free[0] = size
        vectors = np.concatenate([vectors, np.zeros_like(vectors)])
        losses, weights = (np.concatenate([a, np.zeros_like(a)]) for a in (losses, weights))
    return Pool(slots, pool.counts, vectors, losses, weights, free, pool.n_free)


@dataclass(frozen=True)
class Away:
    """Step towards the oracle's corner or away from the worst of the active set, whichever promises more.

    Guarantee: the expected gap falls linearly, exp(−ρk), with a constant of the polytope  [LJ15 Alg. 1; OAD16 App. B].
    """

    name: str = "away"
    line_search: bool = True
    kind: int = kernels.AWAY


@dataclass(frozen=True)
class Pairwise:
    """Move weight from the worst corner of the active set to the oracle's  [LJ15 Alg. 2; OAD16 App. B].

    Guarantee: linear but for steps that swap one corner for another; usually the fastest.
    """

    name: str = "pairwise"
    line_search: bool = True
    kind: int = kernels.PAIRWISE
