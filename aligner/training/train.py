"""train(): from corpora and labelled pairs to a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from aligner._version import __version__
from aligner.errors import SettingError
from aligner.model.calibration import Calibration, JudgedLinks
from aligner.model.decoding import decode_edges, links_of
from aligner.model.model import Model
from aligner.progress import Progress, tell_passes
from aligner.report.evaluation import count, scores
from aligner.solvers import Result, Status, Stop, TracePoint
from aligner.solvers.records import never
from aligner.svm.hinge import DEFAULT_FALSE_COST
from aligner.training.inputs import Inputs, Paths, as_list, corpus_record
from aligner.training.objective import Objective
from aligner.training.path import PathRow, Place, RegularizationPath, check_folds, follow_path
from aligner.training.scorers import scorer_of
from corpora.normalize import Normalizer
from corpora.readers import Corpus
from features.extractor import FAMILIES, FeatureSet, with_words
from features.statistics import CorpusStatistics
from features.table import DEFAULT_MEMORY

_ROOM_AN_EDGE = 230
"""Bytes that solvers need for each edge of the longest pair, beside the features."""


@dataclass(frozen=True, eq=False)
class Training:
    """A model and how it came to be: ``model.record`` holds the figures, path the histories of all solutions."""

    model: Model
    path: RegularizationPath

    @property
    def result(self) -> Result:
        """The solver's history that ended in the weights of the model."""
        return self.path.results[self.path.chosen]

    @property
    def interrupted(self) -> bool:
        return self.path.interrupted


def train(
    corpora: Paths,
    *,
    gold: Paths = (),
    source: str | None = None,
    target: str | None = None,
    source_normalizer: Normalizer = Normalizer(),  # noqa: B008 - frozen
    target_normalizer: Normalizer = Normalizer(),  # noqa: B008
    families: Sequence[str] | None = None,
    words: int | None = None,
    links: Paths = (),
    max_labelled: int = 50_000,
    loss: str | None = None,
    solver: str | None = None,
    solver_options: Mapping[str, Any] | None = None,
    oracle: str | None = None,
    regularization: float | None = None,
    path: tuple[float, float, int] | None = None,
    cross_validate: int | None = None,
    fertility: int | None = None,
    miss_cost: float | None = None,
    false_cost: float = DEFAULT_FALSE_COST,
    possible_cost: float | None = None,
    tolerance: float = 1e-3,
    max_passes: int = 200,
    max_seconds: float = inf,
    seed: int = 0,
    memory: int = DEFAULT_MEMORY,
    on_corpus: Callable[[Corpus], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    callback: Callable[[TracePoint, Place], bool | None] | None = None,
    interrupted: Callable[[], bool] = never,
) -> Training:
    """Count corpora, learn weights from labelled pairs, and return the model.

    corpora: paths in any form of `corpora.readers.open_corpus`; two consecutive texts of one language each make one.
    gold: the labelled pairs, in the same forms, with links; without it the corpora that carry links are used. The text
    of gold is not counted, so that its words look as those of new text will.
    families: of features, see `features.extractor.FAMILIES`; all by default.
    words: of each language, how many of the most frequent in the labelled pairs have a feature of their own; by default
    30 with the logistic loss, none with the hinge.
    links: files of other aligners' links of the labelled pairs, in order; a feature each.
    max_labelled: of more labelled pairs a random sample is used.
    loss: hinge, of the worst matching, or logistic, of every edge, towards the default weights where all families are
    used (see `logistic.LogisticProblem`); by default logistic there, below 1,000 labelled pairs, unless what only the
    hinge knows is given: solver (bcfw by default), solver_options (see `solvers.SOLVERS`), oracle (assignment) or
    possible_cost.
    regularization: λ; by default 0.1 with the hinge. With the logistic loss it is chosen by cross-validation where
    there are few labelled pairs, as is miss_cost, and otherwise 3 over the number of pairs.
    path: (largest λ, smallest λ, how many) to choose λ from, by the AER of cross_validate folds, 5 by default;
    cross_validate without a path: the AER of the one λ; 0: none. See `path.follow_path`.
    fertility: links a word may have, 3 by default, and 1 for solvers that know no more.
    miss_cost, false_cost, possible_cost: c⁺ (3, logistic 1.5), c⁻ (1) and c° (10) of the loss, see
    `problem.MatchingProblem`.
    tolerance, max_passes, max_seconds: relative duality gap and limits, of each solution.
    memory: bytes of features, with what solvers need for the longest pair, and of the numbers of word pairs, to hold
    before they go to a temporary file.
    on_corpus: told what each path was recognised as.  callback: called at each audit; training stops if it returns
    False. interrupted: asked after each of the solver's passes; where it holds, as with Ctrl-C during the passes,
    training ends with the weights of the best audit.

    Raises AlignerError (CorpusError with the line) on bad data and bad settings.
    """
    _check_settings(
        max_labelled=max_labelled,
        tolerance=tolerance,
        max_passes=max_passes,
        max_seconds=max_seconds,
        seed=seed,
        memory=memory,
    )
    objective = Objective(
        loss, solver, solver_options or {}, oracle, regularization, path, cross_validate, fertility,
        miss_cost, false_cost, possible_cost, families is None or set(FAMILIES) <= set(families), words,
    )  # fmt: skip
    objective.check()
    stop = Stop(gap=tolerance, passes=max_passes, seconds=max_seconds, interrupted=interrupted)
    numbered = tuple(str(n) for n, _ in enumerate(as_list(links), 1))
    feature_set = FeatureSet(tuple(FAMILIES if families is None else families), numbered)
    started = time.perf_counter()
    tell = on_progress if on_progress is not None else lambda progress: None

    inputs = Inputs.open(
        corpora, gold, source=source, target=target, normalizers=(source_normalizer, target_normalizer),
        on_corpus=on_corpus,
    )  # fmt: skip
    bitext, everything = inputs.read(links, tell)
    labelled = everything.sampled(max_labelled, seed)
    regularizations, folds = objective.plan(len(labelled.links))
    check_folds(folds, len(labelled.links))  # now, not after the long work
    feature_set = with_words(feature_set, labelled.bitext, objective.words_of(len(labelled.links)))
    statistics = CorpusStatistics.from_bitext(
        bitext,
        lexicons=feature_set.lexicons,
        memory=memory,
        on_progress=lambda done: tell(Progress("counting", done, 1.0, "of the words")),
        on_pass=tell_passes(tell),
    )
    facts = {
        **corpus_record(inputs.texts, bitext),
        "gold": [corpus.name for corpus in inputs.labelled],
        "labelled_pairs": len(labelled.links),
        "labelled_pairs_available": labelled.available,
    }
    languages = bitext.source.language, bitext.target.language
    del bitext, everything  # the largest of what is held, and not needed for what follows
    longest = int((labelled.bitext.source.lengths * labelled.bitext.target.lengths).max(initial=0))
    edges = feature_set.extract(
        labelled.bitext, statistics, links=labelled.others, memory=max(0, memory - _ROOM_AN_EDGE * longest),
        on_progress=lambda done: tell(Progress("features", done, len(labelled.links), "pairs")),
    )  # fmt: skip
    problem, chosen = objective.problem(edges, labelled.links, regularizations[0])
    miss_costs = objective.miss_costs(len(labelled.links))
    solutions = len(regularizations) * max(1, len(miss_costs)) * (1 + folds)

    def audited(point: TracePoint, place: Place) -> bool | None:
        detail = f"primal {point.primal:.5g}, relative gap {point.relative_gap:.1e}"
        if solutions > 1:
            detail = f"{place}: {detail}"
        tell(Progress("training", point.passes, max_passes, "passes", detail))
        return callback(point, place) if callback is not None else None

    def solved(done: int) -> None:
        if solutions > 1:
            tell(Progress("path", done, solutions, "solutions", f"{done} of {solutions} solutions"))

    followed = follow_path(
        problem, labelled.links, chosen, regularizations, miss_costs=miss_costs,
        folds=folds, stop=stop, seed=seed, memory=memory, callback=audited, on_solution=solved,
    )  # fmt: skip
    result = followed.results[followed.chosen]
    point = result.trace[-1]
    scorer = scorer_of(chosen, edges, result.w)
    rewards = problem.link_rewards(result.w)
    found = decode_edges(edges, scorer, rewards)
    training_score = scores(count(labelled.links, links_of(found)).total())
    # Without folds the model has seen these pairs: with few of them its links look surer than those of new text.
    judged = JudgedLinks.of(found, labelled.links) if followed.held_out is None else followed.held_out
    record = {
        "version": __version__,
        **facts,
        "links_lost": problem.links_lost,
        "features": len(edges.names),
        "fertility": problem.capacity,
        "loss": objective.loss_of(len(labelled.links)),
        "solver": result.signature,
        "notes": list(result.notes),
        "status": result.status.value,
        "converged": result.status is Status.CONVERGED,
        **asdict(point),
        "primal": result.primal,  # of these weights, with the dual that certifies them
        "dual": result.dual,
        "training_aer": 100 * float(training_score.aer),
        "regularization": followed.rows[followed.chosen].regularization,
        "miss_cost": followed.rows[followed.chosen].miss_cost,
        "chosen": followed.chosen,
        "folds": folds,
        "finished_folds": followed.finished_folds,
        "calibrated_links": len(judged),
        "calibrated_on": "labelled pairs" if followed.held_out is None else "held-out folds",
        "feature_ranges": edges.ranges().tolist(),
        "path": [_in_percent(row) for row in followed.rows],
        "total_seconds": time.perf_counter() - started,
    }
    model = Model(
        scorer, feature_set, statistics, source_normalizer, target_normalizer,
        *languages, record, rewards, Calibration.fit(judged) if len(judged) else None,
    )  # fmt: skip
    return Training(model, followed)


def _in_percent(row: PathRow) -> dict[str, float | None]:
    return asdict(row) | {
        name: None if share is None else 100 * share
        for name, share in (("aer", row.aer), ("standard_error", row.standard_error))
    }


def _check_settings(*, max_labelled: int, **others: float) -> None:
    for name, value, least in (("max_labelled", max_labelled, 1), *((*item, 0) for item in others.items())):
        if not value >= least:  # NaN is not, either
            raise SettingError(f"{name.replace('_', ' ')} must be a number of at least {least}, not {value}")
