"""Compiled kernels of dual extragradient: an iteration's three projections of each block, from one reading of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aligner.matching._kernels import largest
from aligner.matching._price_kernels import EUCLIDEAN, exponentials
from aligner.matching._projection_kernels import project_block
from aligner.svm._corner_kernels import DONE, NOT_FINITE, SURE, score_edges
from corpora.compiled import SUMS, compiled
from corpora.ragged import F64, I64

SPREAD = 0.01
"""Of the entropic start: what each word of the target has to share with all edges, so that none is 0."""

ACCURACY = 0.0
"""Duality gap of a projection, beyond what rounding hides of it: both forms must find the same point."""

ITERATIONS = 200
"""Of a projection; an answer that is less exact is feasible all the same."""


class Stored(NamedTuple):
    """What the stored form keeps of every edge (E,) and word, or arrays of length 0.

    center: û_z, its logarithm for ENTROPIC.  total: Σ η u_z since.  z: the last u_z.  pull: Σ η (F_iᵀ u_w + c_i) since.
    row_prices: (ΣJ,), column_prices: (ΣK,) of v_z.  starts: (n + 1, 2) where those of a block begin.
    next_pull, next_row_prices, next_column_prices: of the step that is tried.
    """

    starts: I64
    center: F64
    total: F64
    z: F64
    pull: F64
    next_pull: F64
    row_prices: F64
    next_row_prices: F64
    column_prices: F64
    next_column_prices: F64


class Step(NamedTuple):
    """The weights of an iteration.

    sum_w, total: Σ η u_w and Σ η before it, which stand for s_z.  ahead_w: v_w.  point_w: u_w.  size: η.
    z_step: of a score.
    """

    geometry: int
    sum_w: F64
    total: float
    ahead_w: F64
    point_w: F64
    size: float
    z_step: float


@compiled
def start_of(geometry, label, J, K):
    """û_z of an edge: the target for EUCLIDEAN; for ENTROPIC the logarithm of the target and a little of every edge."""
    linked = 1.0 if label == SURE else 0.0
    if geometry == EUCLIDEAN:
        return linked
    return np.log((1.0 - SPREAD) * linked + SPREAD / max(J, K))


@compiled
def add_edge(features, e, cost, z, total):
    """total += z · (features of edge e, cost)."""
    for c in range(features.shape[1]):
        total[c] += z * features[e, c]
    total[len(total) - 1] += z * cost


@compiled
def make_start(geometry, edges, center, of_target, of_center):
    """center = û_z, if it is not empty; adds up (F_i y_i, c_i·y_i) and (F_i û_i, c_i·û_i), (d + 1,) each.

    Returns the links of the targets.
    """
    links = 0
    lists = edges.lists
    for i in range(len(lists.shapes)):
        for e in range(lists.offsets[i], lists.offsets[i + 1]):
            label = edges.labels[e]
            start = start_of(geometry, label, lists.shapes[i, 0], lists.shapes[i, 1])
            if len(center) > 0:
                center[e] = start
            start = start if geometry == EUCLIDEAN else np.exp(start)
            if label == SURE:
                links += 1
                add_edge(edges.features, e, edges.costs[e], 1.0, of_target)
            if start != 0.0:
                add_edge(edges.features, e, edges.costs[e], start, of_center)
    return links


@compiled
def take_prices(x, source, target, row_prices, column_prices):
    """x -= the prices of each edge's words."""
    for e in range(len(x)):
        x[e] -= row_prices[source[e]] + column_prices[target[e]]


@compiled(fastmath=SUMS)
def distance(geometry, z, x, other, other_x):
    """d(z, other): ½ ‖z - other‖², or KL(z ‖ other), where x and other_x are logarithms of z and other."""
    total = 0.0
    for e in range(len(z)):
        if geometry == EUCLIDEAN:
            total += 0.5 * (z[e] - other[e]) * (z[e] - other[e])
        else:
            total += z[e] * (x[e] - other_x[e]) - z[e] + other[e]
    return total


@compiled
def project(geometry, x, source, target, capacity, row_prices, column_prices, z):
    """z = the point nearest to x, and x less its prices: the logarithm of z for ENTROPIC, but for rounding."""
    project_block(
        geometry, x, source, target, capacity[: len(row_prices)], capacity[: len(column_prices)], row_prices,
        column_prices, np.inf, ACCURACY, ITERATIONS, z,
    )  # fmt: skip
    take_prices(x, source, target, row_prices, column_prices)


@compiled
def three_steps(first, last, edges, stored, step, of_point, of_ahead, moved):
    """u_z = T(v_z, -F(v)) and the next v_z = T(û_z, s), of blocks; v_z itself is computed anew  [TLJ06 Fig. 2].

    of_point, of_ahead: (d + 1,), to which (F z, c·z) of u and of the next v are added.
    moved: (2,), to which d(u, v) and d(next v, u) are added.  Returns (code, block at fault).
    """
    geometry, z_step = step.geometry, step.z_step
    lists = edges.lists
    longest, most = largest(lists, first, last)
    capacity = np.ones(longest)
    all_pulls, all_points, all_goals = np.empty(most), np.empty(most), np.empty(most)
    all_aheads, all_now, all_then, bits = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    keeps = len(stored.center) > 0
    for i in range(first, last):
        J, K = lists.shapes[i, 0], lists.shapes[i, 1]
        begin, end = lists.offsets[i], lists.offsets[i + 1]
        n = end - begin
        source, target = lists.source[begin:end], lists.target[begin:end]
        pull, now, then = all_pulls[:n], all_now[:n], all_then[:n]
        ahead, point, goal = all_aheads[:n], all_points[:n], all_goals[:n]
        row_prices, column_prices = np.zeros(J), np.zeros(K)
        score_edges(edges.features[begin:end], step.sum_w, pull)
        score_edges(edges.features[begin:end], step.ahead_w, now)
        score_edges(edges.features[begin:end], step.point_w, then)
        size = 0.0
        for e in range(n):
            cost = edges.costs[begin + e]
            pull[e] = stored.pull[begin + e] if keeps else pull[e] + step.total * cost
            now[e] = step.size * (now[e] + cost)
            then[e] = pull[e] + step.size * (then[e] + cost)
            size += abs(pull[e]) + abs(now[e]) + abs(then[e])
        if not np.isfinite(size):  # the projections must never see a NaN
            return NOT_FINITE, i

        # v, as max(x, 0) or exp(x).
        for e in range(n):
            center = stored.center[begin + e] if keeps else start_of(geometry, edges.labels[begin + e], J, K)
            pull[e] = center + z_step * pull[e]
            goal[e] = center + z_step * then[e]
        if keeps:
            row_prices[:] = stored.row_prices[stored.starts[i, 0] : stored.starts[i + 1, 0]]
            column_prices[:] = stored.column_prices[stored.starts[i, 1] : stored.starts[i + 1, 1]]
            take_prices(pull, source, target, row_prices, column_prices)
        else:
            project(geometry, pull, source, target, capacity, row_prices, column_prices, ahead)
        if geometry == EUCLIDEAN:
            for e in range(n):
                ahead[e] = max(0.0, pull[e])
                now[e] = ahead[e] + z_step * now[e]
        else:
            exponentials(pull, bits[:n], ahead)
            for e in range(n):
                now[e] = pull[e] + z_step * now[e]

        # u, from v, whose prices are 0.
        next_row_prices, next_column_prices = row_prices.copy(), column_prices.copy()
        row_prices[:] = 0.0
        column_prices[:] = 0.0
        project(geometry, now, source, target, capacity, row_prices, column_prices, point)
        moved[0] += distance(geometry, point, now, ahead, pull)

        # The next v, from û, whose prices will be much like those of v.
        project(geometry, goal, source, target, capacity, next_row_prices, next_column_prices, ahead)
        moved[1] += distance(geometry, ahead, goal, point, now)
        for e in range(n):
            cost = edges.costs[begin + e]
            if point[e] != 0.0:
                add_edge(edges.features, begin + e, cost, point[e], of_point)
            if ahead[e] != 0.0:
                add_edge(edges.features, begin + e, cost, ahead[e], of_ahead)
        if keeps:
            stored.z[begin:end] = point
            stored.next_pull[begin:end] = then
            stored.next_row_prices[stored.starts[i, 0] : stored.starts[i + 1, 0]] = next_row_prices
            stored.next_column_prices[stored.starts[i, 1] : stored.starts[i + 1, 1]] = next_column_prices
    return DONE, -1
