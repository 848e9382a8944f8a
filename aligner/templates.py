"""Kernel templates: written once for all problems, and compiled for each problem around its own kernels.

A jitted function that is passed as an argument is compiled anew in every process; a *global* of the compiled function
is inlined into it and cached. So `fill` makes a copy of a template in which the kernels of a problem are globals.
"""

import hashlib
import inspect
from collections import deque
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from aligner.errors import AlignerError, OracleError, ScoreError
from corpora.ragged import F64, I64
from corpora.threads import map_threads

DONE = 0
NEGATIVE_HINGE = 1
NOT_FINITE = 2
POSITIVE_REWARD = 3
OUT_OF_RANGE = 4
"""Codes that an oracle's kernel returns beside a corner, see `check_code`."""

_BLOCKS_AT_ONCE = 512
"""Blocks that a thread takes at once."""


class Compiled(NamedTuple):
    """The arrays of a problem, and its kernels: functions that numba can compile, and solvers are compiled around.

    arrays: a NamedTuple of the problem's own.
    make_scratch: (arrays) -> workspaces of the oracle, of any type.
    corner: (i, arrays, w, scratch, psi) -> (code, L_i(z), H_i(z; w)) of z = argmax_z L_i(z) − w·ψ_i(z); fills psi (d,)
    with ψ_i(z).  code: DONE, NOT_FINITE, or NEGATIVE_HINGE if the corner is worse than the target.
    sparse_corner: (i, arrays, w, scratch, cost) -> (code, m, L_i(z), H) of the z that maximises
    H = cost · L_i(z) − w·ψ_i(z); fills scratch.columns[:m] and scratch.values[:m] with ψ_i(z), where a column may be
    more than once.  None unless the problem is `sparse`.
    """

    arrays: Any
    make_scratch: Any
    corner: Any
    sparse_corner: Any = None

    def fill(self, template: Callable[..., Any], **others: Any) -> Any:
        """The kernel that a template makes with the kernels of this problem, and others."""
        if self.sparse_corner is not None:
            others["sparse_corner"] = self.sparse_corner
        return fill(template, name_of(type(self.arrays)), make_scratch=self.make_scratch, corner=self.corner, **others)


class CompiledMarginals(NamedTuple):
    """The kernels of a problem's `Marginals`, for compiled steps.

    arrays: see `Compiled`.
    score: (i, arrays, w, scores): scores = F_iᵀ w + c_i.  add: (i, arrays, z, moments): moments += (F_i z, c_i·z).
    nearest: (geometry, i, arrays, points, tolerance, duals, z): z = the nearest marginals; updates duals, too.
    squared_norm: (i, arrays) -> an upper bound on the largest eigenvalue of F_iᵀF_i, such as ‖F_i‖².
    dual_starts: (n + 1,) where each block's part of all duals begins.
    """

    arrays: Any
    score: Any
    add: Any
    nearest: Any
    squared_norm: Any
    dual_starts: I64

    def fill(self, template: Callable[..., Any]) -> Any:
        """The kernel that a template makes with the kernels of these marginals."""
        kernels = {"score": self.score, "add": self.add, "nearest": self.nearest, "squared_norm": self.squared_norm}
        return fill(template, name_of(type(self.arrays)), **kernels)


def check_code(code: int, block: int) -> None:
    """Raise the error of a kernel's code: AlignerError, ScoreError, OracleError or ValueError; not for DONE."""
    if code == NEGATIVE_HINGE:
        raise AlignerError(
            f"labelled pair {block + 1}: the oracle's answer is worse than the target matching "
            "(its features or the oracle are wrong; please report this)"
        )
    if code == POSITIVE_REWARD:
        raise ValueError("the last n_nonpositive weights must be at most 0")
    if code == OUT_OF_RANGE:
        raise OracleError(f"block {block}: ψ has a column that does not exist, or more entries than there is room for")
    if code == NOT_FINITE:
        where = "the weights" if block < 0 else f"at block {block} the scores, or the corner's loss or ψ,"
        raise ScoreError(f"{where} are not finite")


def template(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that only `fill` compiles, which replaces some of its globals by kernels."""
    return function


def name_of(named: Any) -> str:
    """The full name of a class or a function."""
    return f"{named.__module__}.{named.__qualname__}"


@cache
def fill(function: Callable[..., Any], arrays: str, **kernels: Any) -> Any:
    """The compiled kernel that a template makes with these kernels as its globals of the same names.

    arrays: the name of the type of the arrays that it is called with: who lacks the type cannot read the cache.
    It is cached for later processes as long as the files of the kernels and the globals that they read stay as they
    are; around kernels without a file, or that close over variables or read other modules, it is compiled anew in every
    process.
    """
    from corpora.compiled import compiled  # which loads numba

    filled = {name: _dispatcher(kernel) for name, kernel in kernels.items()}
    functions = [kernel.py_func for kernel in filled.values()]
    meanings = [_meaning(each) for each in functions]
    parts = [arrays, *map(str, meanings)]
    copy = FunctionType(function.__code__, {**function.__globals__, **filled}, function.__name__)
    copy.__qualname__ = f"{function.__qualname__}-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}"
    store = None not in meanings
    copy.__dict__["stored"] = store  # for templates that are filled with this one
    return compiled(copy, store=store)


@cache
def _dispatcher(kernel: Callable[..., Any]) -> Any:
    """The kernel as a function of numba; what is filled with it is stored, not the kernel."""
    from corpora.compiled import compiled

    return kernel if hasattr(kernel, "py_func") else compiled(kernel, store=False)


def _meaning(function: Callable[..., Any], seen: frozenset[Any] = frozenset()) -> str | None:
    """All that a kernel's compiled code follows from; None if that cannot be known, or a file does not say it.

    It names the kernel, a lambda among others of its line; its file; and the globals that it reads, which numba takes
    for constants. Those of this program's own modules follow from its version, which the cache belongs to.
    """
    try:
        if function.__closure__ or not function.__dict__.get("stored", True):
            return None
        code, content = function.__code__, _content(inspect.getfile(function))
    except (OSError, TypeError):
        return None
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    parts: list[str | None] = [
        f"{name_of(function)}:{code.co_firstlineno}",
        repr(code.co_code),
        repr(constants),
        content,
    ]
    if function.__module__.split(".")[0] not in ("aligner", "corpora") and function not in seen:
        read = {name: function.__globals__[name] for name in _names_in(code) if name in function.__globals__}
        values = [function.__defaults__ or (), *(value for _, value in sorted(read.items()))]
        parts += [_constant(value, seen | {function}) for value in values]
    return None if None in parts else "\0".join(map(str, parts))


def _names_in(code: CodeType) -> set[str]:
    """The names of globals and attributes that code reads, and code within it."""
    return {*code.co_names}.union(*(_names_in(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _constant(value: Any, seen: frozenset[Any]) -> str | None:
    """A string of a global that a kernel reads; None for what may change without notice, such as another module."""
    value = getattr(value, "py_func", value)
    if isinstance(value, FunctionType):
        return _meaning(value, seen)
    if isinstance(value, ModuleType):
        return value.__name__ if value.__name__.split(".")[0] in ("math", "cmath", "numpy", "numba") else None
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, type | BuiltinFunctionType | np.ufunc):
        return getattr(value, "__qualname__", value.__name__)
    if isinstance(value, tuple):
        inner = [_constant(each, seen) for each in value]
        return None if None in inner else f"{type(value).__name__}{inner}"
    return repr(value) if isinstance(value, int | float | complex | str | np.generic) else None


@cache
def _content(path: str) -> str:
    return Path(path).read_text("utf-8")


make_scratch: Any = None
corner: Any = None
sparse_corner: Any = None


@template
def block_corners(chosen, arrays, w, psi, losses):
    """Compute the corners of many blocks: psi (m, d) and losses (m,).  Returns (code, block at fault)."""
    scratch = make_scratch(arrays)
    for b in range(len(chosen)):
        code, losses[b], _ = corner(chosen[b], arrays, w, scratch, psi[b])
        if code != DONE:
            return code, chosen[b]
    return DONE, -1


@template
def sum_corners(first, last, arrays, w, shares, hinges, psi, losses):
    """Sum the corners of blocks first .. last; no corner is kept.

    shares: (n,).  Fills hinges[first:last]; adds the sums of ψ_i and L_i to psi[0] and losses[0], and the sums with
    each block multiplied by its share to psi[1] and losses[1].  Returns (code, block at fault).
    """
    scratch = make_scratch(arrays)
    own = np.empty(len(w))
    for i in range(first, last):
        code, loss, hinges[i] = corner(i, arrays, w, scratch, own)
        if code != DONE:
            return code, i
        losses[0] += loss
        losses[1] += shares[i] * loss
        for c in range(len(w)):
            psi[0, c] += own[c]
            psi[1, c] += shares[i] * own[c]
    return DONE, -1


@template
def sum_sparse_corners(first, last, arrays, w, shares, hinges, psi, losses):
    """`sum_corners` for sparse corners, in time proportional to their nonzero entries."""
    scratch = make_scratch(arrays)
    for i in range(first, last):
        code, m, loss, hinges[i] = sparse_corner(i, arrays, w, scratch, 1.0)
        if code != DONE:
            return code, i
        losses[0] += loss
        losses[1] += shares[i] * loss
        for e in range(m):
            psi[0, scratch.columns[e]] += scratch.values[e]
            psi[1, scratch.columns[e]] += shares[i] * scratch.values[e]
    return DONE, -1


def compiled_corners(kernels: Compiled, blocks: I64, w: F64) -> tuple[F64, F64]:
    """The corners of these blocks, psi (m, d) and losses (m,), on all cores.  Raises the errors of `check_code`."""
    chosen = np.ascontiguousarray(blocks, np.int64)
    psi, losses = np.empty((len(chosen), len(w))), np.empty(len(chosen))
    find = kernels.fill(block_corners)

    def work(first: int) -> None:
        part = slice(first, first + _BLOCKS_AT_ONCE)
        check_code(*find(chosen[part], kernels.arrays, w, psi[part], losses[part]))

    if len(chosen) <= _BLOCKS_AT_ONCE:
        work(0)
    else:
        deque(map_threads(work, range(0, len(chosen), _BLOCKS_AT_ONCE)), maxlen=0)
    return psi, losses
