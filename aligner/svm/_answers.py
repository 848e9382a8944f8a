"""What compiled solvers ask of a block, whatever problem its arrays are of; numba picks by the type of the arrays.

For another compiled problem, write the two functions for a NamedTuple of its own, and add a line to `_KERNELS`.
"""

from __future__ import annotations

from typing import Any

from numba.extending import overload

from aligner.svm import _chain_kernels as chains
from aligner.svm import _corner_kernels as matchings
from aligner.svm._corner_kernels import DONE

__all__ = ["DONE", "block_corner", "make_scratch"]

_KERNELS: dict[type, tuple[Any, Any]] = {
    matchings.Blocks: (matchings.matching_scratch, matchings.matching_corner),
    chains.ChainBlocks: (chains.chain_scratch, chains.chain_corner),
}


def make_scratch(blocks: Any) -> Any:
    """Workspaces for the largest of the blocks; to be called by kernels."""
    return _KERNELS[type(blocks)][0](blocks)


def block_corner(i: Any, blocks: Any, w: Any, scratch: Any, psi: Any) -> Any:
    """The corner argmax_z L_i(z) − w·ψ_i(z) of a block, into psi; to be called by kernels.

    Returns (code, L_i(z), H_i(z; w)).
    """
    return _KERNELS[type(blocks)][1](i, blocks, w, scratch, psi)


@overload(make_scratch, strict=False)  # annotations differ
def _make_scratch(blocks: Any) -> Any:
    make = _KERNELS[blocks.instance_class][0]
    return lambda blocks: make(blocks)


@overload(block_corner, strict=False)
def _block_corner(i: Any, blocks: Any, w: Any, scratch: Any, psi: Any) -> Any:
    find = _KERNELS[blocks.instance_class][1]
    return lambda i, blocks, w, scratch, psi: find(i, blocks, w, scratch, psi)
