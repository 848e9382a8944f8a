"""The tables of docs/cluster.md: what counting text on a cluster costs, by pairs and workers, and a model of that cost.

    python scripts/bench_cluster.py --write

The workers are processes of this machine. Bytes are those of files and of answers, whatever carries them.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from tables import markdown, parser_of, publish

CHECKED = 2
"""Workers of the run, of the longest text, that the model is not fitted on."""

PASSES = 2 + 3
"""Over the text: two of Model 1, and one of the HMM for each of three lexicons."""


def usage() -> tuple[float, float]:
    """CPU seconds of this process, and GiB that it held at most."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / (1 << 20)


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
                self.read += size(shard.path, tasks.cells_file(shard, cells), state) + 8 * len(answer.cells)
                self.returned += size_of(answer)
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
    cells = len(statistics.cooccurrence.targets)
    return {
        "pairs": pairs, "workers": workers, "cells": cells,
        "client": mine[0] - before, "cpu": mine[0] - before + sum(cpu for cpu, _ in others), "client_peak": mine[1],
        "worker_peak": max((peak for _, peak in others), default=0.0),
    } | dict(zip(("written", "read", "returned"), traffic, strict=True))  # fmt: skip


def fit(runs: Sequence[dict[str, float]]) -> tuple[np.ndarray, Callable[[dict[str, float]], float]]:
    """Least squares of CPU seconds = a workers + b pairs, relative to what was measured."""

    def terms(run: dict[str, float]) -> list[float]:
        return [run["workers"], run["pairs"]]

    cpu = np.array([run["cpu"] for run in runs])
    found, *_ = np.linalg.lstsq(np.array([terms(run) for run in runs]) / cpu[:, None], np.ones(len(cpu)), rcond=None)
    return found, lambda run: float(np.dot(found, terms(run)))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[20_000, 100_000], help="of the Hansards, ascending")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--one", help="pairs,workers: measure these alone, for another process")
    asked = parser.parse_args()
    prefix = str(asked.data / "hansards" / "train")
    if asked.one is not None:
        print(json.dumps(measure(prefix, *map(int, asked.one.split(",")))))
        return
    runs = []
    for pairs in asked.pairs:
        for workers in (0, *asked.workers):
            command = [sys.executable, __file__, "--data", asked.data, "--one", f"{pairs},{workers}"]
            runs.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout.splitlines()[-1]))
            print(runs[-1], flush=True, file=sys.stderr)
    rows = [
        [
            f"{run['pairs']:,}", run["workers"] or "none", f"{run['cells'] / 1e6:.1f}",
            f"{run['cpu']:.0f}", f"{run['client']:.0f}", f"{run['client_peak']:.2f}", f"{run['worker_peak']:.2f}",
            *(f"{run[name] / PASSES / run['pairs'] / 1e3:.1f}" for name in ("written", "read", "returned")),
        ]
        for run in runs
    ]  # fmt: skip
    header = [
        "pairs", "workers", "M cells", "CPU s", "of the client", "GiB of the client", "of a worker",
        "KB a pair and pass: written", "read", "returned",
    ]  # fmt: skip
    others = [run for run in runs if run["workers"]]
    checked = next(run for run in others if (run["pairs"], run["workers"]) == (asked.pairs[-1], CHECKED))
    (per_worker, per_pair), predict = fit([run for run in others if run is not checked])
    run = f"{checked['pairs']:,} pairs on {CHECKED}"
    model = (
        f"CPU s = {per_worker:.1f} · workers + {1000 * per_pair:.3f} · 1,000 pairs, fitted on rows with workers but "
        f"{run}: of these it says {predict(checked):.0f} s, they took {checked['cpu']:.0f}."
    )
    publish("cluster", f"{markdown(header, rows, words=0)}\n\n{model}", pages=["docs/cluster.md"], write=asked.write)


if __name__ == "__main__":
    main()
