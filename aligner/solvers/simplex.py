"""Mixtures of dual points, and the best of them: a small quadratic program on the simplex."""

from dataclasses import dataclass

import numpy as np

from aligner.solvers.gap import clip
from aligner.solvers.records import Active, DualPoint
from corpora.ragged import F64, Bools

_RIDGE = 1e-9
"""Added to the diagonal, relative to its largest entry, so that Newton steps exist where points depend linearly."""

_ROUNDING = 1e-15
"""Gaps below this are rounding, relative to the entries of the points that have weight."""

_PATIENCE = 10
"""Rounds in a row without a greater value after which the gap counts as rounding, too."""


def best_mixture(gram: F64, gains: F64, start: F64, rays: int = 0) -> F64:
    """Find the weights x that maximise gains·x − ½ x·gram x over the simplex, from a feasible start.

    gram: (m, m) symmetric, positive semidefinite, of any rank.  gains, start: (m,).
    rays: how many of the weights, the last ones, must only be >= 0 and not add up to 1 with the others; their vectors
    are orthogonal to one another and not 0, their gains are 0.
    Rounds of one pairwise step [LJ15 Alg. 2], which cannot stall, and Newton steps among the points of positive
    weight, which make it exact after finitely many changes of them. The value never falls. It ends when
    the gap max_i g_i − x·g, of the gradient g, is rounding, or steps are too many.
    """
    weights = np.array(start, np.float64)
    points = len(weights) - rays
    of_points, of_rays = weights[:points], weights[points:]
    diagonal = gram.diagonal()
    highest, patience, left = -np.inf, _PATIENCE, 2000  # points of very different lengths never end it
    while True:
        gradient = gains - weights @ gram
        before = of_rays.copy()  # rays are orthogonal: each may have its best weight on its own
        of_rays[:] = np.maximum(0.0, before + gradient[points:] / diagonal[points:])
        gradient -= (of_rays - before) @ gram[points:]
        best = int(gradient[:points].argmax())
        worst = int(np.where(of_points > 0.0, gradient[:points], np.inf).argmin())
        value = 0.5 * float(weights @ (gains + gradient))
        patience = _PATIENCE if value > highest else patience - 1
        highest = max(highest, value)
        size = float(of_points @ (np.abs(gains) + diagonal)[:points])
        if patience == 0 or left <= 0 or not gradient[best] - of_points @ gradient[:points] > _ROUNDING * size:
            return weights
        slope = gradient[best] - gradient[worst]
        curvature = gram[best, best] + gram[worst, worst] - 2.0 * gram[best, worst]
        move = weights[worst] if slope >= curvature * weights[worst] else slope / curvature
        weights[best] += move
        weights[worst] -= move
        left -= 1
        while _newton_step(gram, gains, weights, points):
            left -= 1
        of_points /= of_points.sum()


def _newton_step(gram: F64, gains: F64, weights: F64, points: int) -> bool:
    """Take a Newton step among points and rays of positive weight; returns whether a weight that fell to 0 ended it."""
    support = np.flatnonzero(weights > 0.0)
    of_points = support < points
    x, matrix = weights[support], gram[np.ix_(support, support)]
    ridge = _RIDGE * float(matrix.diagonal().max()) or 1.0
    gradient = gains[support] - matrix @ x
    step, unit = np.linalg.solve(matrix + ridge * np.eye(len(x)), np.column_stack([gradient, of_points])).T
    step = step - step[of_points].sum() / unit[of_points].sum() * unit  # the entries of points add up to 0
    step[of_points] -= step[of_points].mean()  # also where rounding is large
    slope, curvature = float(gradient @ step), float(step @ matrix @ step)
    lengths = np.divide(x, -step, out=np.full(len(x), np.inf), where=step < 0.0)
    blocking = int(lengths.argmin())
    longest = float(lengths[blocking])
    if not slope > 0.0 or longest == np.inf:
        return False
    length = longest if slope >= curvature * longest else slope / curvature
    weights[support] = np.maximum(0.0, x + length * step)
    if length < longest:
        return False
    weights[support[blocking]] = 0.0
    return True


@dataclass(eq=False)
class Mixture:
    """Points of the dual, each by its v and ℓ, and the weights of their mixture, which is a dual point again.

    points: (m, d).  losses: (m,).  weights: (m,) in the simplex. At first only the target, v = 0 and ℓ = 0.
    n_nonpositive: so many last coordinates of w are those of v cut to at most 0, see `aligner.problem.BlockProblem`.
    Points with the same v and ℓ are kept once: their dual values are the same.
    """

    points: F64
    losses: F64
    weights: F64
    n_nonpositive: int = 0

    @classmethod
    def of_target(cls, n_features: int, n_nonpositive: int = 0) -> "Mixture":
        return cls(np.zeros((1, n_features)), np.zeros(1), np.ones(1), n_nonpositive)

    @property
    def w(self) -> F64:
        return clip(self.weights @ self.points, self.n_nonpositive)

    @property
    def loss(self) -> float:
        return float(self.weights @ self.losses)

    @property
    def dual_point(self) -> DualPoint:
        """The dual point of the mixture; its corners are of all blocks at once."""
        used = self.weights > 0.0
        none = np.full(np.count_nonzero(used), -1)
        active = Active(none, self.weights[used], self.points[used], self.losses[used])
        return DualPoint(self.weights @ self.points, self.loss, active)

    def find(self, point: F64, loss: float) -> int:
        """Return the place of this point, which is added with weight 0 if it is new."""
        places = np.flatnonzero((self.losses == loss) & (self.points == point).all(axis=1))
        if len(places):
            return int(places[0])
        self.points = np.vstack([self.points, point])
        self.losses = np.append(self.losses, loss)
        self.weights = np.append(self.weights, 0.0)
        return len(self.weights) - 1

    def keep(self, chosen: Bools) -> None:
        """Keep the chosen points only; the others must have weight 0."""
        self.points, self.losses, self.weights = self.points[chosen], self.losses[chosen], self.weights[chosen]

    def optimise(self, regularization: float) -> None:
        """Move to the mixture of greatest D = ℓ − λ/2 ‖clip(v)‖².

        Clipping subtracts from v the p >= 0 in its last coordinates for which ‖v − p‖ is least: so p is optimised, too,
        as weights of rays along −e_c.
        """
        points, rays = self.points, self.n_nonpositive
        free = points.shape[1] - rays
        size = float(np.sqrt((points * points).sum(axis=1).max())) or 1.0  # so that rays are as long as points
        every = np.vstack([points, -size * np.eye(rays, points.shape[1], free)])
        cut = np.maximum((self.weights @ points)[free:], 0.0) / size
        gains, start = np.append(self.losses, np.zeros(rays)), np.append(self.weights, cut)
        self.weights = best_mixture(regularization * (every @ every.T), gains, start, rays)[: len(points)]
