"""The tables of docs/accuracy.md: alignment error rates on the gold sets of --data.

    python scripts/accuracy.py --write                         # Hansards of 10,000 and 100,000 pairs, 60 labels
    python scripts/accuracy.py --write --full                  # 674,324 pairs too, every corpus and 1,000 labels
    python scripts/accuracy.py gold-dev families --sizes 10000  # some tables, some sizes

Tables: gold-dev (with probabilities), others, families, left-out, losses, labels. Weights are learnt
from gold-train (Hansards: and gold-trial, but for others) and judged on gold-dev, on which no choice was made, or by
cross-validation. Needs `--data`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tables import markdown, parser_of, publish

if TYPE_CHECKING:
    from gold import F64, Labelled, Learnt, View

    from aligner.evaluation.comparison import Evaluation
    from corpora.links import Links
    from features.statistics import CorpusStatistics

PAGE = "docs/accuracy.md"
TABLES = "gold-dev", "others", "families", "left-out", "losses", "labels"
PARTS = 5
"""Into which a gold set is cut, each held out once."""

STEPS = (
    ("association, position, orthography", ("association", "position", "orthography")),
    ("+ competition, neighbours", ("competition", "neighbours")),
    ("+ lexical (IBM 1)", ("lexical",)),
    ("+ hmm", ("hmm",)),
    ("+ context, kinds", ("context", "kinds")),
    ("+ directional", ("directional",)),
)
"""Families of features in the order in which they are added."""

PUBLISHED = {
    "GIZA++ Model 4, intersection": "giza-dev.intersection",
    "GIZA++ Model 4, grow-diag": "giza-dev.grow-diag",
    "awesome-align (mBERT, fine-tuned)": "neural-dev.awesome-align",
    "Cross-Align (mBERT)": "neural-dev.cross-align",
}
"""Links of other systems for gold-dev of the Hansards, as published: files of the data folder."""


@dataclass(frozen=True)
class Options:
    """What was asked for.  most: the greatest corpus that default weights are learnt with."""

    data: Path
    sizes: tuple[int, ...]
    most: int
    labelled: tuple[int, ...]
    draws: int
    write: bool


@dataclass(frozen=True, eq=False)
class Test:
    """A text to learn from and another to judge by, under one corpus.  gold: the gold set of the default weights."""

    name: str
    gold: str
    train: Labelled
    dev: Labelled
    statistics: CorpusStatistics

    @cached_property
    def learnt(self) -> Learnt:
        import numpy as np
        from gold import learn

        return learn(self.train, np.arange(len(self.train.links)), self.statistics)


class Study:
    """What several tables need, made once."""

    def __init__(self, options: Options) -> None:
        self.options = options

    @cached_property
    def views(self) -> list[View]:
        from gold import views

        return views(self.options.data, self.options.most)

    def default(self, left_out: str) -> F64:
        from gold import default_weights

        return default_weights(self.views, left_out)

    @cached_property
    def hansards(self) -> list[Test]:
        from gold import Labelled, text_with_gold

        from corpora.readers import open_corpus
        from features.statistics import CorpusStatistics

        data = self.options.data
        train = Labelled.open(data, ("hansards/gold-train", "hansards/gold-trial"), "en", "fr")
        dev = Labelled.open(data, ("hansards/gold-dev",), "en", "fr")
        corpus = open_corpus(data / "hansards" / "train")
        return [
            Test(
                f"Hansards English-French, {size:,} pairs",
                "hansards",
                train,
                dev,
                CorpusStatistics.from_bitext(text_with_gold(corpus, size, (*train.corpora, *dev.corpora))),
            )
            for size in self.options.sizes
        ]

    @cached_property
    def czech(self) -> Test:
        from gold import Labelled, text_with_gold

        from corpora.readers import open_corpus
        from features.statistics import CorpusStatistics

        data = self.options.data
        train, dev = (Labelled.open(data, (f"cs-en-possible/gold-{part}",), "en", "cs") for part in ("train", "dev"))
        text = text_with_gold(open_corpus(data / "cs-en" / "text", source="en", target="cs"), 2_500, ())
        return Test("English-Czech, 2,500 pairs", "cs-en", train, dev, CorpusStatistics.from_bitext(text))

    @cached_property
    def german(self) -> View:
        from gold import view
        from gold_sets import GERMAN

        return view(self.options.data, "rwth-de-en", GERMAN, *GERMAN.corpora[0])


def found_by_default(weights: F64, labelled: Labelled, statistics: CorpusStatistics) -> Links:
    from gold import decode_with

    from features.extractor import FeatureSet

    return decode_with(weights, FeatureSet().extract(labelled.bitext, statistics)).links


def in_percent(result: Evaluation) -> list[str]:
    low, high = (f"{100 * end:.2f}" for end in result.intervals["aer"])
    return [f"{100 * result.aer:.2f}", f"{low}–{high}", f"{100 * result.precision:.2f}", f"{100 * result.recall:.2f}"]


def gold_dev(study: Study) -> None:
    """The table of gold-dev, and the probabilities of the last Hansards model."""
    from gold import judge

    from corpora.link_files import read_links
    from features.translation.posteriors import Decoder

    rows = []
    for test in (*study.hansards, study.czech):
        decoder = Decoder(test.dev.bitext, test.statistics.translation)
        bare = decoder.posteriors(0, len(test.dev.bitext)).soft_links()
        ours = {
            "no labels, `--unsupervised`": bare,
            "no labels": found_by_default(study.default(test.gold), test.dev, test.statistics),
            f"{len(test.train.links)} labelled pairs": test.learnt.align(test.dev.bitext, test.statistics).links,
        }
        results = {name: judge(test.dev.links, links) for name, links in ours.items()}
        rows += [[test.name, name, *in_percent(result)] for name, result in results.items()]
    dev = study.hansards[0].dev
    published = {
        name: judge(dev.links, read_links(study.options.data / "hansards" / file)) for name, file in PUBLISHED.items()
    }
    rows += [["Hansards, published links", name, *in_percent(result)] for name, result in published.items()]
    header = ["text", "system", "AER", "95 % interval", "precision", "recall"]
    publish("gold-dev", markdown(header, rows, words=2), pages=[PAGE], write=study.options.write)
    probabilities(study)


def probabilities(study: Study) -> None:
    import numpy as np

    from aligner.model.calibration import Calibration, judged

    test = study.hansards[-1]
    learnt = test.learnt
    links = judged(learnt.align(test.dev.bitext, test.statistics).links, test.dev.links)
    found = Calibration.fit(learnt.held_out).probabilities(links.known_scores)
    bins = np.minimum((10 * found).astype(np.int64), 9)
    rows, error = [], 0.0  # expected calibration error [Naeini, Cooper and Hauskrecht 2015]
    for b in np.unique(bins):
        n, mean, right = (bins == b).sum(), found[bins == b].mean(), links.sure[bins == b].mean()
        rows.append([f"{10 * b}–{10 * b + 10} %", f"{n:,}", f"{100 * mean:.2f}", f"{100 * right:.2f}"])
        error += n / len(links.sure) * abs(mean - right)
    table = markdown(["probability", "links", "mean probability", "right"], rows)
    note = f"Expected calibration error {100 * error:.2f} % ({len(links.sure):,} links)."
    publish("probabilities", f"{table}\n\n{note}", pages=[PAGE], write=study.options.write)


def families(study: Study) -> None:
    import numpy as np
    from gold import judge

    from aligner.losses.capacity import Fertility
    from aligner.losses.hinge import MatchingProblem
    from aligner.model.decoding import decode_edges
    from aligner.solvers import Stop, make_solver, solve
    from features.extractor import FeatureSet
    from features.table import EdgeTable

    test = study.hansards[-1]
    every = FeatureSet()
    whole = [every.extract(part.bitext, test.statistics) for part in (test.train, test.dev)]
    used: tuple[str, ...] = ("bias",)
    rows = []
    for name, added, fertility in (*((*step, 1) for step in STEPS), ("the same, up to 3 links a word", (), 3)):
        used = (*used, *added)
        columns = [column for column, family in enumerate(every.groups) if family in used]
        train, dev = (
            EdgeTable(
                np.ascontiguousarray(edges.features[:, columns]),
                edges.lists,
                tuple(edges.names[column] for column in columns),
            )
            for edges in whole
        )
        problem = MatchingProblem.from_links(
            train,
            test.train.links,
            regularization=0.1,
            preference=train.features[:, train.names.index("dice")],
            fertility=Fertility(fertility, fertility),
        )
        w = solve(problem, make_solver("bcfw"), stop=Stop(gap=1e-3, passes=200)).w
        found = decode_edges(dev, w[: len(columns)], problem.link_rewards(w))
        rows.append([name, len(columns), *in_percent(judge(test.dev.links, found.links))])
    header = [f"families ({test.name})", "features", "AER", "95 % interval", "precision", "recall"]
    publish("families", markdown(header, rows), pages=[PAGE], write=study.options.write)


def left_out(study: Study) -> None:
    from gold import shipped_weights

    rows = []
    for seen in (*study.views, study.german):
        weights = shipped_weights() if seen is study.german else study.default(seen.gold)
        default = seen.labelled.aer(found_by_default(weights, seen.labelled, seen.statistics))
        rows.append([seen.gold, f"{seen.pairs:,}", f"{seen.unsupervised:.2f}", f"{default:.2f}"])
    means = [f"{sum(float(row[column]) for row in rows) / len(rows):.2f}" for column in (2, 3)]
    table = markdown(["gold set", "pairs of the corpus", "`--unsupervised`", "default"], [*rows, ["mean", "", *means]])
    publish("left-out", table, pages=[PAGE], write=study.options.write)


def losses(study: Study) -> None:
    from aligner.training.settings import LOSSES

    columns = [(labels, loss) for labels in study.options.labelled for loss in LOSSES]
    rows = []
    for seen in {seen.gold: seen for seen in study.views}.values():  # with its largest corpus
        centre = study.default(seen.gold)
        errors = [held_out_error(seen, centre, labels, loss) for labels, loss in columns]
        rows.append([seen.gold, f"{seen.pairs:,}", *(f"{error:.2f}" for error in errors)])
    means = [f"{sum(float(row[2 + c]) for row in rows) / len(rows):.2f}" for c in range(len(columns))]
    header = ["gold set", "pairs of the corpus", *(f"{labels:,} labels, {loss}" for labels, loss in columns)]
    publish("losses", markdown(header, [*rows, ["mean", "", *means]]), pages=[PAGE], write=study.options.write)


def held_out_error(seen: View, centre: F64, labels: int, loss: str) -> float:
    """AER over all parts of a gold set, each aligned by what at most so many pairs of the others taught."""
    import numpy as np
    from gold import learn

    from aligner.evaluation.counts import scores
    from aligner.training.settings import LearnSettings

    tables = []
    for number, (rest, held_out) in enumerate(parts(len(seen.labelled.links))):
        chosen = np.sort(np.random.default_rng(number).permutation(rest)[:labels])
        learnt = learn(seen.labelled, chosen, seen.statistics, centre, settings=LearnSettings(loss=loss))
        found = learnt.align(seen.labelled.bitext.take(held_out), seen.statistics)
        tables.append(seen.labelled.take(held_out).count(found.links))
    return 100 * float(scores(np.concatenate(tables).sum(axis=0)).aer)


def parts(pairs: int) -> Iterator[tuple[F64, F64]]:
    """(The others, the held-out ones) for each part."""
    import numpy as np

    order = np.random.default_rng(0).permutation(pairs)
    for part in np.array_split(order, PARTS):
        yield np.setdiff1d(order, part), np.sort(part)


def labels(study: Study) -> None:
    """Learning curves: without cross-validation, as ten pairs are too few for it."""
    import numpy as np
    from gold import aer, learn

    from aligner.training.settings import LearnSettings

    sizes = (10, 20, 50, 100)
    rows = []
    for seen in [seen for seen in study.views if (seen.gold, seen.pairs) in {("cs-en", 2_500), ("hansards", 10_000)}]:
        centre, n = study.default(seen.gold), len(seen.labelled.links)
        errors = np.zeros((study.options.draws, len(sizes)))
        for draw in range(study.options.draws):
            order = np.random.default_rng(draw).permutation(n)
            held_out, rest = np.sort(order[: n // PARTS]), order[n // PARTS :]
            gold = seen.labelled.links.take(held_out)
            for column, size in enumerate(sizes):
                chosen, once = np.sort(rest[:size]), LearnSettings(cross_validate=0)
                learnt = learn(seen.labelled, chosen, seen.statistics, centre, settings=once)
                found = learnt.align(seen.labelled.bitext.take(held_out), seen.statistics)
                errors[draw, column] = aer(gold, found.links)
        spread = errors.std(axis=0, ddof=1) / len(errors) ** 0.5
        cells = [f"{mean:.2f} ± {error:.2f}" for mean, error in zip(errors.mean(axis=0), spread, strict=True)]
        rows.append([f"{seen.gold}, {seen.pairs:,} pairs", *cells])
    header = [f"gold set (means of {study.options.draws} draws)", *(f"{size} labelled" for size in sizes)]
    publish("labels", markdown(header, rows), pages=[PAGE], write=study.options.write)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", choices=[*TABLES, []], help=f"{', '.join(TABLES)}; all by default"
    )
    parser.add_argument("--sizes", default="10000,100000", help="pairs of the Hansards")
    parser.add_argument("--full", action="store_true", help="all sizes of corpora and of labelled pairs")
    asked = parser.parse_args()
    sizes = "10000,100000,674324" if asked.full else asked.sizes
    full = Options(asked.data, tuple(map(int, sizes.split(","))), 100_000, (60, 1000), 20, asked.write)
    study = Study(full if asked.full else replace(full, most=12_500, labelled=(60,), draws=5))
    from others import others

    writers = {"gold-dev": gold_dev, "others": others, "families": families, "left-out": left_out}
    writers |= {"losses": losses, "labels": labels}
    for table in asked.tables or TABLES:
        writers[table](study)


if __name__ == "__main__":
    main()
