"""train(): from corpora, and labelled pairs if there are any, to a model; update_model(): further text for one."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace

from aligner.errors import SettingError
from aligner.model.default import default_model
from aligner.model.model import Model
from aligner.model.operating_point import fitting_offset
from aligner.progress import Hooks, tell_passes
from aligner.training.inputs import TEXT_FACTS, Inputs, Paths, corpus_record, open_corpora, read_labelled, read_texts
from aligner.training.learn import Training, feature_set, learn
from aligner.training.settings import CountSettings, LearnSettings, plan
from corpora.corpus import Corpus
from corpora.reading import Reading
from corpora.settings import changed
from corpora.threads import one_blas_thread
from features.statistics import CorpusStatistics
from features.translation.counting import THIS_MACHINE, Engine
from features.translation.priors import read_priors


def train(
    corpora: Paths,
    gold: Paths = (),
    learn: LearnSettings = LearnSettings(),
    count: CountSettings = CountSettings(),
    *,
    links: Paths = (),
    hooks: Hooks = Hooks(),  # noqa: B008 - frozen
) -> Training:
    """Count corpora, learn weights from labelled pairs, and return the model with the solver's result.

    corpora: paths in any form of `corpora.readers.open_corpus`; two consecutive texts of one language each make one.
    gold: the labelled pairs, in the same forms, with links; by default the corpora that have links, and without any the
    default weights are used, with a warning. They are kept, too, if they make no more errors in held-out pairs than
    learnt weights (``record["default_aer"]``). The text of gold is not counted, so that its words are as new to the
    model as those of new text.
    learn, count: such as ``LearnSettings(loss="hinge", max_passes=20)``.
    links: files of other aligners' links of the labelled pairs, in order, each as FILE or KIND=FILE, see
    `corpora.link_files.KINDS`; each has its own features.

    Raises AlignerError (CorpusError with the line) on bad data and bad settings.
    """
    return train_on(Inputs.open(corpora, gold, links, reading=count.reading, hooks=hooks), learn, count, hooks)


@one_blas_thread()
def train_on(
    inputs: Inputs, settings: LearnSettings, count: CountSettings, hooks: Hooks, engine: Engine = THIS_MACHINE
) -> Training:
    """`train` on opened inputs.  engine: counts the corpora."""
    started = time.perf_counter()
    lexicons = feature_set(settings, inputs.kinds).lexicons
    for corpus in inputs.texts:
        if not inputs.given and corpus.has_links and not corpus.has_labels:
            what = "is not learnt from: links of this name are an aligner's (if these are hand-made, give `gold`)"
            warnings.warn(f"{corpus.files[-1]}: {what}", stacklevel=4)
    if not inputs.labelled:
        idle = {*changed(settings)} - {"candidates", "memory", "seed"}
        for name in ["links"] * bool(inputs.links) + sorted(idle):
            raise SettingError(f"`{name}` has no effect without labelled pairs, which are not there (give `gold`)")
        warnings.warn("no labelled pairs: the model gets the default weights (`gold` teaches others)", stacklevel=4)
    for name in ("priors", "dictionary"):
        if getattr(count, name) and not lexicons:
            raise SettingError(f"`{name}` has no effect on these features (leave `{name}` or `families` out)")
    bitext, everything, facts = inputs.read(count, hooks)
    priors = read_priors(
        count.priors, count.dictionary, count.normalizers, bitext, whole=True, on_fit=hooks.on_dictionary
    )
    labelled = everything and everything.sampled(settings.max_labelled, settings.seed)
    if labelled is not None:
        plan(settings, len(labelled.links))  # raises now, not after the long work
    statistics = CorpusStatistics.from_bitext(
        bitext,
        lexicons=lexicons,
        priors=priors,
        on_progress=hooks.counted,
        on_pass=tell_passes(hooks.on_progress),
        engine=engine,
    )
    text = replace(count, languages=(bitext.source.language, bitext.target.language))
    if labelled is None:
        model = default_model(statistics, text.normalizers, text.languages, facts, settings.candidates or "fewer")
        return Training(model.with_offset(fitting_offset(model, bitext), of_text=True))
    del bitext, everything  # the largest of what is held, and not needed for what follows
    made = learn(statistics, labelled, settings, text, kinds=inputs.kinds, facts=facts, hooks=hooks)
    record = {**made.model.record, "total_seconds": time.perf_counter() - started}
    return replace(made, model=replace(made.model, record=record))


def update_model(model: Model, corpora: Paths, *, hooks: Hooks = Hooks()) -> Model:  # noqa: B008 - frozen
    """Add the statistics of more corpora to a model; only their text is read, and the weights do not change.

    See `features.statistics.CorpusStatistics.updated`.
    """
    return update_on(model, open_corpora(corpora, Reading(*model.languages), hooks), hooks)


def update_on(model: Model, texts: Sequence[Corpus], hooks: Hooks) -> Model:
    """`update_model` on opened corpora."""
    bitext = read_texts(texts, model.normalizers, hooks)
    on_pass = tell_passes(hooks.on_progress)
    statistics = model.statistics.updated(bitext, on_progress=hooks.counted, on_pass=on_pass)
    updates = [*model.record.get("updates", []), corpus_record(texts, bitext)]
    return replace(model, statistics=statistics, record={**model.record, "updates": updates}, risk=None)


def learn_on(model: Model, inputs: Inputs, settings: LearnSettings, hooks: Hooks) -> Training:
    """Learn weights from labelled pairs by the statistics of a model, whose text is not read again.

    Raises AlignerError on bad data or bad settings, and without labelled pairs.
    """
    if not inputs.labelled:
        raise SettingError("there are no labelled pairs to learn from (give a text with its links)")
    labelled = read_labelled(inputs.labelled, model.normalizers, inputs.links)
    text = CountSettings(model.languages, model.normalizers)
    facts = {name: model.record[name] for name in TEXT_FACTS if name in model.record}
    facts["gold"] = [corpus.name for corpus in inputs.labelled]
    sampled = labelled.sampled(settings.max_labelled, settings.seed)
    return learn(model.statistics, sampled, settings, text, kinds=inputs.kinds, facts=facts, hooks=hooks)
