"""What `bench_solvers.py` runs solvers on: label sequences of OCR and CoNLL-2000, and matchings of Hansards.

For a rehearsal sequences are generated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import lgamma
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack
from sequences import Sequences, read_chunks, read_letters

from aligner.losses.chain import ChainProblem
from aligner.losses.hinge import MatchingProblem
from aligner.matching import best_matchings
from aligner.problem import BlockProblem

Array = np.ndarray[Any, Any]

HELD_OUT = 0.2
"""Sequences and pairs beside the training ones, as a share of these, on which weights are tested."""


@dataclass(frozen=True)
class Field:
    """A problem with a short name and a long one, at any λ, and the error of weights on what was held out.

    radius: at least R = max ‖ψ_i(z)‖.  log_answers: log |Y| of the largest block.
    slow: solvers of which a pass takes more than a minute.  longer: times as long as on others solvers may run.
    """

    name: str
    about: str
    radius: float
    log_answers: float
    at: Callable[[float], BlockProblem]
    error: Callable[[Array], float]
    slow: tuple[str, ...] = ()
    longer: float = 1.0


def letters(n: int, pixels: int = 48, n_labels: int = 26, seed: int = 0) -> Sequences:
    """Words whose letters follow one another by a Markov chain, each a noisy picture of its letter."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.poisson(5.0, n), 2, 12)
    labels = _walk(rng, rng.dirichlet(np.full(n_labels, 0.3), n_labels), lengths)
    pictures = rng.random((n_labels, pixels)) < 0.3
    flipped = rng.random((len(labels), pixels)) < 0.28
    seen = (pictures[labels] ^ flipped).astype(np.float32)
    return _sequences(csr_array(seen / np.sqrt(seen.sum(axis=1, keepdims=True) + 1.0)), labels, lengths)


def chunks(n: int, words: int = 1200, tags: int = 25, n_labels: int = 23, seed: int = 0) -> Sequences:
    """Sentences whose words and tags depend on chunk labels; features: word and tag at −2…2, pairs of neighbours."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.poisson(8.0, n), 3, 25)
    labels = _walk(rng, rng.dirichlet(np.full(n_labels, 0.1), n_labels), lengths)
    tag = _draw(rng, rng.dirichlet(np.full(tags, 0.05), n_labels), labels)
    word = (tag + tags * rng.zipf(1.3, len(labels))) % words  # each of one tag, most of them rare
    place, last = np.concatenate([np.arange(T) for T in lengths]), np.repeat(lengths, lengths) - 1
    parts = []
    for kind, size, shifts in ((word, words, 2), (tag, tags, 2), (tag * tags + np.roll(tag, -1), tags * tags, 0)):
        for shift in range(-shifts, shifts + 1):
            rows = np.flatnonzero((place + shift >= 0) & (place + shift <= last))
            ones = np.ones(len(rows), np.float32)
            parts.append(csr_array((ones, (rows, kind[rows + shift])), (len(labels), size)))
    return _sequences(csr_array(hstack(parts, format="csr")), labels, lengths)


def _sequences(features: csr_array, labels: Array, lengths: Array) -> Sequences:
    names = tuple(str(label) for label in range(labels.max() + 1))
    return Sequences(features, labels, lengths, names, np.zeros_like(lengths))


def _walk(rng: np.random.Generator, chain: Array, lengths: Array) -> Array:
    """Labels of sequences of these lengths by a Markov chain."""
    labels = np.empty((len(lengths), lengths.max()), np.int64)
    labels[:, 0] = rng.integers(len(chain), size=len(lengths))
    for t in range(1, labels.shape[1]):
        labels[:, t] = _draw(rng, chain, labels[:, t - 1])
    return labels[np.arange(labels.shape[1]) < lengths[:, None]]


def _draw(rng: np.random.Generator, likely: Array, given: Array) -> Array:
    """A column for each of the given rows of probabilities."""
    below = np.cumsum(likely, axis=1)[given] < rng.random((len(given), 1))
    return below.sum(axis=1).clip(0, likely.shape[1] - 1)


def chain_field(name: str, about: str, train: Sequences, test: Sequences) -> Field:
    """Label sequences to train on, and others to test."""
    problem, others = (part.problem(1.0, biases=True) for part in (train, test))
    n_labels, tokens = problem.arrays.n_labels, len(problem.arrays.labels)
    size = f"{len(train):,} of {tokens:,} tokens, {n_labels} labels, d = {problem.n_features:,}"
    radius, answers = _longest_chain(problem), int(train.lengths.max()) * float(np.log(n_labels))

    def error(w: Array) -> float:
        return float(np.mean(others.predict(w) != test.labels))

    return Field(name, f"{about}: {size}", radius, answers, problem.at, error)


def _longest_chain(problem: ChainProblem) -> float:
    """At least R: each token moves two labels' features, each two neighbours two entries."""
    arrays = problem.arrays
    squares = np.append(0.0, np.cumsum(arrays.values.astype(np.float64) ** 2))[arrays.starts]
    lengths = np.sqrt(np.maximum(0.0, np.diff(squares)) + 3.0 * arrays.biases)
    of_tokens = np.add.reduceat(lengths, arrays.offsets[:-1])
    return float(np.sqrt(2.0) * np.hypot(of_tokens, np.diff(arrays.offsets) - 1).max())


def matching_field(about: str, problem: MatchingProblem, n: int) -> Field:
    """Matchings, the first n of them to train on; the error is 1 − F1 of the links of the others."""
    train, test = problem.take(np.arange(n)), problem.take(np.arange(n, problem.n_blocks))
    gold = test.labels == test.labels.max()

    def error(w: Array) -> float:
        found = best_matchings(test.edges.features @ w.astype(np.float32), test.edges.lists)
        return 1.0 - 2.0 * np.count_nonzero(found & gold) / max(1, np.count_nonzero(found) + np.count_nonzero(gold))

    size = f"{n:,} of {len(train.edges.features) / n:.0f} edges each, d = {train.n_features:,}"
    norms, words = np.linalg.norm(train.edges.features, axis=1), train.edges.lists.shapes.min(axis=1)
    radius = float(2.0 * norms.max() * words.max())
    answers = max(_log_matchings(J, K) for J, K in train.edges.lists.shapes.tolist())

    return Field("matchings", f"{about}: {size}", radius, answers, train.at, error)


def _log_matchings(J: int, K: int) -> float:
    """log of Σ_m C(J, m) C(K, m) m!: the matchings of all edges."""
    return float(
        np.logaddexp.reduce(
            [
                lgamma(J + 1) - lgamma(J - m + 1) + lgamma(K + 1) - lgamma(K - m + 1) - lgamma(m + 1)
                for m in range(min(J, K) + 1)
            ]
        )
    )


def matchings_field(n: int, data: Path | None) -> Field:
    """Hansards pairs, or those of the sample without a folder of data; labelled by the default model."""
    from gold import hansards_problem, labelled_problem
    from tables import ROOT

    most = n + int(HELD_OUT * n)
    if data is None:
        return matching_field("pairs of the sample", labelled_problem(ROOT / "corpora/sample/train", most, 1.0, 313), n)
    return matching_field("Hansards pairs labelled by a model", hansards_problem(data, most, 1.0), n)


def letters_field(n: int, data: Path | None) -> Field:
    """The words of OCR, of which fold 0 is held out, as in [LJSP13]; without a folder of data, n generated ones."""
    if data is None:
        return _generated("letters", "letters of words, generated", letters(n + int(HELD_OUT * n)), n)
    words = read_letters(data / "ocr" / "letter.data.gz")
    test, train = (words.take(np.flatnonzero((words.folds == 0) == held)) for held in (True, False))
    return chain_field("letters", "letters of OCR", train, test)


def chunks_field(n: int, data: Path | None) -> Field:
    """The sentences of CoNLL-2000 with features of three tokens or more; without a folder of data, n generated ones."""
    if data is None:
        made = chunks(n + int(HELD_OUT * n), words=3 * n // 5)
        return _generated("chunks", "chunks of sentences, generated", made, n)
    train = read_chunks(data / "conll2000" / "train.txt.gz", least=3)
    test = read_chunks(data / "conll2000" / "test.txt.gz", train)
    found = chain_field("chunks", "chunks of CoNLL-2000", train, test)
    return replace(found, slow=("exponentiated-gradient", "extragradient"), longer=4.0)


def _generated(name: str, about: str, data: Sequences, n: int) -> Field:
    return chain_field(name, about, data.take(np.arange(n)), data.take(np.arange(n, len(data))))
