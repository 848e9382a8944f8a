"""The solvers that contracts run over: each by default, with every value of every option, and what they are run on."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from aligner.solvers import SOLVERS, Result, Solver, Stop, make_solver, solve
from aligner.solvers.extragradient import PROJECTIONS
from aligner.solvers.orders import ORDERS
from aligner.solvers.steps import AVERAGES, STEPS
from aligner.svm.hinge import MatchingProblem
from aligner.svm.protocols import Corners

MakeProblem = Callable[..., MatchingProblem]

CHOICES: dict[str, tuple[object, ...]] = {
    "order": tuple(ORDERS),
    "step": tuple(STEPS),
    "average": tuple(AVERAGES),
    "cache": (False, True),
    "projection": tuple(PROJECTIONS),
    "restarts": (False, True),
    "stochastic-subgradient order": ("uniform", "permuted"),
    "randomized-away order": ("uniform", "permuted"),
    "projected-gradient order": ("uniform", "permuted"),
    "projected-gradient step": ("spectral", "lipschitz"),
    "sample": (0.01, 0.3, 1.0),
    "kernel": ("linear", "polynomial", "rbf"),
    "kernel-bcfw order": ("uniform", "permuted"),
}
"""The values of each option that the contract is tried with, for all solvers or for one."""


@dataclass(frozen=True)
class Configuration:
    """A solver by the names a user gives."""

    name: str
    options: tuple[tuple[str, object], ...]

    def __str__(self) -> str:
        return "-".join([self.name, *(f"{option}={value}" for option, value in self.options)])

    def __getitem__(self, option: str) -> object:
        return dict(self.options).get(option)

    @property
    def solver(self) -> Solver[Any, Any]:
        return make_solver(self.name, **dict(self.options))

    @property
    def reachable(self) -> float:
        """A relative gap that a few thousand passes reach; averages of all iterates never forget the first."""
        if self["average"] == "uniform":
            return 2e-2
        # Blocks drawn at random are not visited equally often, which its certificate has to make good.
        return 5e-3 if self.name == "stochastic-subgradient" and self["order"] == "uniform" else 1e-3

    @property
    def passes(self) -> int:
        """So many that all of it happens: restarts are thought of every ten."""
        return 12 if self["restarts"] else 7

    @property
    def never_lowers_the_dual(self) -> bool:
        if "subgradient" in self.name:
            return self.name.startswith("stochastic")  # which reports the best dual point so far
        return self.name != "extragradient" and self["step"] != "decreasing" and self["average"] in (None, "none")


def configurations(name: str) -> list[Configuration]:
    """A solver by default, with each value of each option, and with the last value of all of them."""
    options = {o: CHOICES.get(f"{name} {o}", CHOICES.get(o, ())) for o in inspect.signature(SOLVERS[name]).parameters}
    single = [((option, value),) for option, values in options.items() for value in values]
    last = tuple((option, values[-1]) for option, values in options.items() if values)
    return [Configuration(name, chosen) for chosen in dict.fromkeys([(), *single, last])]


CONFIGURATIONS = [configuration for name in SOLVERS for configuration in configurations(name)]
every_solver_of_corners = pytest.mark.parametrize(
    "configuration", [c for c in CONFIGURATIONS if c.name != "kernel-bcfw"], ids=str
)
"""Laws of weights and corners in the space of the features; `kernel-bcfw` is held to them in that of its kernel, in
aligner/solvers/test_kernel.py."""

ONE_LINK_ONLY = ("kernel-bcfw", "projected-gradient", "extragradient")
"""Those that work on marginals of edges, and so with one link a word."""

SEVERAL_LINKS = [c for c in CONFIGURATIONS if c.name not in ONE_LINK_ONLY]


@dataclass
class Plain:
    """A problem with corners only, so that solvers take their generic path; it counts the oracle calls."""

    problem: MatchingProblem
    calls: int = 0

    n_blocks = property(lambda self: self.problem.n_blocks)
    n_features = property(lambda self: self.problem.n_features)
    n_nonpositive = property(lambda self: self.problem.n_nonpositive)
    regularization = property(lambda self: self.problem.regularization)
    signature = property(lambda self: self.problem.signature)
    notes = property(lambda self: self.problem.notes)
    edges = property(lambda self: self.problem.edges)
    labels = property(lambda self: self.problem.labels)
    costs = property(lambda self: self.problem.costs)
    oracle = property(lambda self: self.problem.oracle)

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        self.calls += len(blocks)
        return self.problem.corners(blocks, w)

    def exact_corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        return self.corners(blocks, w)


def run(problem: object, solver: object, **limits: float) -> Result:
    return solve(problem, solver, stop=Stop(**limits), seed=3)  # type: ignore[arg-type]
