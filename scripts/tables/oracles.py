"""The time of a best matching."""

import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from aligner.matching import ORACLES, best_matchings
from corpora.ragged import Lists
from tables import markdown, table

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
