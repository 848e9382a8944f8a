"""The saddle function of a structured SVM over matchings, as far as it is sums over edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aligner.matching._price_kernels import EUCLIDEAN
from aligner.solvers import _saddle_kernels as kernels
from aligner.solvers.records import F64
from aligner.svm.corners import check_code
from corpora.threads import map_threads

_BLOCKS_AT_ONCE = 128
"""Blocks that a thread takes at once; what they add up to is added in order, so that it is the same on all machines."""

_POWER_ITERATIONS = 100_000
_POWER_TOLERANCE = 1e-13
_EDGES_AT_ONCE = 1 << 10


class Look(NamedTuple):
    """What a step has found.  of_point, of_ahead: (d + 1,) Σ_i (F_i z_i, c_i·z_i) of u_z and of the next v_z.

    moved: 1/n Σ_i [d(u_i, v_i) + d(next v_i, u_i)].
    """

    of_point: F64
    of_ahead: F64
    moved: float


@dataclass(frozen=True, eq=False)
class Start:
    """û_z and the target y, as (d + 1,) Σ_i (F_i z_i, c_i·z_i).

    span: 1/n Σ_i max d(z_i, û_i), at most.  loss: 1/n Σ_i max L_i, at most.
    """

    of_target: F64
    of_center: F64
    span: float
    loss: float


def feature_norm(edges: kernels.Edges, rng: np.random.Generator) -> float:
    """‖F‖₂, the largest singular value of all features (E, d), by power iteration from a random start.

    The moments FFᵀ (d, d) are summed in one reading of the features, and kept only for this.
    """
    columns = int(edges.features.shape[1])
    moments = np.zeros((columns, columns))
    for first in range(0, len(edges.features), _EDGES_AT_ONCE):
        part = np.asarray(edges.features[first : first + _EDGES_AT_ONCE], np.float64)
        moments += part.T @ part
    x: F64 = rng.standard_normal(columns)
    value = 0.0
    for _ in range(_POWER_ITERATIONS):
        image: F64 = moments @ (x / max(float(np.linalg.norm(x)), np.finfo(float).tiny))
        before, value = value, float(np.linalg.norm(image))
        if abs(value - before) <= _POWER_TOLERANCE * value:
            break
        x = image
    return float(value**0.5)


def measure_start(edges: kernels.Edges, geometry: int) -> Start:
    """Where the steps begin and how far they may lead, see `kernels.start_of`."""
    n, size = len(edges.shapes), edges.features.shape[1] + 1
    of_target, of_center = np.zeros(size), np.zeros(size)
    links = kernels.start_sums(geometry, 0, n, edges, of_target, of_center)
    shorter, longer = edges.shapes.min(axis=1), edges.shapes.max(axis=1)
    if geometry == EUCLIDEAN:  # at a matching, which has as many links as the shorter side at most
        span = 0.5 * (links + int(shorter.sum()))
    else:
        span = float(shorter @ np.log(np.maximum(1, longer) / kernels.SPREAD))
    loss = float(edges.costs.max()) * int(shorter.sum()) - float(of_target[-1])
    return Start(of_target, of_center, span / n, loss / n)


def look_ahead(
    edges: kernels.Edges,
    stored: kernels.Stored,
    geometry: int,
    sum_w: F64,
    total: float,
    ahead_w: F64,
    point_w: F64,
    step: float,
    z_step: float,
) -> Look:
    """A step of all z_i on all cores, see `kernels.three_steps`.  Raises ScoreError where weights are not finite."""
    n, size = len(edges.shapes), edges.features.shape[1] + 1

    def work(first: int) -> tuple[F64, F64, F64, int, int]:
        of_point, of_ahead, moved = np.zeros(size), np.zeros(size), np.zeros(2)
        code, block = kernels.three_steps(
            geometry, first, min(first + _BLOCKS_AT_ONCE, n), edges, stored, sum_w, total, ahead_w, point_w, step,
            z_step, of_point, of_ahead, moved,
        )  # fmt: skip
        return of_point, of_ahead, moved, code, block

    of_point, of_ahead, moved = np.zeros(size), np.zeros(size), np.zeros(2)
    for part, part_ahead, part_moved, code, block in map_threads(work, range(0, n, _BLOCKS_AT_ONCE)):
        check_code(code, block)
        of_point += part
        of_ahead += part_ahead
        moved += part_moved
    return Look(of_point, of_ahead, float(moved.sum()) / n)
