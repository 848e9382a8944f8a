"""The table of languages in docs/accuracy.md: every gold set of --data by weights that have seen none of its language.

    python scripts/languages.py --write

Without labels, beside eflomal where `eflomal-align` is installed: its two directions are combined by whichever method
is best on the set. Both count the set's text with that of its corpus. Some ten minutes.
"""

from __future__ import annotations

import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tables import markdown, parser_of, publish

if TYPE_CHECKING:
    from gold import View
    from gold_sets import GoldSet

    from corpora.links import Links
    from corpora.ragged import I64

MOST = 25_000
"""Pairs of a corpus at most; each set has its largest one."""

RESAMPLES = 10_000


def by_eflomal(data: Path, gold: GoldSet, prefix: str, seen: View) -> Links | None:
    """The links of eflomal; None where it is not installed."""
    from speed import Text, best_links, run_eflomal

    from corpora.readers import open_corpus

    lines = [line for part in seen.labelled.corpora for line in part.texts()]
    if prefix:
        corpus = open_corpus(str(data / prefix), source=gold.source, target=gold.target)
        lines = [*islice(corpus.texts(), seen.pairs), *lines]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / side for side in ("source", "target")]
        for side, file in enumerate(files, 1):
            file.write_text("".join(line[side].decode().lower() + "\n" for line in lines), "utf-8")
        text = Text(files[0], files[1], files[0], len(lines), seen.labelled.links)
        if run_eflomal(text, Path(folder)) is None:
            return None
        outputs = [Path(folder) / f"eflomal.{way}" for way in ("forward", "reverse")]
        return best_links(text, *outputs, error=seen.labelled.aer)


def counts_of(seen: View, weights: np.ndarray, links: Links | None) -> list[I64]:
    """Of the pairs, (n, 5), by each system: unsupervised, default, and the links if there are some."""
    from gold import decode_with

    from features.extractor import FeatureSet
    from features.translation.posteriors import Decoder

    assert seen.statistics.translation is not None
    bitext = seen.labelled.bitext
    bare = Decoder(bitext, seen.statistics.translation).posteriors(0, len(bitext)).soft_links()
    default = decode_with(weights, FeatureSet().extract(bitext, seen.statistics)).links
    return [seen.labelled.count(found) for found in (bare, default, *([] if links is None else [links]))]


def main() -> None:
    parser = parser_of(__doc__)
    asked = parser.parse_args()

    from gold import default_weights, view, views
    from gold_sets import DEV_SETS, GERMAN, GOLD_SETS, TURKISH, WIKIPEDIA

    from aligner.evaluation.counts import bootstrap, scores

    known = views(asked.data, 12_500)
    rows, pooled = [], []
    for name, gold in {**GOLD_SETS, **DEV_SETS, "rwth": GERMAN, "en-tr": TURKISH, **WIKIPEDIA}.items():
        prefix, pairs = [corpus for corpus in gold.corpora if corpus[1] <= MOST][-1]
        seen = view(asked.data, name, gold, prefix, pairs)
        own = {gold.source, gold.target} - {"en"}
        others = [one for one in known if not own & {GOLD_SETS[one.gold].source, GOLD_SETS[one.gold].target}]
        tables = counts_of(seen, default_weights(others, None), by_eflomal(asked.data, gold, prefix, seen))
        pooled.append(tables)
        errors = [f"{100 * float(scores(table.sum(axis=0)).aer):.2f}" for table in tables]
        rows.append([name, f"{len(seen.labelled.links):,}", f"{pairs:,}" if prefix else "its own", *errors])
        print(rows[-1], flush=True)
    systems = [np.concatenate(parts) for parts in zip(*pooled, strict=True)]
    means = [f"{np.mean([float(row[3 + c]) for row in rows]):.2f}" for c in range(len(systems))]
    drawn = bootstrap(systems, RESAMPLES, 0)[0].aer * 100
    names = ["`--unsupervised`", "default", "eflomal"][: len(systems)]
    notes = []
    for other in (0, 2)[: len(systems) - 1]:
        low, middle, high = np.quantile(drawn[1] - drawn[other], [0.025, 0.5, 0.975])
        notes.append(f"{middle:.2f} [{low:.2f}, {high:.2f}] beside {names[other]}")
    header = ["gold set", "sentences", "pairs of the corpus", *names]
    note = f"AER of the default over all sentences of all sets, with 95 % of paired resamples: {'; '.join(notes)}."
    table = markdown(header, [*rows, ["mean", "", "", *means]])
    publish("languages", f"{table}\n\n{note}", pages=["docs/accuracy.md"], write=asked.write, peers=["eflomal"])


if __name__ == "__main__":
    main()
