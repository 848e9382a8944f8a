"""The learning curve in docs/accuracy.md: AER by pairs of text and labelled pairs, from as little as a linguist has.

    python scripts/learning_curve.py --write [--fast-align BINARY]

Of each language some draws of a few pairs of text are aligned, among them the gold pairs that are judged; with labels,
those that are not labelled. Default weights have seen nothing of the language's gold. eflomal, where it is installed,
and fast_align align the same text, each direction by itself, and are combined by the method that is best on the set.
Some twenty minutes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tables import ROOT, markdown, parser_of, publish, put_table

if TYPE_CHECKING:
    from gold import F64, View
    from gold_sets import GoldSet

    from corpora.bitext import Bitext
    from corpora.ragged import I64

SIZES = 50, 100, 300, 1_000, 3_000
LABELS = 10, 25, 50, 100
DRAWS = 2
FEWEST = 20
"""Pairs that are judged."""

RESAMPLES = 2_000

IN_README = "Japanese", 300
FEW_PAIRS = """\
Distant languages and small texts are harder. With {1} {0} pairs and no labels the error rate (AER, in %) is {2:.1f}, \
where eflomal has {3:.1f}; \
with {4} of the pairs labelled it is {5:.1f}. Ten languages: [the learning curve](docs/accuracy.md#learning-curve)."""

LANGUAGES = {
    "Japanese": "en-ja", "Korean": "pud, ko", "Arabic": "pud, ar", "Ancient Greek": "grc-en", "Turkish": "en-tr",
    "Hungarian": "xl-wa, hu", "Estonian": "xl-wa, et", "Bulgarian": "xl-wa, bg", "Russian": "xl-wa, ru",
    "Spanish": "xl-wa, es",
}  # fmt: skip


def draws(data: Path, gold: GoldSet, size: int) -> Iterator[tuple[View, Bitext]]:
    """A text of so many pairs, as many gold ones among them as there are; at most as many draws as differ."""
    from gold import Labelled, View, text_with_gold

    from corpora.readers import open_corpus
    from features.statistics import CorpusStatistics

    every = Labelled.open(data, gold.prefixes, gold.source, gold.target, words=gold.words)
    n, prefix = len(every.links), gold.corpora[-1][0]
    if size > n and not prefix:
        return
    for draw in range(DRAWS if size < n else 1):
        labelled = every.take(np.sort(np.random.default_rng(draw).permutation(n)[:size]))
        bitext = labelled.bitext
        if size > n:
            further = open_corpus(str(data / prefix), source=gold.source, target=gold.target)
            bitext = text_with_gold(further, size - n, labelled.corpora)
        yield View("", size, labelled, CorpusStatistics.from_bitext(bitext)), bitext


def without_labels(seen: View, bitext: Bitext, weights: F64, fast_align: Path | None) -> dict[str, I64]:
    """Counts of the judged pairs, (n, 5), by each system."""
    import speed
    from gold import decode_with

    from features.extractor import FeatureSet
    from features.translation.posteriors import Decoder

    labelled, n = seen.labelled, len(seen.labelled.links)
    assert seen.statistics.translation is not None
    bare = Decoder(labelled.bitext, seen.statistics.translation).posteriors(0, n).soft_links()
    found = {
        "default": decode_with(weights, FeatureSet().extract(labelled.bitext, seen.statistics)).links,
        "`--unsupervised`": bare,
    }
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("source", "target", "joint")]
        lines = [(" ".join(pair.source_words), " ".join(pair.target_words)) for pair in bitext]
        for file, side in zip(files, (*zip(*lines, strict=True), map(" ||| ".join, lines)), strict=True):
            file.write_text("".join(f"{line}\n" for line in side), "utf-8")
        text = speed.Text(*files, len(lines), labelled.links)
        peers = {"eflomal": speed.eflomal(text, Path(folder), 1)}
        if fast_align is not None:
            peers["fast_align"] = speed.fast_align(text, Path(folder), fast_align)
        for name, ran in peers.items():
            if ran:
                outputs = [Path(folder) / f"{name}.{way}" for way in ("forward", "reverse")]
                found[name] = speed.best_links(text, *outputs, error=labelled.aer)
    return {name: labelled.count(links) for name, links in found.items()}


def with_labels(seen: View, weights: F64) -> dict[int, I64]:
    """Counts of the pairs that are not labelled, by the number of labelled ones."""
    from gold import learn

    labelled, found = seen.labelled, {}
    order = np.random.default_rng(0).permutation(len(labelled.links))
    for labels in LABELS:
        if len(order) - labels < FEWEST:
            break
        rest = labelled.take(np.sort(order[labels:]))
        learnt = learn(labelled, np.sort(order[:labels]), seen.statistics, weights)
        found[labels] = rest.count(learnt.align(rest.bitext, seen.statistics).links)
    return found


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--fast-align", type=Path, metavar="BINARY")
    asked = parser.parse_args()

    from gold import default_weights, views
    from gold_sets import GOLD_SETS, TURKISH, WIKIPEDIA

    from aligner.evaluation.counts import bootstrap, scores

    sets, known = GOLD_SETS | {"en-tr": TURKISH} | WIKIPEDIA, views(asked.data, 100_000)
    rows, told = [], ()
    for language, name in LANGUAGES.items():
        weights = default_weights(known, name)
        for size in SIZES:
            tables: dict[str | int, list[I64]] = {}
            for seen, bitext in draws(asked.data, sets[name], size):
                found = without_labels(seen, bitext, weights, asked.fast_align)
                for key, table in (*found.items(), *with_labels(seen, weights).items()):
                    tables.setdefault(key, []).append(table)
            if not tables:
                continue
            joined = {key: np.concatenate(parts) for key, parts in tables.items()}
            aer = {key: 100 * float(scores(table.sum(axis=0)).aer) for key, table in joined.items()}
            low, high = np.quantile(bootstrap([joined["default"]], RESAMPLES, 0)[0].aer * 100, [0.025, 0.975])
            columns = ["`--unsupervised`", "eflomal", "fast_align", *LABELS]
            cells = [f"{aer[key]:.1f}" if key in aer else "" for key in columns]
            rows.append([language, f"{size:,}", f"{aer['default']:.1f} [{low:.1f}, {high:.1f}]", *cells])
            print(*rows[-1], flush=True)
            if (language, size) == IN_README:
                told = language, size, aer["default"], aer.get("eflomal", nan), LABELS[2], aer[LABELS[2]]
    header = ["language", "pairs", "no labels", "`--unsupervised`", "eflomal", "fast_align"]
    header += [f"{labels} labels" for labels in LABELS]
    table = markdown(header, rows)
    publish("learning-curve", table, pages=["docs/accuracy.md"], write=asked.write, peers=["eflomal"])
    if asked.write:
        put_table(ROOT / "README.md", "few-pairs", FEW_PAIRS.format(*told))


if __name__ == "__main__":
    main()
