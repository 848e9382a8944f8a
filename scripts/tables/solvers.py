"""All solvers on chains and matchings, as in [LJSP13 Fig. 1-5], and on small problems."""

import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import solver_figures as figures
from gold import labelled_problem
from scipy.optimize import linear_sum_assignment
from solver_problems import Field, fields, generated
from solver_runs import Limits, advice, compared, race, rates, read_races, sorted_races

from aligner.errors import SettingError
from aligner.solvers import Block, from_oracle, solve
from tables import DATA, IMAGES, ROOT, markdown, table

GAPS = 0.1, 0.01, 0.0001
SMALL = (
    "bcfw", "bcfw-gap", "bcfw-pairwise", "randomized-away", "cutting-plane", "stochastic-subgradient", "excessive-gap",
    "exponentiated-gradient",
)  # fmt: skip
FEATURES = "dice", "position", "position_root", "position_square", "hamming"
RUNS = Path(tempfile.gettempdir()) / "solver-runs.jsonl"


@table("solvers", "advice", "rates")
def solvers(
    data: Path = DATA,
    size: int = 5000,
    limits: tuple[float, ...] = (3.0, 0.7, 30.0, 8.0),
    seeds: int = 3,
    runs: Path = RUNS,
    draw: bool = False,
    quick: bool = False,
    write: bool = False,
) -> dict[str, str]:
    """All solvers that know a problem, and variants, on three problems at three λ: tables and figures.

    Letters of OCR words, chunks of CoNLL-2000 sentences, and Hansards pairs labelled by the default model, each at λ
    0.01, 0.001 and 1/n; about an hour of one core. The runs go to a file, one a line of JSON, of which all figures and
    tables are made. Figures need `pip install '.[plot]'`.
    size: pairs of the Hansards.  limits: seconds of the processor of the first run of a solver, of those with other
    seeds, of the first run of bcfw and its averages, and of the run that finds the optimum.  seeds: of the lines of
    Fig. 1.  runs: file to write.  draw: only from the runs that are there.  quick: a rehearsal on small problems,
    without corpora.
    """
    if quick:
        size, seeds, limits = 40, 2, (0.03, 0.03, 0.03, 0.1)
    contents = {}
    if not draw:
        with runs.open("w", encoding="utf-8") as file:
            for field in fields(size, None if quick else data):
                for run in measure(field, limits, seeds, quick):
                    file.write(json.dumps(asdict(run)) + "\n")
                    file.flush()
    races = read_races(runs)
    contents |= {"advice": advice(races), "rates": rates(sorted_races(races)[0])}
    contents["solvers"] = compared(races)
    if find_spec("matplotlib") is not None:
        for name in figures.FIGURES:
            figures.draw(name, races, (IMAGES if write else runs.parent) / f"solvers-{name}.png")
    return contents


def measure(field: Field, limits: tuple[float, ...], seeds: int, quick: bool) -> Iterator[Any]:
    """The runs on a problem; memory is measured at the middle λ."""
    n = field.at(1.0).n_blocks
    values = [1.0 / n] if quick else sorted({0.01, 0.001, 1.0 / n}, reverse=True)
    for number, regularization in enumerate(values):
        start = time.process_time()
        of_line = Limits(300, *limits, number == len(values) // 2)
        yield from race(field, regularization, lambda line: seeds if line in figures.PAPER else 1, of_line)
        print(f"{field.name}, λ {regularization:.2g}: {time.process_time() - start:.0f} CPU seconds", flush=True)


def digits(strength: float) -> Any:
    """Classes of 1,000 digits of 64 pixels, by an oracle in numpy for many at once."""
    from sklearn.datasets import load_digits

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

    return from_oracle(corners, n_blocks=1000, n_features=640, regularization=strength, batched=True)


def ranking(strength: float) -> Any:
    """Orders of six things of twelve features, by scipy's assignment of places; the loss is the footrule."""
    rng, places = np.random.default_rng(0), np.arange(6)
    things = rng.standard_normal((200, 6, 12))
    liked = (things @ rng.standard_normal(12) + 0.5 * rng.standard_normal((200, 6))).argsort(axis=1).argsort(axis=1)

    def corner(i: int, w: np.ndarray) -> tuple[np.ndarray, float]:
        wrong = np.abs(places - liked[i][:, None]) / 18.0
        _, found = linear_sum_assignment(wrong + np.outer(things[i] @ w, places) / 6.0, maximize=True)
        return (liked[i] - found) @ things[i] / 6.0, float(wrong[places, found].sum())

    return from_oracle(corner, n_blocks=200, n_features=12, regularization=strength)


def few_features(strength: float) -> Any:
    """Matchings of 40 pairs of the sample, labelled by the default model, by five features of their edges."""
    problem = labelled_problem(ROOT / "corpora/sample/train", 40, strength, 313)
    columns = [problem.edges.names.index(name) for name in FEATURES]
    features, gold = (np.ascontiguousarray(every[:, columns]) for every in (problem.edges.features, problem.gold))
    edges = replace(problem.edges, features=features, names=FEATURES)
    return replace(problem, edges=edges, gold=gold, prior=problem.prior[columns])


def chains(strength: float) -> Any:
    """150 sequences of eight labels and 30 inputs."""
    return generated(150).problem(strength)


PROBLEMS = {
    "digits, oracle of many in numpy, d = 640": (digits, (0.01, 0.001)),
    "ranking, oracle of one in scipy, d = 12": (ranking, (0.01,)),
    "matchings, compiled, d = 5": (few_features, (0.01, 0.001)),
    "chains, compiled, d = 304": (chains, (0.1, 0.01)),
}
"""Name -> function of λ, and λ."""


@table("small")
def small(seconds: float = 6.0) -> str:
    """Few features, oracles in Python, small λ: which solver is the first; some five minutes, needs scikit-learn.

    seconds: of the processor, of each run.
    """
    rows = []
    for title, (make, strengths) in PROBLEMS.items():
        for strength in strengths:
            problem = make(strength)
            with patch("time.perf_counter", time.process_time):  # comparable on a loaded machine
                results = dict(runs_of(problem, seconds))
            cells = ["<br>".join(dict.fromkeys(firsts(problem, results, gap))) for gap in GAPS]
            rows.append([f"{title}, n = {problem.n_blocks:,}", f"{strength:g}", *cells])
            print(rows[-1], flush=True)
            print({name: (f"{result.trace[-1].relative_gap:.1e}") for name, result in results.items()}, flush=True)
    return markdown(["problem", "λ", *(f"gap {gap:g}" for gap in GAPS)], rows, words=5)


def runs_of(problem: Any, seconds: float) -> Iterator[tuple[str, Any]]:
    for name in SMALL:
        try:
            yield name, solve(problem, name, gap=GAPS[-1], seconds=seconds)
        except SettingError:
            continue
    if problem.compiled() is None:
        yield "bcfw, batch 20", solve(problem, Block(batch=20), gap=GAPS[-1], seconds=seconds)


def firsts(problem: Any, results: dict[str, Any], gap: float) -> Iterator[str]:
    """The first solver to a gap by seconds, and by passes of oracle calls."""
    points = {name: next((p for p in result.trace if p.relative_gap <= gap), None) for name, result in results.items()}
    for unit, of in (("s", lambda p: p.seconds), ("passes", lambda p: p.oracle_calls / problem.n_blocks or p.passes)):
        reached = {name: of(point) for name, point in points.items() if point is not None}
        best = min(reached, key=reached.__getitem__, default=None)
        yield "–" if best is None else f"`{best}` {reached[best]:.2g} {unit}"
