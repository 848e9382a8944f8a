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
from aligner.scoring import make_kernel
from aligner.solvers.active import Away, Pairwise
from aligner.solvers.block import Block
from aligner.solvers.corrective import Correction, Corrective
from aligner.solvers.driver import Solver, solve
from aligner.solvers.extragradient import PROJECTIONS, Extragradient
from aligner.solvers.frank_wolfe import FrankWolfe
from aligner.solvers.kernel import KernelBlock
from aligner.solvers.orders import ORDERS, VISITING_ORDERS
from aligner.solvers.projected_gradient import GRADIENT_STEPS, ProjectedGradient
from aligner.solvers.randomized_away import RandomizedAway
from aligner.solvers.records import Result, Status, Stop, TracePoint
from aligner.solvers.steps import AVERAGES, STEPS
from aligner.solvers.subgradient import StochasticSubgradient, Subgradient

__all__ = ["SOLVERS", "Result", "Solver", "Status", "Stop", "TracePoint", "make_solver", "solve"]

Choice = TypeVar("Choice")


def _choose(option: str, value: str, known: Mapping[str, Choice]) -> Choice:
    if value not in known:
        raise SettingError(f"unknown {option} {value!r} (choose from {', '.join(known)})")
    return known[value]


def _bcfw(
    order: str = "permuted", step: str = "line-search", average: str = "none", cache: bool = False
) -> Solver[Any]:
    return Block(
        _choose("order", order, ORDERS), _choose("step", step, STEPS), _choose("average", average, AVERAGES), cache
    )


def _bcfw_gap(step: str = "line-search", average: str = "none", cache: bool = True) -> Solver[Any]:
    return _bcfw("gap", step, average, cache)


def _bcfw_away(order: str = "gap", cache: bool = True) -> Solver[Any]:
    return Block(_choose("order", order, ORDERS), Away(), cache=cache)


def _bcfw_pairwise(order: str = "gap", cache: bool = True) -> Solver[Any]:
    return Block(_choose("order", order, ORDERS), Pairwise(), cache=cache)


def _frank_wolfe(step: str = "line-search", average: str = "none") -> Solver[Any]:
    return FrankWolfe(_choose("step", step, STEPS), _choose("average", average, AVERAGES))


def _away_frank_wolfe() -> Solver[Any]:
    return Corrective(Correction.AWAY)


def _pairwise_frank_wolfe() -> Solver[Any]:
    return Corrective(Correction.PAIRWISE)


def _cutting_plane() -> Solver[Any]:
    return Corrective(Correction.FULL)


def _subgradient(average: str = "none") -> Solver[Any]:
    return Subgradient(_choose("average", average, AVERAGES))


def _stochastic_subgradient(order: str = "permuted", average: str = "weighted") -> Solver[Any]:
    return StochasticSubgradient(_choose("order", order, VISITING_ORDERS), _choose("average", average, AVERAGES))


def _randomized_away(order: str = "permuted", sample: float = 0.01) -> Solver[Any]:
    return RandomizedAway(_choose("order", order, VISITING_ORDERS), sample)


def _kernel_bcfw(
    kernel: str = "rbf", degree: int | None = None, bandwidth: float | None = None, order: str = "permuted"
) -> Solver[Any]:
    options = {"degree": degree, "bandwidth": bandwidth}
    given = {option: value for option, value in options.items() if value is not None}
    return KernelBlock(make_kernel(kernel, **given), _choose("order", order, VISITING_ORDERS))


def _projected_gradient(order: str = "permuted", step: str = "spectral") -> Solver[Any]:
    return ProjectedGradient(_choose("order", order, VISITING_ORDERS), _choose("step", step, GRADIENT_STEPS))


def _extragradient(projection: str = "euclidean", radius: float | None = None, restarts: bool = False) -> Solver[Any]:
    return Extragradient(_choose("projection", projection, PROJECTIONS), radius, restarts)


SOLVERS: dict[str, Callable[..., Solver[Any]]] = {
    "frank-wolfe": _frank_wolfe,
    "away-frank-wolfe": _away_frank_wolfe,
    "pairwise-frank-wolfe": _pairwise_frank_wolfe,
    "cutting-plane": _cutting_plane,
    "subgradient": _subgradient,
    "stochastic-subgradient": _stochastic_subgradient,
    "bcfw": _bcfw,
    "bcfw-gap": _bcfw_gap,
    "bcfw-away": _bcfw_away,
    "bcfw-pairwise": _bcfw_pairwise,
    "randomized-away": _randomized_away,
    "projected-gradient": _projected_gradient,
    "extragradient": _extragradient,
    "kernel-bcfw": _kernel_bcfw,
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
