"""Compiling ahead: while a command compiles the kernels it needs first, another process compiles the last.

Both use the same cache, where each looks before it compiles. The other process begins when the first kernel is
compiled, so that there is none where all are cached, and ends with this one, however that ends: it reads standard
input, which is a pipe from here. What happens to it has no effect but on time.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """Within this block, compile in two processes, if kernels can be cached and there are two cores to use."""
    import subprocess

    from corpora.compiled import before_first_compilation, kernel_folder
    from corpora.threads import cores

    started: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        if cores() > 1 and kernel_folder() is not None:
            code = f"from {__name__} import compile_until_the_end; compile_until_the_end()"
            # The modules that are found here, and none that stand where the user is.
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            nowhere = subprocess.DEVNULL
            command = [sys.executable, "-P", "-c", code]
            with suppress(OSError):
                process = subprocess.Popen(
                    command, env=environment, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere
                )
                started.append(process)

    try:
        with before_first_compilation(start):
            yield
    finally:
        for process in started:
            process.kill()
            process.communicate()


def compile_until_the_end() -> None:
    """Compile in the other process, until the parent ends it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    call_kernels_of_features()


def call_kernels_of_features() -> None:
    """Call the kernels of features and scores, which a command needs after those of statistics and translation models.

    Another process does it while a command calls its first kernels, independently: the default model aligns a pair
    by all features, whose word pairs and posteriors are given here.
    """
    import numpy as np

    from aligner.model.default import default_model
    from aligner.model.scoring import score_batch, score_table
    from corpora.bitext import BitextBuilder
    from corpora.normalize import Normalizer
    from features.batch import EdgeBatch, EncodedText
    from features.cooccurrence import CooccurrenceTable
    from features.statistics import CorpusStatistics
    from features.translation.posteriors import Posteriors, PosteriorSet
    from features.word_pairs import Pairs, WordPairs
    from features.words import WordTable

    words, ones = WordTable.from_words(["a", "b"]), np.ones(2, np.int32)
    counts = CooccurrenceTable(ones, ones, np.arange(3), np.arange(2, dtype=np.int32), ones, 1)
    model = default_model(CorpusStatistics(counts, words, words))
    bitext = BitextBuilder(Normalizer(), Normalizer()).add_pairs([(["a", "b"], ["a", "b"])]).bitext()
    text, tokens = EncodedText.of(bitext, model.statistics, posteriors=False), Pairs.cut(bitext, 0, 1)
    every = np.arange(4, dtype=np.int32)
    found = Posteriors.of(tokens, np.full((2, 4), 0.5, np.float32), np.zeros((2, 1)))
    models = PosteriorSet(found, found, {}, (found, found))
    batch = EdgeBatch.of(text, range(1), tokens, WordPairs(every // 2, every % 2, every), models)
    score_batch(model.weights, model.features, batch)
    features = np.empty((len(batch.cells), len(model.features.names)), np.float32)
    model.features.fill(batch, features)
    score_table(model.weights, features)
    WordPairs.of(tokens, 2, 2)  # last, as it is what others need first


def _end_with_parent() -> None:
    os.read(0, 1)
    os._exit(0)
