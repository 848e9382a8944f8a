"""Compiled kernels of projections on the matching polytope: sweeps over the words' prices, and Newton steps.

The best prices of the longer side at given prices of the shorter side are found exactly, so that only the shorter side
is searched; a block is worked on with its shorter side as rows.
"""

import numpy as np

from aligner.matching import _price_kernels as prices
from aligner.matching._newton_kernels import newton_step
from aligner.matching._price_kernels import ENTROPIC, EUCLIDEAN, FERMI_DIRAC
from corpora.compiled import compiled

START = 16.0
"""The largest score at which the search starts from prices of 0."""

PATIENCE = 20
"""Iterations from given prices, before the search starts anew from 0."""

GROWTH = 4.0
"""Larger scores are reached by this factor at a time: doubled scores have nearly doubled prices."""

LOOSE = 0.1
"""Gap at which the search goes on to a larger scale of the scores."""

ROUNDING = 1.2e-16
"""The rounding error of a score minus its prices, relative to the highest score."""

LOST = 1e100
"""After a larger factor, weights that had vanished are computed anew."""

VANISHED = -70.0
"""ENTROPIC: the exponential of this and of less is lost to rounding beside a capacity."""

HALVINGS = 12
"""Halvings of a Newton step that raises the dual objective, before it is given up for this iteration."""


@compiled
def copy(values, other):
    """Set other to values; here, as NumPy's way takes long to compile."""
    for j in range(len(values)):
        other[j] = values[j]


@compiled
def search(geometry, values, across, u, v, u_capacity, v_capacity, ceiling, tolerance, limit, plan):
    """Improve the given prices in place to the best, and compute the plan; rows <= columns.

    Returns (whether the tolerance is reached, gap, iterations).
    """
    rows, columns = values.shape
    weights, bits = np.empty((rows, columns)), np.empty(rows * columns)
    u_trial, v_trial = np.empty(rows), np.empty(columns)
    highest = 1.0
    for row in values:
        for value in row:
            highest = max(highest, value)
    capped = geometry == ENTROPIC and ceiling < np.inf  # weights of more than the ceiling are no error
    if geometry == ENTROPIC:
        if not capped:
            prices.raise_to_top(across, u, v)
        prices.fill_weights(values, u, v, plan, bits, weights)
        prices.fit_columns(geometry, across, u, v, v_capacity, ceiling, weights)
    iteration = 0
    settled = False
    while True:
        iteration += 1
        factor = prices.fit_rows(geometry, values, u, v, u_capacity, ceiling, weights)
        if capped:
            prices.fill_weights(values, u, v, plan, bits, weights)
        factor = max(factor, prices.fit_columns(geometry, across, u, v, v_capacity, ceiling, weights))
        if capped:
            prices.fill_weights(values, u, v, plan, bits, weights)
        elif factor > LOST:
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
                if not capped:
                    prices.raise_to_top(across, u_trial, v_trial)
                prices.fill_weights(values, u_trial, v_trial, plan, bits, weights)
            prices.fit_columns(geometry, across, u_trial, v_trial, v_capacity, ceiling, weights)
            if capped:
                prices.fill_weights(values, u_trial, v_trial, plan, bits, weights)
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
    """Set values = scale · q in a rectangle, -inf where no edge is listed, and across to its transpose."""
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
    """`search` from prices of 0: with smaller scores first."""
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
            geometry,
            values,
            across,
            u,
            v,
            u_capacity,
            v_capacity,
            ceiling,
            tolerance if scale == 1.0 else LOOSE,
            max(1, limit - iterations),
            plan,
        )
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
def number_words(words, kept, n_kept, numbers, found):
    """Number the words of the kept edges: numbers[word], found[number].  Returns how many there are."""
    numbers[:] = -1
    n = 0
    for e in range(n_kept):
        word = words[kept[e]]
        if numbers[word] < 0:
            numbers[word] = n
            found[n] = word
            n += 1
    return n


@compiled
def project_block(
    geometry, q, source, target, row_capacity, column_capacity, row_price, column_price, ceiling, tolerance, limit, z
):
    """Find the point z (E,) of the polytope nearest to q (E,), starting from prices (J,) and (K,), which it updates.

    The search leaves out edges that must be 0, as prices only lower q, and edges that are the only one of both words.
    source, target: (E,) the rows and columns of the listed edges.  prices: 0 unless better ones are known.
    geometry: EUCLIDEAN, FERMI_DIRAC, or ENTROPIC with q = log u + the logarithm to add.
    ceiling: the limit of an edge; +inf if all words of a side have a capacity of 1, which implies it.
    tolerance: of the duality gap.  Returns (whether it is reached, gap, iterations).
    """
    kept, n = np.empty(len(q), np.int64), 0
    of_row, of_column = np.zeros(len(row_price), np.int64), np.zeros(len(column_price), np.int64)
    lowest = 0.0 if geometry == EUCLIDEAN else (VANISHED if geometry == ENTROPIC else -np.inf)
    for e in range(len(q)):
        z[e] = 0.0
        if q[e] > lowest:
            of_row[source[e]] += 1
            of_column[target[e]] += 1
    for e in range(len(q)):
        alone = geometry != FERMI_DIRAC and of_row[source[e]] == 1 and of_column[target[e]] == 1
        if q[e] > lowest and not alone:
            kept[n] = e
            n += 1
    row_numbers, rows = np.empty(len(row_price), np.int64), np.empty(len(row_price), np.int64)
    column_numbers, columns = np.empty(len(column_price), np.int64), np.empty(len(column_price), np.int64)
    J = number_words(source, kept, n, row_numbers, rows)
    K = number_words(target, kept, n, column_numbers, columns)
    if J > K:
        source, target, J, K = target, source, K, J
        row_numbers, column_numbers, rows, columns = column_numbers, row_numbers, columns, rows
        row_price, column_price, row_capacity, column_capacity = (
            column_price,
            row_price,
            column_capacity,
            row_capacity,
        )
    u, v, u_capacity, v_capacity = np.empty(J), np.empty(K), np.empty(J), np.empty(K)
    known = take_words(rows, row_price, row_capacity, u, u_capacity)
    known = take_words(columns, column_price, column_capacity, v, v_capacity) or known
    for e in range(len(q)):
        j, k = source[e], target[e]
        if q[e] > lowest and row_numbers[j] < 0 and column_numbers[k] < 0:  # the only edge of its words
            capacity = min(row_capacity[j], column_capacity[k])
            z[e] = min(q[e] if geometry == EUCLIDEAN else np.exp(min(q[e], 1.0)), capacity, ceiling)
            if capacity <= ceiling:
                price = max(0.0, q[e] - (capacity if geometry == EUCLIDEAN else np.log(capacity)))
                if row_capacity[j] == capacity:
                    row_price[j] = price
                else:
                    column_price[k] = price
    own, own_rows, own_columns = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    for e in range(n):
        own[e] = q[kept[e]]
        own_rows[e] = row_numbers[source[kept[e]]]
        own_columns[e] = column_numbers[target[kept[e]]]
    values, across, plan = np.empty((J, K)), np.empty((K, J)), np.empty((J, K))
    converged = n == 0
    gap = 0.0
    iterations = 0
    if known and n > 0:
        orient(own, own_rows, own_columns, 1.0, values, across)
        converged, gap, iterations = search(
            geometry, values, across, u, v, u_capacity, v_capacity, ceiling, tolerance, min(limit, PATIENCE), plan
        )
    if not converged and iterations < limit:
        converged, gap, more = search_from_nothing(
            geometry,
            own,
            own_rows,
            own_columns,
            values,
            across,
            u,
            v,
            u_capacity,
            v_capacity,
            ceiling,
            tolerance,
            limit - iterations,
            plan,
        )
        iterations += more
    for e in range(n):
        z[kept[e]] = plan[own_rows[e], own_columns[e]]
    for j in range(J):
        row_price[rows[j]] = u[j]
    for k in range(K):
        column_price[columns[k]] = v[k]
    if geometry == ENTROPIC:  # so little that no sum changes
        for e in range(len(q)):
            if not q[e] > lowest:
                z[e] = np.exp(q[e] - row_price[source[e]] - column_price[target[e]])
    return converged, gap, iterations


@compiled
def take_words(words, price, capacity, own_price, own_capacity):
    """Take the prices and capacities of these words and set the prices to 0.  Returns whether any was above 0."""
    known = False
    for j in range(len(own_price)):
        own_price[j], own_capacity[j] = price[words[j]], capacity[words[j]]
        known = known or own_price[j] > 0.0
    price[:] = 0.0
    return known
