"""What solvers are compared on: label sequences of OCR and CoNLL-2000, and matchings of Hansards."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gold import labelled_problem
from scipy.sparse import csr_array
from sequences import Sequences, read_chunks, read_letters
from tables import ROOT

from aligner.losses.hinge import MatchingProblem
from aligner.matching import best_matchings
from aligner.problem import BlockProblem

Array = np.ndarray[Any, Any]

HELD_OUT = 0.2
"""Sequences and pairs beside the training ones, as a share of these, on which weights are tested."""


@dataclass(frozen=True)
class Field:
    """A problem with a short name and a long one, at any λ, and the error of weights on what was held out.

    slow: solvers of which a pass takes more than a minute.  longer: times as long as on others solvers may run.
    """

    name: str
    about: str
    at: Callable[[float], BlockProblem]
    error: Callable[[Array], float]
    slow: tuple[str, ...] = ()
    longer: float = 1.0


def generated(n: int, noise: float = 0.8) -> Sequences:
    """Sequences of eight labels that step on, each token one of three inputs of its label, with noise."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(4, 11, n)
    labels = np.concatenate([np.cumsum(rng.random(size) < 0.4) % 8 for size in lengths])
    inputs = np.eye(30)[labels * 3 + rng.integers(3, size=len(labels))] + noise * rng.standard_normal((len(labels), 30))
    return Sequences(inputs, labels, lengths, tuple("abcdefgh"), np.arange(n) % 6)


def split(words: Sequences) -> tuple[Sequences, Sequences]:
    """Those to train on, and fold 0, which is held out, as in [LJSP13]."""
    train, test = (words.take(np.flatnonzero((words.folds == 0) == held)) for held in (False, True))
    return train, test


def letters(data: Path) -> tuple[Sequences, Sequences]:
    """The words of OCR to train on, and those to test."""
    return split(read_letters(data / "ocr" / "letter.data.gz"))


def chunks(data: Path) -> tuple[Sequences, Sequences]:
    """The sentences of CoNLL-2000 to train on, with features of three tokens or more, and those to test."""
    train = read_chunks(data / "conll2000" / "train.txt.gz", least=3)
    return train, read_chunks(data / "conll2000" / "test.txt.gz", train)


def chain_field(name: str, about: str, train: Sequences, test: Sequences, *limits: Any) -> Field:
    """Label sequences to train on, and others to test."""
    problem, others = (part.problem(1.0, biases=True) for part in (train, test))
    n_labels, tokens = problem.arrays.n_labels, len(problem.arrays.labels)
    size = f"{len(train):,} of {tokens:,} tokens, {n_labels} labels, d = {problem.n_features:,}"

    def error(w: Array) -> float:
        return float(np.mean(others.predict(w) != test.labels))

    return Field(name, f"{about}: {size}", problem.at, error, *limits)


def matching_field(about: str, problem: MatchingProblem, n: int) -> Field:
    """Matchings, the first n of them to train on; the error is 1 − F1 of the links of the others."""
    train, test = problem.take(np.arange(n)), problem.take(np.arange(n, problem.n_blocks))
    gold = test.labels == test.labels.max()

    def error(w: Array) -> float:
        found = best_matchings(test.edges.features @ w.astype(np.float32), test.edges.lists)
        return 1.0 - 2.0 * np.count_nonzero(found & gold) / max(1, np.count_nonzero(found) + np.count_nonzero(gold))

    size = f"{n:,} of {len(train.edges.features) / n:.0f} edges each, d = {train.n_features:,}"
    return Field("matchings", f"{about}: {size}", train.at, error)


def fields(n: int, data: Path | None) -> Iterator[Field]:
    """Letters, chunks, and n pairs of the Hansards; without a folder of data n generated ones, and of the sample."""
    most = n + int(HELD_OUT * n)
    if data is None:
        yield chain_field("letters", "letters of words, generated", *split(generated(most)))
        made = generated(most, 0.0)
        sparse = Sequences(csr_array(made.features), made.labels, made.lengths, made.label_names, made.folds)
        yield chain_field("chunks", "chunks of sentences, generated", *split(sparse))
        of_sample = labelled_problem(ROOT / "corpora/sample/train", most, 1.0, 313)
        yield matching_field("pairs of the sample", of_sample, n)
        return
    yield chain_field("letters", "letters of OCR", *letters(data))
    slow = "exponentiated-gradient", "extragradient"
    yield chain_field("chunks", "chunks of CoNLL-2000", *chunks(data), slow, 4.0)
    labelled = labelled_problem(data / "hansards" / "train", most, 1.0, 20_000)
    yield matching_field("Hansards pairs labelled by a model", labelled, n)
