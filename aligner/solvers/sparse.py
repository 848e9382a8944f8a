"""Block-coordinate Frank-Wolfe with sparse shares: memory in proportion to the features that blocks' corners touch."""

from dataclasses import dataclass

import numpy as np

from aligner.problem import BlockProblem
from aligner.solvers import _sparse_kernels as kernels
from aligner.solvers._block_kernels import Averaging
from aligner.solvers.gap import ask, ask_all, audit_at, clip
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.templates import Compiled, check_code
from corpora.ragged import I64

_BLOCKS_AT_ONCE = 8192
"""Blocks of one compiled call, between which Ctrl-C is heard."""

_LEAST_ROOM = 1 << 20
"""Room for entries of the shares, in addition to twice those in use."""


@dataclass(eq=False)
class SparseState:
    """The state of the solver: its dual point and random numbers."""

    origin: Origin
    rng: np.random.Generator
    point: kernels.SparsePoint


def init(origin: Origin, problem: BlockProblem, rng: np.random.Generator) -> SparseState:
    """Begin with all mass on the targets."""
    n, d = problem.n_blocks, problem.n_features
    (v, w, behind, corner), (begins, sizes, rooms) = np.zeros((4, d)), np.zeros((3, n), np.int64)
    point = kernels.SparsePoint(
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
    return SparseState(origin, rng, point)


def resume(origin: Origin, state: SparseState) -> None:
    """Move the dual point to the new λ; averages and decreasing steps begin anew."""
    point, shrinkage = state.point, state.origin.regularization / origin.regularization
    for vectors in (point.v, point.w, point.values):
        vectors *= shrinkage
    point.steps[0], state.origin = 0, origin


def sweep(
    problem: BlockProblem, state: SparseState, order: I64, batch: int, line_search: bool, average: Averaging
) -> int:
    """Take a step of each block in this order.  batch: see `Block`."""
    compiled = problem.compiled() if batch == 1 else None
    at_once = batch if compiled is None else _BLOCKS_AT_ONCE
    for first in range(0, len(order), at_once):
        some = order[first : first + at_once]
        if compiled is None:
            _generic_steps(problem, state, some, line_search, average)
        else:
            _compiled_steps(compiled, state, some, line_search, average)
    kernels.settle_sparse(state.point)
    return len(order)


def _compiled_steps(compiled: Compiled, state: SparseState, order: I64, line_search: bool, average: Averaging) -> None:
    take_steps = compiled.fill(kernels.sparse_steps)
    done = 0
    while done < len(order):
        code, block, done, more = take_steps(
            order, done, line_search, average, compiled.arrays, state.origin.regularization, state.point
        )
        if code == kernels.FULL:
            _enlarge(state, block, more)
        else:
            check_code(code, block)


def _generic_steps(
    problem: BlockProblem, state: SparseState, order: I64, line_search: bool, average: Averaging
) -> None:
    corners = ask(problem, order, state.point.w)
    columns, values, bounds = corners.psi.indices.astype(np.int64), corners.psi.data, corners.psi.indptr.tolist()
    for block, loss, own in zip(order.tolist(), corners.losses.tolist(), map(slice, bounds, bounds[1:]), strict=True):
        while not kernels.sparse_step(
            block, columns[own], values[own], loss, line_search, average, problem.regularization, state.point
        ):
            _enlarge(state, block, len(columns[own]))


def _enlarge(state: SparseState, block: int, more: int) -> None:
    """Make room for `more` entries of a block: compact the shares, and double their room."""
    point = state.point
    begins = np.cumsum(point.sizes) - point.sizes
    kept = np.repeat(point.begins - begins, point.sizes) + np.arange(point.sizes.sum())
    room = 2 * (len(kept) + int(point.sizes[block]) + more) + _LEAST_ROOM
    columns, values = np.empty(room, np.int64), np.empty(room)
    columns[: len(kept)], values[: len(kept)] = point.columns[kept], point.values[kept]
    state.point = point._replace(
        columns=columns, values=values, begins=begins, rooms=point.sizes.copy(), end=np.array([len(kept)])
    )


def audit(problem: BlockProblem, state: SparseState, averaged: bool) -> Audit:
    """Audit the average, or the iterate."""
    point = state.point
    v = point.v - point.scale[0] * point.behind if averaged else point.v
    w = clip(v, problem.n_nonpositive)
    loss = point.mean_loss if averaged else point.loss
    return audit_at(problem, w, float(loss[0]), ask_all(problem, w))


def dual_point(state: SparseState) -> DualPoint:
    return DualPoint(state.point.v, float(state.point.loss[0]), None, None, None, state.point.block_loss)
