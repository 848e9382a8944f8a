"""train(): from corpora, and labelled pairs if there are any, to a model; update_model(): further text for one."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aligner.errors import SettingError
from aligner.model.default import default_model
from aligner.model.model import Model
from aligner.progress import Hooks, tell_passes
from aligner.training.inputs import Paths, as_list, corpus_record, open_corpora, read_inputs, read_texts, to_count
from aligner.training.learn import Training, feature_set, learn
from aligner.training.settings import TrainingSettings, plan
from corpora.corpus import Corpus
from corpora.link_files import kind_of_links
from corpora.threads import one_blas_thread
from features.statistics import CorpusStatistics
from features.translation.counting import THIS_MACHINE, Engine
from features.translation.priors import read_priors


@one_blas_thread()
def train(
    corpora: Paths,
    gold: Paths = (),
    *,
    links: Paths = (),
    hooks: Hooks = Hooks(),  # noqa: B008 - frozen
    engine: Engine = THIS_MACHINE,
    **given: Any,
) -> Training:
    """Count corpora, learn weights from labelled pairs, and return the model and how it came to be.

    corpora: paths in any form of `corpora.readers.open_corpus`; two consecutive texts of one language each make one.
    gold: the labelled pairs, in the same forms, with links; without it the corpora that carry links are used, and where
    there are none the default weights, with a warning. These are kept, too, where they make no more errors in held-out
    pairs than what was learnt (``record["default_aer"]``). The text of gold is not counted, so that its words look as
    those of new text will.
    links: files of other aligners' links of the labelled pairs, in order, each as FILE or KIND=FILE, see
    `corpora.link_files.KINDS`; features of its own each.
    engine: who counts the corpora.
    given: fields of `settings.TrainingSettings`, such as ``loss="hinge", max_passes=20``.

    Raises AlignerError (CorpusError with the line) on bad data and bad settings.
    """
    settings = TrainingSettings(**given)
    started = time.perf_counter()
    kinds = [kind_of_links(path)[0] for path in as_list(links)]
    lexicons = feature_set(settings, kinds).lexicons
    texts = open_corpora(corpora, settings.languages, hooks)
    for corpus in texts:
        if not gold and corpus.has_links and not corpus.has_labels:
            what = "is not learnt from: links of this name are an aligner's (if these are hand-made, give `gold`)"
            warnings.warn(f"{corpus.files[-1]}: {what}", stacklevel=2)
    if not gold and not any(text.has_labels for text in texts):
        model = _train_unlabelled(texts, settings, as_list(links), hooks, engine)
        return Training(model)
    if settings.priors is not None and not lexicons:
        raise SettingError("priors have no effect on these features (leave `priors` out, or `features`)")
    priors = read_priors(settings.priors, settings.normalizers)
    bitext, everything, facts = read_inputs(texts, gold, links, settings, hooks)
    labelled = everything.sampled(settings.max_labelled, settings.seed)
    plan(settings, len(labelled.links))  # complains now, not after the long work
    statistics = CorpusStatistics.from_bitext(
        bitext, lexicons=lexicons, priors=priors, on_progress=hooks.counted,
        on_pass=tell_passes(hooks.on_progress), engine=engine,
    )  # fmt: skip
    languages = bitext.source.language, bitext.target.language
    del bitext, everything  # the largest of what is held, and not needed for what follows
    made = learn(statistics, labelled, settings, kinds=kinds, languages=languages, facts=facts, hooks=hooks)
    record = {**made.model.record, "total_seconds": time.perf_counter() - started}
    return replace(made, model=replace(made.model, record=record))


def _train_unlabelled(
    texts: Sequence[Corpus], settings: TrainingSettings, links: Sequence[str], hooks: Hooks, engine: Engine
) -> Model:
    """The default model of opened corpora.  SettingError on links and settings of learning from labels."""
    names = "languages", "normalizers", "candidates", "priors", "sample", "memory", "seed"
    of_text = {name: getattr(settings, name) for name in names}
    default = vars(TrainingSettings(**of_text))
    for name in ["links"] * bool(links) + [name for name, value in vars(settings).items() if value != default[name]]:
        raise SettingError(f"{name} has no effect without labelled pairs, which are not there (give `gold`)")
    warnings.warn("no labelled pairs: the model gets the default weights (`gold` teaches others)", stacklevel=4)
    priors = read_priors(settings.priors, settings.normalizers)
    bitext = read_texts(to_count(texts, settings), settings.normalizers, hooks)
    on_pass = tell_passes(hooks.on_progress)
    statistics = CorpusStatistics.from_bitext(
        bitext, priors=priors, on_progress=hooks.counted, on_pass=on_pass, engine=engine
    )
    languages, record = (bitext.source.language, bitext.target.language), corpus_record(texts, bitext, settings)
    return default_model(
        statistics, normalizers=settings.normalizers, languages=languages, record=record,
        candidates=settings.candidates,
    )  # fmt: skip


def update_model(model: Model, corpora: Paths, *, hooks: Hooks = Hooks()) -> Model:  # noqa: B008 - frozen
    """The model with the statistics of more corpora added, whose text alone is read; the weights stay as they are.

    See `features.statistics.CorpusStatistics.updated`.
    """
    texts = open_corpora(corpora, model.languages, hooks)
    bitext = read_texts(texts, model.normalizers, hooks)
    on_pass = tell_passes(hooks.on_progress)
    statistics = model.statistics.updated(bitext, on_progress=hooks.counted, on_pass=on_pass)
    updates = [*model.record.get("updates", []), corpus_record(texts, bitext)]
    return replace(model, statistics=statistics, record={**model.record, "updates": updates})
