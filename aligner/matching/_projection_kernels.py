"""Compiled kernels of projections on the matching polytope: sweeps over the words' prices, and Newton steps.

The best prices of the longer side at given prices of the shorter side are found exactly, so that only the shorter side
is searched; a block is worked on with its shorter side as rows.
"""

from __future__ import annotations

import numpy as np

from aligner.matching import _price_kernels as prices
from aligner.matching._newton_kernels import newton_step
from aligner.matching._price_kernels import ENTROPIC
from corpora.compiled import compiled

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


@compiled
def maximum(values):
    """The largest entry, here as `copy`: what NumPy has takes long to compile."""
    top = -np.inf
    for row in values:
        for x in row:
            top = max(top, x)
    return top


@compiled
def copy(values, other):
    for j in range(len(values)):
        other[j] = values[j]


@compiled
def search(geometry, values, across, u, v, u_capacity, v_capacity, ceiling, tolerance, limit, plan):
    """Best prices from those given, in place, and the plan; rows <= columns.

    Returns (whether the tolerance is reached, gap, iterations).
    """
    rows, columns = values.shape
    weights, bits = np.empty((rows, columns)), np.empty(rows * columns)
    u_trial, v_trial = np.empty(rows), np.empty(columns)
    highest = max(1.0, maximum(values))
    if geometry == ENTROPIC:
        prices.raise_to_top(across, u, v)
        prices.fill_weights(values, u, v, plan, bits, weights)
        prices.fit_columns(geometry, across, u, v, v_capacity, ceiling, weights)
    iteration = 0
    settled = False
    while True:
        iteration += 1
        factor = prices.fit_rows(geometry, values, u, v, u_capacity, ceiling, weights)
        factor = max(factor, prices.fit_columns(geometry, across, u, v, v_capacity, ceiling, weights))
        if factor > LOST:
            prices.raise_to_top(across, u, v)
            prices.fill_weights(values, u, v, plan, bits, weights)
            prices.fit_columns(geometry, across, u, v, v_capacity, ceiling, weights)
        gap, sensitivity = prices.make_feasible(geometry, values, u, v, u_capacity, v_capacity, ceiling, weights, plan)
        hidden = ROUNDING * highest * sensitivity
        if gap <= tolerance or (settled and gap <= tolerance + hidden):
            return True, gap, iteration
        settled = gap <= tolerance + hidden  # once more: the prices may gain what the gap cannot show
        if iteration >= limit:
            return False, gap, iteration
        step = newton_step(geometry, values, u, v, u_capacity, ceiling, weights, highest)
        objective = prices.dual_objective(geometry, values, u, v, u_capacity, v_capacity, ceiling, weights)
        length = 1.0
        taken = False
        for _ in range(HALVINGS):
            for j in range(rows):
                u_trial[j] = max(0.0, u[j] + length * step[j])
            copy(v, v_trial)
            if geometry == ENTROPIC:
                prices.raise_to_top(across, u_trial, v_trial)
                prices.fill_weights(values, u_trial, v_trial, plan, bits, weights)
            prices.fit_columns(geometry, across, u_trial, v_trial, v_capacity, ceiling, weights)
            reached = prices.dual_objective(
                geometry, values, u_trial, v_trial, u_capacity, v_capacity, ceiling, weights
            )
            if reached <= objective + 1e-13 * abs(objective):
                taken = True
                break
            length *= 0.5
        if taken:
            copy(u_trial, u)
            copy(v_trial, v)
        elif geometry == ENTROPIC:
            prices.fill_weights(values, u, v, plan, bits, weights)


@compiled
def orient(q, rows, columns, scale, values, across):
    """values = scale · q in a rectangle, -inf where no edge is listed, and across its transpose."""
    for j in range(len(values)):
        for k in range(len(across)):
            values[j, k] = -np.inf
            across[k, j] = -np.inf
    for e in range(len(q)):
        x = q[e] * scale
        values[rows[e], columns[e]] = x
        across[columns[e], rows[e]] = x


@compiled
def search_from_nothing(
    geometry, q, rows, columns, values, across, u, v, u_capacity, v_capacity, ceiling, tolerance, limit, plan
):
    """`search` without prices to start from: by smaller scores first."""
    scale = 1.0
    highest = -np.inf
    for x in q:
        highest = max(highest, x)
    scale_prices(u, v, 0.0)
    while highest * scale > START:
        scale /= GROWTH
    iterations = 0
    while True:
        orient(q, rows, columns, scale, values, across)
        converged, gap, more = search(
            geometry, values, across, u, v, u_capacity, v_capacity, ceiling,
            tolerance if scale == 1.0 else LOOSE, max(1, limit - iterations), plan,
        )  # fmt: skip
        iterations += more
        if scale == 1.0:
            return converged, gap, iterations
        growth = GROWTH if iterations < limit else 1.0 / scale
        scale *= growth
        scale_prices(u, v, growth)


@compiled
def scale_prices(u, v, factor):
    for j in range(len(u)):
        u[j] *= factor
    for k in range(len(v)):
        v[k] *= factor


@compiled
def project_block(
    geometry, q, source, target, row_capacity, column_capacity, row_price, column_price, ceiling, tolerance, limit, z
):
    """The point of the polytope nearest to q (E,), into z (E,), from these prices (J,) and (K,), in place.

    source, target: (E,) the rows and columns of the listed edges.  prices: all 0 where none are known.
    geometry: EUCLIDEAN, or ENTROPIC with q = log u + the logarithm to add.
    ceiling: the limit of an edge; +inf where all words of a side have a capacity of 1, which implies it.
    tolerance: of the duality gap.  Returns (whether it is reached, gap, iterations).
    """
    J, K = len(row_price), len(column_price)
    if len(q) == 0:
        scale_prices(row_price, column_price, 0.0)
        return True, 0.0, 0
    short, long = min(J, K), max(J, K)
    values, across, plan = np.empty((short, long)), np.empty((long, short)), np.empty((short, long))
    rows, columns = (target, source) if J > K else (source, target)
    u, v = (column_price, row_price) if J > K else (row_price, column_price)
    u_capacity, v_capacity = (column_capacity, row_capacity) if J > K else (row_capacity, column_capacity)
    converged = False
    iterations = 0
    known = False
    for price in row_price:
        known = known or price > 0.0
    for price in column_price:
        known = known or price > 0.0
    if known:
        orient(q, rows, columns, 1.0, values, across)
        converged, gap, iterations = search(
            geometry, values, across, u, v, u_capacity, v_capacity, ceiling, tolerance, min(limit, PATIENCE), plan
        )
    if not converged and iterations < limit:
        converged, gap, more = search_from_nothing(
            geometry, q, rows, columns, values, across, u, v, u_capacity, v_capacity, ceiling, tolerance,
            limit - iterations, plan,
        )  # fmt: skip
        iterations += more
    for e in range(len(z)):
        z[e] = plan[rows[e], columns[e]]
    return converged, gap, iterations
