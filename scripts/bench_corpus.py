"""Speed and memory of reading, counting and aligning, from 10,000 to 1.8 million pairs.

Each figure comes from a process of its own, so that its peak memory and its CPU time, start and all, are its own. The
1.8 M pairs are Europarl, the others the first pairs of the Hansards. Models are trained on all of the Hansards with
gold-train, text to file, and text is aligned with them: one with all features, and one with those of counts and words
only, `--features bias,association,position,orthography,competition,neighbours`, which needs no translation models.

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
from collections.abc import Callable, Sequence
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
    CorpusStatistics.from_bitext(bitext, lexicons=())
    return len(bitext), time.perf_counter() - start


def align(data: Path, pairs: int, model: Path) -> tuple[int, float]:
    """With all features."""
    from aligner.model.model import load
    from aligner.model.streaming import align_corpus

    loaded, corpus = load(model), first_pairs(data, pairs)
    for _ in align_corpus(loaded, first_pairs(data, 1000), "pharaoh"):
        pass  # compiles
    start = time.perf_counter()
    lines = sum(part.count(b"\n") for part in align_corpus(loaded, corpus, "pharaoh"))
    return lines, time.perf_counter() - start


def align_by_counts(data: Path, pairs: int, model: Path) -> tuple[int, float]:
    return align(data, pairs, by_counts(model))


def train(data: Path, pairs: int, model: Path, families: Sequence[str] | None = None) -> tuple[int, float]:
    """With all features, or with these."""
    import aligner

    start = time.perf_counter()
    hansards = data / "hansards"
    gold = [str(hansards / "gold-train")]
    aligner.train(str(hansards / "train"), gold=gold, families=families).model.save(model)
    return pairs, time.perf_counter() - start


def train_by_counts(data: Path, pairs: int, model: Path) -> tuple[int, float]:
    from features.extractor import FAMILIES, OF_TRANSLATION

    return train(data, pairs, by_counts(model), [family for family in FAMILIES if family not in OF_TRANSLATION])


def by_counts(model: Path) -> Path:
    """Where the model without translation models is."""
    return model.with_suffix(".counts")


def single(data: Path, pairs: int, model: Path) -> tuple[int, float]:
    """One sentence pair a call, as from Python."""
    from aligner.model.model import load

    loaded = load(model)
    sentences = [(a.decode().split(), b.decode().split()) for _, a, b in first_pairs(data, pairs).texts()]
    loaded.align(*sentences[0])  # compiles
    start = time.perf_counter()
    for source, target in sentences:
        loaded.align(source, target)
    return pairs, time.perf_counter() - start


STAGES: dict[str, Callable[[Path, int, Path], tuple[int, float]]] = {
    "train": train,
    "train, counts": train_by_counts,
    "single": single,
    "read": read,
    "count": count,
    "align": align,
    "align, counts": align_by_counts,
}


ONE_SIZE = {"train": HANSARDS, "train, counts": HANSARDS, "single": 1000}
"""Stages that are measured at one size only."""

LARGEST = {"align": HANSARDS}
"""More pairs take minutes and show nothing new."""


def measure(stage: str, data: Path, pairs: int, model: Path, answer: Path) -> None:
    """Run one stage and write what it took; the process ends after it."""
    done, seconds = STAGES[stage](data, pairs, model)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    peak = usage.ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    spent = usage.ru_utime + usage.ru_stime
    answer.write_text(json.dumps({"pairs": done, "seconds": seconds, "cpu": spent, "peak": peak}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sizes", default="10000,100000,674324,1830235")
    options = parser.parse_args()
    print(describe_machine())
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        model, answer = Path(folder) / "hansards.model", Path(folder) / "answer.json"
        print(f"{'stage':<14}{'pairs':>11}{'seconds':>9}{'pairs/s':>10}{'CPU s':>8}{'peak GiB':>10}")
        for stage in STAGES:
            for pairs in [ONE_SIZE[stage]] if stage in ONE_SIZE else map(int, options.sizes.split(",")):
                if pairs > LARGEST.get(stage, pairs):
                    continue
                process = context.Process(target=measure, args=(stage, options.data, pairs, model, answer))
                process.start()
                process.join()
                if process.exitcode != 0:
                    sys.exit(f"{stage} of {pairs} pairs failed")
                took = json.loads(answer.read_text())
                speed = took["pairs"] / took["seconds"]
                print(
                    f"{stage:<14}{took['pairs']:>11,}{took['seconds']:>9.1f}{speed:>10,.0f}{took['cpu']:>8.1f}"
                    f"{took['peak']:>10.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
