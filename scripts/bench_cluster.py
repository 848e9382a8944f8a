"""The tables of docs/cluster.md: what counting text on a cluster costs, by pairs and workers, and a model of that cost.

    python scripts/bench_cluster.py --write

The workers are processes of this machine. Bytes are those of files and answers, whatever carries them. 40 minutes.
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
from scipy.optimize import nnls
from tables import markdown, parser_of, publish

RUNS = [[100_000, 0, 1, 2, 4], [400_000, 0, 1, 2, 4], [1_830_235, 0, 2, 4]]
"""Pairs, and workers of the runs that the model is fitted on; none: on this machine, without a cluster."""

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
    return {
        "pairs": pairs,
        "words": words,
        "cells": cells,
        "workers": workers,
        "client": mine[0] - before,
        "cpu": mine[0] - before + sum(cpu for cpu, _ in others),
        "client_peak": mine[1],
        "worker_peak": max((peak for _, peak in others), default=0.0),
    } | dict(zip(("written", "read", "returned"), traffic, strict=True))


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


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--corpus", default="europarl", help="its first pairs")
    parser.add_argument("--runs", type=int, nargs="+", action="append", metavar="PAIRS WORKERS", help="repeatable")
    parser.add_argument("--held-out", type=int, nargs=2, default=[800_000, 3], help="a run the model is not fitted on")
    parser.add_argument("--one", action="store_true", help="measure the held-out run alone, for another process")
    asked = parser.parse_args()
    prefix = str(asked.data / asked.corpus / "train")
    if asked.one:
        print(json.dumps(measure(prefix, *asked.held_out)))
        return
    runs = []
    for pairs, *workers in [*(asked.runs or RUNS), asked.held_out]:
        for number in workers:
            command = [sys.executable, __file__, "--data", asked.data, "--corpus", asked.corpus, "--one", "--held-out"]
            ran = subprocess.run([*command, str(pairs), str(number)], check=True, capture_output=True)
            runs.append(json.loads(ran.stdout.splitlines()[-1]))
            print(runs[-1], flush=True, file=sys.stderr)
    for run in runs:
        for name in ("written", "read", "returned"):
            run[name] /= PASSES * 1e9
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
    text = f"{markdown(header, rows, words=0)}\n\n{markdown(about, models, words=2)}"
    publish("cluster", text, pages=["docs/cluster.md"], write=asked.write)


if __name__ == "__main__":
    main()
