"""Multiclass support vector machines on letters, with sparse corners, beside liblinear."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

from tables import DATA, markdown, table


class Points(NamedTuple):
    """x: (n, p).  y: (n,) from 0 to classes − 1."""

    x: np.ndarray
    y: np.ndarray
    classes: int


@numba.njit
def best_class(i, points, w, cost, columns, values):  # type: ignore[no-untyped-def]
    """Crammer and Singer's oracle: ψ has the pixels of two classes."""
    x, y, p = points.x[i], points.y[i], points.x.shape[1]
    best, highest, m = 0, -np.inf, 0
    for k in range(points.classes):
        score = (0.0 if k == y else cost) + np.dot(x, w[k * p : (k + 1) * p])
        if score > highest:
            best, highest = k, score
    for c in range(p if best != y else 0):
        if x[c] != 0.0:
            columns[m], columns[m + 1], values[m], values[m + 1] = y * p + c, best * p + c, x[c], -x[c]
            m += 2
    return (0.0 if best == y else 1.0), m


@table("flat")
def flat(data: Path = DATA, n: int = 6000, regularization: float = 0.01) -> str:
    """Single letters of the OCR words by Crammer and Singer's loss: liblinear's objective, and ours, by CPU seconds.

    n: letters, drawn at random.  regularization: λ.
    """
    from sequences import read_letters
    from sklearn.svm import LinearSVC

    from aligner.solvers import Average, Block, from_kernel, solve

    words = read_letters(data / "ocr" / "letter.data.gz")
    chosen = np.random.default_rng(0).permutation(len(words.labels))[:n]
    points = Points(words.features.toarray()[chosen].astype(float), words.labels[chosen], len(words.label_names))
    (x, y, classes), p = points, words.features.shape[1]
    problem = from_kernel(best_class, points, n_features=classes * p, regularization=regularization, most_entries=2 * p)
    solve(problem, Block(), passes=1)  # compiles

    def objective(w: np.ndarray) -> float:
        scores = x @ w.T
        own = scores[np.arange(len(y)), y]
        scores[np.arange(len(y)), y] -= 1.0
        return float(regularization / 2 * (w * w).sum() + (scores.max(axis=1) + 1.0 - own).mean())

    def timed(act: Callable[[], Any]) -> tuple[Any, float]:
        runs = []
        for _ in range(3):
            start = time.process_time()
            found = act()
            runs.append(time.process_time() - start)
        return found, min(runs)

    rows: list[tuple[str, float, Any, float]] = []
    strength = 1.0 / (regularization * len(y))
    for tolerance in (1e-2, 1e-4):
        svm = LinearSVC(C=strength, multi_class="crammer_singer", fit_intercept=False, tol=tolerance, max_iter=5000)
        fit, seconds = timed(lambda svm=svm: svm.fit(x, y))
        rows.append((f"liblinear, tolerance {tolerance:g}", objective(fit.coef_), "", seconds))
    for gap in (1e-2, 3e-3, 1e-3):
        for name, solver in (("bcfw", Block()), ("bcfw, average suffix", Block(average=Average.SUFFIX))):
            run, seconds = timed(lambda solver=solver, gap=gap: solve(problem, solver, gap=gap, passes=1000))
            assert abs(objective(run.w.reshape(classes, p)) - run.primal) < 1e-9
            rows.append((f"`{name}`, gap {gap:g}", run.primal, run.gap / run.primal, seconds))
    least = min(primal for _, primal, *_ in rows)
    header = ["solver", "primal", "above the least", "certified gap", "CPU seconds"]
    cells = [
        (name, f"{primal:.5f}", f"{100 * (primal / least - 1):.2f} %", gap and f"{gap:.1e}", f"{seconds:.2f}")
        for name, primal, gap, seconds in rows
    ]
    return markdown(header, cells)
