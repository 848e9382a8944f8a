"""The table of training in docs/pipelines.md: CPU time and memory by the number of pairs, and a law of both.

    python scripts/bench_training.py my.model --folder /data/training --write

Pairs are drawn from the model by scripts/make_corpus.py; few of them are the first of many. What a run took is kept in
the folder and not measured again. The law is a + b · pairs with the least relative errors, of all runs but the last,
which checks it.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from bench_bulk import once, whole
from speed import ALIGNER, execute
from tables import ROOT, markdown, parser_of, publish

PAIRS = 100_000, 400_000, 1_600_000, 5_000_000, 20_000_000


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pairs", type=int, nargs="+", default=PAIRS)
    parser.add_argument("--mean", type=int, default=25, help="words of a source sentence")
    asked = parser.parse_args()
    folder, sizes = asked.folder, np.sort(asked.pairs)
    runs = [once(folder, f"{n}", partial(measure, folder, asked.model, n, asked.mean)) for n in sizes.tolist()]
    laws = []
    for what in ("cpu", "peak"):
        measured = np.array([run[what] for run in runs])
        terms = np.stack([np.ones(len(sizes)), sizes], axis=1) / measured[:, None]
        law, *_ = np.linalg.lstsq(terms[:-1], np.ones(len(sizes) - 1), rcond=None)
        laws.append(law[0] + law[1] * sizes)
    rows = [
        [f"{n:,}", f"{run['cpu']:,.0f}", f"{cpu:,.0f}", f"{run['peak']:.2f}", f"{peak:.2f}"]
        for n, run, cpu, peak in zip(sizes, runs, *laws, strict=True)
    ]
    header = ["pairs", "CPU s", "by the law", "GiB", "by the law"]
    publish("training", markdown(header, rows, words=0), pages=["docs/pipelines.md"], write=asked.write)


def measure(folder: Path, model: Path, pairs: int, mean: int) -> dict[str, Any]:
    """What training on so many drawn pairs takes."""
    texts = folder / f"{pairs}.en", folder / f"{pairs}.fr"
    draw = sys.executable, str(ROOT / "scripts" / "make_corpus.py"), model, *texts, "--pairs", pairs, "--mean", mean
    if not texts[1].exists():
        execute(draw)
    return whole((*ALIGNER, "train", *texts, "-m", folder / f"{pairs}.model", "--force", "-q"), pairs)


if __name__ == "__main__":
    main()
