"""Solvers of structured SVMs: they know blocks and corners, not words. `solve` runs any of them.

- ``bcfw``: block-coordinate Frank-Wolfe. The default: a step for every pair, compiled, so that a few passes do.
- ``frank-wolfe``: one step a pass. For comparison, and where the oracle can only be called for all pairs at once.

To add one: write a frozen dataclass with the five members of `driver.Solver` and name it in `make_solver`.
"""

from __future__ import annotations

from typing import Any

from aligner.errors import SettingError
from aligner.solvers.block import Block
from aligner.solvers.driver import Solver, solve
from aligner.solvers.frank_wolfe import FrankWolfe
from aligner.solvers.orders import ORDERS
from aligner.solvers.records import Result, Status, Stop, TracePoint
from aligner.solvers.steps import STEPS, Average

__all__ = ["SOLVERS", "Result", "Solver", "Status", "Stop", "TracePoint", "make_solver", "solve"]

SOLVERS = ("bcfw", "frank-wolfe")


def make_solver(
    name: str = "bcfw", *, order: str = "permuted", step: str = "line-search", average: str = "none"
) -> Solver[Any]:
    """A solver by the names of the command line.  order is of bcfw only.  Raises SettingError."""
    averages = {choice.value: choice for choice in Average}
    for kind, value, known in (
        ("solver", name, SOLVERS),
        ("order", order, ORDERS),
        ("step", step, STEPS),
        ("average", average, averages),
    ):
        if value not in known:
            raise SettingError(f"unknown {kind} {value!r} (choose from {', '.join(known)})")
    if name == "bcfw":
        return Block(ORDERS[order], STEPS[step], averages[average])
    if order != "permuted":
        raise SettingError("an order of blocks is for bcfw only (leave --order out)")
    return FrankWolfe(STEPS[step], averages[average])
