"""Solvers of structured SVMs: they know blocks and corners, not words. `solve` runs any of them.

Which one? All reach the same optimum and certify it; they differ in how soon. The table of README is measured.

- ``bcfw``: block-coordinate Frank-Wolfe, a step for every pair, compiled. The default: at λ >= 0.01 a few passes do.
- ``bcfw-gap``, ``bcfw-pairwise``, ``bcfw-away``: blocks drawn by their gaps, corners kept and used in place of the
  oracle. For smaller λ, tight gaps, and dear oracles: they ask several times less.
- ``randomized-away``: the oracle for a few blocks at a time, steps for all that have a choice. The fewest oracle calls
  to a tight gap; the one to take for 1e-5 and below.
- ``cutting-plane``: asks about all blocks at once, so any parallel oracle suits it; the best of the batch methods.
- ``frank-wolfe``, ``away-frank-wolfe``, ``pairwise-frank-wolfe``, ``subgradient``: one step a pass. For comparison.
- ``stochastic-subgradient``: steps in memory of O(d), soon near the optimum, slow to certify it.
- ``projected-gradient``: works on marginals and never asks the oracle but for audits.
- ``extragradient``: the saddle point by projections, in memory of O(d) whatever the corpus (and d x d moments for a
  moment, before the first step), or, with restarts and far sooner, of five numbers an edge; also with a radius in place
  of λ. For comparison, and where w must stay in a ball.
- ``kernel-bcfw``: polynomial and RBF kernels on edge features, for a few hundred pairs.

All of these are for the hinge loss; the logistic one has `newton.Newton`, which is not to choose.

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
