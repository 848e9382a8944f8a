"""The accuracy tables of README: alignment error rates on gold-dev sets, from the data of ../shared/data.

    python scripts/reproduce_aer.py [--data ../shared/data] [--sizes 10000,100000,674324]

Weights are learnt from gold-train (Hansards: and gold-trial) and judged on gold-dev, on which no choice was made: by
maximum margin, families of features added one after the other; and with the defaults of `aligner train`, which for so
few labels are the logistic loss towards the default weights, λ and costs by cross-validation. The text of the gold
sentences, without their links, is part of the corpus, as in published results. The default model is that of the
package but for the gold of the language pair at hand, which is left out. GIZA++'s rows are its published links for the
same sentences. Hansards: 137 + 100 hand-aligned sentences; cs-en: 200 + 300, for which F1 is 100 - AER.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from problems import text_with_gold
from train_default import F64, default_without

import aligner
from aligner.model.decoding import decode_edges, links_of
from aligner.model.default import REWARDS
from aligner.model.scoring import LinearScorer
from aligner.report.evaluation import Evaluation
from aligner.solvers import Stop, make_solver, solve
from aligner.svm.hinge import MatchingProblem
from aligner.svm.prices import Fertility, LinkRewards
from aligner.training.path import follow_path
from aligner.training.settings import DEFAULT_FERTILITY, DEFAULT_REGULARIZATION, TrainingSettings, plan
from corpora.alignment import Links
from corpora.bitext import read_bitext
from corpora.link_files import read_links
from corpora.normalize import Normalizer
from corpora.readers import Corpus, open_corpus
from features.extractor import FAMILIES, FeatureSet, with_words
from features.statistics import CorpusStatistics
from features.translation.posteriors import posteriors

STEPS = (
    ("association, position, orthography", ("association", "position", "orthography")),
    ("+ competition, neighbours", ("competition", "neighbours")),
    ("+ lexical (IBM 1)", ("lexical",)),
    ("+ hmm", ("hmm",)),
    ("+ context, kinds", ("context", "kinds")),
    ("+ directional: one link a word", ("directional",)),
)
"""Families in the order in which they are added."""

DIRECTIONS = ("forward", "reverse", "intersection")


class Labelled:
    """Gold pairs, and other aligners' links of them."""

    def __init__(self, corpora: Sequence[Corpus], others: Sequence[Path] = ()) -> None:
        self.corpora = corpora
        self.bitext = read_bitext(corpora, Normalizer(), Normalizer(), lambda pairs: None)
        self.gold = Links.from_pairs(pair for corpus in corpora for pair in corpus.links())
        self.others = tuple(read_links(path) for path in others)


def judge(gold: Links, found: Links) -> Evaluation:
    return aligner.evaluate(gold, [found], gold_name="gold-dev", hypothesis_names=[""])[0]


def learn_and_judge(
    statistics: CorpusStatistics,
    train: Labelled,
    dev: Labelled,
    *,
    families: Sequence[str],
    fertility: int,
) -> Evaluation:
    features = FeatureSet(tuple(families), tuple(DIRECTIONS[: len(train.others)]))
    edges = features.extract(train.bitext, statistics, links=train.others)
    preference = edges.features[:, edges.names.index("dice")]
    problem = MatchingProblem.from_links(
        edges, train.gold, regularization=DEFAULT_REGULARIZATION, preference=preference,
        fertility=Fertility(fertility, fertility),
    )  # fmt: skip
    w = solve(problem, make_solver("bcfw"), stop=Stop(gap=1e-3, passes=200), seed=0).w
    rewards = problem.link_rewards(w)
    return apply_and_judge(statistics, features, dev, w[: len(edges.names)], rewards)


def learn_as_train_does(statistics: CorpusStatistics, train: Labelled, dev: Labelled) -> Evaluation:
    """With the defaults of `aligner train`: few labels, so the logistic loss, and λ by cross-validation."""
    planned = plan(TrainingSettings(), len(train.gold))
    features = FeatureSet(links=tuple(DIRECTIONS[: len(train.others)]))
    features = with_words(features, train.bitext, planned.words)
    edges = features.extract(train.bitext, statistics, links=train.others)
    problem = planned.problem(edges, train.gold)
    path = follow_path(problem, train.gold, planned, stop=Stop(gap=1e-3, passes=200))
    w = path.results[path.chosen].w
    return apply_and_judge(statistics, features, dev, w, problem.link_rewards(w))


def apply_and_judge(
    statistics: CorpusStatistics, features: FeatureSet, dev: Labelled, weights: F64, rewards: LinkRewards,
) -> Evaluation:  # fmt: skip
    edges = features.extract(dev.bitext, statistics, links=dev.others)
    return judge(dev.gold, links_of(decode_edges(edges, LinearScorer(weights), rewards)))


def show(data: str, system: str, result: Evaluation) -> None:
    low, high = (100 * end for end in result.intervals["aer"])
    print(
        f"{data:<16}{system:<48}{100 * result.aer:>6.2f}  [{low:5.2f}, {high:5.2f}]"
        f"{100 * result.precision:>11.2f}{100 * result.recall:>8.2f}",
        flush=True,
    )


def rows(label: str, statistics: CorpusStatistics, train: Labelled, dev: Labelled, default: F64, steps: bool) -> float:
    """Show what each system makes of one corpus; returns the CPU-seconds of learning with the defaults."""
    translation = statistics.translation
    assert translation is not None
    show(label, "no labels: unsupervised decoder", judge(dev.gold, posteriors(translation, dev.bitext).soft_links()))
    every = tuple(FAMILIES)
    show(label, "no labels: default model", apply_and_judge(statistics, FeatureSet(every), dev, default, REWARDS))
    used: tuple[str, ...] = ("bias",)
    for name, families in STEPS:
        used = (*used, *families)
        if steps or families is STEPS[-1][1]:
            show(label, name, learn_and_judge(statistics, train, dev, families=used, fertility=1))
    result = learn_and_judge(statistics, train, dev, families=every, fertility=DEFAULT_FERTILITY)
    show(label, f"up to {DEFAULT_FERTILITY} links a word", result)
    started = time.process_time()
    result = learn_as_train_does(statistics, train, dev)
    seconds = time.process_time() - started
    show(label, "logistic loss (the default)", result)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sizes", default="10000,100000,674324", help="pairs of the Hansards")
    arguments = parser.parse_args()
    data = arguments.data
    print(f"{'data':<16}{'system':<48}{'AER':>6}  {'95 % interval':<14}{'precision':>11}{'recall':>8}")
    hansards = data / "hansards"
    train = Labelled([open_corpus(str(hansards / name)) for name in ("gold-train", "gold-trial")])
    dev = Labelled([open_corpus(str(hansards / "gold-dev"))])
    for method in ("intersection", "grow-diag", "grow-diag-final"):
        found = read_links(hansards / f"giza-dev.{method}")
        show("Hansards 1.1 M", f"GIZA++ Model 4, {method} (published links)", judge(dev.gold, found))
    default = default_without(data, "hansards")
    with_giza = [
        Labelled([open_corpus(str(hansards / f"gold-{part}"))], [hansards / f"giza-{part}.{d}" for d in DIRECTIONS])
        for part in ("train", "dev")
    ]
    sizes = [int(size) for size in arguments.sizes.split(",")]
    for size in sizes:
        statistics = CorpusStatistics.from_bitext(
            text_with_gold(open_corpus(str(hansards / "train")), size, [*train.corpora, *dev.corpora])
        )
        label = f"Hansards {size // 1000} k"
        took = rows(label, statistics, train, dev, default, size == max(sizes))
        if size == max(sizes):
            result = learn_as_train_does(statistics, *with_giza)
            show(label, "and GIZA++'s links as features (gold-train only)", result)
            print(f"learning from 137 pairs with the defaults, features and answers too: {took:.1f} CPU-seconds")
    czech = data / "cs-en"
    train, dev = (
        Labelled([open_corpus(str(czech / f"gold-{part}"), source="en", target="cs")]) for part in ("train", "dev")
    )
    text = open_corpus(str(czech / "text"), source="en", target="cs")
    statistics = CorpusStatistics.from_bitext(text_with_gold(text, 2_500, ()))  # gold is part of it
    rows("English-Czech", statistics, train, dev, default_without(data, "cs-en"), steps=False)


if __name__ == "__main__":
    main()
