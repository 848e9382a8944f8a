"""Block-coordinate Frank-Wolfe with sparse shares: memory in proportion to the features that blocks' corners touch."""

import numpy as np

from aligner.problem import BlockProblem, Corners
from aligner.solvers import _sparse_kernels as kernels
from aligner.solvers._block_kernels import Averaging
from aligner.solvers._sparse_kernels import SparsePoint
from aligner.templates import Compiled, check_code
from corpora.ragged import I64

_LEAST_ROOM = 1 << 20
"""Room for entries of the shares, in addition to twice those in use."""


def new_point(problem: BlockProblem) -> SparsePoint:
    """The point with all mass on the targets: w = 0, ℓ = 0."""
    n, d = problem.n_blocks, problem.n_features
    (v, w, behind, corner), (begins, sizes, rooms) = np.zeros((4, d)), np.zeros((3, n), np.int64)
    return SparsePoint(
        v=v,
        w=w,
        loss=np.zeros(1),
        block_loss=np.zeros(n),
        behind=behind,
        scale=np.zeros(1),
        mean_loss=np.zeros(1),
        steps=np.zeros(1, np.int64),
        columns=np.empty(0, np.int64),
        values=np.empty(0),
        begins=begins,
        sizes=sizes,
        rooms=rooms,
        end=np.zeros(1, np.int64),
        corner=corner,
        seen=np.zeros(d, np.int64),
        visits=np.zeros(1, np.int64),
        n_nonpositive=problem.n_nonpositive,
    )


def take_compiled_steps(
    compiled: Compiled, point: SparsePoint, order: I64, line_search: bool, average: Averaging, regularization: float
) -> SparsePoint:
    """Take a forward step of each block in this order; returns the point, which may have been enlarged."""
    take = compiled.fill(kernels.sparse_steps)
    done = 0
    while done < len(order):
        code, block, done, more = take(order, done, line_search, average, compiled.arrays, regularization, point)
        if code == kernels.FULL:
            point = _larger(point, block, more)
        else:
            check_code(code, block)
    return point


def take_steps(
    corners: Corners, point: SparsePoint, order: I64, line_search: bool, average: Averaging, regularization: float
) -> SparsePoint:
    """`take_compiled_steps` towards corners that any oracle has found for these blocks."""
    columns, values, bounds = corners.psi.indices.astype(np.int64), corners.psi.data, corners.psi.indptr.tolist()
    for block, loss, own in zip(order.tolist(), corners.losses.tolist(), map(slice, bounds, bounds[1:]), strict=True):
        while not kernels.sparse_step(
            block, columns[own], values[own], loss, line_search, average, regularization, point
        ):
            point = _larger(point, block, len(columns[own]))
    return point


def _larger(point: SparsePoint, block: int, more: int) -> SparsePoint:
    """The same point with room for `more` entries of a block: its shares are compact, and their room is doubled."""
    begins = np.cumsum(point.sizes) - point.sizes
    kept = np.repeat(point.begins - begins, point.sizes) + np.arange(point.sizes.sum())
    room = 2 * (len(kept) + int(point.sizes[block]) + more) + _LEAST_ROOM
    columns, values = np.empty(room, np.int64), np.empty(room)
    columns[: len(kept)], values[: len(kept)] = point.columns[kept], point.values[kept]
    return point._replace(
        columns=columns, values=values, begins=begins, rooms=point.sizes.copy(), end=np.array([len(kept)])
    )
