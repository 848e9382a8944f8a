"""Solvers of structured SVMs: they know blocks and corners, not words. `solve` runs any of them.

- ``bcfw``: block-coordinate Frank-Wolfe. The default: a step for every pair, compiled, so that a few passes do.
- ``frank-wolfe``: one step a pass. For comparison, and where the oracle can only be called for all pairs at once.

To add one: write a frozen dataclass with the four members of `driver.Solver`, and here a function from the options a
user may give, as strings and numbers, to it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from aligner.errors import SettingError
from aligner.solvers.block import Block
from aligner.solvers.driver import Solver, solve
from aligner.solvers.frank_wolfe import FrankWolfe
from aligner.solvers.orders import ORDERS
from aligner.solvers.records import Result, Status, Stop, TracePoint
from aligner.solvers.steps import AVERAGES, STEPS

__all__ = ["SOLVERS", "Result", "Solver", "Status", "Stop", "TracePoint", "make_solver", "solve"]

Choice = TypeVar("Choice")


def _choose(option: str, value: str, known: Mapping[str, Choice]) -> Choice:
    if value not in known:
        raise SettingError(f"unknown {option} {value!r} (choose from {', '.join(known)})")
    return known[value]


def _bcfw(order: str = "permuted", step: str = "line-search", average: str = "none") -> Solver[Any]:
    return Block(_choose("order", order, ORDERS), _choose("step", step, STEPS), _choose("average", average, AVERAGES))


def _frank_wolfe(step: str = "line-search", average: str = "none") -> Solver[Any]:
    return FrankWolfe(_choose("step", step, STEPS), _choose("average", average, AVERAGES))


SOLVERS: dict[str, Callable[..., Solver[Any]]] = {
    "bcfw": _bcfw,
    "frank-wolfe": _frank_wolfe,
}
"""What makes each solver, by the names and options of the command line."""


def make_solver(name: str = "bcfw", **options: Any) -> Solver[Any]:
    """A solver by its name and the options it has; those that are None are left to their defaults.

    Raises SettingError for a name, an option or a value that is not known, or an option that the solver does not have.
    """
    make = _choose("solver", name, SOLVERS)
    given = {option: value for option, value in options.items() if value is not None}
    known = inspect.signature(make).parameters
    for option in given:
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise SettingError(f"{name} has no option {option} ({has})")
    return make(**given)
