"""Compiled kernels of block-coordinate projected gradient: steps in the marginals of the blocks."""

from typing import Any, NamedTuple

import numpy as np

from aligner.matching._price_kernels import ENTROPIC, EUCLIDEAN
from aligner.templates import DONE, NOT_FINITE, template
from corpora.compiled import compiled
from corpora.ragged import F64

LEAST = 1e-12
"""ENTROPIC: least z of which the logarithm is taken, so that parts that have vanished may come back."""

ACCURACY = 1e-12
"""Duality gap of a projection. A less exact one is still feasible, and line search makes the best of it."""

FALL = 0.1
"""The most that a block's curvature falls by from one step to the next, so that one flat step is not trusted."""

FLATTEST = 1e-5
"""The least curvature, relative to its bound: with less, rounding errors of prices would swamp a projection."""


class MarginalPoint(NamedTuple):
    """A point of the marginal dual, changed in place, and the curvature along each block's next step.

    z: (P,) the marginals of all blocks.  v: (d,) = Σ_i F_i (y_i − z_i) / (λn); w = clip(v).
    bounds: (n,) on the largest eigenvalue of F_iᵀF_i, > 0.  curvatures: (n,) of the next steps, λn/length.
    """

    z: F64
    v: F64
    bounds: F64
    curvatures: F64


score: Any = None
add: Any = None
nearest: Any = None
squared_norm: Any = None


@template
def curvature_bounds(arrays, bounds):
    """bounds[i] = `squared_norm` of each block; 1 if it is 0."""
    for i in range(len(bounds)):
        found = squared_norm(i, arrays)
        bounds[i] = found if found > 0.0 else 1.0


@compiled
def next_curvature(met, present, bound):
    """Return the curvature for a block's next step; the last step assumed `present` and met `met`."""
    return max(met, FALL * present, FLATTEST * bound)


@compiled
def logarithms(z, points):
    """points = log max(z, LEAST)."""
    for e in range(len(z)):
        points[e] = np.log(max(z[e], LEAST))


@template
def projected_steps(order, geometry, spectral, arrays, parts, scale, n_nonpositive, duals, dual_starts, point):
    """Take a step of each block towards the projection of z_i + ∇_i/L_i, as far as the dual gains  [Nesterov 2012].

    parts: (n + 1,) where each block begins in z.  scale: λn.  duals: of the last projections, those of block i from
    dual_starts[i] on.  spectral: whether a block's next step has the curvature that this one met.
    Returns (code, block at fault).
    """
    most, d = np.int64(0), len(point.v) - n_nonpositive
    for i in range(len(parts) - 1):
        most = max(most, parts[i + 1] - parts[i])
    all_scores, all_goals, all_points, all_logs = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    change, w = np.empty(len(point.v) + 1), np.empty(len(point.v))
    for i in order:
        z = point.z[parts[i] : parts[i + 1]]
        gradient, goal = all_scores[: len(z)], all_goals[: len(z)]  # gradient: n times that of the dual
        ahead, logs = all_points[: len(z)], all_logs[: len(z)]
        for c in range(len(w)):
            w[c] = point.v[c] if c < d else min(point.v[c], 0.0)
        score(i, arrays, w, gradient)
        if geometry == ENTROPIC:
            logarithms(z, logs)
        size = 0.0
        for e in range(len(z)):
            ahead[e] = (z[e] if geometry == EUCLIDEAN else logs[e]) + scale / point.curvatures[i] * gradient[e]
            size += abs(ahead[e])
        if not np.isfinite(size):  # the projection must never see a NaN
            return NOT_FINITE, i
        nearest(geometry, i, arrays, ahead, ACCURACY, duals[dual_starts[i] : dual_starts[i + 1]], goal)
        if geometry == ENTROPIC:
            logarithms(goal, ahead)
        slope = 0.0
        length = 0.0
        for e in range(len(z)):
            goal[e] -= z[e]
            slope += goal[e] * gradient[e]
            length += goal[e] * (goal[e] if geometry == EUCLIDEAN else ahead[e] - logs[e])
        if not slope > 0.0:
            if spectral and geometry == ENTROPIC:  # to raise parts to LEAST costs more than so short a step gains
                point.curvatures[i] = next_curvature(0.0, point.curvatures[i], point.bounds[i])
            continue
        change[:] = 0.0
        add(i, arrays, goal, change)
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
