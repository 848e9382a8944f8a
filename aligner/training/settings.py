"""TrainingSettings: what a user asks of training.  Plan: what is done, once the number of labelled pairs is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from aligner.errors import SettingError
from aligner.matching import get_oracle
from aligner.model.default import default_weights
from aligner.solvers import Solver, make_solver
from aligner.solvers.kernel import KernelBlock
from aligner.solvers.newton import Newton
from aligner.solvers.registry import find_solver
from aligner.svm import fenchel_young, hinge
from aligner.svm.fenchel_young import FenchelYoungProblem
from aligner.svm.hinge import MatchingProblem, check_costs
from aligner.svm.kernels import Linear
from aligner.svm.prices import Fertility
from corpora.alignment import Links
from corpora.files import StrPath
from corpora.normalize import Normalizer
from features.candidates import check_candidates
from features.extractor import FAMILIES
from features.table import DEFAULT_MEMORY, EdgeTable

LabelledProblem = MatchingProblem | FenchelYoungProblem

DEFAULT_REGULARIZATION = 0.1
"""λ of the hinge loss."""

DEFAULT_FERTILITY = 3

DEFAULT_FOLDS = 5
"""Folds of the cross-validation that tells the AER and calibrates the probabilities."""

FEW_PAIRS = 1000
"""Fewer labelled pairs are held out by default, and have features of words: more cost time and change nothing."""

SMOOTH_REGULARIZATION = 3.0
"""λ n of other losses."""

FREQUENT_WORDS = 30
"""Words of each language with a feature of their own, unless by the hinge, with few labelled pairs: how these words
are linked is what annotators differ in most."""

MOST_WORDS = 1000
"""Words of each language that may have a feature: every edge gets two columns of zeros for each."""


@dataclass(frozen=True)
class Loss:
    """What a loss is, and its costs where none are given.

    regularizer, links: of a `FenchelYoungProblem`; None: the hinge loss, of a `MatchingProblem`.
    """

    regularizer: str | None
    links: int | None
    miss_cost: float = fenchel_young.DEFAULT_MISS_COST
    false_cost: float = fenchel_young.DEFAULT_FALSE_COST


CENTERS = "default", "zero"

LOSSES = {
    "fenchel-young": Loss("fermi-dirac", 2),
    "sparsemap": Loss("euclidean", 2),
    "logistic": Loss("fermi-dirac", None),
    "hinge": Loss(None, None, hinge.DEFAULT_MISS_COST, hinge.DEFAULT_FALSE_COST),
}


@dataclass(frozen=True)
class TrainingSettings:
    """What a user asks of training; where a setting is None, `plan` decides.  Raises SettingError for what cannot work.

    languages, normalizers: of source and target; languages as suffixes of file names.
    families: of features, see `features.extractor.FAMILIES`; all by default.
    candidates: the edges to look at, likely or all, see `features.candidates`; kept in the model.
    words: of each language, how many of the most frequent in the labelled pairs have a feature of their own; by default
    30 below 1,000 labelled pairs, without the hinge; otherwise none.
    priors: a file that the translation models begin with, see `features.translation.priors`.
    sample: of more pairs of text than these a random sample is counted.
    max_labelled: of more labelled pairs a random sample is used.
    loss: fenchel-young, of link probabilities that respect the matching, sparsemap, logistic, of every edge by itself
    (see `fenchel_young.FenchelYoungProblem`), or hinge, of the worst matching; by default fenchel-young, and hinge
    without some families or where what only it knows is given: solver (bcfw by default), solver_options (see
    `solvers.SOLVERS`), oracle (assignment) or possible_cost.
    regularization: λ; by default 0.1 with the hinge, and 3 over the number of labelled pairs with other losses.
    center: the weights that others are drawn to, default, where all families are used, or zero; by default zero with
    the hinge, and default with other losses.
    cross_validate: folds that tell the AER and calibrate the probabilities; by default 5 with 10 to 999 labelled pairs,
    without the hinge; 0: none. See `cross_validate.cross_validate`.
    fertility: links a word may have, 3 by default, and 1 for solvers that know no more.
    miss_cost, false_cost, possible_cost: c⁺, c⁻ and c° of the loss, see `hinge.MatchingProblem`; by default those of
    LOSSES, and 10.
    tolerance, max_passes, max_seconds: relative duality gap and limits, of each solution.
    memory: bytes of features, with what solvers need for the longest pair, to hold before they go to a temporary file.
    """

    languages: tuple[str | None, str | None] = (None, None)
    normalizers: tuple[Normalizer, Normalizer] = (Normalizer(), Normalizer())
    families: Sequence[str] | None = None
    candidates: str = "likely"
    words: int | None = None
    priors: StrPath | None = None
    sample: int | None = None
    max_labelled: int = 50_000
    loss: str | None = None
    solver: str | None = None
    solver_options: Mapping[str, Any] = field(default_factory=dict)
    oracle: str | None = None
    regularization: float | None = None
    center: str | None = None
    cross_validate: int | None = None
    fertility: int | None = None
    miss_cost: float | None = None
    false_cost: float | None = None
    possible_cost: float | None = None
    tolerance: float = 1e-3
    max_passes: int = 200
    max_seconds: float = inf
    seed: int = 0
    memory: int = DEFAULT_MEMORY

    def __post_init__(self) -> None:
        least = {
            "sample": 1,
            "max_labelled": 1,
            "tolerance": 0,
            "max_passes": 0,
            "max_seconds": 0,
            "seed": 0,
            "memory": 0,
        }
        for name, smallest in least.items():
            value = getattr(self, name)
            if value is not None and not value >= smallest:  # NaN is not, either
                raise SettingError(f"{name.replace('_', ' ')} must be a number of at least {smallest}, not {value}")
        check_candidates(self.candidates)
        if self.loss is not None and self.loss not in LOSSES:
            raise SettingError(f"unknown loss {self.loss!r} (choose from {', '.join(LOSSES)})")
        if self.loss not in (None, "hinge") and self.hinge_only:
            what = f"the {self.loss} loss has a solver of its own, without oracle, and leaves possible links out"
            raise SettingError(f"{what} (leave out what is of the hinge loss only, or choose that)")
        if self.center is not None and self.center not in CENTERS:
            raise SettingError(f"unknown center {self.center!r} (choose from {', '.join(CENTERS)})")
        if self.cross_validate is not None and (self.cross_validate < 0 or self.cross_validate == 1):
            raise SettingError(f"cross-validation has at least 2 folds, or 0 for none, not {self.cross_validate}")
        if self.words is not None and not 0 <= self.words <= MOST_WORDS:
            raise SettingError(f"{self.words} words cannot have features of their own (give from 0 to {MOST_WORDS})")
        if self.fertility is not None and not 1 <= self.fertility <= 100:  # no word has more, and each takes memory
            raise SettingError(f"a word cannot have {self.fertility} links (give from 1 to 100)")
        plan(self, DEFAULT_FOLDS if self.cross_validate is None else self.cross_validate)  # complains now, not later

    @property
    def hinge_only(self) -> bool:
        """Whether something is asked for that only the hinge loss has."""
        return bool(self.solver_options) or (self.solver, self.oracle, self.possible_cost) != (None, None, None)


@dataclass(frozen=True)
class Plan:
    """How weights are learnt: the loss, its solver, λ and costs.  Raises SettingError.

    regularization: λ.  folds: parts of the pairs, each held out once; or 0.
    miss_cost, false_cost: c⁺ and c⁻.  capacity: links a word may have.
    words: of each language with a feature of their own.
    oracle, possible_cost: of the hinge loss only.  center: of CENTERS.
    """

    loss: str
    solver: Solver[Any, Any]
    regularization: float
    miss_cost: float = hinge.DEFAULT_MISS_COST
    false_cost: float = hinge.DEFAULT_FALSE_COST
    possible_cost: float = hinge.DEFAULT_POSSIBLE_COST
    folds: int = 0
    words: int = 0
    capacity: int = DEFAULT_FERTILITY
    oracle: str = "assignment"
    center: str = "default"

    def __post_init__(self) -> None:
        costs = self.miss_cost, self.false_cost, self.possible_cost
        check_costs(self.regularization, *costs)
        if max(self.regularization, *costs) > 1e9 or self.regularization < 1e-9:  # their squares overflow
            raise SettingError("λ must be from 1e-9 to 1e9, and costs at most 1e9")

    def problem(self, edges: EdgeTable, links: Links) -> LabelledProblem:
        """The problem of labelled pairs."""
        known, loss = default_weights(), LOSSES[self.loss]
        shared: dict[str, Any] = {
            "regularization": self.regularization, "miss_cost": self.miss_cost, "false_cost": self.false_cost,
        }  # fmt: skip
        # Weights of some columns mean nothing without those that they were learnt with.
        if self.center == "default" and set(known.weights) <= set(edges.names):
            shared["prior"] = known.of(edges.names)
            shared["prior_name"] = "default"
        if loss.regularizer is not None:
            return FenchelYoungProblem.from_links(
                edges, links, training_links=loss.links, capacity=self.capacity, regularizer=loss.regularizer, **shared
            )
        return MatchingProblem.from_links(
            edges, links, possible_cost=self.possible_cost, oracle=self.oracle,
            preference=edges.features[:, edges.names.index("dice")] if "dice" in edges.names else None,
            fertility=Fertility(self.capacity, self.capacity), **shared,
        )  # fmt: skip


def plan(settings: TrainingSettings, n_labels: int) -> Plan:
    """What is done for these settings with n labelled pairs.  Raises SettingError for folds they cannot make."""
    all_families = settings.families is None or set(FAMILIES) <= set(settings.families)
    few = n_labels < FEW_PAIRS
    name = settings.loss or ("fenchel-young" if all_families and not settings.hinge_only else "hinge")
    loss, smooth = LOSSES[name], name != "hinge"

    folds = settings.cross_validate
    if folds is None:
        folds = DEFAULT_FOLDS if smooth and few and n_labels >= 2 * DEFAULT_FOLDS else 0
    if folds and not 2 <= folds <= n_labels:
        what = f"{n_labels} labelled pairs cannot be held out in {folds} folds"
        raise SettingError(f"{what} (give from 2 to {n_labels})")

    oracle = settings.oracle or "assignment"
    solver = make_solver(settings.solver or "bcfw", **settings.solver_options)
    one_link = find_solver(settings.solver or "bcfw").one_link or not get_oracle(oracle).several
    capacity = settings.fertility
    if capacity is None:
        capacity = 1 if one_link else DEFAULT_FERTILITY
    words = settings.words
    if words is None:
        words = FREQUENT_WORDS if smooth and few else 0

    center = settings.center or ("default" if smooth else "zero")
    if not smooth and center == "default" and isinstance(solver, KernelBlock) and not isinstance(solver.kernel, Linear):
        raise SettingError("a kernel has no default weights to be drawn to (leave out the center, or the kernel)")

    if settings.center == "default" and not all_families:
        raise SettingError("the default weights are of all features (leave `center` out, or `features`)")

    def given(value: float | None, default: float) -> float:
        return default if value is None else value

    return Plan(
        name, Newton() if smooth else solver,
        given(settings.regularization, SMOOTH_REGULARIZATION / max(n_labels, 1) if smooth else DEFAULT_REGULARIZATION),
        given(settings.miss_cost, loss.miss_cost),
        given(settings.false_cost, loss.false_cost), given(settings.possible_cost, hinge.DEFAULT_POSSIBLE_COST),
        folds, words, capacity, oracle, center,
    )  # fmt: skip
