"""The metric in which dual extragradient moves w: the second moments of the edges' features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from aligner.solvers.records import F64

_EDGES_AT_ONCE = 1 << 16

_FLATTEST = 1e-9
"""Least eigenvalue, relative to the largest, so that directions without features are finite."""


@dataclass(frozen=True, eq=False)
class Metric:
    """M = V diag(values) Vᵀ, ‖w‖²_M = wᵀMw = Σ_e (w·φ_e)²: how far w moves the scores of all edges together.

    values: (d,) > 0.  vectors: (d, d) V.  feature_norm: ‖F‖₂, the root of the largest value, by power iteration.
    """

    values: F64
    vectors: F64
    feature_norm: float

    def norm(self, w: F64) -> float:
        return float(np.sqrt(self.values @ (self.vectors.T @ w) ** 2))

    def step(self, center: F64, force: F64, scale: float, ridge: float) -> F64:
        """argmax_w force·w − ridge/2 ‖w‖² − scale/2 ‖w − center‖²_M."""
        turned = scale * self.values * (self.vectors.T @ center) + self.vectors.T @ force
        w: F64 = self.vectors @ (turned / (scale * self.values + ridge))
        return w

    def step_in_ball(self, center: F64, force: F64, scale: float, radius: float) -> F64:
        """argmax over ‖w‖ <= radius of force·w − scale/2 ‖w − center‖²_M, by the root of its multiplier."""
        stiffness = scale * self.values
        free = self.vectors.T @ center + (self.vectors.T @ force) / stiffness
        length = float(np.linalg.norm(free))
        if length <= radius:
            inside: F64 = self.vectors @ free
            return inside

        def excess(multiplier: float) -> float:
            return float(np.linalg.norm(stiffness * free / (stiffness + multiplier))) - radius

        most = float(stiffness.max()) * length / radius
        multiplier = brentq(excess, 0.0, most, xtol=1e-15 * most, rtol=1e-14)
        turned = stiffness * free / (stiffness + multiplier)
        w: F64 = self.vectors @ (turned * (radius / float(np.linalg.norm(turned))))
        return w


def feature_metric(features: npt.NDArray[np.float32], rng: np.random.Generator) -> Metric:
    """The metric of features (E, d); memory O(d²)."""
    columns = features.shape[1]
    moments = np.zeros((columns, columns))
    for first in range(0, len(features), _EDGES_AT_ONCE):
        part = np.asarray(features[first : first + _EDGES_AT_ONCE], np.float64)
        moments += part.T @ part
    values, vectors = np.linalg.eigh(moments)
    most = max(float(values[-1]), np.finfo(float).tiny)
    return Metric(np.maximum(values, _FLATTEST * most), vectors, largest_eigenvalue(moments, rng) ** 0.5)


def largest_eigenvalue(matrix: F64, rng: np.random.Generator, tolerance: float = 1e-12) -> float:
    """Of a symmetric positive semidefinite matrix, by power iteration from a random start."""
    vector = rng.standard_normal(len(matrix))
    value = 0.0
    for _ in range(10_000):
        image = matrix @ vector
        size = float(np.linalg.norm(image))
        if size == 0.0:
            return 0.0
        vector = image / size
        before, value = value, float(vector @ matrix @ vector)
        if abs(value - before) <= tolerance * value:
            break
    return value
