"""The table of small problems in docs/solvers.md: few features, oracles in Python, small λ; which solver is the first.

python scripts/small_problems.py --write     # some five minutes; needs scikit-learn
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from five_features import FEATURES
from tables import ROOT, markdown, parser_of, publish

GAPS = 0.1, 0.01, 0.0001
SECONDS = 6.0
NAMES = (
    "bcfw", "bcfw-gap", "bcfw-pairwise", "randomized-away", "cutting-plane", "stochastic-subgradient", "excessive-gap",
    "exponentiated-gradient",
)  # fmt: skip


def digits(strength: float) -> Any:
    """Classes of 1,000 digits of 64 pixels, by an oracle in numpy for many at once."""
    from sklearn.datasets import load_digits

    from aligner import solvers

    x, y = load_digits(return_X_y=True)
    x, y = x[:1000] / 16.0, y[:1000]

    def corners(blocks: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, own = np.arange(len(blocks)), y[blocks]
        wrong = np.ones((len(blocks), 10))
        wrong[rows, own] = 0.0
        best = (wrong + x[blocks] @ w.reshape(10, -1).T).argmax(axis=1)
        psi = np.zeros((len(blocks), 10, 64))
        psi[rows, own] += x[blocks]
        psi[rows, best] -= x[blocks]
        return psi.reshape(len(blocks), -1), wrong[rows, best]

    return solvers.from_oracle(corners, n_blocks=1000, n_features=640, regularization=strength, batched=True)


def ranking(strength: float) -> Any:
    """Orders of six things of twelve features, by scipy's assignment of places; the loss is the footrule."""
    from scipy.optimize import linear_sum_assignment

    from aligner import solvers

    rng, places = np.random.default_rng(0), np.arange(6)
    things = rng.standard_normal((200, 6, 12))
    liked = (things @ rng.standard_normal(12) + 0.5 * rng.standard_normal((200, 6))).argsort(axis=1).argsort(axis=1)

    def corner(i: int, w: np.ndarray) -> tuple[np.ndarray, float]:
        wrong = np.abs(places - liked[i][:, None]) / 18.0
        _, found = linear_sum_assignment(wrong + np.outer(things[i] @ w, places) / 6.0, maximize=True)
        return (liked[i] - found) @ things[i] / 6.0, float(wrong[places, found].sum())

    return solvers.from_oracle(corner, n_blocks=200, n_features=12, regularization=strength)


def few_features(strength: float) -> Any:
    """Matchings of 40 pairs of the sample, labelled by the default model, by five features of their edges."""
    from gold import labelled_problem

    problem = labelled_problem(ROOT / "corpora/sample/train", 40, strength, 313)
    columns = [problem.edges.names.index(name) for name in FEATURES]
    features, gold = (np.ascontiguousarray(every[:, columns]) for every in (problem.edges.features, problem.gold))
    edges = replace(problem.edges, features=features, names=FEATURES)
    return replace(problem, edges=edges, gold=gold, prior=problem.prior[columns])


def chains(strength: float) -> Any:
    """150 sequences of eight labels and 30 inputs."""
    from aligner.solvers import ChainProblem

    rng = np.random.default_rng(0)
    lengths = rng.integers(4, 11, 150)
    labels = np.concatenate([np.cumsum(rng.random(size) < 0.4) % 8 for size in lengths])
    inputs = np.eye(30)[labels * 3 + rng.integers(3, size=len(labels))] + 0.8 * rng.standard_normal((len(labels), 30))
    return ChainProblem.of(inputs, labels, lengths, regularization=strength, n_labels=8)


def runs(problem: Any) -> Iterator[tuple[str, Any]]:
    from aligner.errors import SettingError
    from aligner.solvers import Block, solve

    for name in NAMES:
        try:
            yield name, solve(problem, name, gap=GAPS[-1], seconds=SECONDS)
        except SettingError:
            continue
    if problem.compiled() is None:
        yield "bcfw, batch 20", solve(problem, Block(batch=20), gap=GAPS[-1], seconds=SECONDS)


def main() -> None:
    options = parser_of(__doc__).parse_args()
    rows = []
    clock = patch("time.perf_counter", time.process_time)  # of a loaded machine the processor's time is comparable
    for title, make, strengths in (
        ("digits, oracle of many in numpy, d = 640", digits, (0.01, 0.001)),
        ("ranking, oracle of one in scipy, d = 12", ranking, (0.01,)),
        ("matchings, compiled, d = 5", few_features, (0.01, 0.001)),
        ("chains, compiled, d = 304", chains, (0.1, 0.01)),
    ):
        for strength in strengths:
            problem = make(strength)
            with clock:
                results = dict(runs(problem))
            cells = []
            for gap in GAPS:
                found = []
                for axis, unit in (("seconds", " s"), ("passes", " passes")):
                    reached = {}
                    for name, result in results.items():
                        point = next((point for point in result.trace if point.relative_gap <= gap), None)
                        if point is not None:
                            calls = point.oracle_calls / problem.n_blocks or point.passes
                            reached[name] = point.seconds if axis == "seconds" else calls
                    best = min(reached, key=reached.__getitem__, default=None)
                    found.append("–" if best is None else f"`{best}` {reached[best]:.2g}{unit}")
                cells.append("<br>".join(dict.fromkeys(found)))
            rows.append([f"{title}, n = {problem.n_blocks:,}", f"{strength:g}", *cells])
            print(rows[-1], flush=True)
            print({name: (f"{result.trace[-1].relative_gap:.1e}") for name, result in results.items()}, flush=True)
    header = ["problem", "λ", *(f"gap {gap:g}" for gap in GAPS)]
    publish("small", markdown(header, rows, words=5), pages=["docs/solvers.md"], write=options.write)


if __name__ == "__main__":
    main()
