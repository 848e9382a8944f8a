"""Time of one best matching, for each oracle, on random problems of the size of sentences.

2000 problems of 5-40 x 5-45 words, in one batch for the compiled oracles; scipy's function is also called bare, one
problem at a time, as the peer. Every exact oracle's total score is checked against it.

    python scripts/bench_oracles.py [--problems 2000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from machine import describe_machine
from scipy.optimize import linear_sum_assignment

from aligner.matching import ORACLES, best_matchings, get_oracle

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
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(describe_machine())
    print(f"{'scores':<16}{'oracle':<26}{'µs a problem':>13}{'scipy / it':>12}{'score off by':>14}")
    for kind, draw in SCORES.items():
        rng = np.random.default_rng(options.seed)
        shapes = np.stack([rng.integers(5, 41, options.problems), rng.integers(5, 46, options.problems)], axis=1)
        offsets = np.concatenate([[0], np.cumsum(shapes.prod(axis=1))])
        scores = draw(rng, int(offsets[-1]))
        blocks = [scores[offsets[i] : offsets[i + 1]].reshape(shape) for i, shape in enumerate(shapes)]
        gains = [np.maximum(block, 0.0) for block in blocks]

        def one_by_one(gains: list[np.ndarray] = gains) -> list[tuple[np.ndarray, np.ndarray]]:
            return [linear_sum_assignment(gain, maximize=True) for gain in gains]

        best = [gain[links].sum() for gain, links in zip(gains, one_by_one(), strict=True)]
        peer = best_of(3, one_by_one) / options.problems
        print(f"{kind:<16}{'scipy, bare calls':<26}{peer * 1e6:>13.2f}{1:>12.2f}{0:>14.0e}")
        for name in ORACLES:
            n = min(options.problems, SLOW.get(name, options.problems))
            part = scores[: offsets[n]]
            mates = best_matchings(part, shapes[:n], oracle=name)
            rows = np.split(mates, np.cumsum(shapes[:n, 0])[:-1])
            found = [
                block[np.flatnonzero(mate >= 0), mate[mate >= 0]].sum()
                for block, mate in zip(blocks[:n], rows, strict=True)
            ]
            off = float(np.max(np.abs(np.array(found) - best[:n])))
            seconds = best_of(1 if name in SLOW else 3, lambda: best_matchings(part, shapes[:n], oracle=name)) / n  # noqa: B023
            label = name if get_oracle(name).exact else f"{name} (approximate)"
            print(f"{kind:<16}{label:<26}{seconds * 1e6:>13.2f}{peer / seconds:>12.2f}{off:>14.0e}")


if __name__ == "__main__":
    main()
