"""Compiled kernels of dual extragradient: an iteration's three projections of each block, from one reading of it."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.matching._price_kernels import EUCLIDEAN, exponentials
from aligner.matching._projection_kernels import make_projection_workspace, project_block
from aligner.svm._corner_kernels import DONE, NOT_FINITE, SURE

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

SPREAD = 0.01
"""Of the entropic start: what each word of the target has to share with all edges, so that none is 0."""

ACCURACY = 0.0
"""Duality gap of a projection, beyond what rounding hides of it: both forms must find the same point."""

ITERATIONS = 200
"""Of a projection; an answer that is less exact is feasible all the same."""


LEAST = 1e-300
"""What a center is raised to before its logarithm is taken."""


class Edges(NamedTuple):
    """The edges of a problem.  features: (E, d) float32.  shapes: (n, 2).  offsets: (n + 1,).  labels: (E,).
    costs: (3,), of each label.
    """

    features: npt.NDArray[np.float32]
    shapes: I64
    offsets: I64
    labels: npt.NDArray[np.uint8]
    costs: F64


class Stored(NamedTuple):
    """What the stored form keeps of every edge (E,) and word, or arrays of length 0.

    center: û_z, its logarithm for ENTROPIC.  pull: Σ η (F_iᵀ u_w + c_i) since.  total: Σ η u_z since.  z: the last u_z.
    row_prices: (ΣJ,), column_prices: (ΣK,) of v_z.  starts: (n + 1, 2) where those of a block begin.
    next_pull, next_row_prices, next_column_prices: of the step that is tried.
    """

    center: F64
    pull: F64
    total: F64
    z: F64
    row_prices: F64
    column_prices: F64
    starts: I64
    next_pull: F64
    next_row_prices: F64
    next_column_prices: F64


@nb.njit(cache=True, nogil=True)
def start_of(geometry, label, J, K):
    """û_z of an edge: the target for EUCLIDEAN; for ENTROPIC the logarithm of the target and a little of every edge."""
    linked = 1.0 if label == SURE else 0.0
    if geometry == EUCLIDEAN:
        return linked
    return np.log((1.0 - SPREAD) * linked + SPREAD / max(J, K))


@nb.njit(cache=True, nogil=True)
def add_edge(features, e, cost, z, total):
    """total += z · (features of edge e, cost)."""
    for c in range(features.shape[1]):
        total[c] += z * features[e, c]
    total[len(total) - 1] += z * cost


@nb.njit(cache=True, nogil=True)
def start_sums(geometry, first, last, edges, of_target, of_center):
    """Add up (F_i y_i, c_i·y_i) and (F_i û_i, c_i·û_i), (d + 1,) each, of blocks.  Returns the links of the targets."""
    links = 0
    for i in range(first, last):
        for e in range(edges.offsets[i], edges.offsets[i + 1]):
            label = edges.labels[e]
            start = start_of(geometry, label, edges.shapes[i, 0], edges.shapes[i, 1])
            start = start if geometry == EUCLIDEAN else np.exp(start)
            if label == SURE:
                links += 1
                add_edge(edges.features, e, edges.costs[label], 1.0, of_target)
            if start != 0.0:
                add_edge(edges.features, e, edges.costs[label], start, of_center)
    return links


@nb.njit(cache=True, nogil=True)
def fill_start(geometry, edges, center):
    """center = û_z of every edge, see `start_of`."""
    for i in range(len(edges.shapes)):
        for e in range(edges.offsets[i], edges.offsets[i + 1]):
            center[e] = start_of(geometry, edges.labels[e], edges.shapes[i, 0], edges.shapes[i, 1])


@nb.njit(cache=True, nogil=True)
def add_scaled(factor, z, total):
    """total += factor · z, without a third array."""
    for e in range(len(z)):
        total[e] += factor * z[e]


@nb.njit(cache=True, nogil=True)
def move_center(geometry, z, center):
    """center = z, or its logarithm for ENTROPIC; returns the squared distance that z was from it."""
    gone = 0.0
    for e in range(len(z)):
        before = center[e] if geometry == EUCLIDEAN else np.exp(center[e])
        gone += (z[e] - before) * (z[e] - before)
        center[e] = z[e] if geometry == EUCLIDEAN else np.log(max(z[e], LEAST))
    return gone


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def three_scores(features, first_w, second_w, third_w, first, second, third):
    """The scores of edges by three weight vectors."""
    for e in range(len(first)):
        a = 0.0
        b = 0.0
        s = 0.0
        for c in range(features.shape[1]):
            x = features[e, c]
            a += x * first_w[c]
            b += x * second_w[c]
            s += x * third_w[c]
        first[e] = a
        second[e] = b
        third[e] = s


@nb.njit(cache=True, nogil=True)
def take_prices(x, J, K, row_prices, column_prices):
    """x -= the prices of each edge's words."""
    for j in range(J):
        for k in range(K):
            x[j * K + k] -= row_prices[j] + column_prices[k]


@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def distance(geometry, z, x, other, other_x):
    """d(z, other): ½ ‖z - other‖², or KL(z ‖ other), where x and other_x are logarithms of z and other."""
    total = 0.0
    for e in range(len(z)):
        if geometry == EUCLIDEAN:
            total += 0.5 * (z[e] - other[e]) * (z[e] - other[e])
        else:
            total += z[e] * (x[e] - other_x[e]) - z[e] + other[e]
    return total


@nb.njit(cache=True, nogil=True)
def project(geometry, x, J, K, capacity, row_prices, column_prices, work, z):
    """z = the point nearest to x, and x less its prices: the logarithm of z for ENTROPIC, but for rounding."""
    project_block(
        geometry, x, J, K, capacity[:J], capacity[:K], row_prices, column_prices, np.inf, ACCURACY, ITERATIONS, work, z
    )
    take_prices(x, J, K, row_prices, column_prices)


@nb.njit(cache=True, nogil=True)
def three_steps(
    geometry, first, last, edges, stored, sum_w, total, ahead_w, point_w, step, z_step, of_point, of_ahead, moved
):
    """u_z = T(v_z, -F(v)) and the next v_z = T(û_z, s), of blocks; v_z itself is computed anew  [TLJ06 Fig. 2].

    sum_w, total: Σ η u_w and Σ η, which stand for s_z, before this step.  ahead_w: v_w.  point_w: u_w.  step: η.
    z_step: of a score.  of_point, of_ahead: (d + 1,), to which (F z, c·z) of u and of the next v are added.
    moved: (2,), to which d(u, v) and d(next v, u) are added.  Returns (code, block at fault).
    """
    longest = 1
    most = 1
    for i in range(first, last):
        longest = max(longest, edges.shapes[i, 0], edges.shapes[i, 1])
        most = max(most, edges.shapes[i, 0] * edges.shapes[i, 1])
    work = make_projection_workspace(edges.shapes[first:last])
    capacity = np.ones(longest)
    all_row_prices = np.empty(longest)
    all_column_prices = np.empty(longest)
    all_pulls, all_points, all_goals = np.empty(most), np.empty(most), np.empty(most)
    all_aheads, all_now, all_then = np.empty(most), np.empty(most), np.empty(most)
    keeps = len(stored.center) > 0
    for i in range(first, last):
        J = edges.shapes[i, 0]
        K = edges.shapes[i, 1]
        begin = edges.offsets[i]
        end = edges.offsets[i + 1]
        pull, now, then = all_pulls[: J * K], all_now[: J * K], all_then[: J * K]
        ahead, point, goal = all_aheads[: J * K], all_points[: J * K], all_goals[: J * K]
        row_prices, column_prices = all_row_prices[:J], all_column_prices[:K]
        three_scores(edges.features[begin:end], sum_w, ahead_w, point_w, pull, now, then)
        size = 0.0
        for e in range(J * K):
            cost = edges.costs[edges.labels[begin + e]]
            pull[e] = stored.pull[begin + e] if keeps else pull[e] + total * cost
            now[e] = step * (now[e] + cost)
            then[e] = pull[e] + step * (then[e] + cost)
            size += abs(pull[e]) + abs(now[e]) + abs(then[e])
        if not np.isfinite(size):  # the projections must never see a NaN
            return NOT_FINITE, i

        # v, as max(x, 0) or exp(x).
        for e in range(J * K):
            center = stored.center[begin + e] if keeps else start_of(geometry, edges.labels[begin + e], J, K)
            pull[e] = center + z_step * pull[e]
            goal[e] = center + z_step * then[e]
        if keeps:
            row_prices[:] = stored.row_prices[stored.starts[i, 0] : stored.starts[i + 1, 0]]
            column_prices[:] = stored.column_prices[stored.starts[i, 1] : stored.starts[i + 1, 1]]
            take_prices(pull, J, K, row_prices, column_prices)
        else:
            row_prices[:] = 0.0
            column_prices[:] = 0.0
            project(geometry, pull, J, K, capacity, row_prices, column_prices, work, ahead)
        if geometry == EUCLIDEAN:
            for e in range(J * K):
                ahead[e] = max(0.0, pull[e])
                now[e] = ahead[e] + z_step * now[e]
        else:
            exponentials(pull, work.bits[: J * K], ahead)
            for e in range(J * K):
                now[e] = pull[e] + z_step * now[e]

        # u, from v, whose prices are 0.
        next_row_prices, next_column_prices = row_prices.copy(), column_prices.copy()
        row_prices[:] = 0.0
        column_prices[:] = 0.0
        project(geometry, now, J, K, capacity, row_prices, column_prices, work, point)
        moved[0] += distance(geometry, point, now, ahead, pull)

        # The next v, from û, whose prices will be much like those of v.
        project(geometry, goal, J, K, capacity, next_row_prices, next_column_prices, work, ahead)
        moved[1] += distance(geometry, ahead, goal, point, now)
        for e in range(J * K):
            cost = edges.costs[edges.labels[begin + e]]
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
