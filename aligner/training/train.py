"""train(): from corpora, and labelled pairs if there are any, to a model; update_model(): further text for one."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace

from aligner._version import __version__
from aligner.errors import SettingError
from aligner.evaluation.comparison import in_percent
from aligner.evaluation.counts import error_rate
from aligner.model.calibration import Calibration, JudgedLinks
from aligner.model.decoding import decode_edges
from aligner.model.default import default_model, default_weights, with_links
from aligner.model.model import Model
from aligner.model.scoring import LinearScorer
from aligner.progress import Hooks, Progress, tell_passes
from aligner.settings import changed
from aligner.solvers import Result, Status, Stop, TracePoint
from aligner.svm.fenchel_young import FenchelYoungProblem
from aligner.training.cross_validate import cross_validate, scorer_of
from aligner.training.inputs import Inputs, Paths, corpus_record, open_corpora, read_texts, to_count
from aligner.training.settings import CountSettings, LearnSettings, plan
from corpora.corpus import Corpus
from corpora.threads import one_blas_thread
from features.candidates import count_unlisted
from features.extractor import FAMILIES, FeatureSet, with_words
from features.families.links import numbered
from features.statistics import CorpusStatistics
from features.translation.counting import THIS_MACHINE, Engine
from features.translation.priors import read_priors

SOLVER_BYTES_PER_EDGE = 230
"""Memory that solvers need for each edge of the longest pair, beside the features."""


@dataclass(frozen=True, eq=False)
class Training:
    """A model and how it came to be: ``model.record`` holds the figures.

    result: the solver's history that ended in the weights that were learnt, None where nothing was solved.
    interrupted: by Ctrl-C.
    """

    model: Model
    result: Result | None = field(default=None, repr=False)
    interrupted: bool = False


def train(
    corpora: Paths,
    gold: Paths = (),
    learn: LearnSettings = LearnSettings(),
    count: CountSettings = CountSettings(),
    *,
    links: Paths = (),
    hooks: Hooks = Hooks(),  # noqa: B008 - frozen
) -> Training:
    """Count corpora, learn weights from labelled pairs, and return the model and how it came to be.

    corpora: paths in any form of `corpora.readers.open_corpus`; two consecutive texts of one language each make one.
    gold: the labelled pairs, in the same forms, with links; without it the corpora that carry links are used, and where
    there are none the default weights, with a warning. These are kept, too, where they make no more errors in held-out
    pairs than what was learnt (``record["default_aer"]``). The text of gold is not counted, so that its words look as
    those of new text will.
    learn, count: such as ``LearnSettings(loss="hinge", max_passes=20)``.
    links: files of other aligners' links of the labelled pairs, in order, each as FILE or KIND=FILE, see
    `corpora.link_files.KINDS`; features of its own each.

    Raises AlignerError (CorpusError with the line) on bad data and bad settings.
    """
    return train_on(Inputs.open(corpora, gold, links, languages=count.languages, hooks=hooks), learn, count, hooks)


@one_blas_thread()
def train_on(
    inputs: Inputs, learn: LearnSettings, count: CountSettings, hooks: Hooks, engine: Engine = THIS_MACHINE
) -> Training:
    """`train`, on what is open.  engine: who counts the corpora."""
    started = time.perf_counter()
    families = tuple(FAMILIES) if learn.families is None else learn.families
    feature_set = FeatureSet(families, numbered(inputs.kinds), candidates=learn.candidates)
    for corpus in inputs.texts:
        if not inputs.given and corpus.has_links and not corpus.has_labels:
            what = "is not learnt from: links of this name are an aligner's (if these are hand-made, give `gold`)"
            warnings.warn(f"{corpus.files[-1]}: {what}", stacklevel=4)
    if not inputs.labelled:
        return Training(_train_unlabelled(inputs, learn, count, hooks, engine))
    if count.priors is not None and not feature_set.lexicons:
        raise SettingError("`priors` have no effect on these features (leave `priors` or `families` out)")
    priors = read_priors(count.priors, count.normalizers)
    bitext, everything, facts = inputs.read(count, hooks)
    labelled = everything.sampled(learn.max_labelled, learn.seed)
    n_labels = len(labelled.links)
    planned = plan(learn, n_labels)  # complains now, not after the long work
    feature_set = with_words(feature_set, labelled.bitext, planned.words)
    statistics = CorpusStatistics.from_bitext(
        bitext, lexicons=feature_set.lexicons, priors=priors, on_progress=hooks.counted,
        on_pass=tell_passes(hooks.on_progress), engine=engine,
    )  # fmt: skip
    languages = bitext.source.language, bitext.target.language
    del bitext, everything  # the largest of what is held, and not needed for what follows
    longest = int((labelled.bitext.source.lengths * labelled.bitext.target.lengths).max(initial=0))
    edges = feature_set.extract(
        labelled.bitext, statistics, links=labelled.others,
        memory=max(0, learn.memory - SOLVER_BYTES_PER_EDGE * longest),
        on_progress=lambda done: hooks.on_progress(Progress("features", done, n_labels, "pairs")),
    )  # fmt: skip
    problem = planned.problem(edges, labelled.links)

    def audited(point: TracePoint, fold: int | None) -> bool | None:
        where = "" if fold is None else f"without fold {fold} of {planned.folds}: "
        detail = f"{where}primal {point.primal:.5g}, relative gap {point.relative_gap:.1e}"
        hooks.on_progress(Progress("training", point.passes, learn.max_passes, "passes", detail))
        return hooks.on_audit(point, fold)

    stop = Stop(learn.tolerance, learn.max_passes, learn.max_seconds, interrupted=hooks.interrupted)
    learnt = cross_validate(
        problem, labelled.links, planned, stop=stop, seed=learn.seed, memory=learn.memory, callback=audited
    )
    result, point = learnt.result, learnt.result.trace[-1]
    scorer = scorer_of(planned.solver, problem, result.w)
    rewards = problem.link_rewards(result.w)
    found = decode_edges(edges, scorer, rewards)
    default_aer = None
    of_default = feature_set.families == tuple(FAMILIES)
    if isinstance(problem, FenchelYoungProblem) and of_default and learnt.finished_folds == planned.folds > 0:
        by_default = decode_edges(edges, LinearScorer(default_weights().of(edges.names)), rewards)  # of any center
        default_aer = error_rate(labelled.links, by_default.to_links())
    learns = default_aer is None or learnt.aer is None or learnt.aer < default_aer
    columns = len((feature_set if learns else replace(feature_set, words=((), ()))).names)  # the default knows no words
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
        **facts,
        "settings": {name: getattr(learn, name) for name in changed(learn)},
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
        **asdict(point),
        "trace": [{name: getattr(audit, name) for name in ("passes", "primal", "dual")} for audit in result.trace],
        "primal": result.primal,  # of these weights, with the dual that certifies them
        "dual": result.dual,
        "training_aer": 100 * error_rate(labelled.links, found.to_links()),
        **in_percent(errors, *errors),
        "regularization": planned.regularization,
        "miss_cost": planned.miss_cost,
        "norm": scorer.norm,
        "folds": planned.folds,
        **{name: getattr(learnt, name) for name in ("finished_folds", "fold_passes", "fold_seconds", "fold_gap")},
        "calibrated_links": len(judged),
        "calibrated_on": "labelled pairs" if learnt.held_out is None else "held-out folds",
        "feature_ranges": edges.ranges()[:columns].tolist(),
        "total_seconds": time.perf_counter() - started,
    }
    calibration = Calibration.fit(judged) if len(judged) else None
    model = Model(scorer, feature_set, statistics, count.normalizers, languages, record, rewards, calibration)
    if not learns:
        default = default_model(
            statistics, normalizers=model.normalizers, languages=languages, record=record,
            candidates=learn.candidates,
        )  # fmt: skip
        model = replace(with_links(default, inputs.kinds), rewards=rewards)
    return Training(model, result, learnt.interrupted)


def _train_unlabelled(
    inputs: Inputs, learn: LearnSettings, count: CountSettings, hooks: Hooks, engine: Engine
) -> Model:  # fmt: skip
    """The default model of opened corpora.  SettingError on links and settings of learning from labels."""
    idle = {*changed(learn)} - {"candidates", "memory", "seed"}
    for name in ["links"] * bool(inputs.links) + sorted(idle):
        raise SettingError(f"`{name}` has no effect without labelled pairs, which are not there (give `gold`)")
    warnings.warn("no labelled pairs: the model gets the default weights (`gold` teaches others)", stacklevel=5)
    priors = read_priors(count.priors, count.normalizers)
    bitext = read_texts(to_count(inputs.texts, count), count.normalizers, hooks)
    on_pass = tell_passes(hooks.on_progress)
    statistics = CorpusStatistics.from_bitext(
        bitext, priors=priors, on_progress=hooks.counted, on_pass=on_pass, engine=engine
    )
    languages, record = (bitext.source.language, bitext.target.language), corpus_record(inputs.texts, bitext, count)
    return default_model(
        statistics, normalizers=count.normalizers, languages=languages, record=record, candidates=learn.candidates
    )


def update_model(model: Model, corpora: Paths, *, hooks: Hooks = Hooks()) -> Model:  # noqa: B008 - frozen
    """The model with the statistics of more corpora added, whose text alone is read; the weights stay as they are.

    See `features.statistics.CorpusStatistics.updated`.
    """
    return update_on(model, open_corpora(corpora, model.languages, hooks), hooks)


def update_on(model: Model, texts: Sequence[Corpus], hooks: Hooks) -> Model:
    """`update_model`, with what is open."""
    bitext = read_texts(texts, model.normalizers, hooks)
    on_pass = tell_passes(hooks.on_progress)
    statistics = model.statistics.updated(bitext, on_progress=hooks.counted, on_pass=on_pass)
    updates = [*model.record.get("updates", []), corpus_record(texts, bitext)]
    return replace(model, statistics=statistics, record={**model.record, "updates": updates})
