"""Least squares over the ℓ1-ball and the simplex, as a structured problem of one block that any solver can solve.

The maximum of D(x) = b·Ax − ½‖Ax‖², which is ½‖b‖² − ½‖Ax − b‖², over the convex hull of some atoms is the dual of a
structured SVM with a single block, λ = 1, ψ(s) = As and L(s) = b·As, so that w(x) = Ax and the duality gap is the
Frank-Wolfe gap max_s ∇·(x − s). `randomized-away` needs the products of A with a few columns a step only.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from aligner.errors import SettingError
from aligner.problem import BlockDefaults, Corners
from aligner.solvers._active_kernels import Pool, settle_active
from aligner.solvers.driver import solve
from aligner.solvers.randomized_away import RandomizedAway
from aligner.solvers.records import Status, Stop, TracePoint
from corpora.ragged import F64, I64


class Domain(Enum):
    """The domain of x: the convex hull of some atoms."""

    L1_BALL = "l1-ball"
    """Atoms ±r e_j: all x with ‖x‖₁ ≤ r, where the search starts at 0."""
    SIMPLEX = "simplex"
    """Atoms r e_j: all x ≥ 0 that add up to r, where the search starts at r e_0."""


@dataclass(frozen=True, eq=False)
class LeastSquares(BlockDefaults):
    """The problem min ½‖Ax − b‖² over a domain, of one block, moved so that the start has ψ = 0 and L = 0.

    columns: (p, N) those of A, each contiguous.  start: (N,) A times the start.  target: (N,) b minus `start`.
    losses: (p,) L of the atoms r e_j.
    """

    columns: F64
    start: F64
    target: F64
    losses: F64
    domain: Domain
    radius: float

    n_blocks = 1
    regularization = 1.0

    @classmethod
    def of(cls, matrix: npt.ArrayLike, target: npt.ArrayLike, domain: Domain, radius: float) -> "LeastSquares":
        """Make the problem; for matrix, target and errors see `least_squares`."""
        if not (np.isfinite(radius) and radius > 0):
            raise SettingError(f"radius must be a number above 0, not {radius}")
        columns = np.ascontiguousarray(np.asarray(matrix, np.float64).T)
        b = np.asarray(target, np.float64)
        if columns.ndim != 2 or b.shape != columns.shape[1:] or columns.size == 0:
            raise ValueError(f"a matrix of shape {np.shape(matrix)} and a target of shape {b.shape} do not fit")
        if not (np.isfinite(columns).all() and np.isfinite(b).all()):
            raise ValueError("the matrix and the target must be finite")
        start = np.zeros_like(b) if domain is Domain.L1_BALL else radius * columns[0]
        b = b - start
        losses = radius * (columns @ b) - start @ b
        if domain is Domain.SIMPLEX:
            losses[0] = 0.0  # free of rounding: its atom is the start
        return cls(columns, start, b, losses, domain, float(radius))

    @property
    def n_features(self) -> int:
        return len(self.start)

    @property
    def n_atoms(self) -> int:
        """The number of columns; in the ℓ1-ball each stands for both of its signs."""
        return len(self.columns)

    def _atom(self, column: int, sign: float) -> tuple[F64, float]:
        """Return ψ and L of an atom."""
        return sign * self.radius * self.columns[column] - self.start, sign * float(self.losses[column])

    def best_of(self, atoms: I64, w: F64) -> Corners:
        """The best corner among these atoms at w."""
        return self._best(atoms, self.columns[atoms], w)

    def corners(self, blocks: I64, w: F64) -> Corners:
        return self._best(np.arange(self.n_atoms), self.columns, w)

    def _best(self, atoms: I64, columns: F64, w: F64) -> Corners:
        products, ball = columns @ (self.target - w), self.domain is Domain.L1_BALL
        best = int(np.argmax(np.abs(products) if ball else products))
        psi, loss = self._atom(int(atoms[best]), -1.0 if ball and products[best] < 0 else 1.0)
        return Corners(psi[None], np.array([loss]))

    def coefficients(self, pool: Pool) -> F64:
        """x (p,), the mixture of atoms in a pool; atoms with equal Ax, as of equal columns, count as one."""
        x = np.zeros(self.n_atoms)
        for place in pool.slots[0, : pool.counts[0]]:
            column, sign = self._find(pool.vectors[place], float(pool.losses[place]))
            x[column] += sign * self.radius * pool.weights[place]
        return x

    def _find(self, psi: F64, loss: float) -> tuple[int, float]:
        """The column and sign of an atom, found by its ψ and L, which a pool keeps unchanged; sign 0 for the start."""
        for sign in (1.0, -1.0) if self.domain is Domain.L1_BALL else (1.0,):
            for column in np.flatnonzero(sign * self.losses == loss):
                if np.array_equal(self._atom(int(column), sign)[0], psi):
                    return int(column), sign
        return 0, 0.0


@dataclass(frozen=True, eq=False)
class Fit:
    """The solution x (p,), feasible but for rounding, its objective ½‖Ax − b‖², and a bound on its excess, the gap.

    trace: of the search, with D as the dual.
    """

    x: F64
    objective: float
    gap: float
    status: Status
    trace: tuple[TracePoint, ...]


def least_squares(
    matrix: npt.ArrayLike,
    target: npt.ArrayLike,
    domain: Domain,
    radius: float,
    *,
    solver: RandomizedAway = RandomizedAway(),  # noqa: B008 - frozen
    stop: Stop = Stop(gap=1e-9, passes=1000),  # noqa: B008 - frozen
    seed: int = 0,
) -> Fit:
    """Minimise ½‖Ax − b‖² over an ℓ1-ball or simplex, by randomised away-step Frank-Wolfe  [KPd18 Alg. 3].

    matrix: A (N, p), not copied if it is float64 and Fortran-contiguous.  target: b (N,).
    stop: with the start x₀, gap is relative to ½‖b − Ax₀‖² − ½‖Ax − b‖²; a pass looks at every atom once.
    The lasso, min ½‖Ax − b‖² + a‖x‖₁ with solution x*, is this problem over the ℓ1-ball of radius ‖x*‖₁.
    Raises SettingError unless 0 < radius < ∞, ValueError for arrays that do not fit or are not finite.
    """
    problem = LeastSquares.of(matrix, target, domain, radius)
    state = solver.init(problem, np.random.default_rng(seed))
    result = solve(problem, solver, stop=stop, seed=seed, start=state)
    settle_active(state.point, state.pool)  # where an interrupt came between rounds
    x = problem.coefficients(state.pool)
    # Anew from x itself, so that the certificate is of what is returned.
    support = np.flatnonzero(x)
    residual = problem.target + problem.start - x[support] @ problem.columns[support]
    products = problem.columns @ residual
    best = radius * float(np.max(np.abs(products) if domain is Domain.L1_BALL else products))
    objective = 0.5 * float(residual @ residual)
    # Of an earlier w the bound may be the better one: it is what solving ended by.
    gap = min(best - float(products @ x), objective - 0.5 * float(problem.target @ problem.target) + result.primal)
    return Fit(x, objective, gap, result.status, result.trace)
