"""Speed and memory of reading, counting and aligning, from 10,000 to 1.8 million pairs.

Each figure comes from a process of its own, so that its peak memory is its own. The 1.8 M pairs are Europarl, the
others the first pairs of the Hansards. The model is trained on all of the Hansards with gold-train, text to file,
and text is aligned with it.

    python scripts/bench_corpus.py [--data ../shared/data] [--sizes 10000,100000,674324,1830235]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

from machine import describe_machine

from corpora.readers import Corpus, open_corpus

HANSARDS = 674_324


def first_pairs(data: Path, pairs: int) -> Corpus:
    corpus = open_corpus(data / ("hansards" if pairs <= HANSARDS else "europarl") / "train")
    texts = corpus.texts
    return replace(corpus, texts=lambda: islice(texts(), pairs))


def read(data: Path, pairs: int, model: Path) -> tuple[int, float]:
    from corpora.bitext import read_bitext
    from corpora.normalize import Normalizer

    start = time.perf_counter()
    bitext = read_bitext([first_pairs(data, pairs)], Normalizer(), Normalizer())
    return len(bitext), time.perf_counter() - start


def count(data: Path, pairs: int, model: Path) -> tuple[int, float]:
    from corpora.bitext import read_bitext
    from corpora.normalize import Normalizer
    from features.statistics import CorpusStatistics

    bitext = read_bitext([first_pairs(data, pairs)], Normalizer(), Normalizer())
    start = time.perf_counter()
    CorpusStatistics.from_bitext(bitext, translation=False)
    return len(bitext), time.perf_counter() - start


def align(data: Path, pairs: int, model: Path) -> tuple[int, float]:
    from aligner.model import load
    from aligner.streaming import align_corpus

    loaded, corpus = load(model), first_pairs(data, pairs)
    for _ in align_corpus(loaded, first_pairs(data, 1000), "pharaoh"):
        pass  # compiles
    start = time.perf_counter()
    lines = sum(1 for _ in align_corpus(loaded, corpus, "pharaoh"))
    return lines, time.perf_counter() - start


def train(data: Path, pairs: int, model: Path) -> tuple[int, float]:
    import aligner

    start = time.perf_counter()
    hansards = data / "hansards"
    aligner.train(str(hansards / "train"), gold=[str(hansards / "gold-train")]).model.save(model)
    return pairs, time.perf_counter() - start


def single(data: Path, pairs: int, model: Path) -> tuple[int, float]:
    """One sentence pair a call, as from Python."""
    from aligner.model import load

    loaded = load(model)
    sentences = [(a.decode().split(), b.decode().split()) for _, a, b in first_pairs(data, pairs).texts()]
    loaded.align(*sentences[0])  # compiles
    start = time.perf_counter()
    for source, target in sentences:
        loaded.align(source, target)
    return pairs, time.perf_counter() - start


STAGES: dict[str, Callable[[Path, int, Path], tuple[int, float]]] = {
    "train": train,
    "single": single,
    "read": read,
    "count": count,
    "align": align,
}


ONE_SIZE = {"train": HANSARDS, "single": 1000}
"""Stages that are measured at one size only."""


def measure(stage: str, data: Path, pairs: int, model: Path, answer: Path) -> None:
    """Run one stage and write what it took; the process ends after it."""
    done, seconds = STAGES[stage](data, pairs, model)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    peak = usage.ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    answer.write_text(json.dumps({"pairs": done, "seconds": seconds, "peak": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sizes", default="10000,100000,674324,1830235")
    options = parser.parse_args()
    print(describe_machine())
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        model, answer = Path(folder) / "hansards.model", Path(folder) / "answer.json"
        print(f"{'stage':<8}{'pairs':>11}{'seconds':>9}{'pairs/s':>10}{'peak GiB':>10}")
        for stage in STAGES:
            for pairs in [ONE_SIZE[stage]] if stage in ONE_SIZE else map(int, options.sizes.split(",")):
                process = context.Process(target=measure, args=(stage, options.data, pairs, model, answer))
                process.start()
                process.join()
                if process.exitcode != 0:
                    sys.exit(f"{stage} of {pairs} pairs failed")
                took = json.loads(answer.read_text())
                speed = took["pairs"] / took["seconds"]
                print(f"{stage:<8}{took['pairs']:>11,}{took['seconds']:>9.1f}{speed:>10,.0f}{took['peak']:>10.2f}")


if __name__ == "__main__":
    main()
