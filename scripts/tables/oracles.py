"""The time of a best matching, and what approximate answers save."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from gold import labelled_problem
from scipy.optimize import linear_sum_assignment

from aligner.matching import ORACLES, best_matchings
from aligner.solvers import Approximate, Stop, make_solver, solve
from corpora.ragged import Lists
from tables import DATA, markdown, table

SLOW = {"flow": 40, "lp": 40}
"""Oracles that only solve so many of the problems here."""

SCORES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, edges: rng.standard_normal(edges),
    "uniform": lambda rng, edges: rng.random(edges),
    "mostly negative": lambda rng, edges: rng.standard_normal(edges) - 2.0,
    "ties": lambda rng, edges: rng.integers(-1, 3, edges).astype(float),
}

ANSWERS: tuple[dict[str, float], ...] = (
    {}, {}, {"share": 0.5}, {"share": 0.25}, {"share": 0.1}, {"error": 0.001}, {"error": 0.1},
)  # fmt: skip
"""Of `Approximate`, but for the first, which is compiled and exact."""


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs, after one that is not counted."""
    took = []
    for _ in range(1 + repeats):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return min(took[1:])


@table("oracles")
def oracles(problems: int = 2000) -> str:
    """The time of a best matching of 5-40 x 5-45 words, by oracle and kind of scores.

    The compiled oracles get all problems in one batch; scipy's function is also called bare, one problem at a time, as
    the peer.
    problems: that are solved.
    """
    rows = []
    for kind, draw in SCORES.items():
        rng = np.random.default_rng(0)
        shapes = np.stack([rng.integers(5, 41, problems), rng.integers(5, 46, problems)], axis=1)
        offsets = np.concatenate([[0], np.cumsum(shapes.prod(axis=1))])
        scores = draw(rng, int(offsets[-1]))
        gains = [np.maximum(scores[offsets[i] : offsets[i + 1]].reshape(shape), 0.0) for i, shape in enumerate(shapes)]

        def one_by_one(gains: list[np.ndarray] = gains) -> list[tuple[np.ndarray, np.ndarray]]:
            return [linear_sum_assignment(gain, maximize=True) for gain in gains]

        best = [gain[links].sum() for gain, links in zip(gains, one_by_one(), strict=True)]
        peer = best_of(3, one_by_one) / problems
        rows.append([kind, "scipy, bare calls", f"{peer * 1e6:.2f}", "1", "0"])
        for name in ORACLES:
            n = min(problems, SLOW.get(name, problems))
            part, lists = scores[: offsets[n]], Lists.of_all(shapes[:n])
            found = np.bincount(lists.pairs, part * best_matchings(part, lists, oracle=name), n)
            off = float(np.max(np.abs(found - best[:n])))
            seconds = best_of(1 if name in SLOW else 3, lambda: best_matchings(part, lists, oracle=name)) / n  # noqa: B023
            label = f"{name} (a heuristic)" if name == "greedy" else name
            rows.append([kind, label, f"{seconds * 1e6:.2f}", f"{peer / seconds:.2g}", f"{off:.0e}"])
    return markdown(["scores", "oracle", "µs", "scipy / it", "off by"], rows, words=2)


@table("approximate")
def approximate(data: Path = DATA, pairs: int = 1000, passes: int = 12) -> str:
    """What `bcfw` saves by answers within δ and ν: how many steps called the oracle, and what has come of them.

    pairs: of the Hansards, labelled by the default model; a quarter of them are aligned.  passes:
    of steps on exact answers.
    """
    made = labelled_problem(data / "hansards" / "train", pairs, 0.01, 20_000)
    problem = replace(made, possible_cost=0.0).take(np.arange(pairs // 4))
    lists = problem.edges.lists
    norms = np.maximum.reduceat(np.linalg.norm(problem.edges.features, axis=1), lists.offsets[:-1])
    n, rows, diameters = problem.n_blocks, [], 2.0 * lists.shapes.min(axis=1) * norms
    best = solve(problem, make_solver("bcfw-pairwise"), stop=Stop(gap=1e-7, passes=10_000, seconds=30.0)).dual
    solver = make_solver("bcfw", order="uniform")
    solve(problem, solver, stop=Stop(passes=1))  # compiles
    for number, options in enumerate(ANSWERS):
        found, times = [], round(passes / options.get("share", 1.0))
        stop = Stop(gap=0.0, passes=times, audit_growth=float(times))
        for seed in range(3):
            given = Approximate(problem, diameters=diameters, seed=seed, **options) if number else problem
            start = time.process_time()
            point = solve(given, solver, stop=stop, seed=seed).trace[-1]
            spent = (time.process_time() - start) / times
            asked = given.asked / n if number else times
            found.append([asked, best - point.dual, point.gap, 1e3 * spent])
        asked, left, gap, spent = np.mean(found, axis=0)
        how = "in Python" if number else "compiled, exact"
        names = [f"{options.get('error', 0):g}", f"{options.get('share', 1):g}"]
        rows.append([how, *names, str(times), f"{asked:.1f}", f"{left:.1e}", f"{gap:.1e}", f"{spent:.0f}"])
    header = ["steps", "δ", "ν", "passes", "of calls", "dual below the best", "gap", "CPU ms a pass"]
    return f"{markdown(header, rows)}\n\n{n:,} pairs, λ 0.01, means of 3 seeds."
