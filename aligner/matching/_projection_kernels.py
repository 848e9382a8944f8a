"""Compiled kernels of projections on the matching polytope: sweeps over the words' prices, and Newton steps.

The best prices of the longer side at given prices of the shorter side are found exactly, so that only the shorter side
is searched; a block is worked on with its shorter side as rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.matching._kernels import F64, I64, Workspace, assign, largest_sides, make_workspace
from aligner.matching._newton_kernels import derivatives, newton_step
from aligner.matching._price_kernels import (
    ENTROPIC,
    EUCLIDEAN,
    dual_objective,
    fill_weights,
    fit_columns,
    fit_rows,
    make_feasible,
    raise_to_top,
)

CONVERGED = 0
ITERATION_LIMIT = 1

START = 16.0
"""The largest score from which prices are searched from nothing."""

PATIENCE = 20
"""Iterations from given prices, before they are found to be of no use."""

GROWTH = 4.0
"""Larger scores are reached by this factor at a time: doubled scores have nearly doubled prices."""

LOOSE = 0.1
"""Gap at which a smaller scale of the scores is left."""

ROUNDING = 1.2e-16
"""The error of a score less its prices, relative to the highest score."""

LOST = 1e100
"""A factor of weights after which those that had vanished are computed anew."""

HALVINGS = 12
"""Of a Newton step that raises the dual objective, before it is given up for this iteration."""


class ProjectionWorkspace(NamedTuple):
    """Scratch of the projections: for blocks of up to E edges, a shorter side of R words and a longer one of C.

    values, across: (E,) the block with its shorter side as rows, and its transpose.  plan: (E,) the answer.
    weights, curvature, bits: (E,).  system: (R²,).  tight, excess, diagonal, step, u_trial: (R,).
    v_trial, sums, scales, answers, idle: (C,).  assignment: of the matching that prices start from.
    """

    values: F64
    across: F64
    plan: F64
    weights: F64
    curvature: F64
    bits: F64
    system: F64
    tight: I64
    excess: F64
    diagonal: F64
    step: F64
    u_trial: F64
    v_trial: F64
    sums: F64
    scales: F64
    answers: F64
    idle: F64
    assignment: Workspace


@nb.njit(cache=True, nogil=True)
def make_projection_workspace(shapes):
    """Scratch for the largest of these blocks."""
    short, long, edges = largest_sides(shapes)
    return ProjectionWorkspace(
        values=np.empty(edges),
        across=np.empty(edges),
        plan=np.empty(edges),
        weights=np.empty(edges),
        curvature=np.empty(edges),
        bits=np.empty(edges),
        system=np.empty(short * short),
        tight=np.empty(short, np.int64),
        excess=np.empty(short),
        diagonal=np.empty(short),
        step=np.empty(short),
        u_trial=np.empty(short),
        v_trial=np.empty(long),
        sums=np.empty(long),
        scales=np.empty(long),
        answers=np.empty(long),
        idle=np.empty(long),
        assignment=make_workspace(shapes),
    )


@nb.njit(cache=True, nogil=True)
def search(geometry, values, across, u, v, u_capacity, v_capacity, ceiling, tolerance, limit, work):
    """Best prices from those given, in place, and work.plan; rows <= columns.  Returns (code, gap, iterations)."""
    rows, columns = values.shape
    edges = rows * columns
    plan = work.plan[:edges].reshape(rows, columns)
    weights = work.weights[:edges].reshape(rows, columns)
    curvature = work.curvature[:edges].reshape(rows, columns)
    bits = work.bits[:edges]
    step = work.step[:rows]
    u_trial = work.u_trial[:rows]
    v_trial = work.v_trial[:columns]
    sums = work.sums[:columns]
    answers = work.answers[:columns]
    highest = 1.0
    for j in range(rows):
        for k in range(columns):
            highest = max(highest, values[j, k])
    if geometry == ENTROPIC:
        raise_to_top(across, u, v)
        fill_weights(values, u, v, plan, bits, weights)
        fit_columns(geometry, across, u, v, v_capacity, ceiling, weights, sums)
    iteration = 0
    settled = False
    while True:
        iteration += 1
        factor = fit_rows(geometry, values, u, v, u_capacity, ceiling, weights)
        factor = max(factor, fit_columns(geometry, across, u, v, v_capacity, ceiling, weights, sums))
        if factor > LOST:
            raise_to_top(across, u, v)
            fill_weights(values, u, v, plan, bits, weights)
            fit_columns(geometry, across, u, v, v_capacity, ceiling, weights, sums)
        gap, sensitivity = make_feasible(
            geometry, values, u, v, u_capacity, v_capacity, ceiling, weights, sums, work.scales, plan
        )
        hidden = ROUNDING * highest * sensitivity
        if gap <= tolerance or (settled and gap <= tolerance + hidden):
            return CONVERGED, gap, iteration
        settled = gap <= tolerance + hidden  # once more: the prices may gain what the gap cannot show
        if iteration >= limit:
            return ITERATION_LIMIT, gap, iteration
        derivatives(geometry, values, u, v, u_capacity, ceiling, weights, work.excess, curvature, answers)
        newton_step(u, v, highest, work, curvature, answers, step)
        objective = dual_objective(geometry, values, u, v, u_capacity, v_capacity, ceiling, weights)
        length = 1.0
        taken = False
        for _ in range(HALVINGS):
            for j in range(rows):
                u_trial[j] = max(0.0, u[j] + length * step[j])
            v_trial[:] = v
            if geometry == ENTROPIC:
                raise_to_top(across, u_trial, v_trial)
                fill_weights(values, u_trial, v_trial, plan, bits, weights)
            fit_columns(geometry, across, u_trial, v_trial, v_capacity, ceiling, weights, sums)
            reached = dual_objective(geometry, values, u_trial, v_trial, u_capacity, v_capacity, ceiling, weights)
            if reached <= objective + 1e-13 * abs(objective):
                taken = True
                break
            length *= 0.5
        if taken:
            u[:] = u_trial
            v[:] = v_trial
        elif geometry == ENTROPIC:
            fill_weights(values, u, v, plan, bits, weights)


@nb.njit(cache=True, nogil=True)
def orient(q, J, K, scale, values, across):
    """values = scale · q with the shorter side as rows, and across its transpose."""
    first, second = (across, values) if J > K else (values, across)
    for j in range(J):
        for k in range(K):
            x = q[j * K + k] * scale
            first[j, k] = x
            second[k, j] = x


@nb.njit(cache=True, nogil=True)
def search_from_nothing(
    geometry, q, J, K, values, across, u, v, u_capacity, v_capacity, ceiling, tolerance, limit, work
):
    """`search` without prices to start from: from those of the best matching, or by smaller scores first."""
    scale = 1.0
    u[:] = 0.0
    v[:] = 0.0
    if geometry == EUCLIDEAN and ceiling == np.inf:
        orient(q, J, K, 1.0, values, across)
        assign(values, work.assignment)
        u[:] = work.assignment.u[: len(u)]
        v[:] = work.assignment.v[: len(v)]
    else:
        while np.max(q) * scale > START:
            scale /= GROWTH
    iterations = 0
    while True:
        orient(q, J, K, scale, values, across)
        code, gap, more = search(
            geometry, values, across, u, v, u_capacity, v_capacity, ceiling,
            tolerance if scale == 1.0 else LOOSE, max(1, limit - iterations), work,
        )  # fmt: skip
        iterations += more
        if scale == 1.0:
            return code, gap, iterations
        growth = GROWTH if iterations < limit else 1.0 / scale
        scale *= growth
        u *= growth
        v *= growth


@nb.njit(cache=True, nogil=True)
def project_block(
    geometry, q, J, K, row_capacity, column_capacity, row_price, column_price, ceiling, tolerance, limit, work, z
):
    """The point of the polytope nearest to q (J * K,), into z (J * K,), from these prices (J,) and (K,), in place.

    geometry: EUCLIDEAN, or ENTROPIC with q = log u + the logarithm to add.  prices: all 0 where none are known.
    ceiling: of an edge, see `edge_ceiling`.  tolerance: of the duality gap.  Returns (code, gap, iterations).
    """
    if J == 0 or K == 0:
        row_price[:] = 0.0
        column_price[:] = 0.0
        return CONVERGED, 0.0, 0
    edges = J * K
    rows, columns = min(J, K), max(J, K)
    values = work.values[:edges].reshape(rows, columns)
    across = work.across[:edges].reshape(columns, rows)
    u, v = (column_price, row_price) if J > K else (row_price, column_price)
    u_capacity, v_capacity = (column_capacity, row_capacity) if J > K else (row_capacity, column_capacity)
    code = ITERATION_LIMIT
    iterations = 0
    if np.any(u > 0.0) or np.any(v > 0.0):
        orient(q, J, K, 1.0, values, across)
        code, gap, iterations = search(
            geometry, values, across, u, v, u_capacity, v_capacity, ceiling, tolerance,
            min(limit, PATIENCE), work,
        )  # fmt: skip
    if code != CONVERGED and iterations < limit:
        code, gap, more = search_from_nothing(
            geometry, q, J, K, values, across, u, v, u_capacity, v_capacity, ceiling, tolerance,
            limit - iterations, work,
        )  # fmt: skip
        iterations += more
    plan = work.plan[:edges].reshape(rows, columns)
    for j in range(J):
        for k in range(K):
            z[j * K + k] = plan[k, j] if J > K else plan[j, k]
    return code, gap, iterations


@nb.njit(cache=True, nogil=True)
def edge_ceiling(row_capacity, column_capacity):
    """The limit of an edge: +inf where all words of a side have a capacity of 1, which implies it."""
    if np.all(row_capacity <= 1.0) or np.all(column_capacity <= 1.0):
        return np.inf
    return 1.0


class Projections(NamedTuple):
    """Many blocks and the points of their polytopes nearest to `scores`, changed in place.

    scores, z: (E,).  shapes: (n, 2).  offsets, row_offsets, column_offsets: (n + 1,) where those of each block begin.
    row_capacities, u: (ΣJ,).  column_capacities, v: (ΣK,).  gaps, iterations, converged: (n,).
    """

    scores: F64
    shapes: I64
    offsets: I64
    row_offsets: I64
    column_offsets: I64
    row_capacities: F64
    column_capacities: F64
    z: F64
    u: F64
    v: F64
    gaps: F64
    iterations: I64
    converged: npt.NDArray[np.bool_]


@nb.njit(cache=True, nogil=True)
def project_blocks(geometry, first, last, blocks, tolerance, limit):
    """`project_block` of the blocks from `first` up to `last` of these, each into its part of the arrays."""
    work = make_projection_workspace(blocks.shapes[first:last])
    for i in range(first, last):
        rows = slice(blocks.row_offsets[i], blocks.row_offsets[i + 1])
        columns = slice(blocks.column_offsets[i], blocks.column_offsets[i + 1])
        edges = slice(blocks.offsets[i], blocks.offsets[i + 1])
        row_capacity, column_capacity = blocks.row_capacities[rows], blocks.column_capacities[columns]
        code, blocks.gaps[i], blocks.iterations[i] = project_block(
            geometry, blocks.scores[edges], blocks.shapes[i, 0], blocks.shapes[i, 1], row_capacity, column_capacity,
            blocks.u[rows], blocks.v[columns], edge_ceiling(row_capacity, column_capacity), tolerance, limit, work,
            blocks.z[edges],
        )  # fmt: skip
        blocks.converged[i] = code == CONVERGED
