"""The saddle function of a structured SVM over matchings, as far as it is sums over edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aligner.matching._price_kernels import EUCLIDEAN
from aligner.solvers import _saddle_kernels as kernels
from aligner.svm._corner_kernels import Blocks
from aligner.svm.corners import check_code
from corpora.ragged import F64
from corpora.threads import map_threads

_BLOCKS_AT_ONCE = 128
"""Blocks that a thread takes at once; what they add up to is added in order, so that it is the same on all machines."""

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


def feature_norm(edges: Blocks) -> float:
    """‖F‖₂, the largest singular value of all features (E, d), by their moments FFᵀ (d, d)."""
    moments = np.zeros((edges.features.shape[1], edges.features.shape[1]))
    for first in range(0, len(edges.features), _EDGES_AT_ONCE):
        part = np.asarray(edges.features[first : first + _EDGES_AT_ONCE], np.float64)
        moments += part.T @ part
    return float(np.sqrt(max(0.0, np.linalg.eigvalsh(moments)[-1])))


def measure_start(edges: Blocks, stored: kernels.Stored, geometry: int) -> Start:
    """Where the steps begin and how far they may lead, see `kernels.start_of`."""
    of_target, of_center = np.zeros((2, edges.features.shape[1] + 1))
    links = kernels.make_start(geometry, edges, stored.center, of_target, of_center)
    shorter, longer = edges.lists.shapes.min(axis=1), edges.lists.shapes.max(axis=1)
    if geometry == EUCLIDEAN:  # at a matching, which has as many links as the shorter side at most
        span = 0.5 * (links + int(shorter.sum()))
    else:
        span = float(shorter @ np.log(np.maximum(1, longer) / kernels.SPREAD))
    loss = float(edges.costs.max()) * int(shorter.sum()) - float(of_target[-1])
    return Start(of_target, of_center, span / len(edges.lists.shapes), loss / len(edges.lists.shapes))


def look_ahead(edges: Blocks, stored: kernels.Stored, step: kernels.Step) -> Look:
    """A step of all z_i on all cores, see `kernels.three_steps`.  Raises ScoreError where weights are not finite."""
    n, size = len(edges.lists.shapes), edges.features.shape[1] + 1

    def work(first: int) -> tuple[F64, F64, F64]:
        of_point, of_ahead, moved = np.zeros(size), np.zeros(size), np.zeros(2)
        last = min(first + _BLOCKS_AT_ONCE, n)
        check_code(*kernels.three_steps(first, last, edges, stored, step, of_point, of_ahead, moved))
        return of_point, of_ahead, moved

    of_point, of_ahead, moved = np.zeros(size), np.zeros(size), np.zeros(2)
    for part, part_ahead, part_moved in map_threads(work, range(0, n, _BLOCKS_AT_ONCE)):
        of_point += part
        of_ahead += part_ahead
        moved += part_moved
    return Look(of_point, of_ahead, float(moved.sum()) / n)
