"""Mixtures of dual points, and the best of them: a small quadratic program on the simplex, compiled."""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np
import numpy.typing as npt

from aligner.solvers.records import F64

_RIDGE = 1e-9
"""Added to the diagonal, relative to its largest entry, so that Newton steps exist where points depend linearly."""

_ROUNDING = 1e-15
"""Gaps below this are rounding, relative to the entries of the points that have weight."""

_PATIENCE = 10
"""Rounds in a row without a greater value after which it is within rounding, too."""


@nb.njit(cache=True, nogil=True)
def _solve(matrix: F64, rank: int, floor: float, right: F64) -> None:
    """Overwrite the columns of right (rank, 2) by matrix⁻¹ right, by Cholesky in place; pivots are at least floor."""
    for i in range(rank):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                matrix[i, i] = np.sqrt(max(total, floor))
            else:
                matrix[i, j] = total / matrix[j, j]
    for column in range(2):
        for i in range(rank):
            total = right[i, column]
            for k in range(i):
                total -= matrix[i, k] * right[k, column]
            right[i, column] = total / matrix[i, i]
        for i in range(rank - 1, -1, -1):
            total = right[i, column]
            for k in range(i + 1, rank):
                total -= matrix[k, i] * right[k, column]
            right[i, column] = total / matrix[i, i]


@nb.njit(cache=True, nogil=True)
def _newton_step(
    gram: F64, gains: F64, weights: F64, rays: int, support: npt.NDArray[np.int64], matrix: F64, right: F64
) -> bool:
    """One Newton step among the points and rays of positive weight; returns whether one fell to 0 and stopped it."""
    size = 0
    points = 0
    largest = 0.0
    for i in range(len(weights)):
        if weights[i] > 0.0:
            support[size] = i
            size += 1
            points += i < len(weights) - rays
            largest = max(largest, gram[i, i])
    ridge = _RIDGE * largest if largest > 0.0 else 1.0
    for a in range(size):
        gradient = gains[support[a]]
        for b in range(size):
            entry = gram[support[a], support[b]]
            gradient -= entry * weights[support[b]]
            matrix[a, b] = entry
        matrix[a, a] += ridge
        right[a, 0] = gradient
        right[a, 1] = 1.0 if a < points else 0.0
    gradient_of = right[:size, 0].copy()
    _solve(matrix, size, ridge, right)
    shift = right[:points, 0].sum() / right[:points, 1].sum()
    slope = 0.0
    curvature = 0.0
    longest = np.inf
    blocking = -1
    for a in range(size):
        right[a, 0] -= shift * right[a, 1]  # the direction: its entries of points add up to 0
    right[:points, 0] -= right[:points, 0].mean()  # also where rounding is large
    for a in range(size):
        move = right[a, 0]
        slope += gradient_of[a] * move
        for b in range(size):
            curvature += move * gram[support[a], support[b]] * right[b, 0]
        if move < 0.0 and weights[support[a]] < -move * longest:
            longest = weights[support[a]] / -move
            blocking = support[a]
    if not slope > 0.0 or blocking < 0:
        return False
    length = longest if slope >= curvature * longest else slope / curvature
    for a in range(size):
        weights[support[a]] = max(0.0, weights[support[a]] + length * right[a, 0])
    if length < longest:
        return False
    weights[blocking] = 0.0
    return True


@nb.njit(cache=True, nogil=True)
def _maximise(gram: F64, gains: F64, weights: F64, rays: int) -> float:
    """Improve the weights in place until what is left is rounding; returns the gap."""
    m = len(gains)
    points = m - rays
    support = np.empty(m, np.int64)
    matrix = np.empty((m, m))
    right = np.empty((m, 2))
    gradient = np.empty(m)
    highest = -np.inf
    patience = _PATIENCE
    while True:
        gradient[:] = gains
        for i in range(m):
            if weights[i] > 0.0:
                for j in range(m):
                    gradient[j] -= weights[i] * gram[i, j]
        for i in range(points, m):  # rays are orthogonal: each may have its best weight on its own
            weight = max(0.0, weights[i] + gradient[i] / gram[i, i])
            for j in range(m):
                gradient[j] -= (weight - weights[i]) * gram[i, j]
            weights[i] = weight
        best = 0
        worst = -1
        mean = 0.0
        size = 0.0
        value = 0.0
        for i in range(points, m):
            value += 0.5 * weights[i] * gradient[i]
        for i in range(points):
            if gradient[i] > gradient[best]:
                best = i
            if weights[i] > 0.0:
                mean += weights[i] * gradient[i]
                value += 0.5 * weights[i] * (gains[i] + gradient[i])
                size += weights[i] * (abs(gains[i]) + gram[i, i])
                if worst < 0 or gradient[i] < gradient[worst]:
                    worst = i
        gap = gradient[best] - mean
        patience = _PATIENCE if value > highest else patience - 1
        highest = max(highest, value)
        if patience == 0 or not gap > _ROUNDING * size:
            return float(gap)
        slope = gradient[best] - gradient[worst]
        curvature = gram[best, best] + gram[worst, worst] - 2.0 * gram[best, worst]
        if slope >= curvature * weights[worst]:
            weights[best] += weights[worst]
            weights[worst] = 0.0
        else:
            weights[best] += slope / curvature
            weights[worst] -= slope / curvature
        while _newton_step(gram, gains, weights, rays, support, matrix, right):
            pass
        weights[:points] /= weights[:points].sum()


def best_mixture(gram: F64, gains: F64, start: F64, rays: int = 0) -> tuple[F64, float]:
    """Maximise gains·x − ½ x·gram x over the simplex from a feasible start; returns the weights and their gap.

    gram: (m, m) symmetric, positive semidefinite, of any rank.  gains, start: (m,).
    rays: the last of the m weights that need not add up to 1 with the others, but only be >= 0; orthogonal to one
    another, not 0, and without gain.
    Rounds of one pairwise step [LJ15 Alg. 2], which cannot stall, and Newton steps among the points of positive
    weight, which make it exact after finitely many changes of them. The value never falls. It ends when
    the gap max_i g_i − x·g, of the gradient g, is rounding.
    """
    weights = np.ascontiguousarray(start, np.float64).copy()
    gap = _maximise(np.ascontiguousarray(gram), np.ascontiguousarray(gains), weights, rays)
    return weights, float(gap)


def best_clipped_mixture(
    points: F64, losses: F64, start: F64, regularization: float, n_nonpositive: int
) -> tuple[F64, float]:
    """Maximise D = losses·x − λ/2 ‖clip(x·points)‖² over the simplex; returns the weights and their gap.

    clip: the last n_nonpositive coordinates cut to at most 0. What is cut off is the p >= 0 in them for which
    ‖x·points − p‖ is least: so it is maximised together with x, as the weights of rays along −e_c.
    """
    free = points.shape[1] - n_nonpositive
    size = float(np.sqrt((points * points).sum(axis=1).max(initial=0.0))) or 1.0  # so that rays are as long as points
    rays = -size * np.eye(n_nonpositive, points.shape[1], free)
    every = np.vstack([points, rays])
    cut = np.maximum((start @ points)[free:], 0.0) / size
    gains = np.append(losses, np.zeros(n_nonpositive))
    weights, gap = best_mixture(regularization * (every @ every.T), gains, np.append(start, cut), n_nonpositive)
    return weights[: len(points)], gap


@dataclass(eq=False)
class Mixture:
    """Points of the dual, each by its v and ℓ, and the weights of their mixture, which is a dual point again.

    points: (m, d).  losses: (m,).  weights: (m,) in the simplex. At first only the target, v = 0 and ℓ = 0.
    n_nonpositive: the last coordinates of w are those of v cut to at most 0, see `problem.BlockProblem`.
    Points that agree in both are one: the dual cannot tell them apart.
    """

    points: F64
    losses: F64
    weights: F64
    n_nonpositive: int = 0

    @classmethod
    def of_target(cls, n_features: int, n_nonpositive: int = 0) -> Mixture:
        return cls(np.zeros((1, n_features)), np.zeros(1), np.ones(1), n_nonpositive)

    @property
    def w(self) -> F64:
        w: F64 = self.weights @ self.points
        tail = w[len(w) - self.n_nonpositive :]
        np.minimum(tail, 0.0, out=tail)
        return w

    @property
    def loss(self) -> float:
        return float(self.weights @ self.losses)

    def find(self, point: F64, loss: float) -> int:
        """The place of this point, which is added with weight 0 if it is new."""
        places = np.flatnonzero((self.losses == loss) & (self.points == point).all(axis=1))
        if len(places):
            return int(places[0])
        self.points = np.vstack([self.points, point])
        self.losses = np.append(self.losses, loss)
        self.weights = np.append(self.weights, 0.0)
        return len(self.weights) - 1

    def keep(self, chosen: npt.NDArray[np.bool_]) -> None:
        """Forget all other points; they must have no weight."""
        self.points, self.losses, self.weights = self.points[chosen], self.losses[chosen], self.weights[chosen]

    def optimise(self, regularization: float) -> None:
        """Move to the mixture of greatest D = ℓ − λ/2 ‖w‖²."""
        if self.n_nonpositive:
            self.weights, _ = best_clipped_mixture(
                self.points, self.losses, self.weights, regularization, self.n_nonpositive
            )
        else:
            gram = regularization * (self.points @ self.points.T)
            self.weights, _ = best_mixture(gram, self.losses, self.weights)
