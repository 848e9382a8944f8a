"""Other aligners beside ours on the gold sets: by language, and by pairs of text and labelled pairs."""

import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from math import nan
from pathlib import Path

import numpy as np
from gold import F64, Labelled, View, default_weights, learn, text_with_gold, view, views
from gold_sets import GOLD_SETS, SETS, GoldSet
from peers import Text, best_links, directions, run_peers

from aligner.evaluation.counts import bootstrap, scores
from corpora.bitext import Bitext
from corpora.links import Links
from corpora.ragged import I64
from features.statistics import CorpusStatistics
from tables import DATA, markdown, table, with_interval

MOST = 25_000
"""Pairs of a corpus at most; each set has its largest one."""

SIZES = 50, 100, 300, 1_000, 3_000
LABELS = 10, 25, 50, 100
DRAWS = 2
FEWEST = 20
"""Pairs that are judged."""

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


def by_peers(labelled: Labelled, lines: Sequence[Sequence[str]], fast_align: Path | None) -> dict[str, Links]:
    """The links of eflomal and fast_align, where they are here, by the method that is best on the set."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = Text.write(folder, lines, labelled.links)
        ran = run_peers(text, folder, fast_align)
        return {name: best_links(text, *directions(folder, name), error=labelled.aer) for name in ran}


def percent(counts: I64) -> float:
    return 100 * float(scores(counts.sum(axis=0)).aer)


@table("languages")
def languages(data: Path = DATA) -> str:
    """Every gold set by default weights that have seen none of its language, beside eflomal where it is installed.

    Its two directions are combined by whichever method is best on the set. Both count the set's text with that of its
    corpus.
    """
    known = views(data, 12_500)
    rows, pooled = [], []
    for name, gold in SETS.items():
        prefix, pairs = [corpus for corpus in gold.corpora if corpus[1] <= MOST][-1]
        seen = view(data, name, prefix, pairs)
        own = {gold.source, gold.target} - {"en"}
        others = [one for one in known if not own & {GOLD_SETS[one.gold].source, GOLD_SETS[one.gold].target}]
        texts = [line for part in seen.labelled.corpora for line in part.texts()]
        if prefix:
            texts = [*islice(gold.corpus(data, prefix).texts(), seen.pairs), *texts]
        lines = [[side.decode() for side in sides] for _, *sides in texts]
        found = [seen.bare, seen.aligned(default_weights(others, None)), *by_peers(seen.labelled, lines, None).values()]
        counts = [seen.labelled.count(links) for links in found]
        pooled.append(counts)
        errors = [f"{percent(of_system):.2f}" for of_system in counts]
        rows.append([name, f"{len(seen.labelled.links):,}", f"{pairs:,}" if prefix else "its own", *errors])
        print(rows[-1], flush=True)
    systems = [np.concatenate(parts) for parts in zip(*pooled, strict=True)]
    means = [f"{np.mean([float(row[3 + c]) for row in rows]):.2f}" for c in range(len(systems))]
    drawn = bootstrap(systems, 10_000, 0)[0].aer * 100
    names = ["`--unsupervised`", "default", "eflomal"][: len(systems)]
    notes = []
    for other in (0, 2)[: len(systems) - 1]:
        low, middle, high = np.quantile(drawn[1] - drawn[other], [0.025, 0.5, 0.975])
        notes.append(f"{middle:.2f} [{low:.2f}, {high:.2f}] beside {names[other]}")
    header = ["gold set", "sentences", "pairs of the corpus", *names]
    note = f"AER of the default over all sentences of all sets, with 95 % of paired resamples: {'; '.join(notes)}."
    return f"{markdown(header, [*rows, ['mean', '', '', *means]])}\n\n{note}"


def draws(data: Path, name: str, gold: GoldSet, size: int) -> Iterator[tuple[View, Bitext]]:
    """A text of so many pairs, as many gold ones among them as there are; at most as many draws as differ."""
    every = Labelled.open(data, gold)
    n, prefix = len(every.links), gold.corpora[-1][0]
    if size > n and not prefix:
        return
    for draw in range(DRAWS if size < n else 1):
        labelled = every.take(np.sort(np.random.default_rng(draw).permutation(n)[:size]))
        bitext = labelled.bitext
        if size > n:
            bitext = text_with_gold(gold.corpus(data, prefix), size - n, labelled.corpora)
        yield View(name, size, labelled, CorpusStatistics.from_bitext(bitext)), bitext


def with_labels(seen: View, weights: F64) -> dict[int, I64]:
    """Counts of the pairs that are not labelled, by the number of labelled ones."""
    labelled, found = seen.labelled, {}
    order = np.random.default_rng(0).permutation(len(labelled.links))
    for labels in LABELS:
        if len(order) - labels < FEWEST:
            break
        rest = labelled.take(np.sort(order[labels:]))
        learnt = learn(labelled, np.sort(order[:labels]), seen.statistics, weights)
        found[labels] = rest.count(learnt.align(rest.bitext, seen.statistics).links)
    return found


@table("learning-curve", "few-pairs")
def learning_curve(data: Path = DATA, fast_align: Path | None = None) -> dict[str, str]:
    """AER by pairs of text and labelled pairs, from as little as a linguist has; and the sentence of README.

    Of each language some draws of a few pairs of text are aligned, among them the gold pairs that are judged; with
    labels, those that are not labelled. Default weights have seen nothing of the language's gold. eflomal, where it is
    installed, and fast_align align the same text.
    fast_align: the program.
    """
    known = views(data, 100_000)
    rows, told = [], {}
    for language, name in LANGUAGES.items():
        weights = default_weights(known, name)
        for size in SIZES:
            counts: dict[str | int, list[I64]] = {}
            for seen, bitext in draws(data, name, SETS[name], size):
                lines = [(" ".join(pair.source_words), " ".join(pair.target_words)) for pair in bitext]
                links = {"default": seen.aligned(weights), "`--unsupervised`": seen.bare}
                links |= by_peers(seen.labelled, lines, fast_align)
                found = {key: seen.labelled.count(own) for key, own in links.items()} | with_labels(seen, weights)
                for key, own in found.items():
                    counts.setdefault(key, []).append(own)
            if not counts:
                continue
            joined = {key: np.concatenate(parts) for key, parts in counts.items()}
            aer = {key: percent(own) for key, own in joined.items()}
            ends = np.quantile(bootstrap([joined["default"]], 2_000, 0)[0].aer * 100, [0.025, 0.975])
            columns = ["`--unsupervised`", "eflomal", "fast_align", *LABELS]
            cells = [f"{aer[key]:.1f}" if key in aer else "" for key in columns]
            rows.append([language, f"{size:,}", with_interval(aer["default"], *ends), *cells])
            print(*rows[-1], flush=True)
            if (language, size) == IN_README:
                figures = aer["default"], aer.get("eflomal", nan), LABELS[2], aer[LABELS[2]]
                told["few-pairs"] = FEW_PAIRS.format(language, size, *figures)
    header = ["language", "pairs", "no labels", "`--unsupervised`", "eflomal", "fast_align"]
    header += [f"{labels} labels" for labels in LABELS]
    return {"learning-curve": markdown(header, rows), **told}
