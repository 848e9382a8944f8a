"""Weights learnt from gold-train and judged on gold-dev, on which no choice was made, or by cross-validation."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from gold import (
    Labelled,
    Learnt,
    View,
    decode_with,
    default_weights,
    learn,
    shipped_weights,
    text_with_gold,
    view,
    views,
)
from gold_sets import FURTHER, GOLD_SETS, SETS

import aligner
from aligner.evaluation.counts import scores
from aligner.model import default
from aligner.model.calibration import Calibration
from aligner.model.consensus import combine
from aligner.training.settings import LOSSES, LearnSettings
from corpora.link_files import read_links
from corpora.links import Links, PairLinks
from corpora.readers import open_corpus
from features.extractor import FeatureSet
from features.families.links import numbered
from features.statistics import CorpusStatistics
from tables import DATA, markdown, table

SIZES = 10_000, 100_000
"""Pairs of the Hansards."""

MOST = 12_500
"""Pairs of the greatest corpus that default weights are learnt with."""

PARTS = 5
"""Into which a gold set is cut, each held out once."""

PUBLISHED = {
    "GIZA++ Model 4, intersection": "giza-dev.intersection",
    "GIZA++ Model 4, grow-diag": "giza-dev.grow-diag",
    "awesome-align (mBERT, fine-tuned)": "neural-dev.awesome-align",
    "Cross-Align (mBERT)": "neural-dev.cross-align",
}
"""Links of other systems for gold-dev of the Hansards, as published: files of the data folder."""

OTHERS = (
    (), ("giza-{}.intersection",), ("giza-{}.grow-diag-final",), ("giza-{}.forward", "giza-{}.reverse"),
    ("neural-{}.awesome-align",), ("neural-{}.cross-align",), ("neural-{}.cross-align", "neural-{}.awesome-align"),
    ("neural-{}.cross-align", "giza-{}.grow-diag-final"),
    ("neural-{}.cross-align", "neural-{}.awesome-align", "giza-{}.grow-diag-final"),
)  # fmt: skip
"""Links that are given together: files of the Hansards, of both parts of gold."""


@dataclass(frozen=True, eq=False)
class Test:
    """A text to learn from, and another to judge by, under one corpus."""

    name: str
    train: Labelled
    dev: View

    @cached_property
    def learnt(self) -> Learnt:
        return learn(self.train, np.arange(len(self.train.links)), self.dev.statistics)


def hansards(data: Path, sizes: tuple[int, ...]) -> list[Test]:
    train, dev = (Labelled.open(data, SETS[name]) for name in ("hansards", "hansards, dev"))
    corpus, tests = open_corpus(data / "hansards" / "train"), []
    for size in sizes:
        text = text_with_gold(corpus, size, (*train.corpora, *dev.corpora))
        seen = View("hansards", size, dev, CorpusStatistics.from_bitext(text))
        tests.append(Test(f"Hansards English-French, {size:,} pairs", train, seen))
    return tests


def in_percent(gold: Links, found: Links) -> list[str]:
    result = aligner.evaluate(gold, found)
    low, high = (f"{100 * end:.2f}" for end in result.intervals["aer"])
    return [f"{100 * result.aer:.2f}", f"{low}–{high}", f"{100 * result.precision:.2f}", f"{100 * result.recall:.2f}"]


@table("gold-dev", "probabilities")
def gold_dev(data: Path = DATA, sizes: tuple[int, ...] = SIZES, most: int = MOST) -> dict[str, str]:
    """AER of gold-dev with and without labels and of published links; how many links are right by their probability.

    sizes: pairs of the Hansards.  most: pairs of the greatest corpus that default weights are learnt with.
    """
    known, tests, rows = views(data, most), hansards(data, sizes), []
    czech = replace(view(data, "cs-en, dev", "cs-en/text", 2_500), gold="cs-en")
    for test in (*tests, Test("English-Czech, 2,500 pairs", Labelled.open(data, SETS["cs-en"]), czech)):
        dev = test.dev
        ours = {
            "no labels, `--unsupervised`": dev.bare,
            "no labels": dev.aligned(default_weights(known, dev.gold)),
            f"{len(test.train.links)} labelled pairs": test.learnt.align(dev.labelled.bitext, dev.statistics).links,
        }
        rows += [[test.name, name, *in_percent(dev.labelled.links, links)] for name, links in ours.items()]
    last = tests[-1].dev.labelled
    for name, file in PUBLISHED.items():
        published = read_links(data / "hansards" / file)
        rows.append(["Hansards, published links", name, *in_percent(last.links, published)])
    header = ["text", "system", "AER", "95 % interval", "precision", "recall"]
    found = tests[-1].learnt.align(last.bitext, tests[-1].dev.statistics).links
    calibration = Calibration.fit(tests[-1].learnt.held_out)
    return {"gold-dev": markdown(header, rows, words=2), "probabilities": bins(last.calibrating(found), calibration)}


def bins(links: Links, calibration: Calibration) -> str:
    """How many links are right in tenths of probability."""
    found = calibration.probabilities(links.known_scores)
    tenths = np.minimum((10 * found).astype(np.int64), 9)
    rows, error = [], 0.0  # expected calibration error [Naeini, Cooper and Hauskrecht 2015]
    for b in np.unique(tenths):
        n, mean, right = (tenths == b).sum(), found[tenths == b].mean(), links.sure[tenths == b].mean()
        rows.append([f"{10 * b}–{10 * b + 10} %", f"{n:,}", f"{100 * mean:.2f}", f"{100 * right:.2f}"])
        error += n / len(links.sure) * abs(mean - right)
    note = f"Expected calibration error {100 * error:.2f} % ({len(links.sure):,} links)."
    return f"{markdown(['probability', 'links', 'mean probability', 'right'], rows)}\n\n{note}"


@table("others")
def others(data: Path = DATA, sizes: tuple[int, ...] = SIZES, most: int = MOST) -> str:
    """AER of gold-dev with links of other aligners as features: without labels, and with those of the Hansards.

    sizes: pairs of the Hansards.  most: pairs of the greatest corpus that default weights are learnt with.
    """
    tests, rows = hansards(data, sizes), []
    base, labelled = default_weights(views(data, most), "hansards"), tests[0].train
    for names in OTHERS:
        kinds = ["neural" if name.startswith("neural") else "statistical" for name in names]
        train, dev = (
            Labelled.open(
                data,
                replace(SETS["hansards"], prefixes=(f"hansards/gold-{part}",)),
                [f"hansards/{name.format(part)}" for name in names],
            )
            for part in ("train", "dev")
        )
        silent = [PairLinks(frozenset())] * (len(labelled.links) - len(train.links))  # there are none
        train = replace(labelled, others=tuple(Links.from_pairs([*links, *silent]) for links in train.others))
        alone = ", ".join(f"{dev.aer(links):.2f}" for links in dev.others)
        agreed = f"{dev.aer(Links.from_pairs(combine(zip(*dev.others, strict=True)))):.2f}" if names else ""
        cells = []
        for test in tests:
            statistics, features = test.dev.statistics, FeatureSet(links=numbered(kinds))
            weights = np.concatenate([base, default.default_weights().of(features.names[len(base) :])])
            learnt = learn(train, np.arange(len(train.links)), statistics, kinds=kinds)
            untaught = decode_with(weights, features.extract(dev.bitext, statistics, links=dev.others))
            taught = learnt.align(dev.bitext, statistics, dev.others)
            cells += [f"{dev.aer(found.links):.2f}" for found in (untaught, taught)]
        given = " and ".join(name.removeprefix("neural-{}.").replace("giza-{}.", "GIZA++ ") for name in names)
        rows.append([given or "none", alone, agreed, *cells])
    header = ["`--links`", "alone", "`aligner combine`"]
    for size in sizes:
        header += [f"{size:,} pairs, no labels", f"{size:,} pairs, {len(labelled.links)} labels"]
    return markdown(header, rows)


@table("left-out")
def left_out(data: Path = DATA, most: int = MOST) -> str:
    """AER of default weights on the gold sets from which they were not learnt, by the size of the text.

    most: pairs of the greatest corpus.
    """
    known, rows = views(data, most), []
    for seen in (*known, view(data, "rwth-de-en", *FURTHER["rwth-de-en"].corpora[0])):
        weights = default_weights(known, seen.gold) if seen.gold in GOLD_SETS else shipped_weights()
        errors = (seen.labelled.aer(links) for links in (seen.bare, seen.aligned(weights)))
        rows.append([seen.gold, f"{seen.pairs:,}", *(f"{error:.2f}" for error in errors)])
    header = ["gold set", "pairs of the corpus", "`--unsupervised`", "default"]
    return markdown(header, [*rows, ["mean", "", *means(rows)]])


def means(rows: list[list[str]]) -> list[str]:
    """Of the columns after the second one."""
    return [f"{np.mean([float(cell) for cell in column]):.2f}" for column in list(zip(*rows, strict=True))[2:]]


@table("losses")
def losses(data: Path = DATA, most: int = MOST, labels: tuple[int, ...] = (60,)) -> str:
    """Held-out AER by the loss that weights are learnt with, of each gold set under its largest corpus.

    most: pairs of the greatest corpus.  labels: pairs that are labelled.
    """
    known, rows = views(data, most), []
    columns = [(labelled, loss) for labelled in labels for loss in LOSSES]
    for seen in {seen.gold: seen for seen in known}.values():
        centre = default_weights(known, seen.gold)
        errors = [held_out_error(seen, centre, *column) for column in columns]
        rows.append([seen.gold, f"{seen.pairs:,}", *(f"{error:.2f}" for error in errors)])
    header = ["gold set", "pairs of the corpus", *(f"{labelled:,} labels, {loss}" for labelled, loss in columns)]
    return markdown(header, [*rows, ["mean", "", *means(rows)]])


def held_out_error(seen: View, centre: np.ndarray, labels: int, loss: str) -> float:
    """AER over all parts of a gold set, each aligned by what at most so many pairs of the others taught."""
    counts = []
    for number, (rest, held_out) in enumerate(parts(len(seen.labelled.links))):
        chosen = np.sort(np.random.default_rng(number).permutation(rest)[:labels])
        learnt = learn(seen.labelled, chosen, seen.statistics, centre, settings=LearnSettings(loss=loss))
        part = seen.labelled.take(held_out)
        counts.append(part.count(learnt.align(part.bitext, seen.statistics).links))
    return 100 * float(scores(np.concatenate(counts).sum(axis=0)).aer)


def parts(pairs: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(The others, the held-out ones) for each part."""
    order = np.random.default_rng(0).permutation(pairs)
    for part in np.array_split(order, PARTS):
        yield np.setdiff1d(order, part), np.sort(part)
