"""Compiled kernels around an oracle that is a plain function of one block."""

from typing import Any, NamedTuple

import numpy as np

from aligner.templates import DONE, NOT_FINITE, template
from corpora.compiled import SUMS, compiled
from corpora.ragged import F64


class Weighted(NamedTuple):
    """The arrays of a problem, and the weights of its blocks, (n,)."""

    arrays: Any
    weights: F64


@compiled(fastmath=SUMS)
def weigh(weight, loss, w, psi):
    """Multiply psi by the weight of its block; returns L − w·psi, loss is L."""
    for c in range(len(psi)):
        psi[c] *= weight
        loss -= w[c] * psi[c]
    return loss


own_corner: Any = None


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
