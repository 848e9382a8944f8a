"""Compiled kernels of block-coordinate projected gradient: steps in the marginals of the blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aligner.matching._price_kernels import ENTROPIC, EUCLIDEAN
from aligner.svm._corner_kernels import DONE, NOT_FINITE
from aligner.svm._part_kernels import add_block, nearest_block, score_block
from corpora.compiled import SUMS, compiled
from corpora.ragged import F64

LEAST = 1e-12
"""ENTROPIC: what z is raised to before its logarithm is taken, so that what has vanished may come back."""

ACCURACY = 1e-12
"""Gap of a projection. An answer that is less exact is still feasible, and the line search makes the most of it."""

FALL = 0.1
"""The most that a block's curvature falls by from one step to the next, so that one flat step is not trusted."""

FLATTEST = 1e-5
"""The least curvature, relative to its bound: beyond, a projection would drown in its own prices."""


class Marginals(NamedTuple):
    """A point of the marginal dual, changed in place, and what the steps know of the blocks.

    z: (P,) the marginals of all blocks.  v: (d,) = Σ_i F_i (y_i − z_i) / (λn), of which w is clipped.
    bounds: (n,) of the largest eigenvalue of F_iᵀF_i, > 0.  curvatures: (n,) of the next steps, 1/length but for λn.
    """

    z: F64
    v: F64
    bounds: F64
    curvatures: F64


@compiled(fastmath=SUMS)
def curvature_bounds(blocks, bounds):
    """bounds[i] = ‖F_i‖² of Frobenius, the sum of the eigenvalues of F_iᵀF_i; 1 where they are all 0."""
    lists, of_source, of_target = blocks.lists, blocks.source_capacity - 1, blocks.target_capacity - 1
    for i in range(len(bounds)):
        total = 0.0
        for e in range(lists.offsets[i], lists.offsets[i + 1]):
            for c in range(blocks.features.shape[1]):
                total += blocks.features[e, c] * blocks.features[e, c]
        total += lists.shapes[i, 0] * of_source * (of_source + 1) / 2  # a t-th link has t - 1 features of 1
        total += lists.shapes[i, 1] * of_target * (of_target + 1) / 2
        bounds[i] = total if total > 0.0 else 1.0


@compiled
def next_curvature(met, present, bound):
    """The curvature of a block's next step, after one that met this one."""
    return max(met, FALL * present, FLATTEST * bound)


@compiled
def logarithms(z, points):
    """points = log z, of z of at least LEAST."""
    for e in range(len(z)):
        points[e] = np.log(max(z[e], LEAST))


@compiled
def projected_steps(order, geometry, spectral, blocks, parts, scale, prices, price_starts, point):
    """A step of each of these blocks: towards z_i + ∇_i/L_i, projected, as far as the dual gains  [Nesterov 2012].

    parts: (n + 1,) where those of a block begin in z.  scale: λn.  prices: of the last projections, those of block i
    from price_starts[i] on.  spectral: whether a block's next step takes the curvature that this one met.
    Returns (code, block at fault).
    """
    most, d = np.int64(0), blocks.features.shape[1]
    for i in range(len(parts) - 1):
        most = max(most, parts[i + 1] - parts[i])
    all_scores, all_goals, all_points, all_logs = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    change, w = np.empty(len(point.v) + 1), np.empty(len(point.v))
    for i in order:
        z = point.z[parts[i] : parts[i + 1]]
        score, goal = all_scores[: len(z)], all_goals[: len(z)]  # score: n times the gradient of the dual
        ahead, logs = all_points[: len(z)], all_logs[: len(z)]
        for c in range(len(w)):
            w[c] = point.v[c] if c < d else min(point.v[c], 0.0)
        score_block(i, blocks, w, score)
        if geometry == ENTROPIC:
            logarithms(z, logs)
        size = 0.0
        for e in range(len(z)):
            ahead[e] = (z[e] if geometry == EUCLIDEAN else logs[e]) + scale / point.curvatures[i] * score[e]
            size += abs(ahead[e])
        if not np.isfinite(size):  # the projection must never see a NaN
            return NOT_FINITE, i
        nearest_block(geometry, i, blocks, ahead, ACCURACY, prices[price_starts[i] : price_starts[i + 1]], goal)
        if geometry == ENTROPIC:
            logarithms(goal, ahead)
        slope = 0.0
        length = 0.0
        for e in range(len(z)):
            goal[e] -= z[e]
            slope += goal[e] * score[e]
            length += goal[e] * (goal[e] if geometry == EUCLIDEAN else ahead[e] - logs[e])
        if not slope > 0.0:
            continue
        change[:] = 0.0
        add_block(i, blocks, goal, change)
        curvature = 0.0
        for c in range(len(w)):
            curvature += change[c] * change[c]
        gamma = 1.0 if scale * slope >= curvature else scale * slope / curvature
        for e in range(len(z)):
            z[e] += gamma * goal[e]
        for c in range(len(w)):
            point.v[c] -= gamma / scale * change[c]
        if spectral and length > 0.0:  # 0 where the logarithms of so little z are cut
            point.curvatures[i] = next_curvature(curvature / length, point.curvatures[i], point.bounds[i])
    return DONE, -1
