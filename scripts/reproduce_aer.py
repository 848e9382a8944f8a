"""The accuracy table of README: alignment error rates on gold-dev sets, from the data of ../shared/data.

Every model is trained with the defaults on the set's gold-train only and judged on its gold-dev, on which no choice was
made; GIZA++'s rows are its published links for the same sentences. Hansards: 100 + 100 hand-aligned sentences;
cs-en: 200 + 300.

    python scripts/reproduce_aer.py [--data ../shared/data]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import aligner
from aligner.evaluation import Evaluation
from corpora.alignment import Links, PairLinks
from corpora.link_files import read_links
from corpora.readers import Corpus, open_corpus

STEPS = ("association", "position", "orthography", "neighbours", "competition")
"""Families in the order in which they are added."""


def first_pairs(corpus: Corpus, pairs: int, folder: Path) -> str:
    """Write the first pairs of a corpus; returns their prefix."""
    prefix = folder / f"first-{pairs}"
    lines = list(islice(corpus.texts(), pairs))
    for side, language in ((1, corpus.source_language), (2, corpus.target_language)):
        Path(f"{prefix}.{language}").write_bytes(b"".join(line[side] + b"\n" for line in lines))
    return str(prefix)


def judge(name: str, gold: Links, found: Links) -> Evaluation:
    return aligner.evaluate(gold, [found], gold_name="gold-dev", hypothesis_names=[name])[0]


def train_and_judge(
    corpus: str,
    train: str,
    dev: str,
    *,
    languages: tuple[str, str],
    families: Sequence[str] | None = None,
    train_links: Sequence[str] = (),
    dev_links: Sequence[str] = (),
) -> Evaluation:
    source, target = languages
    model = aligner.train(
        corpus, gold=[train], source=source, target=target, families=families, links=train_links
    ).model
    gold = open_corpus(dev, source=source, target=target)
    sentences = [
        (model.source_normalizer.tokens(line), model.target_normalizer.tokens(other)) for _, line, other in gold.texts()
    ]
    others = [[pair.sure for pair in read_links(path)] for path in dev_links]
    found = Links.from_pairs(
        PairLinks(frozenset(alignment.links), frozenset()) for alignment in model.align_many(sentences, others)
    )
    return judge(dev, Links.from_pairs(gold.links()), found)


def show(data: str, system: str, result: Evaluation) -> None:
    low, high = (100 * end for end in result.intervals["aer"])
    print(
        f"{data:<18}{system:<52}{100 * result.aer:>6.2f}  [{low:5.2f}, {high:5.2f}]"
        f"{100 * result.precision:>11.2f}{100 * result.recall:>8.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    data = parser.parse_args().data
    print(f"{'data':<18}{'system':<52}{'AER':>6}  {'95 % interval':<14}{'precision':>11}{'recall':>8}")
    hansards, english_french = data / "hansards", ("en", "fr")
    gold = str(hansards / "gold-train"), str(hansards / "gold-dev")
    dev = Links.from_pairs(open_corpus(gold[1]).links())
    for method in ("intersection", "grow-diag", "grow-diag-final"):
        found = read_links(hansards / f"giza-dev.{method}")
        show("Hansards 1.1 M", f"GIZA++ Model 4, {method} (published links)", judge(method, dev, found))
    full = str(hansards / "train")
    for step in range(1, len(STEPS) + 1):
        families = ("bias", *STEPS[:step])
        result = train_and_judge(full, *gold, languages=english_french, families=families)
        show("Hansards 674 k", "aligner, " + ("association" if step == 1 else f"+ {STEPS[step - 1]}"), result)
    with tempfile.TemporaryDirectory() as folder:
        for pairs in (10_000, 100_000):
            prefix = first_pairs(open_corpus(full), pairs, Path(folder))
            show(f"Hansards {pairs // 1000} k", "aligner", train_and_judge(prefix, *gold, languages=english_french))
    directions = ("forward", "reverse", "intersection")
    result = train_and_judge(
        full,
        *gold,
        languages=english_french,
        train_links=[str(hansards / f"giza-train.{name}") for name in directions],
        dev_links=[str(hansards / f"giza-dev.{name}") for name in directions],
    )
    show("Hansards 674 k", "aligner with GIZA++'s links as features", result)
    czech = data / "cs-en"
    result = train_and_judge(
        str(czech / "text"), str(czech / "gold-train"), str(czech / "gold-dev"), languages=("en", "cs")
    )
    show("English-Czech 2 k", "aligner", result)


if __name__ == "__main__":
    main()
