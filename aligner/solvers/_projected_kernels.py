"""Compiled kernels of block-coordinate projected gradient: steps in the marginals of the blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aligner.matching._kernels import largest
from aligner.matching._price_kernels import EUCLIDEAN
from aligner.matching._projection_kernels import project_block
from aligner.svm._corner_kernels import DONE, NOT_FINITE, SURE, add_costs, score_edges
from corpora.compiled import SUMS, compiled
from corpora.ragged import F64, I64

ACCURACY = 1e-12
"""Gap of a projection. An answer that is less exact is still feasible, and the line search makes the most of it."""

ITERATIONS = 100
"""Of a projection; one or two are usual."""

FALL = 0.1
"""The most that a block's curvature falls by from one step to the next, so that one flat step is not trusted."""

FLATTEST = 1e-5
"""The least curvature, relative to its bound: beyond, a projection would drown in its own prices."""


class Marginals(NamedTuple):
    """A point of the marginal dual, changed in place, and what the steps know of the blocks.

    z: (E,) in the polytope of each block.  w: (d,) = Σ_i F_i (y_i − z_i) / (λn).
    bounds: (n,) of the largest eigenvalue of F_iᵀF_i, > 0.  curvatures: (n,) of the next steps, 1/length but for λn.
    row_prices: (ΣJ,), column_prices: (ΣK,) of the last projections.  starts: (n + 1, 2) where those of a block begin.
    """

    z: F64
    w: F64
    bounds: F64
    curvatures: F64
    row_prices: F64
    column_prices: F64
    starts: I64


@compiled(fastmath=SUMS)
def curvature_bounds(features, offsets, bounds):
    """bounds[i] = ‖F_i‖² of Frobenius, the sum of the eigenvalues of F_iᵀF_i; 1 where they are all 0."""
    for i in range(len(bounds)):
        total = 0.0
        for e in range(offsets[i], offsets[i + 1]):
            for c in range(features.shape[1]):
                total += features[e, c] * features[e, c]
        bounds[i] = total if total > 0.0 else 1.0


@compiled
def settle(edges, scale, point):
    """Make w anew from z, free of rounding errors."""
    point.w[:] = 0.0
    for e in range(len(edges.labels)):
        moved = (1.0 if edges.labels[e] == SURE else 0.0) - point.z[e]
        if moved != 0.0:
            for c in range(len(point.w)):
                point.w[c] += moved * edges.features[e, c]
    for c in range(len(point.w)):
        point.w[c] /= scale


@compiled
def projected_steps(order, spectral, edges, scale, point):
    """A step of each of these blocks: towards z_i + ∇_i/L_i, projected, as far as the dual gains  [Nesterov 2012].

    scale: λn.  spectral: whether a block's next step takes the curvature that this one met.
    Returns (code, block at fault).
    """
    lists = edges.lists
    longest, most = largest(lists, np.int64(0), len(lists.shapes))
    scores, goals, points = np.empty(most), np.empty(most), np.empty(most)
    change = np.empty(len(point.w))
    capacity = np.ones(longest)
    for i in order:
        J, K = lists.shapes[i, 0], lists.shapes[i, 1]
        first, last = lists.offsets[i], lists.offsets[i + 1]
        features, z = edges.features[first:last], point.z[first:last]
        score = scores[: last - first]  # of an edge, n times the gradient of the dual
        goal = goals[: last - first]
        ahead = points[: last - first]
        score_edges(features, point.w, score)
        add_costs(edges.costs[first:last], score)
        size = 0.0
        for e in range(len(z)):
            ahead[e] = z[e] + scale / point.curvatures[i] * score[e]
            size += abs(ahead[e])
        if not np.isfinite(size):  # the projection must never see a NaN
            return NOT_FINITE, i
        project_block(
            EUCLIDEAN, ahead, lists.source[first:last], lists.target[first:last], capacity[:J], capacity[:K],
            point.row_prices[point.starts[i, 0] : point.starts[i + 1, 0]],
            point.column_prices[point.starts[i, 1] : point.starts[i + 1, 1]],
            np.inf, ACCURACY, ITERATIONS, goal,
        )  # fmt: skip
        slope = 0.0
        length = 0.0
        for e in range(len(z)):
            goal[e] -= z[e]
            slope += goal[e] * score[e]
            length += goal[e] * goal[e]
        if not slope > 0.0:
            continue
        change[:] = 0.0
        for e in range(len(goal)):
            if goal[e] != 0.0:
                for c in range(len(change)):
                    change[c] += goal[e] * features[e, c]
        curvature = 0.0
        for c in range(len(change)):
            curvature += change[c] * change[c]
        gamma = 1.0 if scale * slope >= curvature else scale * slope / curvature
        for e in range(len(z)):
            z[e] += gamma * goal[e]
        for c in range(len(change)):
            point.w[c] -= gamma / scale * change[c]
        if spectral:
            lowest = max(FALL * point.curvatures[i], FLATTEST * point.bounds[i])
            point.curvatures[i] = max(lowest, curvature / length)
    return DONE, -1
