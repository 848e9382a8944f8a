"""Compiled kernels of block-coordinate Frank-Wolfe for problems whose blocks touch few features each."""

from typing import Any, NamedTuple

from aligner.solvers._block_kernels import average_weight, best_length
from aligner.templates import DONE, template
from corpora.compiled import compiled
from corpora.ragged import F64, I64

FULL = 8
"""Code: the shares have no room for another corner; nothing was done for its block."""


class SparsePoint(NamedTuple):
    """A dual point and its running average, changed in place  [LJSP13 §5: the union of supports].

    v: (d,) = Σ_i of the blocks' shares.  w: (d,) = clip(v).  loss: (1,), block_loss: (n,).
    behind: (d,), scale: (1,): the average of v is v − scale · behind, so that a step changes only the entries that it
    touches.  mean_loss: (1,).  steps: (1,).
    columns, values: (P,), for block i at begins[i] : begins[i] + sizes[i], with room for rooms[i].
    end: (1,) of all rooms.  corner: (d,) zeros, a workspace.  seen: (d,) the last of the visits, (1,), to each column.
    """

    v: F64
    w: F64
    loss: F64
    block_loss: F64
    behind: F64
    scale: F64
    mean_loss: F64
    steps: I64
    columns: I64
    values: F64
    begins: I64
    sizes: I64
    rooms: I64
    end: I64
    corner: F64
    seen: I64
    visits: I64
    n_nonpositive: int


@compiled
def make_room(i, more, point):
    """Make room for so many more entries of a block, at the end if need be; False if there is none."""
    size = point.sizes[i]
    if size + more <= point.rooms[i]:
        return True
    room = 2 * (size + more)
    begin = point.end[0]
    if begin + room > len(point.columns):
        return False
    old = point.begins[i]
    for e in range(size):
        point.columns[begin + e] = point.columns[old + e]
        point.values[begin + e] = point.values[old + e]
    point.begins[i], point.rooms[i] = begin, room
    point.end[0] += room
    return True


@compiled
def change_entry(column, change, point):
    """Change v, and the arrays that follow from it, in one coordinate."""
    v = point.v[column] + change
    point.v[column] = v
    point.w[column] = v if column < len(point.v) - point.n_nonpositive else min(0.0, v)
    if point.scale[0] > 0.0:
        point.behind[column] += change / point.scale[0]


@compiled
def sparse_step(i, columns, values, corner_loss, line_search, average, regularization, point):
    """Take a forward step of a block towards the corner with these entries of ψ_i  [LJSP13 Alg. 4].

    columns: may repeat.  corner_loss: L_i.  Returns False, with nothing done, if there is no room.
    """
    n, begin, end = len(point.block_loss), point.begins[i], point.begins[i] + point.sizes[i]
    share, corner = 1.0 / (regularization * n), point.corner
    point.visits[0] += 1
    visit, new = point.visits[0], 0
    for e in range(len(columns)):
        corner[columns[e]] += share * values[e]
    loss_gain = corner_loss / n - point.block_loss[i]
    slope, curvature = 0.0, 0.0
    for e in range(len(columns)):
        slope -= share * values[e] * point.w[columns[e]]
        curvature += share * values[e] * corner[columns[e]]
    for e in range(begin, end):
        column, value = point.columns[e], point.values[e]
        slope += value * point.w[column]
        curvature += value * (value - 2.0 * corner[column])
        point.seen[column] = visit
    for e in range(len(columns)):
        new += point.seen[columns[e]] != visit
        point.seen[columns[e]] = visit
    if not make_room(i, new, point):
        for e in range(len(columns)):
            corner[columns[e]] = 0.0
        return False
    begin, end = point.begins[i], point.begins[i] + point.sizes[i]
    slope, curvature = loss_gain + regularization * slope, regularization * curvature
    gamma = 2.0 * n / (point.steps[0] + 2.0 * n)
    if line_search:
        gamma = best_length(slope, curvature, 1.0)
    for e in range(begin, end):
        column = point.columns[e]
        change = gamma * (corner[column] - point.values[e])
        corner[column] = 0.0
        point.values[e] += change
        change_entry(column, change, point)
    for e in range(len(columns)):
        column = columns[e]
        change = gamma * corner[column]
        if corner[column] != 0.0:  # the block has not had it yet
            corner[column] = 0.0
            point.columns[end], point.values[end] = column, change
            end += 1
            change_entry(column, change, point)
    point.sizes[i] = end - begin
    point.block_loss[i] += gamma * loss_gain
    point.loss[0] += gamma * loss_gain
    rho = average_weight(average, point.steps[0])
    if rho == 1.0:
        point.behind[:] = 0.0
        point.scale[0] = 1.0
        point.mean_loss[0] = point.loss[0]
    elif rho > 0.0:
        point.scale[0] *= 1.0 - rho
        point.mean_loss[0] += rho * (point.loss[0] - point.mean_loss[0])
    point.steps[0] += 1
    return True


make_scratch: Any = None
sparse_corner: Any = None


@template
def sparse_steps(order, start, line_search, average, arrays, regularization, point):
    """Take forward steps of blocks from position `start` of the order on.

    Returns (code, block at fault, position reached, entries of its corner).
    """
    scratch = make_scratch(arrays)
    for t in range(start, len(order)):
        i = order[t]
        code, m, loss, _ = sparse_corner(i, arrays, point.w, scratch, 1.0)
        if code != DONE:
            return code, i, t, m
        columns, values = scratch.columns[:m], scratch.values[:m]
        if not sparse_step(i, columns, values, loss, line_search, average, regularization, point):
            return FULL, i, t, m
    return DONE, -1, len(order), 0


@compiled
def settle_sparse(point):
    """Compute v anew from the blocks' shares, free of rounding errors; the average does not change."""
    free = len(point.v) - point.n_nonpositive
    if point.scale[0] > 0.0:
        for c in range(len(point.v)):
            point.behind[c] -= point.v[c] / point.scale[0]
    point.v[:] = 0.0
    for i in range(len(point.sizes)):
        for e in range(point.begins[i], point.begins[i] + point.sizes[i]):
            point.v[point.columns[e]] += point.values[e]
    for c in range(len(point.v)):
        point.w[c] = point.v[c] if c < free else min(0.0, point.v[c])
    if point.scale[0] > 0.0:
        for c in range(len(point.v)):
            point.behind[c] += point.v[c] / point.scale[0]
    point.loss[0] = point.block_loss.sum()
