"""Compiled kernels of projections on the matching polytope: sweeps over the words' prices, and Newton steps.

The best prices of the longer side at given prices of the shorter side are found exactly, so that only the shorter side
is searched; a block is worked on with its shorter side as rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.matching._kernels import Workspace, assign, make_workspace
from aligner.matching._newton_kernels import bend, newton_step
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

F64 = npt.NDArray[np.float64]

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


class Room(NamedTuple):
    """Scratch of the projections: for blocks of up to E edges, a shorter side of R words and a longer one of C.

    values, across: (E,) the block with its shorter side as rows, and its transpose.  plan: (E,) the answer.
    weights, curvature, bits: (E,).  system: (R²,).  tight, excess, diagonal, step, trial: (R,).
    other_trial, sums, scales, answers, idle: (C,).  work: of the assignment kernel.
    """

    values: F64
    across: F64
    plan: F64
    weights: F64
    curvature: F64
    bits: F64
    system: F64
    tight: npt.NDArray[np.int64]
    excess: F64
    diagonal: F64
    step: F64
    trial: F64
    other_trial: F64
    sums: F64
    scales: F64
    answers: F64
    idle: F64
    work: Workspace


@nb.njit(cache=True, nogil=True)
def make_room(shapes):
    """Scratch for the largest of these blocks."""
    short = 1
    long = 1
    edges = 1
    for i in range(len(shapes)):
        short = max(short, min(shapes[i, 0], shapes[i, 1]))
        long = max(long, shapes[i, 0], shapes[i, 1])
        edges = max(edges, shapes[i, 0] * shapes[i, 1])
    return Room(
        np.empty(edges),
        np.empty(edges),
        np.empty(edges),
        np.empty(edges),
        np.empty(edges),
        np.empty(edges),
        np.empty(short * short),
        np.empty(short, np.int64),
        np.empty(short),
        np.empty(short),
        np.empty(short),
        np.empty(short),
        np.empty(long),
        np.empty(long),
        np.empty(long),
        np.empty(long),
        np.empty(long),
        make_workspace(shapes),
    )


@nb.njit(cache=True, nogil=True)
def search(geometry, values, across, own, other, own_capacity, other_capacity, ceiling, tolerance, limit, room):
    """Best prices from those given, in place, and room.plan; rows <= columns.  Returns (code, gap, iterations)."""
    rows, columns = values.shape
    edges = rows * columns
    plan = room.plan[:edges].reshape(rows, columns)
    weights = room.weights[:edges].reshape(rows, columns)
    curvature = room.curvature[:edges].reshape(rows, columns)
    bits = room.bits[:edges]
    step = room.step[:rows]
    trial = room.trial[:rows]
    other_trial = room.other_trial[:columns]
    sums = room.sums[:columns]
    answers = room.answers[:columns]
    highest = 1.0
    for j in range(rows):
        for k in range(columns):
            highest = max(highest, values[j, k])
    if geometry == ENTROPIC:
        raise_to_top(across, own, other)
        fill_weights(values, own, other, plan, bits, weights)
        fit_columns(geometry, across, own, other, other_capacity, ceiling, weights, sums)
    iteration = 0
    settled = False
    while True:
        iteration += 1
        factor = fit_rows(geometry, values, own, other, own_capacity, ceiling, weights)
        factor = max(factor, fit_columns(geometry, across, own, other, other_capacity, ceiling, weights, sums))
        if factor > LOST:
            raise_to_top(across, own, other)
            fill_weights(values, own, other, plan, bits, weights)
            fit_columns(geometry, across, own, other, other_capacity, ceiling, weights, sums)
        gap, sensitivity = make_feasible(
            geometry, values, own, other, own_capacity, other_capacity, ceiling, weights, sums, room.scales, plan
        )
        hidden = ROUNDING * highest * sensitivity
        if gap <= tolerance or (settled and gap <= tolerance + hidden):
            return CONVERGED, gap, iteration
        settled = gap <= tolerance + hidden  # once more: the prices may gain what the gap cannot show
        if iteration >= limit:
            return ITERATION_LIMIT, gap, iteration
        bend(geometry, values, own, other, own_capacity, ceiling, weights, room.excess, curvature, answers)
        newton_step(own, other, highest, room, curvature, answers, step)
        objective = dual_objective(geometry, values, own, other, own_capacity, other_capacity, ceiling, weights)
        length = 1.0
        taken = False
        for _ in range(HALVINGS):
            for j in range(rows):
                trial[j] = max(0.0, own[j] + length * step[j])
            other_trial[:] = other
            if geometry == ENTROPIC:
                raise_to_top(across, trial, other_trial)
                fill_weights(values, trial, other_trial, plan, bits, weights)
            fit_columns(geometry, across, trial, other_trial, other_capacity, ceiling, weights, sums)
            reached = dual_objective(
                geometry, values, trial, other_trial, own_capacity, other_capacity, ceiling, weights
            )
            if reached <= objective + 1e-13 * abs(objective):
                taken = True
                break
            length *= 0.5
        if taken:
            own[:] = trial
            other[:] = other_trial
        elif geometry == ENTROPIC:
            fill_weights(values, own, other, plan, bits, weights)


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
    geometry, q, J, K, values, across, own, other, own_capacity, other_capacity, ceiling, tolerance, limit, room
):
    """`search` without prices to start from: from those of the best matching, or by smaller scores first."""
    scale = 1.0
    own[:] = 0.0
    other[:] = 0.0
    if geometry == EUCLIDEAN and ceiling == np.inf:
        orient(q, J, K, 1.0, values, across)
        assign(values, room.work)
        own[:] = room.work.profit[: len(own)]
        other[:] = room.work.price[: len(other)]
    else:
        while np.max(q) * scale > START:
            scale /= GROWTH
    iterations = 0
    while True:
        orient(q, J, K, scale, values, across)
        code, gap, more = search(
            geometry, values, across, own, other, own_capacity, other_capacity, ceiling,
            tolerance if scale == 1.0 else LOOSE, max(1, limit - iterations), room,
        )  # fmt: skip
        iterations += more
        if scale == 1.0:
            return code, gap, iterations
        growth = GROWTH if iterations < limit else 1.0 / scale
        scale *= growth
        own *= growth
        other *= growth


@nb.njit(cache=True, nogil=True)
def project_block(
    geometry, q, J, K, row_capacity, column_capacity, row_price, column_price, ceiling, tolerance, limit, room, z
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
    values = room.values[:edges].reshape(rows, columns)
    across = room.across[:edges].reshape(columns, rows)
    own, other = (column_price, row_price) if J > K else (row_price, column_price)
    own_capacity, other_capacity = (column_capacity, row_capacity) if J > K else (row_capacity, column_capacity)
    code = ITERATION_LIMIT
    iterations = 0
    if np.any(own > 0.0) or np.any(other > 0.0):
        orient(q, J, K, 1.0, values, across)
        code, gap, iterations = search(
            geometry, values, across, own, other, own_capacity, other_capacity, ceiling, tolerance,
            min(limit, PATIENCE), room,
        )  # fmt: skip
    if code != CONVERGED and iterations < limit:
        code, gap, more = search_from_nothing(
            geometry, q, J, K, values, across, own, other, own_capacity, other_capacity, ceiling, tolerance,
            limit - iterations, room,
        )  # fmt: skip
        iterations += more
    plan = room.plan[:edges].reshape(rows, columns)
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


@nb.njit(cache=True, nogil=True)
def project_blocks(
    geometry, first, last, scores, shapes, offsets, row_offsets, column_offsets, row_capacities, column_capacities,
    tolerance, limit, z, row_prices, column_prices, gaps, iterations, converged,
):  # fmt: skip
    """`project_block` of the blocks from `first` up to `last`, each into its part of the arrays."""
    room = make_room(shapes[first:last])
    for i in range(first, last):
        rows = slice(row_offsets[i], row_offsets[i + 1])
        columns = slice(column_offsets[i], column_offsets[i + 1])
        edges = slice(offsets[i], offsets[i + 1])
        code, gaps[i], iterations[i] = project_block(
            geometry, scores[edges], shapes[i, 0], shapes[i, 1], row_capacities[rows], column_capacities[columns],
            row_prices[rows], column_prices[columns], edge_ceiling(row_capacities[rows], column_capacities[columns]),
            tolerance, limit, room, z[edges],
        )  # fmt: skip
        converged[i] = code == CONVERGED
