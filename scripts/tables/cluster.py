"""What counting text on a cluster costs, and a model of that cost."""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from tables import DATA, markdown, table

RUNS = {100_000: (0, 1, 2, 4), 400_000: (0, 1, 2, 4), 1_830_235: (0, 2, 4), 800_000: (3,)}
"""Pairs, and workers; none: on this machine, without a cluster. The model is fitted on all runs but the last."""

PASSES = 2 + 3
"""Over the text: two of Model 1, and one of the HMM for each of three lexicons."""


def usage() -> tuple[float, float]:
    """CPU seconds of this process, and GiB that it held at most; `ru_maxrss` has those of the one that started it."""
    status = Path("/proc/self/status").read_text("utf-8").splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    return time.process_time(), peak / (1 << 20)


def size(*paths: str) -> int:
    return sum(Path(path).stat().st_size for path in paths)


def size_of(answer: Any) -> int:
    """Bytes of the arrays in an answer."""
    return int(answer.nbytes) if isinstance(answer, np.ndarray) else sum(map(size_of, answer))


class Watched:
    """A connection whose traffic in expectation steps is counted: written for, read, and returned by workers."""

    def __init__(self, connection: Any) -> None:
        self.connection, self.at_once = connection, connection.at_once
        self.written = self.read = self.returned = 0

    def run(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        from aligner.cluster import tasks

        for call in calls[:1] if function is tasks.expect else ():
            self.written += size(call[2], f"{call[2]}.cells")
        for number, answer in self.connection.run(function, calls):
            if function is tasks.expect:
                shard, cells, state, *_ = calls[number]
                self.read += size(shard.path, cells, f"{cells}.targets", state, f"{state}.cells")
                self.returned += size_of(answer) + size(tasks.beside(shard, state))
            yield number, answer


def measure(prefix: str, pairs: int, workers: int) -> dict[str, float]:
    """Count the first pairs of a corpus; without workers, here."""
    from aligner.cluster.connection import connect
    from aligner.cluster.engine import ClusterEngine
    from corpora.bitext import read_bitext
    from corpora.normalize import Normalizer
    from corpora.readers import open_corpus
    from features.statistics import CorpusStatistics

    corpus = open_corpus(prefix)
    bitext = read_bitext([replace(corpus, texts=lambda: islice(corpus.texts(), pairs))], Normalizer(), Normalizer())
    before = usage()[0]
    if workers == 0:
        statistics, others, traffic = CorpusStatistics.from_bitext(bitext), [], [0, 0, 0]
    else:
        with tempfile.TemporaryDirectory() as folder, connect(f"local:{workers}") as connection:
            watched = Watched(connection)
            statistics = CorpusStatistics.from_bitext(bitext, engine=ClusterEngine(watched, Path(folder)))  # type: ignore[arg-type]
            others = [*connection._client.run(usage).values()]
            traffic = [watched.written, watched.read, watched.returned]
    mine = usage()
    words, cells = len(bitext.source.ids) + len(bitext.target.ids), len(statistics.cooccurrence.targets)
    client, worker_peak = mine[0] - before, max((peak for _, peak in others), default=0.0)
    counts = {"pairs": pairs, "words": words, "cells": cells, "workers": workers}
    costs = {"cpu": client + sum(cpu for cpu, _ in others), "client_peak": mine[1], "worker_peak": worker_peak}
    sent = {name: size / PASSES / 1e9 for name, size in zip(("written", "read", "returned"), traffic, strict=True)}
    return {**counts, "client": client, **costs, **sent}


MODEL = {
    "cpu": ("CPU s", "workers", "M words", "M cells"),
    "client_peak": ("GiB of the client", "1", "M words", "M cells"),
    "worker_peak": ("GiB of a worker", "1", "M words a worker", "M cells"),
    "written": ("GB a pass: written", "M cells"),
    "read": ("GB a pass: read", "M words", "M cells", "M cells x workers"),
    "returned": ("GB a pass: returned", "M words", "M cells", "M cells x workers"),
}
"""What is said of a run, and the terms of its model."""


def terms(run: dict[str, float], of: Sequence[str]) -> list[float]:
    """The terms of a model for a run."""
    words, cells, workers = run["words"] / 1e6, run["cells"] / 1e6, run["workers"]
    values = {
        "1": 1.0, "workers": workers, "M words": words, "M cells": cells, "M words a worker": words / workers,
        "M cells x workers": cells * workers,
    }  # fmt: skip
    return [values[name] for name in of]


def fit(runs: Sequence[dict[str, float]], what: str) -> tuple[str, Callable[[dict[str, float]], float]]:
    """The formula of least squares relative to what was measured, without negative terms."""
    of = MODEL[what][1:]
    seen = np.array([run[what] for run in runs])
    found, _ = nnls(np.array([terms(run, of) for run in runs]) / seen[:, None], np.ones(len(seen)))
    formula = " + ".join(f"{x:.3g}" if name == "1" else f"{x:.3g} {name}" for x, name in zip(found, of, strict=True))
    return formula, lambda run: float(np.dot(found, terms(run, of)))


@table("cluster")
def cluster(data: Path = DATA, pairs: tuple[int, ...] = tuple(RUNS)) -> str:
    """What counting Europarl on a cluster costs, by pairs and workers, and a model of that cost.

    The workers are processes of this machine. Bytes are those of files and answers, whatever carries them. 40 minutes.
    pairs: of the runs; of the last ones the model is not told.
    """
    prefix, runs = str(data / "europarl" / "train"), []
    for number, workers in [(n, workers) for n in pairs for workers in RUNS.get(n, (0, 2))]:
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            runs.append(process.submit(measure, prefix, number, workers).result())
        print(runs[-1], flush=True, file=sys.stderr)
    rows = [
        [
            f"{run['pairs']:,}",
            f"{run['words'] / 1e6:.1f}",
            f"{run['cells'] / 1e6:.1f}",
            run["workers"] or "none",
            f"{run['cpu']:.0f}",
            f"{run['client']:.0f}",
            f"{run['client_peak']:.2f}",
            f"{run['worker_peak']:.2f}",
            *(f"{run[name]:.2f}" for name in ("written", "read", "returned")),
        ]
        for run in runs
    ]
    header = [
        "pairs", "M words", "M cells", "workers", "CPU s", "of the client", "GiB of the client", "of a worker",
        "GB a pass: written", "read", "returned",
    ]  # fmt: skip
    *known, checked = [run for run in runs if run["workers"]]
    models = []
    for what, (name, *_) in MODEL.items():
        formula, predict = fit(known, what)
        models.append([name, formula, f"{predict(checked):.3g}", f"{checked[what]:.3g}"])
    left_out = f"it says of {checked['pairs']:,} pairs, {checked['workers']} workers"
    about = ["of a run with workers", "model", left_out, "measured"]
    return f"{markdown(header, rows, words=0)}\n\n{markdown(about, models, words=2)}"
