"""Learn the weights of the default model from every gold set, and show what they are worth on sets left out.

    python scripts/train_default.py [--data ../shared/data] [--write aligner/model/default_weights.json]

Each gold set is seen with translation models of several sizes of corpus, its own text among it as in use. Its weights
are those of a logistic regression of its links on the features of the edges, possible links left out: unlike the
maximum-margin ones of `aligner train` they keep their meaning on other sets: the AER of both, a set left out at a time,
is printed beside that of the unsupervised decoder. The default weights are the plain mean over gold sets, where the
unsupervised decoder counts as one more set. Probabilities are calibrated on the answers to the sets left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from problems import text_with_gold
from sklearn.linear_model import LogisticRegression

from aligner._version import __version__
from aligner.model.calibration import Calibration, JudgedLinks
from aligner.model.decoding import links_of
from aligner.model.default import PRIOR, decode_with
from aligner.report.evaluation import count, scores
from aligner.solvers import Stop, make_solver, solve
from aligner.svm._corner_kernels import POSSIBLE, SURE
from aligner.svm.hinge import MatchingProblem, label_edges
from aligner.svm.prices import Fertility
from corpora.alignment import Links
from corpora.bitext import read_bitext
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.extractor import FeatureSet, with_words
from features.statistics import CorpusStatistics
from features.table import EdgeTable
from features.translation.posteriors import posteriors

F64 = npt.NDArray[np.float64]

OFFSET = 0.3
"""Added to all scores: logistic regression weighs a false link as much as a missed one; AER forgives some."""
STRENGTH = 0.1
"""C of the logistic regression, in scikit-learn's units."""


@dataclass(frozen=True)
class GoldSet:
    """A gold set, and the corpora that its translation models are learnt from.  corpora: (prefix, pairs)."""

    prefixes: tuple[str, ...]
    source: str
    target: str
    corpora: tuple[tuple[str, int], ...]


GOLD_SETS: Mapping[str, GoldSet] = {
    "hansards": GoldSet(
        ("hansards/gold-train", "hansards/gold-trial"), "en", "fr",
        (("hansards/train", 2_500), ("hansards/train", 10_000), ("hansards/train", 100_000)),
    ),
    "europarl": GoldSet(
        ("europarl/gold",), "en", "fr",
        (("europarl/train", 2_500), ("europarl/train", 10_000), ("europarl/train", 100_000)),
    ),
    "en-es": GoldSet(("en-es/gold",), "en", "es", (("en-es/train", 2_500), ("en-es/train", 12_037))),
    "fr-en-stories": GoldSet(
        ("fr-en-stories/gold",), "fr", "en", (("europarl/train", 3_000), ("europarl/train", 50_000)),
    ),
    "cs-en": GoldSet(("cs-en/gold-train",), "en", "cs", (("cs-en/text", 2_500),)),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class View:
    """A gold set under one corpus.  unsupervised: AER of the unsupervised decoder."""

    gold: str
    pairs: int
    edges: EdgeTable
    links: Links
    unsupervised: float


def view(data: Path, name: str, corpus: tuple[str, int], words: int = 0) -> View:
    """words: of each language with an indicator, after the columns of the families."""
    gold = GOLD_SETS[name]
    labelled = [open_corpus(str(data / prefix), source=gold.source, target=gold.target) for prefix in gold.prefixes]
    prefix, pairs = corpus
    text = open_corpus(str(data / prefix), source=gold.source, target=gold.target)
    # That of cs-en contains the gold sentences.
    statistics = CorpusStatistics.from_bitext(text_with_gold(text, pairs, () if name == "cs-en" else labelled))
    bitext = read_bitext(labelled, Normalizer(), Normalizer(), lambda done: None)
    links = Links.from_pairs(pair for part in labelled for pair in part.links())
    edges = with_words(FeatureSet(), bitext, words).extract(bitext, statistics)
    assert statistics.translation is not None
    found = posteriors(statistics.translation, bitext).soft_links()
    return View(name, pairs, edges, links, aer(links, found))


def aer(gold: Links, found: Links) -> float:
    return 100 * float(scores(count(gold, found).total()).aer)


def logistic(seen: View) -> F64:
    """Weights of the edges of a gold set."""
    labels, _ = label_edges(seen.edges, seen.links)
    chosen = labels != POSSIBLE
    regression = LogisticRegression(C=STRENGTH, fit_intercept=False, max_iter=500)
    regression.fit(seen.edges.features[chosen], labels[chosen] == SURE)
    weights: F64 = regression.coef_[0].astype(np.float64)
    return weights


def maximum_margin(seen: View) -> F64:
    """The weights of `aligner train` with its default settings."""
    fertility = Fertility(3, 3)
    problem = MatchingProblem.from_links(seen.edges, seen.links, regularization=0.1, fertility=fertility)
    w = solve(problem, make_solver("bcfw"), stop=Stop(gap=5e-3, passes=100), seed=0).w
    return w[: len(seen.edges.names)]


def combine(weights: Mapping[tuple[str, int], F64], left_out: str | None, prior: F64 | None) -> F64:
    """The mean over gold sets, each the mean over its corpora, and of the prior where there is one."""
    sets: dict[str, list[F64]] = {}
    for (name, _), w in weights.items():
        if name != left_out:
            sets.setdefault(name, []).append(w)
    means = [np.mean(of_set, axis=0) for of_set in sets.values()]
    mean: F64 = np.mean([*means, *([] if prior is None else [prior])], axis=0)
    return mean


def default_without(data: Path, left_out: str) -> F64:
    """The weights of the default model, had there not been this gold set."""
    views = [
        view(data, name, corpus) for name, gold in GOLD_SETS.items() if name != left_out for corpus in gold.corpora
    ]
    names = np.array(views[0].edges.names)
    prior = np.array([PRIOR.get(name, 0.0) for name in names])
    learnt = {(seen.gold, seen.pairs): logistic(seen) for seen in views}
    return combine(learnt, left_out, prior) + OFFSET * (names == "bias")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--write", type=Path, help="write the weights to this file")
    arguments = parser.parse_args()

    views = [view(arguments.data, name, corpus) for name, gold in GOLD_SETS.items() for corpus in gold.corpora]
    names = views[0].edges.names
    prior = np.array([PRIOR.get(name, 0.0) for name in names])
    offset = OFFSET * (np.array(names) == "bias")
    learnt = {(seen.gold, seen.pairs): logistic(seen) for seen in views}
    margin = {(seen.gold, seen.pairs): maximum_margin(seen) for seen in views}
    print(f"{'gold set left out':18} {'pairs':>8} {'unsupervised':>13} {'default':>8} {'max-margin mean':>16}")
    rows, judged = [], []
    for seen in views:
        found = decode_with(combine(learnt, seen.gold, prior) + offset, seen.edges)
        judged.append(JudgedLinks.of(found, seen.links))
        ours = aer(seen.links, links_of(found))
        theirs = aer(seen.links, links_of(decode_with(combine(margin, seen.gold, None), seen.edges)))
        print(f"{seen.gold:18} {seen.pairs:8,} {seen.unsupervised:13.2f} {ours:8.2f} {theirs:16.2f}", flush=True)
        rows.append({"gold": seen.gold, "pairs": seen.pairs, "unsupervised": seen.unsupervised, "default": ours})
    if arguments.write is not None:
        calibration = Calibration.fit(JudgedLinks.joined(judged))
        write(arguments.write, names, combine(learnt, None, prior) + offset, calibration, rows)


def write(
    path: Path, names: Sequence[str], weights: F64, calibration: Calibration, rows: Sequence[Mapping[str, object]]
) -> None:
    content = {
        "version": __version__,
        "weights": {name: round(float(w), 4) for name, w in zip(names, weights, strict=True)},
        "calibration": {name: [round(x, 4) for x in values] for name, values in calibration.describe().items()},
        "record": {
            "method": "mean over gold sets of logistic regressions, and of the unsupervised decoder",
            "offset": OFFSET,
            "strength": STRENGTH,
            "left_out": [{**row, **{k: round(float(row[k]), 2) for k in ("unsupervised", "default")}} for row in rows],  # type: ignore[arg-type]
        },
    }
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
