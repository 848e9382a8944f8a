"""CountSettings and LearnSettings: the settings of a user.  Plan: how so many labelled pairs are learnt from."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, TypeVar

from aligner.errors import SettingError
from aligner.losses.capacity import Fertility
from aligner.losses.fenchel_young import FENCHEL_YOUNG_COSTS, FenchelYoungProblem
from aligner.losses.hinge import HINGE_COSTS, Costs, MatchingProblem, Prior
from aligner.matching import get_oracle
from aligner.model.default import default_weights
from aligner.model.settings import AlignSettings, Candidates
from aligner.solvers import Solver, make_solver
from aligner.solvers.newton import Newton
from aligner.solvers.registry import find_solver
from corpora.corpus import Languages
from corpora.errors import counted
from corpora.links import Links
from corpora.normalize import PLAIN, Normalizers
from corpora.reading import Reading
from corpora.settings import check, same, setting, setting_of_names
from features.extractor import FAMILIES
from features.table import DEFAULT_MEMORY, EdgeTable

LabelledProblem = MatchingProblem | FenchelYoungProblem

DEFAULT_REGULARIZATION = 0.1
"""λ of the hinge loss."""

DEFAULT_FERTILITY = 3

DEFAULT_FOLDS = 5
"""Folds of the cross-validation for the AER and the calibration of the probabilities."""

FEW_PAIRS = 1000
"""Fewer labelled pairs are held out by default, and have features of words: more cost time and change nothing."""

SMOOTH_REGULARIZATION = 3.0
"""λ n of other losses."""

FREQUENT_WORDS = 30
"""Words of each language with a feature of their own, unless by the hinge, with few labelled pairs: how these words
are linked is what annotators differ in most."""

LossName = Literal["fenchel-young", "sparsemap", "logistic", "hinge"]
Center = Literal["default", "zero"]
OracleName = Literal["assignment", "scipy", "flow", "lp", "greedy"]
KeptWeights = Literal["better", "learnt"]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Loss:
    """A loss, and its costs where none are given.

    regularizer, links: of a `FenchelYoungProblem`; None: the hinge loss, of a `MatchingProblem`.
    """

    regularizer: str | None
    links: int | None
    costs: Costs = FENCHEL_YOUNG_COSTS


LOSSES: dict[LossName, Loss] = {
    "fenchel-young": Loss("fermi-dirac", 2),
    "sparsemap": Loss("euclidean", 2),
    "logistic": Loss("fermi-dirac", None),
    "hinge": Loss(None, None, HINGE_COSTS),
}


@dataclass(frozen=True)
class CountSettings:
    """Settings of counting text.  Raises SettingError for values that cannot be.

    languages, normalizers: of source and target; languages as suffixes of file names.
    priors, dictionary: files that the translation models begin with, see `features.translation`.
    sample: of more pairs of text than these a random sample is counted.
    columns, untranslated: how text that is one file is read, see `corpora.readers.open_corpus`.
    """

    languages: Languages = (None, None)
    normalizers: Normalizers = PLAIN
    priors: str | None = None
    dictionary: tuple[str, ...] = ()
    sample: int | None = same(AlignSettings, "sample")
    seed: int = setting(0, "Seed of everything random.", least=0)
    columns: tuple[str, str] | None = None
    untranslated: bool = False

    def __post_init__(self) -> None:
        check(self)

    @property
    def reading(self) -> Reading:
        return Reading(*self.languages, self.columns, self.untranslated)


@dataclass(frozen=True)
class LearnSettings:
    """Settings of learning weights; where one is None, `plan` decides.  Raises SettingError for what cannot work.

    loss: fenchel-young, of link probabilities that respect the matching, sparsemap, logistic, of every edge by itself
    (see `fenchel_young.FenchelYoungProblem`), or hinge, of the worst matching; by default fenchel-young, and hinge
    without some families or where what only it knows is given: solver, solver_options, oracle or possible_cost.
    families: see `features.extractor.FAMILIES`.  candidates: see `features.candidates`; kept in the model.
    center: default only where all families are used.  cross_validate: see `cross_validate.cross_validate`.
    miss_cost, false_cost, possible_cost: c⁺, c⁻ and c° of the loss, see `hinge.MatchingProblem`.
    memory: bytes, with what solvers need for the longest pair.
    """

    loss: LossName | None = setting(
        None,
        "fenchel-young, sparsemap: of probable matchings; logistic: of edges; hinge: of the worst.",
        shown="fenchel-young; hinge with settings that are its own, or without some features",
    )
    families: tuple[str, ...] | None = setting(
        None, "Families of features, F,F,..., see docs/how-it-works.md.", shown="all"
    )
    candidates: Candidates | None = setting(
        None, "Word pairs that may be links.", shown="likely; fewer with default weights"
    )
    words: int | None = setting(
        None,
        "Frequent words of each language with a feature of their own.",
        least=0,
        most=1000,
        shown="30 below 1000 labelled pairs; else, and with the hinge, 0",
    )
    max_labelled: int = setting(50_000, "Of more labelled pairs use a random sample.", least=1)
    apart: int = setting(
        0, "Labelled pairs to keep apart from learning: they say which links have which risk.", least=0
    )
    regularization: float | None = setting(
        None, "λ, the strength of the regularisation.", shown="hinge 0.1; others 3 / labelled pairs"
    )
    center: Center | None = setting(
        None, "Weights that the regularisation draws to.", shown="zero with the hinge, otherwise default"
    )
    cross_validate: int | None = setting(
        None,
        "Folds that find the AER of held-out pairs, and calibrate; 0: none.",
        shown="5 for 10 to 999 labelled pairs without the hinge",
    )
    fertility: int | None = setting(
        None,
        "Links of a word when aligning; only the hinge learns with them, too.",
        least=1,
        most=100,
        shown="3, or 1 for oracles that know no more",
    )
    miss_cost: float | None = setting(None, "Cost of a missed link.", shown="hinge 3; others 0.6")
    false_cost: float | None = setting(None, "Cost of a link outside gold.", shown="hinge 1; others 0")
    possible_cost: float | None = setting(None, "What the hinge subtracts for a possible link.", shown="10")
    solver: str | None = setting(None, "Of the hinge, see docs/solvers.md.", shown="bcfw")
    solver_options: Mapping[str, Any] = setting_of_names("Options of the solver, such as order.")
    oracle: OracleName | None = setting(None, "Best matchings for the hinge.", shown="assignment")
    tolerance: float = setting(1e-3, "Duality gap to stop at, as a share of the objective.", least=0)
    absolute_tolerance: float = setting(0.0, "Duality gap to stop at, whatever the objective; 0: none.", least=0)
    max_passes: int = setting(200, "Passes over the labelled pairs, of each solution.", least=0)
    max_seconds: float = setting(inf, "Seconds of each solution.", least=0)
    seed: int = setting(0, "Seed of everything random.", least=0)
    memory: int = setting(DEFAULT_MEMORY, "Bytes of features in memory; more are on disk.", least=0, shown="2G")
    weights: KeptWeights = setting("better", "Weights to keep: the better ones on held-out pairs, or the learnt ones.")

    def __post_init__(self) -> None:
        check(self)
        if self.loss not in (None, "hinge") and self.hinge_only:
            what = f"the {self.loss} loss has a solver of its own, without oracle, and leaves possible links out"
            raise SettingError(f"{what} (leave out what is of the hinge loss only, or choose that)")
        if self.cross_validate is not None and (self.cross_validate < 0 or self.cross_validate == 1):
            raise SettingError(f"cross-validation has at least 2 folds, or 0 for none, not {self.cross_validate}")
        plan(self, DEFAULT_FOLDS if self.cross_validate is None else self.cross_validate)  # raises now, not later

    @property
    def hinge_only(self) -> bool:
        """Whether a setting is given that only the hinge loss has."""
        return bool(self.solver_options) or (self.solver, self.oracle, self.possible_cost) != (None, None, None)

    @property
    def of_all_features(self) -> bool:
        return self.families is None or {*FAMILIES} <= {*self.families}


@dataclass(frozen=True)
class Plan:
    """The loss, its solver, λ and costs by which weights are learnt.  Raises SettingError.

    regularization: λ.  folds: parts of the pairs, each held out once; or 0.
    capacity: links a word may have.  words: of each language with a feature of their own.
    oracle: of the hinge loss only.
    """

    loss: LossName
    solver: Solver[Any, Any]
    regularization: float
    costs: Costs = HINGE_COSTS
    folds: int = 0
    words: int = 0
    capacity: int = DEFAULT_FERTILITY
    oracle: OracleName = "assignment"
    center: Center = "default"

    def __post_init__(self) -> None:
        self.costs.check(self.regularization)
        if max(self.regularization, *self.costs) > 1e9 or self.regularization < 1e-9:  # their squares overflow
            raise SettingError("λ must be from 1e-9 to 1e9, and costs at most 1e9")

    def problem(self, edges: EdgeTable, links: Links, offset: float = 0.0) -> LabelledProblem:
        """The problem of labelled pairs.  offset: of the default weights, if these are its center."""
        known, loss = default_weights(), LOSSES[self.loss]
        shared: dict[str, Any] = {"regularization": self.regularization, "costs": self.costs}
        # Weights of some columns mean nothing without those that they were learnt with.
        if self.center == "default" and set(known.weights) <= set(edges.names):
            shared["prior"] = Prior(known.of(edges.names, offset), "default")
        if loss.regularizer is not None:
            return FenchelYoungProblem.from_links(
                edges, links, training_links=loss.links, capacity=self.capacity, regularizer=loss.regularizer, **shared
            )
        return MatchingProblem.from_links(
            edges,
            links,
            oracle=self.oracle,
            preference=edges.features[:, edges.names.index("dice")] if "dice" in edges.names else None,
            fertility=Fertility(self.capacity, self.capacity),
            **shared,
        )


def plan(settings: LearnSettings, n_labels: int) -> Plan:
    """Decide what the settings leave open, for so many labelled pairs.

    Raises SettingError for settings that cannot work, and for more folds than there are pairs.
    """
    few = n_labels < FEW_PAIRS
    name: LossName = settings.loss or (
        "fenchel-young" if settings.of_all_features and not settings.hinge_only else "hinge"
    )
    loss, smooth = LOSSES[name], name != "hinge"

    enough = smooth and few and n_labels >= 2 * DEFAULT_FOLDS
    folds = _given(settings.cross_validate, DEFAULT_FOLDS if enough else 0)
    if folds and not 2 <= folds <= n_labels:
        what = f"{counted(n_labels, 'labelled pair')} cannot be held out in {folds} folds"
        raise SettingError(f"{what} (give from 2 to {n_labels})")

    oracle: OracleName = settings.oracle or "assignment"
    solver_name = settings.solver or "bcfw"
    solver = make_solver(solver_name, **settings.solver_options)
    if not find_solver(solver_name).weights:
        raise SettingError(f"{solver_name} finds no weights, which models are made of (use it as aligner.solvers)")
    center: Center = settings.center or ("default" if smooth else "zero")
    if settings.center == "default" and not settings.of_all_features:
        raise SettingError("the default weights are of all features (leave `center` or `families` out)")

    return Plan(
        name,
        Newton() if smooth else solver,
        _given(settings.regularization, SMOOTH_REGULARIZATION / max(n_labels, 1) if smooth else DEFAULT_REGULARIZATION),
        Costs(
            _given(settings.miss_cost, loss.costs.miss),
            _given(settings.false_cost, loss.costs.false),
            _given(settings.possible_cost, loss.costs.possible),
        ),
        folds,
        _given(settings.words, FREQUENT_WORDS if smooth and few else 0),
        _given(settings.fertility, DEFAULT_FERTILITY if get_oracle(oracle).several else 1),
        oracle,
        center,
    )


def _given(value: Value | None, default: Value) -> Value:
    return default if value is None else value
