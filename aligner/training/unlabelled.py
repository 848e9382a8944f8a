"""Models without a label: the default weights over a corpus's statistics, and more text for any model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aligner.errors import SettingError
from aligner.model.default import default_model
from aligner.model.model import Model
from aligner.progress import Hooks, tell_passes
from aligner.training.inputs import Paths, corpus_record, open_corpora, read_texts
from aligner.training.settings import TrainingSettings
from corpora.readers import Corpus
from features.statistics import CorpusStatistics
from features.translation.expectation import DEFAULT_MEMORY


def train_unlabelled(texts: Sequence[Corpus], settings: TrainingSettings, links: Sequence[str], hooks: Hooks) -> Model:
    """The default model of opened corpora.  SettingError on links and settings of learning from labels."""
    of_text = {name: getattr(settings, name) for name in ("languages", "normalizers", "memory", "seed")}
    default = vars(TrainingSettings(**of_text))
    for name in ["links"] * bool(links) + [name for name, value in vars(settings).items() if value != default[name]]:
        raise SettingError(f"{name} has no effect without labelled pairs, which are not there (give `gold`)")
    bitext = read_texts(texts, settings.normalizers, hooks)
    statistics = CorpusStatistics.from_bitext(
        bitext, memory=settings.memory, on_progress=hooks.counted, on_pass=tell_passes(hooks.on_progress)
    )
    languages = bitext.source.language, bitext.target.language
    record = corpus_record(texts, bitext)
    return default_model(statistics, normalizers=settings.normalizers, languages=languages, record=record)


def update_model(
    model: Model,
    corpora: Paths,
    *,
    memory: int = DEFAULT_MEMORY,
    hooks: Hooks = Hooks(),  # noqa: B008 - frozen
) -> Model:
    """The model with the statistics of more corpora added, whose text alone is read; the weights stay as they are.

    See `features.statistics.CorpusStatistics.updated`.  memory: see `features.translation.expectation.Settings`.
    """
    texts = open_corpora(corpora, model.languages, hooks)
    bitext = read_texts(texts, model.normalizers, hooks)
    on_pass = tell_passes(hooks.on_progress)
    statistics = model.statistics.updated(bitext, memory=memory, on_progress=hooks.counted, on_pass=on_pass)
    updates = [*model.record.get("updates", []), corpus_record(texts, bitext)]
    return replace(model, statistics=statistics, record={**model.record, "updates": updates})
