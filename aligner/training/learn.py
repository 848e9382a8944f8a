"""learn(): from statistics and labelled pairs to a model with weights of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from aligner._version import __version__
from aligner.errors import SettingError
from aligner.evaluation.comparison import in_percent
from aligner.evaluation.counts import error_rate
from aligner.losses.fenchel_young import FenchelYoungProblem
from aligner.model.calibration import Calibration, JudgedLinks
from aligner.model.decoding import decode_edges
from aligner.model.default import default_model, default_weights, with_links
from aligner.model.model import Model
from aligner.model.operating_point import offset_of
from aligner.progress import Hooks, Progress
from aligner.solvers import Result, Status, Stop, TracePoint
from aligner.training.cross_validate import cross_validate, edge_weights
from aligner.training.inputs import Labelled
from aligner.training.settings import CountSettings, LearnSettings, plan
from corpora.settings import changed
from corpora.threads import one_blas_thread
from features.candidates import count_unlisted
from features.extractor import FAMILIES, FeatureSet, with_words
from features.families.links import numbered
from features.statistics import CorpusStatistics

FOLD_FIGURES = "finished_folds", "early_folds", "fold_passes", "fold_seconds", "fold_gap"

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
    return FeatureSet(families, numbered(kinds), candidates=settings.candidates)


@one_blas_thread()
def learn(
    statistics: CorpusStatistics,
    labelled: Labelled,
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
    features = feature_set(settings, kinds)
    counted = () if statistics.translation is None else tuple(statistics.translation.lexicons)
    if missing := [name for name in features.lexicons if name not in counted]:
        raise SettingError(f"the statistics have no translation model of {', '.join(missing)} (count the text anew)")
    n_labels = len(labelled.links)
    planned = plan(settings, n_labels)
    features = with_words(features, labelled.bitext, planned.words)
    longest = int((labelled.bitext.source.lengths * labelled.bitext.target.lengths).max(initial=0))
    edges = features.extract(
        labelled.bitext, statistics, links=labelled.others,
        memory=max(0, settings.memory - SOLVER_BYTES_PER_EDGE * longest),
        on_progress=lambda done: hooks.on_progress(Progress("features", done, n_labels, "pairs")),
    )  # fmt: skip
    of_default, offset = features.families == tuple(FAMILIES), 0.0
    if of_default:
        offset = offset_of(default_weights().of(edges.names), edges)
    problem = planned.problem(edges, labelled.links, offset)

    def audited(point: TracePoint, fold: int | None) -> bool | None:
        where = "" if fold is None else f"without fold {fold} of {planned.folds}: "
        detail = f"{where}gap {point.relative_gap:.1e}, primal {point.primal:.5g}"
        # How many passes a solution takes is not known, but folds take about as long as all pairs.
        hooks.on_progress(Progress("training", fold or 0, planned.folds + 1, "solutions", detail))
        return hooks.on_audit(point, fold)

    stop = Stop(
        settings.tolerance, settings.max_passes, settings.max_seconds, interrupted=hooks.interrupted,
        absolute_gap=settings.absolute_tolerance,
    )  # fmt: skip
    learnt = cross_validate(
        problem, labelled.links, planned, stop=stop, seed=settings.seed, memory=settings.memory, callback=audited
    )
    result, point = learnt.result, learnt.result.trace[-1]
    weights = edge_weights(problem, result.w)
    rewards = problem.link_rewards(result.w)
    found = decode_edges(edges, weights, rewards)
    default_aer = None
    if isinstance(problem, FenchelYoungProblem) and of_default and learnt.finished_folds == planned.folds > 0:
        by_default = decode_edges(edges, default_weights().of(edges.names, offset), rewards)  # of any center
        default_aer = error_rate(labelled.links, by_default.to_links())
    learns = settings.weights == "learnt" or default_aer is None or learnt.aer is None or learnt.aer < default_aer
    columns = len((features if learns else replace(features, words=((), ()))).names)  # the default knows no words
    # Without folds the model has seen these pairs: with few of them its links look surer than those of new text.
    judged = JudgedLinks.of(found, labelled.links) if learnt.held_out is None else learnt.held_out
    errors = {
        "aer": learnt.aer if learns else default_aer,
        "learnt_aer": learnt.aer,
        "standard_error": learnt.standard_error,  # of learnt_aer
        "default_aer": default_aer,
    }
    record = {
        "version": __version__,
        **(facts or {}),
        "settings": {name: getattr(settings, name) for name in changed(settings)},
        "labelled_pairs": n_labels,
        "labelled_pairs_available": labelled.available,
        "links_lost": problem.links_lost,
        "edges": len(edges.features),
        "links_unlisted": count_unlisted(edges.lists, labelled.links),
        "features": columns,
        "fertility": problem.capacity,
        "loss": planned.loss,
        "solver": result.signature,
        "notes": list(result.notes),
        "status": result.status.value,
        "converged": result.status is Status.CONVERGED,
        "tolerance": settings.tolerance,
        **asdict(point),
        "trace": [{name: getattr(audit, name) for name in ("passes", "primal", "dual")} for audit in result.trace],
        "primal": result.primal,  # of these weights, with the dual that certifies them
        "dual": result.dual,
        "training_aer": 100 * error_rate(labelled.links, found.to_links()),
        **in_percent(errors, *errors),
        "regularization": planned.regularization,
        "miss_cost": planned.costs.miss,
        "norm": float(np.linalg.norm(weights)),
        "folds": planned.folds,
        **{name: getattr(learnt, name) for name in FOLD_FIGURES},
        "calibrated_links": len(judged),
        "calibrated_on": "labelled pairs" if learnt.held_out is None else "held-out folds",
        "feature_ranges": edges.ranges()[:columns].tolist(),
    }
    calibration = Calibration.fit(judged) if len(judged) else None
    model = Model(weights, features, statistics, text.normalizers, text.languages, record, rewards, calibration)
    if not learns:
        default = default_model(
            statistics, normalizers=text.normalizers, languages=text.languages, record=record,
            candidates=settings.candidates,
        )  # fmt: skip
        model = replace(with_links(default, kinds), rewards=rewards).with_offset(offset)
    return Training(model, result, learnt.interrupted)
