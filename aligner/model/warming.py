"""Kernels compiled before they are needed: by calling them on text, numbers and beliefs that are made up."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import as_file, files

import numpy as np

from aligner.model.default import default_model
from aligner.progress import Hooks, Progress
from corpora.bitext import BitextBuilder
from corpora.normalize import Normalizer
from features.cooccurrence import CooccurrenceTable
from features.statistics import CorpusStatistics
from features.translation.posteriors import Beliefs, Posteriors
from features.word_pairs import WordPairs
from features.words import WordTable


def warm_up(on_progress: Callable[[Progress], None]) -> None:
    """Call all kernels that aligning, training and evaluating need by default; by doing that with a few pairs."""
    from aligner.training.train import train

    with as_file(files("corpora") / "sample" / "more") as folder:
        train(folder / "train", hooks=Hooks(on_progress=on_progress)).model.warm_up()


def call_kernels_of_features() -> None:
    """Call the kernels that come after those of statistics and translation models: of features and their scores.

    Another process does it while a command calls the former. There is nothing to keep in step: the default model aligns
    a pair by all features, whose word pairs and posteriors are there already.
    """
    words, ones = WordTable.from_words(["a", "b"]), np.ones(2, np.int32)
    counts = CooccurrenceTable(ones, ones, np.arange(3), np.arange(2, dtype=np.int32), ones, 1)
    model = default_model(CorpusStatistics(counts, words, words))
    bitext = BitextBuilder(Normalizer(), Normalizer()).add_pairs([(["a", "b"], ["a", "b"])]).bitext()
    batch = model.features.encode(bitext, model.statistics).batch(0, 1)
    every = np.arange(4, dtype=np.int32)
    found = Posteriors.of(batch.tokens, np.full((2, 4), 0.5, np.float32), np.zeros((2, 1)))
    made_up = {
        "rectangles": WordPairs(every // 2, every % 2, every),
        "beliefs": Beliefs(found, found, {}, (found, found)),
    }
    vars(batch).update(made_up)
    model.scorer.score_batch(model.features, batch)
    features = np.empty((len(batch.listed.cells), len(model.features.names)), np.float32)
    model.features.fill(batch, features)
    model.scorer.scores(features)
    WordPairs.of(batch.tokens, 2, 2)  # last, as it is what others need first
