"""Compiled kernel of dual extragradient: both projections of an iteration, block by block."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner._kernels import DONE, NOT_FINITE
from aligner.matching._price_kernels import EUCLIDEAN
from aligner.matching._projection_kernels import make_room, project_block

F64 = npt.NDArray[np.float64]

ITERATIONS = 100
"""Of a projection; an answer that is less exact is feasible all the same."""

LEAST = 1e-12
"""What a stored center is raised to, so that entropic steps can lead away from 0."""


class Edges(NamedTuple):
    """The edges of a problem.  features: (E, d) float32.  shapes: (n, 2).  offsets: (n + 1,).  costs: (E,)."""

    features: npt.NDArray[np.float32]
    shapes: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    labels: npt.NDArray[np.uint8]
    costs: F64


class Stored(NamedTuple):
    """What the stored form keeps, or arrays of length 0.  center, total: (E,) û_z, and the sum of the u_z since it.

    row_prices: (ΣJ,), column_prices: (ΣK,) of the last v_z, to begin with.  row_starts, column_starts: (n + 1,).
    """

    center: F64
    total: F64
    row_prices: F64
    column_prices: F64
    row_starts: npt.NDArray[np.int64]
    column_starts: npt.NDArray[np.int64]


@nb.njit(cache=True, nogil=True)
def start_of(J, K):
    """û of each edge where none is stored: all edges alike, and every word of the longer side fully linked."""
    return 1.0 / max(J, K, 1)


# Sums of products may be taken in any order.
@nb.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def two_scores(features, first_w, second_w, first, second):
    for e in range(len(first)):
        a = 0.0
        b = 0.0
        for c in range(features.shape[1]):
            a += features[e, c] * first_w[c]
            b += features[e, c] * second_w[c]
        first[e] = a
        second[e] = b


@nb.njit(cache=True, nogil=True)
def add_edges(features, labels, costs, z, total):
    """total += (Σ_e z_e φ_e, Σ_e z_e cost_e), of d + 1 numbers."""
    d = features.shape[1]
    for e in range(len(z)):
        if z[e] != 0.0:
            for c in range(d):
                total[c] += z[e] * features[e, c]
            total[d] += z[e] * costs[labels[e]]


@nb.njit(cache=True, nogil=True)
def two_steps(geometry, first, last, edges, sum_w, count, v_w, step, accuracy, stored, of_v, of_u):
    """v_z = T(û_z, s_z) and u_z = T(v_z, -F(v)_z) of the blocks from `first` up to `last`  [TLJ06 Fig. 2].

    sum_w: Σ_t u_w, of `count` iterations, which stands for s_z.  step: η_z/n, of a score.
    accuracy: duality gap of a projection.
    of_v, of_u: (d + 1,), to which the summed features and costs of v_z and u_z are added.  Returns (code, block).
    """
    longest = 1
    most = 1
    for i in range(first, last):
        longest = max(longest, edges.shapes[i, 0], edges.shapes[i, 1])
        most = max(most, edges.shapes[i, 0] * edges.shapes[i, 1])
    room = make_room(edges.shapes[first:last])
    capacity = np.ones(longest)
    new_row_prices = np.empty(longest)
    new_column_prices = np.empty(longest)
    goals, ahead, points = np.empty(most), np.empty(most), np.empty(most)
    keeps = len(stored.center) > 0
    for i in range(first, last):
        J = edges.shapes[i, 0]
        K = edges.shapes[i, 1]
        begin = edges.offsets[i]
        end = edges.offsets[i + 1]
        features = edges.features[begin:end]
        labels = edges.labels[begin:end]
        goal, then, z = goals[: J * K], ahead[: J * K], points[: J * K]
        row_prices, column_prices = new_row_prices[:J], new_column_prices[:K]
        row_prices[:] = 0.0
        column_prices[:] = 0.0
        if keeps:
            row_prices[:] = stored.row_prices[stored.row_starts[i] : stored.row_starts[i + 1]]
            column_prices[:] = stored.column_prices[stored.column_starts[i] : stored.column_starts[i + 1]]
        two_scores(features, sum_w, v_w, goal, then)
        size = 0.0
        for e in range(J * K):
            cost = edges.costs[labels[e]]
            center = stored.center[begin + e] if keeps else start_of(J, K)
            if geometry != EUCLIDEAN:
                center = np.log(max(center, LEAST))
            goal[e] = center + step * (goal[e] + count * cost)
            then[e] = step * (then[e] + cost)
            size += abs(goal[e]) + abs(then[e])
        if not np.isfinite(size):
            return NOT_FINITE, i
        project_block(
            geometry, goal, J, K, capacity[:J], capacity[:K], row_prices, column_prices, np.inf, accuracy, ITERATIONS,
            room, z,
        )  # fmt: skip
        add_edges(features, labels, edges.costs, z, of_v)
        if keeps:
            stored.row_prices[stored.row_starts[i] : stored.row_starts[i + 1]] = row_prices
            stored.column_prices[stored.column_starts[i] : stored.column_starts[i + 1]] = column_prices
        if geometry == EUCLIDEAN:
            for e in range(J * K):
                goal[e] = z[e] + then[e]
        else:  # log v, also where v has vanished; at v the best prices are 0
            for j in range(J):
                for k in range(K):
                    goal[j * K + k] += then[j * K + k] - row_prices[j] - column_prices[k]
        row_prices[:] = 0.0
        column_prices[:] = 0.0
        project_block(
            geometry, goal, J, K, capacity[:J], capacity[:K], row_prices, column_prices, np.inf, accuracy, ITERATIONS,
            room, z,
        )  # fmt: skip
        add_edges(features, labels, edges.costs, z, of_u)
        if keeps:
            for e in range(J * K):
                stored.total[begin + e] += z[e]
    return DONE, -1
