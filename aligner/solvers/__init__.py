"""Solvers of structured SVMs: they know blocks and corners, not words. `solve` runs any of them.

Which one? All reach the same optimum and certify it; they differ in how soon. ``bcfw``, the default, for λ >= 0.01;
``bcfw-gap``, ``bcfw-pairwise`` and ``bcfw-away``, which ask the oracle several times less, for smaller λ and dear
oracles; ``randomized-away``, with the fewest calls, for gaps of 1e-5 and below; ``cutting-plane`` where an oracle is
best asked about all blocks at once; ``kernel-bcfw`` for polynomial and RBF kernels on edge features, of a few hundred
pairs; ``extragradient`` where w must stay in a ball. The rest is for comparison: `docs/solvers.md` has the figures.
All are for the hinge loss; the logistic one has `newton.Newton`, which is not to choose.

To add one: write a frozen dataclass with the four members of `driver.Solver`, and name it, with the options that a user
may give, in `registry.SOLVERS`. Everything is imported at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aligner.solvers.driver import Solver, solve
    from aligner.solvers.records import Result, Status, Stop, TracePoint
    from aligner.solvers.registry import SOLVERS, make_solver

_HOMES = {
    "SOLVERS": "registry",
    "Result": "records",
    "Solver": "driver",
    "Status": "records",
    "Stop": "records",
    "TracePoint": "records",
    "make_solver": "registry",
    "solve": "driver",
}

__all__ = ["SOLVERS", "Result", "Solver", "Status", "Stop", "TracePoint", "make_solver", "solve"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aligner.solvers' has no attribute {name!r}")
    return getattr(import_module(f"aligner.solvers.{_HOMES[name]}"), name)
