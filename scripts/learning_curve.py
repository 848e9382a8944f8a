"""Learning curve: AER against the number of labelled pairs, chosen by ``aligner suggest`` and at random.

Weights are learnt by the logistic loss with its λ without cross-validation, from default weights on that have not seen
this gold; the words with features of their own are the frequent ones of all these pairs. Ten pairs drawn at random
begin; then the model of the pairs so far chooses the next, or chance does. Each curve is the mean over several draws of
what is held out and of the first pairs, the same ones for both; the difference has its standard error over these.
Words, of both sides, tell how long the chosen sentences are.

A fifth of the labelled pairs (gold-train, and gold-trial of Hansards) is held out at a time. With --dev all of them are
to choose from and gold-dev is held out: for final figures only.

    python scripts/learning_curve.py [--sets cs-en hansards] [--runs 10] [--pairs 20000] [--dev] [--data ../shared/data]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
from train_default import default_without

from aligner.model.decoding import decode_edges, links_of
from aligner.model.scoring import LinearScorer
from aligner.report.evaluation import count, scores
from aligner.solvers import Stop, solve
from aligner.solvers.newton import Newton
from aligner.svm.logistic import LogisticProblem
from aligner.svm.prices import LinkRewards
from aligner.training.inputs import read_labelled
from aligner.training.settings import DEFAULT_FERTILITY, FREQUENT_WORDS, LOGISTIC_REGULARIZATION
from corpora.alignment import Links
from corpora.bitext import read_bitext
from corpora.normalize import Normalizer
from corpora.readers import Corpus, open_corpus
from features.extractor import FeatureSet, with_words
from features.statistics import CorpusStatistics

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Learnt = tuple[LinearScorer, LinkRewards]

FIRST = 10
SIZES = (10, 20, 50, 100, 200)
PARTS = 5


@dataclass(frozen=True)
class Pool:
    """Labelled pairs with their features.  dev: how many at the end are gold-dev."""

    problem: LogisticProblem
    links: Links
    dev: int

    def learn(self, pairs: I64) -> Learnt:
        part = replace(self.problem.take(np.sort(pairs)), regularization=LOGISTIC_REGULARIZATION / len(pairs))
        w = solve(part, Newton(), stop=Stop(gap=1e-3)).w
        return LinearScorer(w), part.link_rewards(w)

    def error(self, learnt: Learnt, pairs: I64) -> float:
        """AER on these pairs, in percent."""
        found = links_of(decode_edges(self.problem.take(pairs).edges, *learnt))
        return 100 * float(scores(count(self.links.take(pairs), found).total()).aer)

    def words(self, pairs: I64) -> int:
        return int(self.problem.edges.shapes[pairs].sum())

    def probabilities(self, learnt: Learnt, pairs: I64) -> npt.NDArray[np.float64]:
        """Of the links that are found in each pair, which scores are the log-odds of: the mean."""
        found = decode_edges(self.problem.take(pairs).edges, *learnt)
        return np.array([np.mean(1 / (1 + np.exp(-np.array(one.scores)))) if one else 0.0 for one in found])


def read_pool(text: Corpus, gold: Sequence[Path], languages: tuple[str, str], prior: F64, dev: bool) -> Pool:
    """prior: the default weights without this gold.  dev: whether the last gold set is gold-dev."""
    source, target = languages
    normalizers = Normalizer(), Normalizer()
    corpora = [open_corpus(prefix, source=source, target=target) for prefix in gold]
    labelled = read_labelled(corpora, normalizers)
    features = with_words(FeatureSet(), labelled.bitext, FREQUENT_WORDS)
    edges = features.extract(labelled.bitext, CorpusStatistics.from_bitext(read_bitext([text], *normalizers)))
    prior = np.concatenate([prior, np.zeros(len(edges.names) - len(prior))])
    problem = LogisticProblem.from_links(
        edges, labelled.links, regularization=1.0, prior=prior, capacity=DEFAULT_FERTILITY
    )
    return Pool(problem, labelled.links, sum(1 for _ in corpora[-1].links()) if dev else 0)


def curve(
    pool: Pool, held_out: I64, candidates: I64, choose: Callable[[Learnt, I64, int], I64]
) -> npt.NDArray[np.float64]:
    """(sizes, 2) AER and words.  candidates: in random order; the first begin.  choose: so many of those left."""
    chosen = candidates[:FIRST]
    learnt = pool.learn(chosen)
    rows = [(pool.error(learnt, held_out), pool.words(chosen))]
    for size in SIZES[1:]:
        left = np.setdiff1d(candidates, chosen)
        chosen = np.concatenate([chosen, choose(learnt, left, min(size - len(chosen), len(left)))])
        learnt = pool.learn(chosen)
        rows.append((pool.error(learnt, held_out), pool.words(chosen)))
    return np.array(rows)


def run(pool: Pool, seed: int) -> npt.NDArray[np.float64]:
    """(2, sizes, 2) the curves of suggested and of random pairs."""
    rng = np.random.default_rng([seed // PARTS, 0])
    n = len(pool.links) - pool.dev
    if pool.dev:
        held_out, candidates = np.arange(n, n + pool.dev), np.arange(n)
    else:
        held_out = np.sort(np.array_split(rng.permutation(n), PARTS)[seed % PARTS])
        candidates = np.setdiff1d(np.arange(n), held_out)
    order = np.random.default_rng([seed, 1]).permutation(candidates)
    later = np.random.default_rng([seed, 2])

    def suggested(learnt: Learnt, left: I64, number: int) -> I64:
        return left[np.argsort(pool.probabilities(learnt, left), kind="stable")[:number]]

    def at_random(learnt: Learnt, left: I64, number: int) -> I64:
        return later.permutation(left)[:number]

    return np.stack([curve(pool, held_out, order, choose) for choose in (suggested, at_random)])


def show(name: str, pool: Pool, runs: int) -> None:
    found = np.stack([run(pool, seed) for seed in range(runs)])  # (runs, 2, sizes, 2)
    mean = found.mean(axis=0)
    differences = found[:, 0, :, 0] - found[:, 1, :, 0]
    spread = differences.std(axis=0, ddof=1) / np.sqrt(runs)
    most = len(pool.links) - pool.dev if pool.dev else len(pool.links) - len(pool.links) // PARTS
    for i, size in enumerate(SIZES):
        print(
            f"{name:<10}{min(size, most):>6}{mean[0, i, 0]:>12.2f}{mean[0, i, 1]:>8.0f}{mean[1, i, 0]:>12.2f}"
            f"{mean[1, i, 1]:>8.0f}{differences.mean(axis=0)[i]:>+12.2f} ± {spread[i]:.2f}",
            flush=True,
        )
        if size >= most:
            break


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=("cs-en", "hansards"), default=("cs-en", "hansards"))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=20_000, help="of the Hansards, that the statistics are of")
    parser.add_argument("--dev", action="store_true", help="hold gold-dev out: for final figures only")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    print(f"held out: {'gold-dev' if options.dev else 'a fifth of the labelled pairs'}; {options.runs} draws")
    print(f"{'':<10}{'pairs':>6}{'suggested':>12}{'words':>8}{'random':>12}{'words':>8}{'difference':>12}")
    for name in options.sets:
        folder = options.data / name
        languages = ("en", "cs") if name == "cs-en" else ("en", "fr")
        text = open_corpus(folder / ("text" if name == "cs-en" else "train"), source=languages[0], target=languages[1])
        if name == "hansards":
            text = replace(text, texts=lambda texts=text.texts: islice(texts(), options.pairs))
        gold = [folder / part for part in (("gold-train",) if name == "cs-en" else ("gold-train", "gold-trial"))]
        if options.dev:
            gold.append(folder / "gold-dev")
        show(name, read_pool(text, gold, languages, default_without(options.data, name), options.dev), options.runs)


if __name__ == "__main__":
    main()
