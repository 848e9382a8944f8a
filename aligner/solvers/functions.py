"""from_oracle(), from_kernel(): problems of which only the oracle is given, as a function of one block."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner.errors import OracleError, ScoreError
from aligner.problem import BlockDefaults, Corners, check_sizes
from aligner.solvers import _function_kernels as kernels
from aligner.solvers.checking import check_problem
from aligner.templates import Compiled, fill, name_of
from corpora.ragged import F64, I64

_TRIED = 3
"""Blocks that are tried when a problem is made."""


@dataclass(frozen=True, eq=False)
class FromOracle(BlockDefaults):
    """A problem of a function in Python, see `from_oracle`.  weights: None if all are 1."""

    corner: Callable[[Any, F64], Any]
    n_blocks: int
    n_features: int
    regularization: float
    weights: F64 | None
    batched: bool
    sparse: bool = False

    @property
    def signature(self) -> str:
        return f"oracle:{_name(self.corner)}|lambda:{self.regularization:g}"

    def corners(self, blocks: I64, w: F64) -> Corners:
        seen = w.view()
        seen.flags.writeable = False
        if self.batched:
            psi, losses = self._call(blocks.copy(), seen)
        else:
            found = [self._call(block, seen) for block in blocks.tolist()]
            psi, losses = (list(column) for column in zip(*found, strict=True))
            if self.sparse:
                from scipy.sparse import csr_array, vstack

                psi = vstack([csr_array(row.reshape((1, -1))) for row in psi], format="csr")
        try:
            psi = psi if self.sparse else np.array(psi, np.float64)
            losses = np.array(losses, np.float64)
        except (TypeError, ValueError):
            raise OracleError(f"{_name(self.corner)} returns a psi or a loss that is no array of numbers") from None
        if self.weights is not None and psi.shape[0] == len(losses) == len(blocks):
            weights = self.weights[blocks]
            psi = psi.multiply(weights[:, None]).tocsr() if hasattr(psi, "multiply") else psi * weights[:, None]
            losses = weights * losses
        return Corners(psi, losses)

    def _call(self, block: Any, w: F64) -> tuple[Any, Any]:
        found = self.corner(block, w)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise OracleError(f"{_name(self.corner)} returns {type(found).__name__} (the pair psi, loss)")
        return found


@dataclass(frozen=True, eq=False)
class FromKernel(BlockDefaults):
    """A problem of a function that numba can compile, see `from_kernel`."""

    corner: Callable[..., float]
    arrays: kernels.Weighted
    n_blocks: int
    n_features: int
    regularization: float

    @property
    def signature(self) -> str:
        return f"kernel:{_name(self.corner)}|lambda:{self.regularization:g}"

    def compiled(self) -> Compiled:
        own = name_of(type(self.arrays.arrays))
        corner = fill(kernels.weighted_corner, own, own_corner=self.corner)
        return Compiled(self.arrays, fill(kernels.make_nothing, own), corner)

    def rehearsal(self) -> "FromKernel":
        return replace(self, n_blocks=1)


def from_oracle(
    corner: Callable[[Any, F64], Any],
    *,
    n_blocks: int,
    n_features: int,
    regularization: float,
    weights: npt.ArrayLike | None = None,
    batched: bool = False,
) -> FromOracle:
    """Make a problem of an oracle in Python.

        min_w  λ/2 ‖w‖² + 1/n Σ_i weights_i max_z [L_i(z) − w·ψ_i(z)]

    corner: (i, w) -> (psi, loss) of z = argmax_z L_i(z) − w·ψ_i(z): psi (d,), of any type of number, or a sparse row of
    scipy, is copied. w (d,) cannot be written to, and changes after the call.
    batched: corner takes the indices (m,) of many blocks at once, and returns psi (m, d) and losses (m,).
    regularization: λ.  weights: (n,) >= 0 of the blocks, which need not add up to n; by default 1.
    A few blocks are tried, see `check_problem`.  Raises OracleError, in one line, if something is wrong.
    """
    if not callable(corner):
        raise OracleError(f"the oracle is {type(corner).__name__} (a function of a block and w)")
    own = None if weights is None else _checked(weights, n_blocks)
    problem = FromOracle(corner, n_blocks, n_features, regularization, own, batched)
    check_sizes(problem)
    psi = problem._call(np.zeros(1, np.int64) if batched else 0, np.zeros(n_features))[0]
    problem = replace(problem, sparse=hasattr(psi, "tocsr"))
    check_problem(problem, blocks=_TRIED)
    return problem


def from_kernel(
    corner: Callable[..., float],
    arrays: Any,
    *,
    n_features: int,
    regularization: float,
    n_blocks: int | None = None,
    weights: npt.ArrayLike | None = None,
) -> FromKernel:
    """Make a problem of an oracle that numba compiles, and whole passes of solvers around it.

    corner: (i, arrays, w, psi) -> L_i(z) of z = argmax_z L_i(z) − w·ψ_i(z); fills psi (d,), which is 0 before the call,
    with ψ_i(z). A function, or one that `numba.njit` has made; of a file, so that it is compiled only once.
    arrays: a NamedTuple of what it needs.  n_blocks: n; by default the length of the first array.
    weights, regularization: as of `from_oracle`.  Oracles with workspaces or sparse corners: see `Compiled`.
    A few blocks are tried, see `check_problem`.  Raises OracleError, in one line, if something is wrong.
    """
    if not (isinstance(arrays, tuple) and hasattr(arrays, "_fields") and len(arrays)):
        raise OracleError(f"arrays is {type(arrays).__name__} (a NamedTuple of the arrays that the kernel reads)")
    n = len(arrays[0]) if n_blocks is None else n_blocks
    own = np.ones(n) if weights is None else _checked(weights, n)
    problem = FromKernel(corner, kernels.Weighted(arrays, own), n, n_features, regularization)
    check_sizes(problem)
    from numba.core.errors import NumbaError

    try:
        check_problem(problem, blocks=_TRIED)
    except ScoreError:
        raise OracleError(f"{_name(corner)} returns a loss or fills psi with what is not finite") from None
    except NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip() and "nopython" not in line]
        raise OracleError(f"numba cannot compile {_name(corner)}: {' '.join(lines[:3])}") from None
    return problem


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))


def _checked(weights: npt.ArrayLike, n_blocks: int) -> F64:
    found = np.array(weights, np.float64)
    if found.shape != (n_blocks,) or not (np.isfinite(found).all() and (found >= 0.0).all()):
        raise OracleError(f"weights {found.shape} must be {n_blocks} numbers from 0 on")
    return found
