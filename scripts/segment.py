"""The picture of docs/own-problem.md: noisy pictures that an associative network segments, by minimum cuts.

    python scripts/segment.py --write

Pictures are drawn here: blobs of two kinds, seen with noise. A quarter of a minute.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from tables import ROOT, markdown, parser_of, publish

Array = np.ndarray[Any, Any]

SIZE, NOISE, TRAIN, TEST = 48, 1.0, 4, 8


def blobs(rng: np.random.Generator) -> Array:
    """A picture of 0 and 1: some discs and bars."""
    y, x = np.mgrid[:SIZE, :SIZE]
    found = np.zeros((SIZE, SIZE), bool)
    for a, b, r in zip(*rng.integers(6, SIZE - 6, (2, 4)), rng.integers(4, 11, 4), strict=True):
        found |= (x - a) ** 2 + (y - b) ** 2 < r * r
    bar = rng.integers(4, SIZE - 8)
    found[bar : bar + 4] ^= True
    return found.astype(int)


def grid() -> Array:
    """The pairs of neighbouring pixels of a picture, (M, 2)."""
    number = np.arange(SIZE * SIZE).reshape(SIZE, SIZE)
    sides = (number[:, :-1], number[:, 1:]), (number[:-1], number[1:])
    return np.concatenate([np.column_stack([one.ravel(), other.ravel()]) for one, other in sides])


def network(pictures: list[Array], seen: list[Array], joined: Array) -> Any:
    """Brightness and a bias of each pixel; of two that are joined how alike they are, and 1."""
    from aligner.solvers import CutProblem

    ends = np.concatenate([joined + i * SIZE * SIZE for i in range(len(pictures))])
    bright = np.concatenate([picture.ravel() for picture in seen])
    nodes = np.column_stack([bright, np.ones(len(bright))])
    edges = np.column_stack([np.ones(len(ends)), np.exp(-np.abs(np.diff(bright[ends])[:, 0]))])
    labels = np.concatenate([picture.ravel() for picture in pictures])
    return CutProblem.of(nodes, labels, [SIZE * SIZE] * len(pictures), ends, edges, regularization=1e-4)


def main() -> None:
    options = parser_of(__doc__).parse_args()

    from aligner.solvers import solve

    rng = np.random.default_rng(0)
    pictures = [blobs(rng) for _ in range(TRAIN + TEST)]
    seen = [picture - 0.5 + NOISE * rng.standard_normal(picture.shape) for picture in pictures]
    learnt = []
    for joined in grid()[:0], grid():
        train, test = (network(pictures[part], seen[part], joined) for part in (slice(TRAIN), slice(TRAIN, None)))
        result = solve(train, "cutting-plane", gap=1e-3)
        print(result)
        learnt.append(test.error(result.w))
    errors = {
        "brightness above the middle": float(np.mean((test.arrays.nodes[:, 0] > 0) != test.arrays.labels)),
        "pixels alone, learnt without edges": learnt[0],
        "minimum cut": learnt[1],
    }
    rows = [[name, f"{100 * error:.1f}"] for name, error in errors.items()]
    publish(
        "segment", markdown(["decided by", "wrong pixels, %"], rows), pages=["docs/own-problem.md"], write=options.write
    )
    if options.write:
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt

        found = test.predict(result.w).reshape(-1, SIZE, SIZE)
        shown = pictures[TRAIN], seen[TRAIN], seen[TRAIN] > 0, found[0]
        figure, axes = plt.subplots(1, 4, figsize=(9, 2.5), layout="constrained")
        for place, picture, title in zip(axes, shown, ("labels", "seen", "brightness", "minimum cut"), strict=True):
            place.imshow(picture, cmap="gray")
            place.set(xticks=[], yticks=[])
            place.set_title(title, fontsize=9)
        figure.savefig(ROOT / "docs" / "images" / "segmented.png", dpi=90)


if __name__ == "__main__":
    main()
