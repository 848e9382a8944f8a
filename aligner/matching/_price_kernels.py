"""Compiled kernels of a projection's prices: the best prices of one side at given prices of the other, and the gap.

A word's price is the multiplier of its capacity, >= 0: u of rows, v of columns. With x = value - u - v, the EUCLIDEAN
z of an edge is clip(x, 0, ceiling), the FERMI_DIRAC one 1 / (1 + exp(-x)), and the ENTROPIC one min(exp(x), ceiling),
which is kept in `weights` before the ceiling.
"""

import numpy as np

from corpora.compiled import SUMS, compiled

EUCLIDEAN = 0
ENTROPIC = 1
FERMI_DIRAC = 2


@compiled(fastmath=SUMS, inline="always")
def price_sums(geometry, value, other, price, ceiling):
    """Return (sum of the z of a word's edges, how fast it falls with the word's price); not for ENTROPIC."""
    total = 0.0
    between = 0.0
    if geometry == FERMI_DIRAC:
        for k in range(len(value)):
            z = 1.0 / (1.0 + np.exp(other[k] + price - value[k]))
            total += z
            between += z * (1.0 - z)
        return total, between
    for k in range(len(value)):
        x = value[k] - other[k] - price
        positive = x > 0.0
        below = x < ceiling
        total += (x if below else ceiling) if positive else 0.0
        between += 1.0 if positive and below else 0.0
    return total, between


@compiled
def best_price(geometry, value, other, price, capacity, ceiling):
    """Return the price p >= 0 of a word at which its z sum up to <= capacity, and = if p > 0; not for ENTROPIC.

    Newton's method from `price` on a falling function, between bounds that it narrows.
    """
    low = 0.0
    high = np.inf
    exact = 4e-16 * capacity if geometry == FERMI_DIRAC else 0.0
    for _ in range(200):
        total, between = price_sums(geometry, value, other, price, ceiling)
        if abs(total - capacity) <= exact or (total < capacity and price == 0.0):
            break
        if total > capacity:
            low = price
        else:
            high = price
        if between > 0.0:
            following = max(0.0, price + (total - capacity) / between)
            if following != price and not (low < following < high or following == 0.0):
                following = 0.5 * (low + high)
        else:
            top = -np.inf
            for k in range(len(value)):
                top = max(top, value[k] - other[k])
            top += np.log(len(value)) if geometry == FERMI_DIRAC else 0.0
            high = min(high, max(0.0, top))
            following = max(low, top - capacity) if total == 0.0 else 0.5 * (low + high)
        moved = abs(following - price)
        price = following
        if moved <= 4e-16 * price:
            break
    return price


@compiled(fastmath={"contract"})  # not reassociated: that would undo the rounding
def exponentials(x, bits, answers):
    """answers = exp(x), to 1e-15, for -708 < x <= 708; 0 below, exp(708) above.  The compiler's exp is not vectorised.

    Cody and Waite's reduction to |r| <= log(2)/2 by adding and subtracting 1.5 · 2^52, which rounds, and Taylor's
    polynomial; the rounded number is shifted into the exponent.  bits: scratch.
    """
    whole = bits.view(np.int64)
    for e in range(len(x)):
        y = x[e]
        y = y if y > -708.0 else -708.0
        y = y if y < 708.0 else 708.0
        shifted = y * 1.4426950408889634 + 6755399441055744.0
        bits[e] = shifted
        rounded = shifted - 6755399441055744.0
        r = (y - rounded * 6.93147180369123816490e-01) - rounded * 1.90821492927058770002e-10
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        answers[e] = p * r + 1.0
    for e in range(len(x)):
        whole[e] = (whole[e] << 52) + (1023 << 52)
    for e in range(len(x)):
        answers[e] = answers[e] * bits[e] if x[e] > -708.0 else 0.0


@compiled
def scale_price(prices, j, factor):
    """Lower a price by log(factor), but not below 0; returns the factor for which that was possible."""
    price = prices[j] - np.log(factor)
    if price > 0.0:
        prices[j] = price
        return factor
    factor = np.exp(min(prices[j], 700.0))
    prices[j] = 0.0
    return factor


@compiled
def best_factor(weights, total, capacity, ceiling):
    """Return the f at which sum min(f · weights, ceiling) = capacity, or +inf.  total: sum of the weights.

    Newton's method on a concave, rising, piecewise linear function, from below.
    """
    if not total > 0.0:
        return np.inf
    factor = capacity / total
    if ceiling == np.inf:
        return factor
    for _ in range(len(weights) + 1):
        below = 0.0
        left = capacity
        for k in range(len(weights)):
            if factor * weights[k] < ceiling:
                below += weights[k]
            else:
                left -= ceiling
        if below == 0.0:
            return np.inf if left >= 0.0 else factor
        if left / below <= factor * (1.0 + 1e-15):
            break
        factor = left / below
    return factor


@compiled(fastmath=SUMS)
def fit_rows(geometry, values, u, v, capacity, ceiling, weights):
    """Set the rows' prices to the best at these prices of the columns; weights of ENTROPIC are scaled with them.

    Returns the largest factor of the weights: after a very large one, weights that had vanished are not right.
    """
    rows, columns = weights.shape
    largest = 1.0
    for j in range(rows):
        if geometry != ENTROPIC:
            u[j] = best_price(geometry, values[j], v, u[j], capacity[j], ceiling)
            continue
        total = 0.0
        for k in range(columns):
            total += weights[j, k]
        factor = scale_price(u, j, best_factor(weights[j], total, capacity[j], ceiling))
        largest = max(largest, factor)
        for k in range(columns):
            weights[j, k] *= factor
    return largest


@compiled(fastmath=SUMS)
def fit_columns(geometry, across, u, v, capacity, ceiling, weights):
    """Set the columns' prices to the best at these prices of the rows; see `fit_rows`."""
    rows, columns = weights.shape
    if geometry != ENTROPIC:
        for k in range(columns):
            v[k] = best_price(geometry, across[k], u, v[k], capacity[k], ceiling)
        return 1.0
    sums = np.zeros(columns)
    largest = 1.0
    for j in range(rows):
        for k in range(columns):
            sums[k] += weights[j, k]
    for k in range(columns):
        sums[k] = scale_price(v, k, best_factor(weights[:, k], sums[k], capacity[k], ceiling))
        largest = max(largest, sums[k])
    for j in range(rows):
        for k in range(columns):
            weights[j, k] *= sums[k]
    return largest


@compiled(fastmath=SUMS)
def fill_weights(values, u, v, exponents, bits, weights):
    """Set weights = exp(values - u - v), for ENTROPIC."""
    rows, columns = values.shape
    for j in range(rows):
        for k in range(columns):
            x = values[j, k] - u[j] - v[k]
            exponents[j, k] = x if x < 600.0 else 600.0  # so that sums are finite
    exponentials(exponents.ravel(), bits, weights.ravel())


@compiled(fastmath=SUMS)
def raise_to_top(across, u, v):
    """Set the columns' prices to the lowest at which no value - u - v is above 0."""
    for k in range(len(v)):
        top = 0.0
        for j in range(len(u)):
            x = across[k, j] - u[j]
            top = x if x > top else top
        v[k] = top


@compiled(fastmath=SUMS)
def dual_objective(geometry, values, u, v, u_capacity, v_capacity, ceiling, weights):
    """Return sum h(values - u - v) + u·capacities + v·capacities, to be minimised, where h' gives z."""
    rows, columns = values.shape
    objective = 0.0
    for k in range(columns):
        objective += v[k] * v_capacity[k]
    for j in range(rows):
        objective += u[j] * u_capacity[j]
        for k in range(columns):
            x = values[j, k] - u[j] - v[k]
            if geometry == EUCLIDEAN:
                x = x if x > 0.0 else 0.0
                objective += 0.5 * x * x if x < ceiling else x - 0.5
            elif geometry == FERMI_DIRAC:
                objective += np.log1p(np.exp(-abs(x))) + max(x, 0.0)
            else:
                objective += weights[j, k] if x < 0.0 or ceiling == np.inf else 1.0 + x
    return objective


@compiled(fastmath=SUMS)
def make_feasible(geometry, values, u, v, u_capacity, v_capacity, ceiling, weights, plan):
    """Set plan = the z of these prices, scaled into the polytope.  Returns its duality gap, a sum of terms >= 0, and
    the gap if every x were wrong by 1, when the sums of words whose prices are not 0 would be wrong by so much.

    An edge's term z·log z - z - z·x + exp(x) of ENTROPIC, where z = f·exp(x), is bounded by exp(x)·(1 - f)². That of
    FERMI_DIRAC, the divergence of z = f·p from p = 1 / (1 + exp(-x)), is by (p - z) (x - log(z / (1 - z))).
    """
    rows, columns = values.shape
    sums, scales = np.zeros(columns), np.empty(columns)
    for j in range(rows):
        for k in range(columns):
            x = values[j, k] - u[j] - v[k]
            if geometry == EUCLIDEAN:
                x = x if x > 0.0 else 0.0
            elif geometry == FERMI_DIRAC:
                x = 1.0 / (1.0 + np.exp(-x))
            else:
                x = weights[j, k]
            plan[j, k] = x if x < ceiling else ceiling
            sums[k] += plan[j, k]
    for k in range(columns):
        scales[k] = v_capacity[k] / sums[k] if sums[k] > v_capacity[k] else 1.0
        sums[k] = 0.0
    gap = 0.0
    sensitivity = 0.0
    for j in range(rows):
        total = 0.0
        for k in range(columns):
            total += plan[j, k] * scales[k]
        row_scale = u_capacity[j] / total if total > u_capacity[j] else 1.0
        total = 0.0
        for k in range(columns):
            base = plan[j, k]
            missing = 1.0 - row_scale * scales[k]
            if ceiling < np.inf and base == ceiling:
                x = values[j, k] - u[j] - v[k]
                gap += missing * max(0.0, x - ceiling if geometry == EUCLIDEAN else x)
            slope = base
            if geometry == FERMI_DIRAC:
                slope = base * (1.0 - base)
                moved = base * missing
                if moved != 0.0:
                    x = values[j, k] - u[j] - v[k]
                    gap += max(0.0, moved * (x - np.log((base - moved) / (1.0 / (1.0 + np.exp(x)) + moved))))
            elif geometry == EUCLIDEAN:
                slope = 1.0 if base > 0.0 else 0.0
                gap += 0.5 * base * base * missing * missing
            else:
                gap += base * missing * missing
            sensitivity += slope * (u[j] + v[k])
            z = base * row_scale * scales[k]
            plan[j, k] = z
            total += z
            sums[k] += z
        gap += u[j] * max(0.0, u_capacity[j] - total)
    for k in range(columns):
        gap += v[k] * max(0.0, v_capacity[k] - sums[k])
    return gap, sensitivity
