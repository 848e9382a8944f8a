"""Draw the pictures of docs/ that show results: each from a file of docs/results/, with one colour for a system.

    python scripts/pictures.py

Needs `pip install '.[plot]'`.
"""

import argparse
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from tables import IMAGES, pyplot, results

STYLES: dict[str, tuple[str, str]] = {
    "no labels": ("C0", "-"), "--unsupervised": ("C0", ":"), "50 labels": ("C0", "--"), "train": ("C4", "-"),
    "align -m": ("C4", "--"), "eflomal": ("C1", "-"), "fast_align": ("C3", "-"),
}  # fmt: skip
"""Colour and dashes of a system in all pictures."""
SAME = {
    "default": "no labels",
    "align": "no labels",
    "align --unsupervised": "--unsupervised",
    "align SRC TGT": "no labels",
}
"""Names of systems in tables, and in STYLES."""

PICTURES: dict[str, Callable[[Any], Any]] = {}


def picture(draw: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PICTURES[draw.__name__.replace("_", "-")] = draw
    return draw


def number(cell: str) -> float:
    """The first number of a cell."""
    found = re.match(r"[\d,.]+", cell)
    assert found, cell
    return float(found[0].replace(",", ""))


def line(place: Any, name: str, points: list[tuple[float, float]]) -> None:
    colour, dashes = STYLES[SAME.get(name, name)]
    place.plot(*zip(*points, strict=True), dashes, color=colour, marker=".", label=name)


@picture
def growth(plt: Any) -> Any:
    """CPU seconds and memory by the pairs of text."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    rows = results("growth")
    for name in [*rows[0]][1:]:
        found = [(number(row["pairs"]), *map(number, row[name].split(" ms, "))) for row in rows if row[name]]
        line(axes[0], name, [(pairs, pairs * ms / 1000) for pairs, ms, _ in found])
        line(axes[1], name, [(pairs, peak) for pairs, _, peak in found])
    for place, label in zip(axes, ("CPU seconds", "GiB at the peak"), strict=True):
        place.set(xscale="log", yscale="log", xlabel="pairs", ylabel=label)
    return figure


@picture
def cost(plt: Any) -> Any:
    """AER against CPU seconds, a point for each size of text."""
    figure, place = plt.subplots(figsize=(6, 3.6), layout="constrained")
    rows = results("commands")
    for process in dict.fromkeys(row["process"] for row in rows):
        name = process.removeprefix("aligner ")
        if SAME.get(name, name) in STYLES and name != "align -m":
            own = [row for row in rows if row["process"] == process]
            line(place, name, [(number(row["CPU s"]), number(row["AER of gold-dev"])) for row in own])
    sizes = " and ".join(dict.fromkeys(row["pairs"] for row in rows))
    place.set(xscale="log", xlabel=f"CPU seconds, of {sizes} pairs", ylabel="AER of gold-dev, %", ylim=(0, None))
    return figure


@picture
def learning_curve(plt: Any) -> Any:
    """AER by pairs, a panel for each language."""
    rows = results("learning-curve")
    languages = dict.fromkeys(row["language"] for row in rows)
    figure, axes = plt.subplots(2, (len(languages) + 1) // 2, figsize=(11, 5), layout="constrained", sharey=True)
    for place, language in zip(axes.flat, languages, strict=False):
        for name in ("no labels", "50 labels", "eflomal", "fast_align"):
            own = [row for row in rows if row["language"] == language and row[name]]
            line(place, name, [(number(row["pairs"]), number(row[name])) for row in own])
        place.set(xscale="log", xlabel="pairs", ylim=(0, 90))
        place.set_xticks(ticks := [50, 300, 3000], [f"{tick:,}" for tick in ticks])
        place.minorticks_off()
        place.set_title(language, loc="left", fontsize=9)
    for place in axes[:, 0]:
        place.set_ylabel("AER, %")
    return figure


@picture
def languages(plt: Any) -> Any:
    """AER of each gold set, in ascending order of eflomal's."""
    rows = sorted((row for row in results("languages") if row["sentences"]), key=lambda row: number(row["eflomal"]))
    figure, place = plt.subplots(figsize=(7, 5.5), layout="constrained")
    for name in ("default", "--unsupervised", "eflomal"):
        colour, dashes = STYLES[SAME.get(name, name)]
        points = [number(row[name]) for row in rows]
        place.plot(
            points, range(len(rows)), "o", color=colour, fillstyle="none" if dashes == ":" else "full", label=name
        )
    ends = ([number(row[name]) for row in rows] for name in ("default", "eflomal"))
    place.hlines(range(len(rows)), *ends, color="0.8", zorder=0)
    place.set_yticks(range(len(rows)), [row["gold set"] for row in rows])
    place.set(xlabel="AER, %", xlim=(0, None))
    return figure


@picture
def calibration(plt: Any) -> Any:
    """How many links are right, by the probability that they have."""
    figure, place = plt.subplots(figsize=(5.5, 4), layout="constrained")
    points = defaultdict(list)
    for row in results("calibration"):
        points[row["gold set"]].append((number(row["mean probability"]), number(row["right"])))
    place.plot([45, 100], [45, 100], color="0.6", linewidth=0.8)
    for name, found in points.items():
        place.plot(*zip(*found, strict=True), "o", color="C0", markersize=4)
        farthest = max(found, key=lambda pair: abs(pair[0] - pair[1]))
        if abs(farthest[0] - farthest[1]) > 6:
            place.annotate(name, farthest, (6, -3), textcoords="offset points")
    place.set(xlabel="mean probability of the links, %", ylabel="links that are right, %")
    return figure


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    plt = pyplot()
    for name, draw in PICTURES.items():
        figure = draw(plt)
        lines, names = figure.axes[0].get_legend_handles_labels()
        if names:
            figure.legend(lines, names, loc="outside upper center", ncols=5, frameon=False)
        figure.savefig(IMAGES / f"{name}.png", dpi=90)
        plt.close(figure)


if __name__ == "__main__":
    main()
