"""Objective: what training minimises, how, and for which λ, from what the user asked for and how much is labelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.matching import get_oracle
from aligner.model.default import default_weights
from aligner.solvers import SOLVERS, Solver, make_solver
from aligner.solvers.newton import Newton
from aligner.svm.hinge import (
    DEFAULT_FALSE_COST,
    DEFAULT_MISS_COST,
    DEFAULT_POSSIBLE_COST,
    MatchingProblem,
    check_costs,
)
from aligner.svm.logistic import DEFAULT_MISS_COST as LOGISTIC_MISS_COST
from aligner.svm.logistic import LogisticProblem
from aligner.svm.prices import Fertility
from aligner.training.path import LabelledProblem, geometric_path
from corpora.alignment import Links
from features.table import EdgeTable

DEFAULT_REGULARIZATION = 0.1
"""λ of the hinge loss."""

DEFAULT_FERTILITY = 3

DEFAULT_FOLDS = 5
"""Folds of the cross-validation that chooses λ."""

FEW_PAIRS = 1000
"""Fewer labelled pairs teach more by the logistic loss, towards the default weights, with a cross-validated λ."""

LOGISTIC_PATH = 30.0, 0.3, 5
"""λ n from, to, and how many: between the default weights, nearly, and what the labels say."""

LOGISTIC_REGULARIZATION = 3.0
"""λ n without cross-validation."""

LOGISTIC_MISS_COSTS = 1.5, 1.0, 2.25, 3.4
"""c⁺ to choose from by cross-validation: how many links gold likes differs from one annotator to the next."""

FREQUENT_WORDS = 30
"""Of each language with a feature of their own, with the logistic loss: the labelled pairs are few, so they cost
nothing, and how these words are linked is what annotators differ in most."""

MOST_WORDS = 1000
"""That may have: every edge gets two columns of zeros for each."""

LOSSES = "hinge", "logistic"


@dataclass(frozen=True)
class Objective:
    """What is minimised and how, see `training.train`; what is None is decided here.

    all_families: whether the features are those of the default weights; without these the hinge learns more.
    """

    loss: str | None = None
    solver: str | None = None
    solver_options: Mapping[str, Any] = field(default_factory=dict)
    oracle: str | None = None
    regularization: float | None = None
    path: tuple[float, float, int] | None = None
    cross_validate: int | None = None
    fertility: int | None = None
    miss_cost: float | None = None
    false_cost: float = DEFAULT_FALSE_COST
    possible_cost: float | None = None
    all_families: bool = True
    words: int | None = None

    @property
    def _hinge_only(self) -> bool:
        """Whether something is asked for that only the hinge loss has."""
        options = any(value is not None for value in self.solver_options.values())
        return options or not (self.solver is None and self.oracle is None and self.possible_cost is None)

    def check(self) -> None:
        """Raise SettingError for what cannot work, before anything is read."""
        if self.loss is not None and self.loss not in LOSSES:
            raise SettingError(f"unknown loss {self.loss!r} (choose from {', '.join(LOSSES)})")
        if self.loss == "logistic" and self._hinge_only:
            what = "the logistic loss has a solver of its own, without oracle, and leaves possible links out"
            raise SettingError(f"{what} (leave out what is of the hinge loss only, or choose that)")
        if self.path is not None and self.regularization is not None:
            raise SettingError("a path chooses the regularization (give one of the two)")
        if self.cross_validate is not None and (self.cross_validate < 0 or self.cross_validate == 1):
            raise SettingError(f"cross-validation has at least 2 folds, or 0 for none, not {self.cross_validate}")
        if self.words is not None and not 0 <= self.words <= MOST_WORDS:
            raise SettingError(f"{self.words} words cannot have features of their own (give from 0 to {MOST_WORDS})")
        regularization = DEFAULT_REGULARIZATION if self.regularization is None else self.regularization
        largest = regularization if self.path is None else geometric_path(*self.path)[0]
        check_costs(largest, self._miss_cost("hinge"), self.false_cost, self._possible_cost)
        self._hinge_solver()

    def loss_of(self, pairs: int) -> str:
        """The loss for so many labelled pairs."""
        if self.loss is not None:
            return self.loss
        return "hinge" if self._hinge_only or not self.all_families or pairs >= FEW_PAIRS else "logistic"

    def words_of(self, pairs: int) -> int:
        """How many words of each language have a feature of their own, for so many labelled pairs."""
        if self.words is not None:
            return self.words
        return FREQUENT_WORDS if self.loss_of(pairs) == "logistic" else 0

    def plan(self, pairs: int) -> tuple[tuple[float, ...], int]:
        """The λ to solve for, descending, and the folds, for so many labelled pairs."""
        logistic = self.loss_of(pairs) == "logistic"
        folds = self.cross_validate
        if folds is None:
            few = logistic and 2 * DEFAULT_FOLDS <= pairs < FEW_PAIRS
            folds = DEFAULT_FOLDS if self.path is not None or few else 0
        if self.path is not None:
            return geometric_path(*self.path), folds
        if self.regularization is not None:
            return (self.regularization,), folds
        if not logistic:
            return (DEFAULT_REGULARIZATION,), folds
        n = max(pairs, 1)
        if not folds:
            return (LOGISTIC_REGULARIZATION / n,), folds
        largest, smallest, values = LOGISTIC_PATH
        return geometric_path(largest / n, smallest / n, values), folds

    def miss_costs(self, pairs: int) -> tuple[float, ...]:
        """c⁺ to choose from, for so many labelled pairs, unless something was asked for; none: that of the problem."""
        asked = not (self.miss_cost is None and self.regularization is None and self.path is None)
        if asked or self.loss_of(pairs) == "hinge" or not self.plan(pairs)[1]:
            return ()
        return LOGISTIC_MISS_COSTS

    def problem(
        self, edges: EdgeTable, links: Links, regularization: float
    ) -> tuple[LabelledProblem, Solver[Any, Any]]:
        """What is solved, and by what."""
        if self.loss_of(len(links)) == "logistic":
            return self._logistic(edges, links, regularization), Newton()
        solver = self._hinge_solver()
        oracle = self.oracle or "assignment"
        capacity = self.fertility
        if capacity is None:
            no_more = SOLVERS[self.solver or "bcfw"].one_link or not get_oracle(oracle).several
            capacity = 1 if no_more else DEFAULT_FERTILITY
        problem = MatchingProblem.from_links(
            edges, links, regularization=regularization, miss_cost=self._miss_cost("hinge"),
            false_cost=self.false_cost, possible_cost=self._possible_cost, oracle=oracle,
            preference=edges.features[:, edges.names.index("dice")] if "dice" in edges.names else None,
            fertility=Fertility(capacity, capacity),
        )  # fmt: skip
        return problem, solver

    def _logistic(self, edges: EdgeTable, links: Links, regularization: float) -> LogisticProblem:
        known = default_weights().weights
        prior = None
        # Weights of some columns mean nothing without those that they were learnt with.
        if set(known) <= set(edges.names):
            prior = np.array([known.get(name, 0.0) for name in edges.names])
        return LogisticProblem.from_links(
            edges, links, regularization=regularization, prior=prior, prior_name="default",
            miss_cost=self._miss_cost("logistic"), false_cost=self.false_cost,
            capacity=DEFAULT_FERTILITY if self.fertility is None else self.fertility,
        )  # fmt: skip

    def _hinge_solver(self) -> Solver[Any, Any]:
        get_oracle(self.oracle or "assignment")
        return make_solver(self.solver or "bcfw", **self.solver_options)

    def _miss_cost(self, loss: str) -> float:
        if self.miss_cost is not None:
            return self.miss_cost
        return DEFAULT_MISS_COST if loss == "hinge" else LOGISTIC_MISS_COST

    @property
    def _possible_cost(self) -> float:
        return DEFAULT_POSSIBLE_COST if self.possible_cost is None else self.possible_cost
