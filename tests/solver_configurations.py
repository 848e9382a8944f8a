"""The solvers that contracts run over: each by default, with every value of every option, and what they are run on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from aligner.losses.chain import ChainProblem
from aligner.losses.hinge import MatchingProblem
from aligner.losses.kernel_functions import RBF, Kernel, Linear, Polynomial
from aligner.problem import BlockDefaults, Corners, MarginalDefaults, Marginals
from aligner.solvers import SOLVERS, Result, Solver, Stop, make_solver, solve
from aligner.solvers.registry import choices

MakeProblem = Callable[..., MatchingProblem]

NUMBERS: dict[str, tuple[object, ...]] = {
    "sample": (0.3, 1.0), "kernel": ("linear", "polynomial"), "repeats": (3,), "smoothing": (2.0,),
}  # fmt: skip
"""The values of options without choices that the contract is tried with, beside their defaults."""


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
        if self.name == "excessive-gap":
            return 1e-2  # its points grow ever sharper, of which projections know less and less
        if self.name == "extragradient" and self["projection"] == "entropic" and not self["restarts"]:
            return 1e-2  # the points that it projects go ever further out, which with ceilings is inexact
        # Blocks drawn at random are not visited equally often, which its certificate has to make good.
        return 5e-3 if self.name == "stochastic-subgradient" and self["order"] == "uniform" else 1e-3

    @property
    def passes(self) -> int:
        """So many that all of it happens: restarts are thought of after five, and ten."""
        return 12 if self["restarts"] else 7

    @property
    def never_lowers_the_dual(self) -> bool:
        if self.name == "excessive-gap":
            return False
        if "subgradient" in self.name:
            return self.name.startswith("stochastic")  # which reports the best dual point so far
        return self.name != "extragradient" and self["step"] != "decreasing" and self["average"] in (None, "none")


def _values(option: str, kind: type | str) -> tuple[object, ...]:
    if kind is bool:
        return False, True
    known = choices(kind)
    return NUMBERS.get(option, ()) if known is None else tuple(known)


def _distinct(found: Iterable[Configuration]) -> list[Configuration]:
    """Without those that are the same solver by another name."""
    distinct: dict[Solver[Any, Any], Configuration] = {}
    for configuration in found:
        distinct.setdefault(configuration.solver, configuration)
    return list(distinct.values())


def _tried(name: str) -> list[Configuration]:
    """A solver by default, with the last value of all options, and with each value of each."""
    options = {option: _values(option, kind) for option, kind in SOLVERS[name].options.items()}
    last = tuple((option, values[-1]) for option, values in options.items() if values)
    single = [((option, value),) for option, values in options.items() for value in values]
    return [Configuration(name, chosen) for chosen in [(), last, *single]]


ALL = _distinct(configuration for name in SOLVERS for configuration in _tried(name))
"""Every value of every option, for the two laws that all else rests on."""

CONFIGURATIONS = _distinct(configuration for name in SOLVERS for configuration in _tried(name)[:2])
"""Each solver by default and with the last value of its options, for all other laws."""


def of_corners(configurations: list[Configuration]) -> list[Configuration]:
    """Without `kernel-bcfw`, which aligner/solvers/test_kernel.py holds to the laws in the space of its kernel."""
    return [c for c in configurations if c.name != "kernel-bcfw"]


def gram(kernel: Kernel, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """K(x, y) of all rows of x and y by the formulas, in float64."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    match kernel:
        case Linear():
            return x @ y.T
        case Polynomial(degree):
            return (1.0 + x @ y.T) ** degree / degree
        case RBF(bandwidth):
            return np.exp(-0.5 * (cdist(x, y) / bandwidth) ** 2)


@dataclass
class Multiclass(MarginalDefaults, BlockDefaults):
    """A problem that is no matching: n points (n, p) of K classes, each a block of K corners  [CS01].

    ψ_i(y) = φ(x_i, y_i) − φ(x_i, y) with φ(x, y) = x in the place of class y; L_i(y) = 1 but for y = y_i.
    """

    points: np.ndarray
    labels: np.ndarray
    classes: int
    regularization: float = 0.1
    calls: int = 0

    geometries = "euclidean", "entropic"
    n_blocks = property(lambda self: len(self.points))
    n_features = property(lambda self: self.classes * self.points.shape[1])
    parts = property(lambda self: self.classes * np.arange(len(self.points) + 1))
    target = property(lambda self: np.eye(self.classes)[self.labels].ravel())

    @classmethod
    def random(cls, n: int = 30, p: int = 2, classes: int = 4, seed: int = 0) -> Multiclass:
        rng = np.random.default_rng(seed)
        labels = rng.integers(classes, size=n)
        return cls(rng.standard_normal((n, p)) + rng.standard_normal((classes, p))[labels], labels, classes)

    def psi(self, i: int, y: int) -> np.ndarray:
        psi = np.zeros((self.classes, self.points.shape[1]))
        psi[self.labels[i]] += self.points[i]
        psi[y] -= self.points[i]
        return psi.ravel()

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        self.calls += len(blocks)
        best = self.scores(blocks, w).reshape(-1, self.classes).argmax(axis=1)
        psi = np.array([self.psi(i, y) for i, y in zip(blocks, best, strict=True)])
        return Corners(psi, (best != self.labels[blocks]).astype(float))

    def marginals(self) -> Marginals:
        return self

    def diameters(self) -> np.ndarray:
        """Two classes' features change."""
        return np.sqrt(2.0) * np.linalg.norm(self.points, axis=1)

    def scores(self, blocks: np.ndarray, w: np.ndarray) -> np.ndarray:
        wrong = self.labels[blocks, None] != np.arange(self.classes)
        return (self.points[blocks] @ w.reshape(self.classes, -1).T + wrong).ravel()

    def moments(self, blocks: np.ndarray, z: np.ndarray) -> np.ndarray:
        shares = z.reshape(-1, self.classes)
        wrong = self.labels[blocks, None] != np.arange(self.classes)
        return np.append(shares.T @ self.points[blocks], (shares * wrong).sum())

    def nearest(self, blocks: np.ndarray, points: np.ndarray, geometry: str) -> np.ndarray:
        rows = points.reshape(-1, self.classes)
        if geometry == "entropic":
            z = np.exp(rows - rows.max(axis=1, keepdims=True))
            return (z / z.sum(axis=1, keepdims=True)).ravel()
        falling = -np.sort(-rows, axis=1)
        levels = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, self.classes + 1)
        last = (falling > levels).sum(axis=1) - 1
        return np.maximum(rows - levels[np.arange(len(rows)), last][:, None], 0.0).ravel()


_BOTH = "euclidean", "entropic"
PROBLEMS = {"matchings": _BOTH, "b-matchings": _BOTH, "multiclass": _BOTH, "chains": ("entropic",)}
"""What contracts are run on, with the geometries that their marginals know."""

ENTROPIC = {"exponentiated-gradient", "excessive-gap"}


def knowing(configurations: list[Configuration], kind: str) -> list[Configuration]:
    """Those that know problems of this kind."""

    def knows(configuration: Configuration) -> bool:
        entry = SOLVERS[configuration.name]
        if entry.marginals:
            projection = "entropic" if configuration.name in ENTROPIC else configuration["projection"] or "euclidean"
            return projection in PROBLEMS[kind]
        return kind == "matchings" or entry.weights

    return [configuration for configuration in configurations if knows(configuration)]


def on_problems(configurations: list[Configuration]) -> pytest.MarkDecorator:
    """Each on all problems that it knows: matchings, b-matchings, and foreign ones in Python and compiled."""
    cases = [(c, kind) for kind in PROBLEMS for c in knowing(configurations, kind)]
    return pytest.mark.parametrize(("configuration", "kind"), cases, ids=[f"{c}-{kind}" for c, kind in cases])


every_solver_of_corners = pytest.mark.parametrize(
    "configuration", knowing(of_corners(CONFIGURATIONS), "matchings"), ids=str
)


@dataclass
class Plain(BlockDefaults):
    """A problem with corners only, so that solvers take their generic path; it counts the oracle calls."""

    problem: MatchingProblem | ChainProblem
    calls: int = 0

    n_blocks = property(lambda self: self.problem.n_blocks)
    n_features = property(lambda self: self.problem.n_features)
    n_nonpositive = property(lambda self: self.problem.n_nonpositive)
    regularization = property(lambda self: self.problem.regularization)
    sparse = property(lambda self: self.problem.sparse)
    marginals = property(lambda self: self.problem.marginals)

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        self.calls += len(blocks)
        return self.problem.corners(blocks, w)

    def rehearsal(self) -> MatchingProblem | ChainProblem | None:
        return self.problem.rehearsal()


def run(problem: object, solver: object, **limits: float) -> Result:
    return solve(problem, solver, stop=Stop(**limits), seed=3)  # type: ignore[arg-type]


def iterates(problem: object, solver: object, passes: int, seed: int = 3) -> list[np.ndarray]:
    """The weights after each pass, of which `solve` returns the best."""
    found: list[np.ndarray] = []
    stop = Stop(gap=0.0, passes=passes, audit_growth=1.0)
    solve(problem, solver, stop=stop, seed=seed, measure=lambda w: found.append(w.copy()) or 0.0)  # type: ignore[arg-type]
    return found[1:]


Foreign = Multiclass | ChainProblem
MakeKind = Callable[..., MatchingProblem | Foreign]
