"""Make, enlarge and rescale the dual point of the blocks, and the corners that they keep."""

from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from aligner.errors import SettingError
from aligner.problem import BlockProblem
from aligner.solvers._active_kernels import Pool, settle_active
from aligner.solvers._block_kernels import Point
from aligner.solvers._sparse_kernels import SparsePoint, settle_sparse
from aligner.solvers.gap import clip
from aligner.solvers.records import Active, DualPoint
from corpora.ragged import F64

_MOST_BYTES = 1 << 31
"""Most bytes of the shares of all blocks, if corners are sparse."""

_SLOTS = 8
"""Corners that a block can keep at first."""


def new_point(problem: BlockProblem, store: str | Path | None = None) -> Point:
    """The point with all mass on the targets: w = 0, ℓ = 0.  SettingError if corners are sparse and it is too large.

    store: a folder where the blocks' shares are in a temporary file, not in memory.
    """
    n, d = problem.n_blocks, problem.n_features
    if problem.sparse and 8 * n * d > _MOST_BYTES:
        raise SettingError(
            f"this solver keeps {d:,} numbers for each of {n:,} blocks (bcfw with forward steps keeps fewer)"
        )
    if store is None:
        shares = np.zeros((n, d))
    else:
        with TemporaryFile(dir=store) as file:  # which is there as long as it is mapped
            shares = np.asarray(np.memmap(file, np.float64, "w+", shape=(n, d)))
    return Point(
        v=np.zeros(d),
        w=np.zeros(d),
        loss=np.zeros(1),
        block_w=shares,
        block_loss=np.zeros(n),
        mean_v=np.zeros(d),
        mean_loss=np.zeros(1),
        steps=np.zeros(1, np.int64),
        n_nonpositive=problem.n_nonpositive,
    )


def new_pool(n_blocks: int, n_features: int) -> Pool:
    """Make the pool where each block has its target as the only corner: ψ = 0, L = 0, weight 1."""
    size = 2 * n_blocks
    slots = np.zeros((n_blocks, _SLOTS), np.int64)
    slots[:, 0] = np.arange(n_blocks)
    return Pool(
        slots=slots,
        counts=np.ones(n_blocks, np.int64),
        vectors=np.zeros((size, n_features)),
        losses=np.zeros(size),
        weights=np.repeat([1.0, 0.0], n_blocks),
        free=np.roll(np.arange(size), n_blocks),
        n_free=np.array([n_blocks]),
    )


def larger_pool(pool: Pool, block: int) -> Pool:
    """The pool with the same corners, and slots for more corners of this block."""
    if pool.counts[block] >= pool.slots.shape[1]:
        pool = pool._replace(slots=np.concatenate([pool.slots, np.zeros_like(pool.slots)], axis=1))
    if pool.n_free[0] == 0:
        size, arrays = len(pool.free), (pool.vectors, pool.losses, pool.weights)
        vectors, losses, weights = (np.concatenate([array, np.zeros_like(array)]) for array in arrays)
        free, n_free = np.roll(np.arange(2 * size), size), np.array([size])
        pool = pool._replace(vectors=vectors, losses=losses, weights=weights, free=free, n_free=n_free)
    return pool


def of_blocks(point: Point | SparsePoint, pool: Pool | None) -> DualPoint:
    """The dual point with each block's share of it, unless it is sparse, and its corners if there is a pool."""
    active = None
    if pool is not None:
        kept = np.arange(pool.slots.shape[1]) < pool.counts[:, None]
        blocks, places = np.nonzero(kept)[0], pool.slots[kept]
        used = pool.weights[places] > 0.0
        blocks, places = blocks[used], places[used]
        active = Active(blocks, pool.weights[places], pool.vectors[places], pool.losses[places])
    shares = point.block_w if isinstance(point, Point) else None
    return DualPoint(point.v, float(point.loss[0]), active, None, shares, point.block_loss)


def mean_of(point: Point | SparsePoint) -> tuple[F64, float]:
    """The v and ℓ of the average of the iterates."""
    v = point.mean_v if isinstance(point, Point) else point.v - point.scale[0] * point.behind
    return v, float(point.mean_loss[0])


def rescale(point: Point | SparsePoint, pool: Pool | None, ratio: float) -> None:
    """Move the same dual point to another λ: v(α) and the corners are multiplied by ratio, the old λ over the new."""
    shares = point.block_w if isinstance(point, Point) else point.values
    for vectors in (point.v, point.w, shares, *([] if pool is None else [pool.vectors])):
        vectors *= ratio


def settle(point: Point | SparsePoint, pool: Pool | None) -> None:
    """Compute the sums over blocks anew: they collect rounding errors, which would pass into the gap."""
    if isinstance(point, SparsePoint):
        settle_sparse(point)
    elif pool is not None:
        settle_active(point, pool)
    else:
        point.v[:] = point.block_w.sum(axis=0)
        point.w[:] = clip(point.v, point.n_nonpositive)
        point.loss[0] = point.block_loss.sum()
