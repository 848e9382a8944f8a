"""Maximum margin against the logistic loss, without and with indicators of frequent words, where labels are few:
held-out AER on every gold set.

Each gold set is cut into five parts, each held out once; so many of the other pairs, drawn at random, are labelled. The
hinge loss is that of `aligner train --loss hinge`, the logistic loss that of its defaults, whose λ and costs are chosen
by another cross-validation within the labelled pairs. The default weights, towards which the logistic loss draws, have
not seen the gold set at hand.

    python scripts/compare_losses.py [--pairs 60 1000] [--data ../shared/data]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from train_default import GOLD_SETS, OFFSET, View, combine, logistic, view

from aligner.model.decoding import decode_edges, links_of
from aligner.model.default import PRIOR, decode_with
from aligner.report.evaluation import PairCounts, count, scores
from aligner.solvers import Stop
from aligner.solvers.kernel import scorer_of
from aligner.svm.logistic import LogisticProblem
from aligner.training.path import follow_path
from aligner.training.settings import FREQUENT_WORDS, TrainingSettings, plan
from corpora.alignment import Links
from features.extractor import FeatureSet, take_edges
from features.table import EdgeTable

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

PARTS = 5


LEARNERS = "hinge", "logistic", "with words"
"""The last is the default: logistic, with indicators of frequent words."""


def learn_and_align(learner: str, edges: EdgeTable, links: Links, prior: F64, others: EdgeTable) -> Links:
    """The links of other pairs, by what `aligner train` learns from these."""
    planned = plan(TrainingSettings(loss="hinge" if learner == "hinge" else "logistic"), len(links))
    problem = planned.problem(edges, links)
    if isinstance(problem, LogisticProblem):
        problem = replace(problem, prior=np.concatenate([prior, np.zeros(len(edges.names) - len(prior))]))
    path = follow_path(problem, links, planned, stop=Stop(passes=200))
    w = path.results[path.chosen].w
    return links_of(decode_edges(others, scorer_of(planned.solver, edges, w), problem.link_rewards(w)))


def held_out_aer(seen: View, prior: F64, labelled: int, learner: str) -> float:
    """In percent; learner "none": of the default weights."""
    n, tables = len(seen.links), []
    all_edges = seen.edges if learner == "with words" else without_words(seen.edges)
    nothing = np.zeros(len(all_edges.features), np.uint8)
    order = np.random.default_rng(0).permutation(n)
    for number, part in enumerate(np.array_split(order, PARTS)):
        held_out = np.sort(part)
        rest = np.setdiff1d(order, held_out)
        rest = np.sort(np.random.default_rng(number).permutation(rest)[:labelled])
        others, _ = take_edges(all_edges, nothing, held_out)
        if learner == "none":
            answer = links_of(decode_with(prior, others))
        else:
            edges, _ = take_edges(all_edges, nothing, rest)
            answer = learn_and_align(learner, edges, seen.links.take(rest), prior, others)
        tables.append(count(seen.links.take(held_out), answer).table)
    return 100 * float(scores(PairCounts(np.concatenate(tables)).total()).aer)


def without_words(edges: EdgeTable) -> EdgeTable:
    names = FeatureSet().names
    return EdgeTable(np.ascontiguousarray(edges.features[:, : len(names)]), edges.shapes, edges.offsets, names)


def show(views: Sequence[View], sizes: Sequence[int]) -> None:
    names = np.array(FeatureSet().names)
    prior = np.array([PRIOR.get(name, 0.0) for name in names])
    learnt = {(seen.gold, seen.pairs): logistic(replace(seen, edges=without_words(seen.edges))) for seen in views}
    print(f"{'gold set':18}{'corpus':>8}{'unsupervised':>14}{'default':>9}", end="")
    print("".join(f"{f'{size} labels: hinge':>20}{'logistic':>10}{'with words':>12}" for size in sizes))
    rows = []
    for seen in views:
        default = combine(learnt, seen.gold, prior) + OFFSET * (names == "bias")
        row = [seen.unsupervised, held_out_aer(seen, default, 0, "none")]
        for size in sizes:
            row += [held_out_aer(seen, default, size, learner) for learner in LEARNERS]
        rows.append(row)
        print_row(seen.gold, f"{seen.pairs:,}", row)
    print_row("mean", "", np.mean(rows, axis=0).tolist())


def print_row(name: str, corpus: str, row: Sequence[float]) -> None:
    cells = "".join(f"{aer:{width}.2f}" for aer, width in zip(row[2:], (20, 10, 12) * len(row), strict=False))
    print(f"{name:18}{corpus:>8}{row[0]:14.2f}{row[1]:9.2f}{cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=(60, 1000), help="labelled pairs, at most")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    arguments = parser.parse_args()
    views = [
        view(arguments.data, name, corpus, FREQUENT_WORDS)
        for name, gold in GOLD_SETS.items()
        for corpus in gold.corpora
    ]
    show(views, arguments.pairs)


if __name__ == "__main__":
    main()
