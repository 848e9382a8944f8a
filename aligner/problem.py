"""The protocols between structured problems and solvers: blocks, corners, marginals.  No words here."""

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from aligner.errors import OracleError, SettingError
from aligner.templates import Compiled, CompiledMarginals, compiled_corners
from corpora.ragged import F64, I64, Bools


@dataclass(frozen=True, eq=False)
class Corners:
    """Corners of m blocks: (m, d) psi = ψ_i(z_i) and (m,) losses = L_i(z_i), all that solvers know of a corner.

    psi: an array, or a scipy.sparse.csr_array if the problem is `sparse`.
    """

    psi: Any
    losses: F64

    @property
    def dense(self) -> F64:
        """psi as an array."""
        psi: F64 = self.psi if isinstance(self.psi, np.ndarray) else self.psi.toarray()
        return psi


class Problem(Protocol):
    """What the driver uses of a problem, which is a mean over n blocks and a regulariser."""

    @property
    def n_blocks(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def regularization(self) -> float: ...

    @property
    def signature(self) -> str: ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user on how the problem is solved."""

    def rehearsal(self) -> "Problem | None":
        """A small problem with arrays of the same types, on which solvers compile; None: nothing is compiled."""


@runtime_checkable
class BlockProblem(Problem, Protocol):
    """The members of a problem that Frank-Wolfe, cutting-plane and subgradient solvers use.

    min_w  λ/2 ‖w‖² + 1/n Σ_i max_z [L_i(z) − w·ψ_i(z)]   [LJSP13], with a block for each i, over the w whose last
    n_nonpositive coordinates are at most 0. For a dual point α with v = 1/(λn) Σ_i Σ_z α_i(z) ψ_i(z) the Lagrangian
    λ/2 ‖w‖² − λ w·v + ℓ(α) is least at w = clip(v), the last coordinates cut to at most 0, where w·v = ‖w‖²: so
    D(α) = ℓ − λ/2 ‖clip(v)‖², and P(w) − D(α) = λ w·(v − v_s) − ℓ + ℓ_s at the oracle's answers s. As clip moves no
    two points apart, D is curved by at most λ ‖v_s − v‖² towards s: line search with that never lowers the dual.
    """

    @property
    def n_nonpositive(self) -> int:
        """The number of weights, the last ones, that must not be above 0."""

    @property
    def sparse(self) -> bool:
        """Whether corners are sparse rows, of which solvers that can keep only the nonzero entries of each block."""

    def corners(self, blocks: I64, w: F64) -> Corners:
        """For each block, argmax_z L_i(z) − w·ψ_i(z), as well as the oracle can."""

    def exact_corners(self, blocks: I64, w: F64) -> Corners:
        """`corners`, but exact, for audits: with an approximate oracle a gap would be no certificate."""

    def compiled(self) -> Compiled | None:
        """The arrays and kernels of the problem for compiled solvers; None: `corners` is called from Python."""

    def marginals(self) -> "Marginals | None":
        """The marginals of the problem, for methods on its saddle point; None: it has none."""

    def rehearsal(self) -> "BlockProblem | None": ...


class Regularized:
    """A problem with a strength λ of its regulariser."""

    def at(self, regularization: float) -> Self:
        """The same problem with another λ: a copy, which shares its arrays.  OracleError unless λ > 0.

        To be overridden by a problem that stores more than `regularization` that depends on λ.
        """
        _check_strength(regularization)
        if "regularization" in getattr(self, "__dataclass_fields__", ()):
            return replace(self, regularization=float(regularization))  # type: ignore[type-var]
        other = copy(self)
        other.regularization = float(regularization)  # type: ignore[attr-defined]
        return other


class BlockDefaults(Regularized):
    """Defaults of a block problem: inherit it, and define n_blocks, n_features, regularization and corners.

    A problem with `compiled` kernels need not define corners.
    """

    n_nonpositive = 0
    sparse = False
    notes: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        return type(self).__name__

    def corners(self: BlockProblem, blocks: I64, w: F64) -> Corners:
        kernels = self.compiled()
        if kernels is None:
            raise OracleError(f"{type(self).__name__} lacks corners, or compiled kernels (see docs/own-problem.md)")
        psi, losses = compiled_corners(kernels, blocks, w)
        if not self.sparse:
            return Corners(psi, losses)
        from scipy.sparse import csr_array

        return Corners(csr_array(psi), losses)

    def exact_corners(self: BlockProblem, blocks: I64, w: F64) -> Corners:
        return self.corners(blocks, w)

    def compiled(self) -> Compiled | None:
        return None

    def marginals(self) -> "Marginals | None":
        return None

    def rehearsal(self: BlockProblem) -> BlockProblem | None:
        return TargetOnly(self.n_features, self.regularization, self.n_nonpositive, self.sparse)


class OfProblem:
    """Members that a wrapper of a problem takes from the wrapped problem."""

    problem: BlockProblem

    @property
    def n_blocks(self) -> int:
        return self.problem.n_blocks

    @property
    def n_features(self) -> int:
        return self.problem.n_features

    @property
    def regularization(self) -> float:
        return self.problem.regularization

    def at(self, regularization: float) -> Self:
        """The same problem with another λ."""
        return replace(self, problem=self.problem.at(regularization))  # type: ignore[type-var,attr-defined]


@dataclass(frozen=True)
class TargetOnly(BlockDefaults):
    """A problem of one block with one corner, the target."""

    n_features: int
    regularization: float
    n_nonpositive: int = 0
    sparse: bool = False
    n_blocks = 1

    def corners(self, blocks: I64, w: F64) -> Corners:
        return Corners(np.zeros((len(blocks), self.n_features)), np.zeros(len(blocks)))


def check_sizes(problem: Problem) -> None:
    """Raise OracleError if a problem lacks a member that solvers need, or its sizes or λ are impossible."""
    kind = BlockProblem if isinstance(problem, BlockDefaults) or hasattr(problem, "corners") else Problem
    members = [name for base in kind.__mro__ for name in vars(base) if not name.startswith("_")]
    if lacks := ", ".join(name for name in members if not hasattr(problem, name)):
        raise OracleError(f"{type(problem).__name__} lacks {lacks} (inherit BlockDefaults, see docs/own-problem.md)")
    for name in ("n_blocks", "n_features"):
        size = getattr(problem, name)
        if not (isinstance(size, int | np.integer) and size >= 1):
            raise OracleError(f"{name} is {size!r} (a whole number from 1 on)")
    nonpositive = getattr(problem, "n_nonpositive", 0)
    if not (isinstance(nonpositive, int | np.integer) and 0 <= nonpositive <= problem.n_features):
        raise OracleError(f"n_nonpositive is {nonpositive!r} (from 0 to n_features)")
    _check_strength(problem.regularization)


def _check_strength(regularization: object) -> None:
    if not (isinstance(regularization, float | int | np.number) and 0 < regularization < np.inf):
        raise OracleError(f"regularization is {regularization!r} (a number above 0)")


class Sums(NamedTuple):
    """A smooth loss at some w.  value: its mean over blocks.  gradient: (d,).  curvature: (d, d), or None if unknown.

    entropy: 1/n Σ_i Ω(y_i) − Ω(z_i) + ⟨c_i, z_i − y_i⟩ of the nearest points z_i.
    nearest: the nearest points, and where a search for others may start; None if they are not kept.
    """

    value: float
    entropy: float
    gradient: F64
    curvature: F64 | None = None
    nearest: Any = None


class SmoothProblem(Problem, Protocol):
    """The members of a problem that Newton's method uses: λ/2 ‖w − w₀‖² and a smooth loss."""

    @property
    def prior(self) -> F64:
        """The prior weights w₀ (d,)."""

    def sums(self, w: F64, start: Any = None) -> Sums:
        """The loss at w, and its derivatives.  start: the nearest points of weights nearby."""


class Marginals(Protocol):
    """The marginals z_i of all blocks, and the scores and features, which are linear in them  [TLJ06 §2].

    A number for each *part* of an answer (an edge, a class, a label, a pair of neighbouring labels), one block after
    the other. z_i is in the convex hull of a block's answers, and features are linear in it:

        P(w) = λ/2 ‖w‖² + 1/n Σ_i max_z [w·(F_i z − F_i y_i) + c_i·(z − y_i)]
    """

    @property
    def geometries(self) -> tuple[str, ...]:
        """The geometries that `nearest` has: euclidean, entropic, or both."""

    @property
    def counts(self) -> float | F64:
        """How often each part counts in the negative entropy, Σ counts · (z log z − z), or one number for all."""

    @property
    def parts(self) -> I64:
        """Where the parts of each block begin, (n + 1,)."""

    @property
    def target(self) -> F64:
        """The right answers y (parts[-1],)."""

    def scores(self, blocks: I64, w: F64) -> F64:
        """The scores F_iᵀ w + c_i of these blocks' parts, one block after the other: n times the gradient in z."""

    def moments(self, blocks: I64, z: F64) -> F64:
        """The sum (d + 1,) of (F_i z_i, c_i·z_i) over these blocks.  z: of their parts."""

    def duals(self, blocks: I64) -> F64 | None:
        """Dual variables where a search for nearest points of these blocks starts and ends; None: it needs none."""

    def nearest(self, blocks: I64, points: F64, geometry: str, duals: F64 | None = None) -> F64:
        """The z_i nearest to points: argmax ⟨points, z⟩ − Ω(z), Ω ½ ‖z‖² (euclidean) or negative entropy (entropic).

        duals: where the search starts, and changed in place to where it ends; given only if `duals` has some.
        """

    def restricted(self, kept: Bools) -> "tuple[Marginals, Bools] | None":
        """The marginals of the kept parts alone, as if the z of others were 0, and which parts it keeps, maybe more.

        kept: (parts[-1],).  None if all parts are needed.
        """

    def compiled_marginals(self) -> CompiledMarginals | None:
        """The kernels for compiled steps; None: steps are taken in Python."""


class MarginalDefaults:
    """Defaults of marginals: inherit it, and define geometries, parts, target, scores, moments and nearest."""

    counts: float | F64 = 1.0

    def duals(self, blocks: I64) -> F64 | None:
        return None

    def restricted(self, kept: Bools) -> tuple[Marginals, Bools] | None:
        return None

    def compiled_marginals(self) -> CompiledMarginals | None:
        return None


def marginals_of(problem: BlockProblem, solver: str, geometry: str) -> Marginals:
    """The marginals of a problem.  Raises SettingError if it has none in this geometry."""
    found = problem.marginals()
    if found is None or geometry not in found.geometries:
        raise SettingError(f"{solver} needs a problem with marginals in {geometry} geometry (see Marginals)")
    return found
