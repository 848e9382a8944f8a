"""Compiled kernels around an oracle that is a plain function of one block."""

from typing import Any, NamedTuple

import numpy as np

from aligner.templates import DONE, NOT_FINITE, OUT_OF_RANGE, template
from corpora.compiled import SUMS, compiled
from corpora.ragged import F64, I64


class Weighted(NamedTuple):
    """The arrays of a problem, and the weights of its blocks, (n,).  most: entries of a sparse ψ."""

    arrays: Any
    weights: F64
    most: int = 0


class Entries(NamedTuple):
    """The room for the entries of a sparse ψ."""

    columns: I64
    values: F64


@compiled(fastmath=SUMS)
def weigh(weight, loss, w, psi):
    """Multiply psi by the weight of its block; returns L − w·psi, loss is L."""
    for c in range(len(psi)):
        psi[c] *= weight
        loss -= w[c] * psi[c]
    return loss


own_corner: Any = None
sparse_corner: Any = None


@template
def make_nothing(arrays):
    """The workspaces of an oracle that needs none."""
    return 0


@template
def weighted_corner(i, arrays, w, scratch, psi):
    """`Compiled.corner` of a function (i, arrays, w, psi) that fills psi, which is 0 before, and returns the loss."""
    psi[:] = 0.0
    weight = arrays.weights[i]
    loss = weight * own_corner(i, arrays.arrays, w, psi)
    hinge = weigh(weight, loss, w, psi)
    return DONE if np.isfinite(hinge) else NOT_FINITE, loss, hinge


@template
def make_entries(arrays):
    """The room for as many entries as a sparse ψ has at most."""
    return Entries(np.empty(arrays.most, np.int64), np.empty(arrays.most))


@template
def weighted_sparse_corner(i, arrays, w, scratch, cost):
    """`Compiled.sparse_corner` of a function (i, arrays, w, cost, columns, values) that returns the loss and m."""
    columns, values, weight = scratch.columns, scratch.values, arrays.weights[i]
    loss, m = own_corner(i, arrays.arrays, w, cost, columns, values)
    if not 0 <= m <= len(columns):
        return OUT_OF_RANGE, 0, 0.0, 0.0
    loss *= weight
    hinge = cost * loss
    for e in range(m):
        if not 0 <= columns[e] < len(w):
            return OUT_OF_RANGE, 0, 0.0, 0.0
        values[e] *= weight
        hinge -= w[columns[e]] * values[e]
    return DONE if np.isfinite(hinge) else NOT_FINITE, m, loss, hinge


@template
def dense_corner(i, arrays, w, scratch, psi):
    """`Compiled.corner` of a sparse one."""
    code, m, loss, hinge = sparse_corner(i, arrays, w, scratch, 1.0)
    psi[:] = 0.0
    for e in range(m):
        psi[scratch.columns[e]] += scratch.values[e]
    return code, loss, hinge
