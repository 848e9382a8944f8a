"""The names of solvers, and the options that a user may give each; a solver is imported when it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from aligner.errors import SettingError

if TYPE_CHECKING:
    from aligner.problem import BlockProblem
    from aligner.solvers.solver import Solver

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True)
class Entry:
    """How a named solver is made.

    config: its class, or a function that makes one; or either as module:name of this package.
    options: by name, the type of their values, or module:name of a dictionary or an Enum of choices.
    preset: values of options, as a user writes them, or of other fields of the class, as module:name.
    weights: whether its solution is a weight of each feature; a kernel method's is one of each edge.
    marginals: whether it solves only problems that have `aligner.problem.Marginals`.
    """

    config: str | Callable[..., Any]
    options: Mapping[str, type | str] = field(default_factory=dict)
    preset: Mapping[str, str] = field(default_factory=dict)
    weights: bool = True
    marginals: bool = False


_AVERAGE: dict[str, type | str] = {"average": "averages:Average"}
_VISITING: dict[str, type | str] = {"order": "orders:VISITING_ORDERS"}
_BATCH: dict[str, type | str] = {"step": "steps:STEPS", **_AVERAGE}
_GRADIENT: dict[str, type | str] = {**_VISITING, "step": "projected_gradient:GradientStep"}
_SADDLE: dict[str, type | str] = {"projection": "saddle:Projection", "radius": float, "restarts": bool}
_SADDLE |= {"l1_radius": float}
_SMOOTH: dict[str, type | str] = {"smoothing": float}
_KERNEL: dict[str, type | str] = {"kernel": str, "degree": int, "bandwidth": float, **_VISITING}
_KERNEL |= {"step": "steps:FORWARD_STEPS", **_AVERAGE}
_BLOCK: dict[str, type | str] = {"order": "orders:ORDERS", "step": "steps:STEPS", **_AVERAGE, "cache": bool}
_BLOCK |= {"repeats": int, "batch": int}

SOLVERS: Mapping[str, Entry] = {
    "frank-wolfe": Entry("batch:FrankWolfe", _BATCH),
    "away-frank-wolfe": Entry("batch:FrankWolfe", _BATCH, {"step": "away"}),
    "pairwise-frank-wolfe": Entry("batch:FrankWolfe", _BATCH, {"step": "pairwise"}),
    "blended-frank-wolfe": Entry("batch:FrankWolfe", _BATCH, {"step": "blended"}),
    "cutting-plane": Entry("cutting_plane:CuttingPlane"),
    "subgradient": Entry("batch:FrankWolfe", _AVERAGE, {"step": "steps:DECREASING"}),
    "stochastic-subgradient": Entry("subgradient:StochasticSubgradient", {**_VISITING, **_AVERAGE}),
    "bcfw": Entry("block:Block", _BLOCK),
    "bcfw-gap": Entry("block:Block", _BLOCK, {"order": "gap", "cache": "yes"}),
    "bcfw-away": Entry("block:Block", _BLOCK, {"order": "gap", "step": "away", "cache": "yes"}),
    "bcfw-pairwise": Entry("block:Block", _BLOCK, {"order": "gap", "step": "pairwise", "cache": "yes"}),
    "randomized-away": Entry("randomized_away:RandomizedAway", {**_VISITING, "sample": float}),
    "projected-gradient": Entry("projected_gradient:ProjectedGradient", _GRADIENT, marginals=True),
    "extragradient": Entry("extragradient:Extragradient", _SADDLE, marginals=True),
    "exponentiated-gradient": Entry(
        "projected_gradient:ProjectedGradient", _VISITING, {"projection": "saddle:Projection.ENTROPIC"}, marginals=True
    ),
    "excessive-gap": Entry("excessive_gap:ExcessiveGap", _SMOOTH, marginals=True),
    "kernel-bcfw": Entry("kernel:kernel_block", _KERNEL, weights=False),
}

SMOOTH: Mapping[str, Entry] = {
    "newton": Entry("newton:Newton"),
    "lbfgs": Entry("newton:lbfgs"),
}
"""Solvers of smooth losses, such as `LogLoss`; those of SOLVERS are for the hinge loss."""


def find_solver(name: str) -> Entry:
    """Find a solver here, or among other packages' entry points ``aligner.solvers``.  SettingError if unknown."""
    own = {**SOLVERS, **SMOOTH}
    entry = own.get(name) or next((p.load() for p in entry_points(group="aligner.solvers", name=name)), None)
    if entry is None:
        raise SettingError(f"unknown solver {name!r} (choose from {', '.join(own)}, or install it)")
    return entry


def make_solver(name: str = "bcfw", **options: Any) -> Solver[BlockProblem, Any]:
    """Make the solver of this name with these options; an option that is None has its default.

    options: values, or strings as a user writes them: numbers, yes or no, names of choices; or objects of these.
    Raises SettingError for a name, an option or a value that is not known.
    """
    entry = find_solver(name)
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in entry.options:
            has = f"it has {', '.join(entry.options)}" if entry.options else "it has none"
            raise SettingError(f"{name} has no option {option} ({has})")
    values = {
        option: _read(option, entry.options[option], value) if option in entry.options else _resolve(value)
        for option, value in {**entry.preset, **given}.items()
    }
    solver: Solver[BlockProblem, Any] = _resolve(entry.config)(**values)
    return solver


def choices(kind: type | str) -> dict[str, Any] | None:
    """The values of an option of this kind by their names; None if it has no names, as a number."""
    if kind is bool:
        return _WORDS
    if isinstance(kind, type):
        return None
    table = _resolve(kind)
    return dict(table) if isinstance(table, dict) else {choice.value: choice for choice in table}


def _resolve(path: str | Callable[..., Any]) -> Any:
    return resolve_name(f"aligner.solvers.{path}") if isinstance(path, str) else path


def _read(option: str, kind: type | str, value: Any) -> Any:
    """The value of an option, from a string or as it is given."""
    if kind is bool and isinstance(value, bool):
        return value
    known = choices(kind)
    if known is not None:
        if not isinstance(value, str):  # an order, a step or an average, or a function
            return value
        if value not in known:
            raise SettingError(f"unknown {option} {value!r} (choose from {', '.join(known)})")
        return known[value]
    assert isinstance(kind, type)
    try:
        return kind(str(value))  # not int(2.5)
    except ValueError:
        number = "a whole number" if kind is int else "a number"
        raise SettingError(f"{option} must be {number}, not {value!r}") from None
