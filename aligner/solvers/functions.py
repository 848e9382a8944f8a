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
        return f"oracle:{_name(self.corner)}|lambda:{self.regularization}"

    def corners(self, blocks: I64, w: F64) -> Corners:
        seen, name = w.view(), _name(self.corner)
        seen.flags.writeable = False
        psi: Any = np.empty((len(blocks), self.n_features))
        losses = np.empty(len(blocks))
        try:
            if self.batched:
                found, of_all = self._call(blocks.copy(), seen)
                psi, losses = found if self.sparse else np.array(found, np.float64), np.array(of_all, np.float64)
            elif self.sparse:
                psi, losses = self._sparse_rows(blocks, seen)
            else:
                for row, block in enumerate(blocks.tolist()):
                    found, losses[row] = self._call(block, seen)
                    if np.shape(found) != (self.n_features,):
                        raise OracleError(f"{name} returns psi of shape {np.shape(found)} (not ({self.n_features},))")
                    psi[row] = found
        except (TypeError, ValueError) as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise  # it is the function's own
            raise OracleError(f"{name} returns a psi or a loss that is no array of numbers") from None
        if psi.shape != (len(blocks), self.n_features) or losses.shape != (len(blocks),):
            what = f"{name} returns psi {psi.shape} and losses {losses.shape} of {len(blocks)} blocks"
            raise OracleError(f"{what} (not {(len(blocks), self.n_features)} and {(len(blocks),)})")
        if self.weights is None:
            return Corners(psi, losses)
        weights = self.weights[blocks]
        weighted = psi.multiply(weights[:, None]).tocsr() if self.sparse else psi * weights[:, None]
        return Corners(weighted, weights * losses)

    def _sparse_rows(self, blocks: I64, w: F64) -> tuple[Any, F64]:
        from scipy.sparse import csr_array, vstack

        rows, losses = zip(*(self._call(block, w) for block in blocks.tolist()), strict=True)
        return vstack([csr_array(row.reshape((1, -1))) for row in rows], format="csr"), np.array(losses, np.float64)

    def _call(self, block: Any, w: F64) -> tuple[Any, Any]:
        found = self.corner(block, w)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise OracleError(f"{_name(self.corner)} returns {type(found).__name__} (the pair psi, loss)")
        return found


@dataclass(frozen=True, eq=False)
class FromKernel(BlockDefaults):
    """A problem of a function that numba can compile, see `from_kernel`."""

    corner: Callable[..., Any]
    arrays: kernels.Weighted
    n_blocks: int
    n_features: int
    regularization: float

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        return self.arrays.most > 0

    @property
    def signature(self) -> str:
        return f"kernel:{_name(self.corner)}|lambda:{self.regularization}"

    def compiled(self) -> Compiled:
        own = name_of(type(self.arrays.arrays))
        if not self.sparse:
            corner = fill(kernels.weighted_corner, own, own_corner=self.corner)
            return Compiled(self.arrays, fill(kernels.make_nothing, own), corner)
        sparse = fill(kernels.weighted_sparse_corner, own, own_corner=self.corner)
        dense = fill(kernels.dense_corner, own, sparse_corner=sparse)
        return Compiled(self.arrays, fill(kernels.make_entries, own), dense, sparse)

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
    corner: Callable[..., Any],
    arrays: Any,
    *,
    n_features: int,
    regularization: float,
    n_blocks: int | None = None,
    weights: npt.ArrayLike | None = None,
    most_entries: int = 0,
) -> FromKernel:
    """Make a problem of an oracle that numba compiles, and whole passes of solvers around it.

    corner: (i, arrays, w, psi) -> L_i(z) of z = argmax_z L_i(z) − w·ψ_i(z); fills psi (d,), which is 0 before the call,
    with ψ_i(z). A function, or one that `numba.njit` has made; of a file, so that it is compiled only once.
    arrays: a NamedTuple of what it needs.  n_blocks: n; by default the length of the arrays.
    most_entries: ψ is sparse, of at most so many entries, and corner is (i, arrays, w, cost, columns, values) ->
    (L_i(z), m) of z = argmax_z cost · L_i(z) − w·ψ_i(z); fills columns[:m] and values[:m] with the entries of ψ_i(z),
    which may repeat a column. Steps of `Block` take time and memory in proportion to the entries.
    weights, regularization: as of `from_oracle`.  Oracles with workspaces: see `Compiled`.
    A few blocks are tried, see `check_problem`.  Raises OracleError, in one line, if something is wrong.
    """
    if not (isinstance(arrays, tuple) and hasattr(arrays, "_fields") and len(arrays)):
        raise OracleError(f"arrays is {type(arrays).__name__} (a NamedTuple of the arrays that the kernel reads)")
    for name, value in zip(arrays._fields, arrays, strict=True):
        if isinstance(value, list | dict | set | str):
            raise OracleError(f"{name} is a {type(value).__name__} (an array, a number or a tuple of these)")
    rows = [len(value) for value in arrays if np.ndim(value)]
    if n_blocks is None and len({*rows}) > 1:
        raise OracleError(f"the arrays have {', '.join(map(str, rows))} rows (say which number is n_blocks)")
    n = (rows or [0])[0] if n_blocks is None else n_blocks
    if n > max(rows, default=n):  # kernels do not check where they read
        raise OracleError(f"n_blocks is {n}, and the longest array has {max(rows)} rows")
    if not (isinstance(most_entries, int | np.integer) and most_entries >= 0):
        raise OracleError(f"most_entries is {most_entries!r} (a whole number from 0 on)")
    own = np.ones(n) if weights is None else _checked(weights, n)
    problem = FromKernel(corner, kernels.Weighted(arrays, own, int(most_entries)), n, n_features, regularization)
    check_sizes(problem)
    from numba import errors

    try:
        check_problem(problem, blocks=_TRIED)
    except ScoreError as error:
        raise OracleError(f"{_name(corner)} returns a loss or fills psi with what is not finite: {error}") from None
    except errors.NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip() and "nopython" not in line]
        raise OracleError(f"numba cannot compile {_name(corner)}: {' '.join(lines[:3])}") from None
    return problem


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))


def _checked(weights: npt.ArrayLike, n_blocks: int) -> F64:
    try:
        found = np.array(weights, np.float64)
    except (TypeError, ValueError):
        raise OracleError(f"weights {weights!r} are no numbers") from None
    if found.shape != (n_blocks,) or not (np.isfinite(found).all() and (found >= 0.0).all()):
        raise OracleError(f"weights {found.shape} must be {n_blocks} numbers from 0 on")
    return found
