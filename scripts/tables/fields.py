"""Random fields and structured SVMs beside CRFsuite."""

import gzip
import tempfile
import time
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sequences import Sequences
from solver_problems import Array, chunks, letters

from aligner.solvers import LogLoss, solve
from tables import DATA, markdown, table


def chunks_of(names: list[str], lengths: Array) -> set[tuple[int, int, str]]:
    """(First token, last token, kind) of the chunks of sentences, one after the other, of labels such as B-NP or O."""
    found, start, begins = set(), -1, {0, *np.cumsum(lengths).tolist()}
    for t in range(len(names) + 1):
        new = t in begins or names[t][0] != "I" or names[t][2:] != names[t - 1][2:]
        if start >= 0 and new:
            found.add((start, t - 1, names[t - 1][2:]))
            start = -1
        if t < len(names) and names[t] != "O" and start < 0:
            start = t
    return found


def f1(train: Sequences, test: Sequences, gold: list[str], labels: Array) -> float:
    named = [train.label_names[label] for label in labels.tolist()]
    right, found = chunks_of(gold, test.lengths), chunks_of(named, test.lengths)
    return 2.0 * len(right & found) / (len(right) + len(found))


def crfsuite(train: Sequences, strength: float) -> tuple[Array, float, float, int]:
    """CRFsuite's weights in our order, its loss, its CPU seconds and iterations."""
    import pycrfsuite

    names, bounds = [str(c) for c in range(train.features.shape[1])], np.append(0, np.cumsum(train.lengths))
    rows, labels = train.features, train.labels.tolist()
    trainer = pycrfsuite.Trainer(verbose=False)
    for first, last in pairwise(bounds):
        tokens = [
            {names[c]: float(v) for c, v in zip(rows.indices[slice(*own)], rows.data[slice(*own)], strict=True)}
            for own in (rows.indptr[t : t + 2] for t in range(first, last))
        ]
        trainer.append(pycrfsuite.ItemSequence(tokens), [str(label) for label in labels[first:last]])
    options = {"c1": 0.0, "c2": strength * len(train) / 2.0, "max_iterations": 300, "epsilon": 1e-7, "delta": 1e-7}
    trainer.set_params({**options, "feature.possible_states": True, "feature.possible_transitions": True})
    M, begin = len(train.label_names), time.process_time()
    with tempfile.NamedTemporaryFile() as file:
        trainer.train(file.name)
        spent, last = time.process_time() - begin, trainer.logparser.last_iteration
        tagger = pycrfsuite.Tagger()
        tagger.open(file.name)
        info = tagger.info()
    w = np.zeros((train.features.shape[1] + M) * M)
    for (name, label), weight in info.state_features.items():
        w[int(name) * M + int(label)] = weight
    for (before, label), weight in info.transitions.items():
        w[(train.features.shape[1] + int(before)) * M + int(label)] = weight
    return w, last["loss"], spent, last["num"]


def compare(name: str, train: Sequences, test: Sequences, passes: int, measure: Any) -> list[list[object]]:
    n, problem, rows = len(train), train.problem(1.0 / len(train)), list[list[object]]()

    def row(by: str, w: Array, objective: float, gap: str, passes: float, spent: float) -> None:
        error = measure(test.problem(1.0).predict(w))
        rows.append([name, by, f"{objective:.5f}", gap, f"{passes:,}", f"{spent:.0f}", error])
        print(*rows[-1], sep=" | ", flush=True)

    ways = ("hinge, `bcfw`", problem, "bcfw", passes), ("log loss, `lbfgs`", LogLoss(problem), "lbfgs", 2 * passes // 5)
    for by, of, solver, most in ways:
        begin = time.process_time()
        result = solve(of, solver, gap=0.01, passes=most)
        spent, last = time.process_time() - begin, result.trace[-1]
        row(by, result.w, result.primal, f"{last.relative_gap:.0e}", last.passes, spent)
    if find_spec("pycrfsuite"):
        w, loss, spent, iterations = crfsuite(train, 1.0 / n)
        ours = n * (LogLoss(problem).sums(w).value + 0.5 / n * float(w @ w))
        print(f"CRFsuite's loss {loss:.6f}, ours at its weights {ours:.6f}: {abs(ours / loss - 1.0):.1e} apart")
        row("CRFsuite, L-BFGS", w, loss / n, "", iterations, spent)
    return rows


@table("fields")
def fields(data: Path = DATA, passes: int = 200) -> str:
    """Random fields and structured SVMs on CoNLL-2000 and OCR, beside CRFsuite, if python-crfsuite is installed.

    The features are those of the benchmark of solvers, without biases, which CRFsuite lacks. Its objective is ours
    times n, which is checked at its weights. F1 is of whole chunks, as conlleval counts them. A quarter of an hour.
    passes: of bcfw at most; 2/5 of them of lbfgs.
    """
    train, test = chunks(data)
    with gzip.open(data / "conll2000" / "test.txt.gz", "rt") as file:
        gold = [line.split()[2] for line in file if line.strip()]
    rows = compare("chunks", train, test, passes, lambda labels: f"F1 {100 * f1(train, test, gold, labels):.2f}")
    of_words, others = letters(data)
    error = "{:.1f} % wrong".format
    rows += compare("letters", of_words, others, passes, lambda labels: error(100 * np.mean(labels != others.labels)))
    header = ["on", "by", "objective", "relative gap", "passes", "CPU s", "held out"]
    return markdown(header, rows, words=2)
