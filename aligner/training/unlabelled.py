"""Models without a label: the default weights over a corpus's statistics, and more text for any model."""

from __future__ import annotations

from dataclasses import replace

from aligner.model.default import default_model
from aligner.model.model import Model
from aligner.progress import Hooks, tell_passes
from aligner.training.inputs import Paths, corpus_record, open_corpora, read_texts
from corpora.normalize import Normalizer
from features.statistics import CorpusStatistics
from features.translation.expectation import DEFAULT_MEMORY


def train_unlabelled(
    corpora: Paths,
    *,
    languages: tuple[str | None, str | None] = (None, None),
    normalizers: tuple[Normalizer, Normalizer] = (Normalizer(), Normalizer()),
    memory: int = DEFAULT_MEMORY,
    hooks: Hooks = Hooks(),  # noqa: B008 - frozen
) -> Model:
    """The default model of corpora, in any form of `corpora.readers.open_corpus`: no label is needed or looked at.

    memory: see `features.translation.expectation.Settings`.
    Raises AlignerError (CorpusError with the line) on bad data.
    """
    texts = open_corpora(corpora, languages, hooks)
    bitext = read_texts(texts, normalizers, hooks)
    on_pass = tell_passes(hooks.on_progress)
    statistics = CorpusStatistics.from_bitext(bitext, memory=memory, on_progress=hooks.counted, on_pass=on_pass)
    languages = bitext.source.language, bitext.target.language
    return default_model(statistics, normalizers=normalizers, languages=languages, record=corpus_record(texts, bitext))


def update_model(
    model: Model,
    corpora: Paths,
    *,
    memory: int = DEFAULT_MEMORY,
    hooks: Hooks = Hooks(),  # noqa: B008 - frozen
) -> Model:
    """The model with the statistics of more corpora added, whose text alone is read; the weights stay as they are.

    See `features.statistics.CorpusStatistics.updated`, and `train_unlabelled` for the arguments.
    """
    texts = open_corpora(corpora, model.languages, hooks)
    bitext = read_texts(texts, model.normalizers, hooks)
    on_pass = tell_passes(hooks.on_progress)
    statistics = model.statistics.updated(bitext, memory=memory, on_progress=hooks.counted, on_pass=on_pass)
    updates = [*model.record.get("updates", []), corpus_record(texts, bitext)]
    return replace(model, statistics=statistics, record={**model.record, "updates": updates})
