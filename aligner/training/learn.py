"""learn(): from statistics and labelled pairs to a model with weights of its own."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from aligner._version import __version__
from aligner.errors import SettingError
from aligner.evaluation.comparison import in_percent
from aligner.evaluation.counts import error_rate
from aligner.model.acquaintance import FEWEST_WORDS, known_words
from aligner.model.calibration import Calibration, judged
from aligner.model.decoding import decode_edges
from aligner.model.default import default_model, default_weights, with_links
from aligner.model.model import Model
from aligner.model.operating_point import offset_of
from aligner.progress import Hooks, Progress
from aligner.solvers import Result, Status, Stop, TracePoint
from aligner.training.cross_validate import CrossValidation, cross_validate, edge_weights
from aligner.training.inputs import LabelledPairs
from aligner.training.risk import measure_risk
from aligner.training.settings import CountSettings, LabelledProblem, LearnSettings, Plan, plan
from corpora.settings import changed
from corpora.threads import one_blas_thread
from features.candidates import count_unlisted
from features.extractor import FAMILIES, FeatureSet, with_words
from features.families.links import numbered
from features.statistics import CorpusStatistics
from features.table import EdgeTable

SOLVER_BYTES_PER_EDGE = 230
"""Memory that solvers need for each edge of the longest pair, beside the features."""


@dataclass(frozen=True, eq=False)
class Training:
    """A trained model and the solver's result; ``model.record`` has the figures.

    result: of the solver, for the learnt weights; None if nothing was solved.
    interrupted: by Ctrl-C.
    """

    model: Model
    result: Result | None = field(default=None, repr=False)
    interrupted: bool = False


def feature_set(settings: LearnSettings, kinds: Sequence[str] = ()) -> FeatureSet:
    """Return the features of these settings.  kinds: of other aligners' links, see `corpora.link_files.KINDS`."""
    families = tuple(FAMILIES) if settings.families is None else settings.families
    return FeatureSet(families, numbered(kinds), candidates=settings.candidates or "likely")


@dataclass(frozen=True, eq=False)
class Task:
    """Labelled pairs, the edges of their features, and the problem whose solution is weights.

    offset: of the default weights for these pairs; None unless the features are of all families.
    """

    labelled: LabelledPairs
    settings: LearnSettings
    plan: Plan
    features: FeatureSet
    edges: EdgeTable
    offset: float | None
    problem: LabelledProblem


@one_blas_thread()
def learn(
    statistics: CorpusStatistics,
    labelled: LabelledPairs,
    settings: LearnSettings = LearnSettings(),
    text: CountSettings = CountSettings(),
    *,
    kinds: Sequence[str] = (),
    facts: Mapping[str, Any] | None = None,
    hooks: Hooks = Hooks(),  # noqa: B008 - frozen
) -> Training:
    """Learn weights from labelled pairs by the statistics of a text, which is not read again.

    The default weights are kept if they make no more errors in held-out pairs than learnt weights
    (``record["default_aer"]``), unless settings say to keep what is learnt.

    labelled: gold, see `inputs.read_labelled`.  text: its languages and normalizers.
    kinds: of the other aligners' links of the labelled pairs.
    facts: JSON values of the text, for the model's record.

    Raises SettingError for settings that do not fit the labelled pairs or the statistics.
    """
    words = labelled.bitext
    if min(len(words.source.ids), len(words.target.ids)) >= FEWEST_WORDS:
        told = known_words(words, (statistics.source_ids, statistics.target_ids))[1]
        if told:
            what = "are the sides of gold swapped? `source` and `target` choose languages"
            warnings.warn(f"the text {told} of the labelled pairs ({what})", stacklevel=3)
    labelled, apart = labelled.divided(settings.apart, settings.seed) if settings.apart else (labelled, None)
    task = pose(statistics, labelled, settings, kinds, hooks)
    learnt = solve_task(task, hooks)
    w = learnt.result.w
    weights, rewards = edge_weights(task.problem, w), task.problem.link_rewards(w)
    found = decode_edges(task.edges, weights, rewards)
    # Without folds the model has seen these pairs: with few of them its links look surer than those of new text.
    right = judged(found.links, labelled.links) if learnt.held_out is None else learnt.held_out
    calibrated = len(right.source)
    aer, default_aer = learnt.folds.learnt_aer, None
    if task.offset is not None and task.plan.loss != "hinge" and learnt.folds.finished_folds == task.plan.folds > 0:
        known = default_weights().of(task.edges.names, task.offset)  # of any center
        by_default = decode_edges(task.edges, known, rewards)
        default_aer = error_rate(labelled.links, by_default.links)
    if settings.weights == "better" and aer is not None and default_aer is not None and default_aer <= aer:
        default = default_model(statistics, text.normalizers, text.languages, candidates=settings.candidates or "fewer")
        model, aer = (
            replace(with_links(default, kinds), rewards=rewards).with_offset(task.offset or 0.0, of_text=True),
            default_aer,
        )
    else:
        calibration = Calibration.fit(right) if calibrated else None
        about = {"version": __version__, "taught": labelled.digests}
        of_text = statistics, text.normalizers, text.languages, about
        model = Model(weights, task.features, *of_text, rewards, calibration)
    errors = {"training_aer": error_rate(labelled.links, found.links), "aer": aer, "default_aer": default_aer}
    record = {
        **model.record,
        **(facts or {}),
        **record_of(task, learnt, errors, calibrated, len(model.features.names)),
    }
    model = replace(model, record=record)
    return Training(measure_risk(model, apart) if apart else model, learnt.result, learnt.interrupted)


def pose(
    statistics: CorpusStatistics, labelled: LabelledPairs, settings: LearnSettings, kinds: Sequence[str], hooks: Hooks
) -> Task:
    """Extract the features of labelled pairs, and pose the problem of their weights.

    Raises SettingError for settings that do not fit the labelled pairs or the statistics.
    """
    features = feature_set(settings, kinds)
    counted = () if statistics.translation is None else tuple(statistics.translation.lexicons)
    if missing := [name for name in features.lexicons if name not in counted]:
        raise SettingError(f"the statistics have no translation model of {', '.join(missing)} (count the text anew)")
    n_labels = len(labelled.links)
    planned = plan(settings, n_labels)
    features = with_words(features, labelled.bitext, planned.words)
    longest = int((labelled.bitext.source.lengths * labelled.bitext.target.lengths).max(initial=0))
    edges = features.extract(
        labelled.bitext,
        statistics,
        links=labelled.others,
        memory=max(0, settings.memory - SOLVER_BYTES_PER_EDGE * longest),
        on_progress=lambda done: hooks.on_progress(Progress("features", done, n_labels, "pairs")),
    )
    comparable = features.families == tuple(FAMILIES)
    offset = offset_of(default_weights().of(edges.names), edges) if comparable else None
    problem = planned.problem(edges, labelled.links, offset or 0.0)
    return Task(labelled, settings, planned, features, edges, offset, problem)


def solve_task(task: Task, hooks: Hooks) -> CrossValidation:
    """Learn weights from all pairs, and without each fold."""
    settings, folds = task.settings, task.plan.folds

    def audited(point: TracePoint, fold: int | None) -> bool | None:
        where = "" if fold is None else f"without fold {fold} of {folds}: "
        detail = f"{where}gap {point.relative_gap:.1e}, primal {point.primal:.5g}"
        # How many passes a solution takes is not known, but folds take about as long as all pairs.
        hooks.on_progress(Progress("training", fold or 0, folds + 1, "solutions", detail))
        return hooks.on_audit(point, fold)

    stop = Stop(
        settings.tolerance,
        settings.max_passes,
        settings.max_seconds,
        interrupted=hooks.interrupted,
        absolute_gap=settings.absolute_tolerance,
    )
    known = task.problem, task.labelled.links, task.plan
    return cross_validate(*known, stop=stop, seed=settings.seed, memory=settings.memory, callback=audited)


def record_of(
    task: Task, learnt: CrossValidation, errors: Mapping[str, float | None], calibrated: int, columns: int
) -> dict[str, Any]:
    """The record of learning, as JSON values.

    errors: further AERs, fractions.  calibrated: links that the calibration is of.  columns: of features in the model.
    """
    problem, plan, settings, result = task.problem, task.plan, task.settings, learnt.result
    figures = {**asdict(learnt.folds), **errors}
    return {
        "settings": {name: getattr(settings, name) for name in changed(settings)},
        "labelled_pairs": len(task.labelled.links),
        "labelled_pairs_available": task.labelled.available,
        "links_lost": problem.links_lost,
        "edges": len(task.edges.features),
        "links_unlisted": count_unlisted(task.edges.lists, task.labelled.links),
        "features": columns,
        "fertility": problem.capacity,
        "loss": plan.loss,
        "solver": result.signature,
        "notes": list(result.notes),
        "status": result.status.value,
        "converged": result.status is Status.CONVERGED,
        "tolerance": settings.tolerance,
        **asdict(result.trace[-1]),
        "trace": [{name: getattr(audit, name) for name in ("passes", "primal", "dual")} for audit in result.trace],
        "primal": result.primal,  # of these weights, with the dual that certifies them
        "dual": result.dual,
        **in_percent(figures, "learnt_aer", "standard_error", *errors),
        "regularization": plan.regularization,
        "miss_cost": plan.costs.miss,
        "norm": float(np.linalg.norm(edge_weights(problem, result.w))),
        "folds": plan.folds,
        "calibrated_links": calibrated,
        "calibrated_on": "labelled pairs" if learnt.held_out is None else "held-out folds",
        "feature_ranges": task.edges.ranges()[:columns].tolist(),
    }
