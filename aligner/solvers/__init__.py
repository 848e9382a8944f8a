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

To add one: write a frozen dataclass with the four members of `driver.Solver`, here a function from the options a user
may give, as strings and numbers, to it, and its name in `aligner.cli.options`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from aligner.errors import SettingError
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
from aligner.svm.kernels import make_kernel
from aligner.svm.protocols import BlockProblem

__all__ = ["SOLVERS", "Result", "Solver", "Status", "Stop", "TracePoint", "make_solver", "solve"]

Choice = TypeVar("Choice")


def _choose(option: str, value: str, known: Mapping[str, Choice]) -> Choice:
    if value not in known:
        raise SettingError(f"unknown {option} {value!r} (choose from {', '.join(known)})")
    return known[value]


def _bcfw(
    order: str = "permuted",
    step: str = "line-search",
    average: str = "none",
    cache: bool = False,
) -> Solver[BlockProblem, Any]:
    forward, mean = _choose("step", step, STEPS), _choose("average", average, AVERAGES)
    return Block(_choose("order", order, ORDERS), forward, mean, cache)


def _bcfw_gap(step: str = "line-search", average: str = "none", cache: bool = True) -> Solver[BlockProblem, Any]:
    return _bcfw("gap", step, average, cache)


def _bcfw_away(order: str = "gap", cache: bool = True) -> Solver[BlockProblem, Any]:
    return Block(_choose("order", order, ORDERS), Away(), cache=cache)


def _bcfw_pairwise(order: str = "gap", cache: bool = True) -> Solver[BlockProblem, Any]:
    return Block(_choose("order", order, ORDERS), Pairwise(), cache=cache)


def _frank_wolfe(step: str = "line-search", average: str = "none") -> Solver[BlockProblem, Any]:
    return FrankWolfe(_choose("step", step, STEPS), _choose("average", average, AVERAGES))


def _away_frank_wolfe() -> Solver[BlockProblem, Any]:
    return Corrective(Correction.AWAY)


def _pairwise_frank_wolfe() -> Solver[BlockProblem, Any]:
    return Corrective(Correction.PAIRWISE)


def _cutting_plane() -> Solver[BlockProblem, Any]:
    return Corrective(Correction.FULL)


def _subgradient(average: str = "none") -> Solver[BlockProblem, Any]:
    return Subgradient(_choose("average", average, AVERAGES))


def _stochastic_subgradient(order: str = "permuted", average: str = "weighted") -> Solver[BlockProblem, Any]:
    return StochasticSubgradient(_choose("order", order, VISITING_ORDERS), _choose("average", average, AVERAGES))


def _randomized_away(order: str = "permuted", sample: float = 0.01) -> Solver[BlockProblem, Any]:
    return RandomizedAway(_choose("order", order, VISITING_ORDERS), sample)


def _kernel_bcfw(
    kernel: str = "rbf", degree: int | None = None, bandwidth: float | None = None, order: str = "permuted"
) -> Solver[BlockProblem, Any]:
    options = {"degree": degree, "bandwidth": bandwidth}
    given = {option: value for option, value in options.items() if value is not None}
    return KernelBlock(make_kernel(kernel, **given), _choose("order", order, VISITING_ORDERS))


def _projected_gradient(order: str = "permuted", step: str = "spectral") -> Solver[BlockProblem, Any]:
    return ProjectedGradient(_choose("order", order, VISITING_ORDERS), _choose("step", step, GRADIENT_STEPS))


def _extragradient(
    projection: str = "euclidean", radius: float | None = None, restarts: bool = False
) -> Solver[BlockProblem, Any]:
    return Extragradient(_choose("projection", projection, PROJECTIONS), radius, restarts)


SOLVERS: dict[str, Callable[..., Solver[BlockProblem, Any]]] = {
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


ONE_LINK = frozenset({"projected-gradient", "extragradient", "kernel-bcfw"})
"""Solvers of problems with one link a word only: they know the matching polytope, not what oracles answer."""


def make_solver(name: str = "bcfw", **options: Any) -> Solver[BlockProblem, Any]:
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
