"""The figures of docs/solvers.md, drawn from runs of solvers: panels as in [LJSP13 Fig. 1-5]."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from solver_runs import Array, Race, Races, Run, of_lambda
from tables import pyplot

SSG = "stochastic-subgradient"
PAPER = (
    "frank-wolfe", "cutting-plane", f"{SSG}, average none", SSG, "bcfw", "bcfw, average weighted",
    "exponentiated-gradient", "excessive-gap",
)  # fmt: skip
"""Of [LJSP13 Fig. 1]; the stochastic subgradient method has the weighted average by default."""
STEPS = ("frank-wolfe", "subgradient", f"{SSG}, average none", "bcfw", "bcfw, step decreasing")
AVERAGES = tuple(
    f"{name}, average {average}" if average != default else name
    for name, default in ((SSG, "weighted"), ("bcfw", "none"))
    for average in ("none", "uniform", "weighted", "suffix")
)
RELATIVES = (
    "bcfw", "bcfw-gap", "bcfw-away", "bcfw-pairwise", "bcfw-gap, step blended", "randomized-away", "cutting-plane",
    "projected-gradient",
)  # fmt: skip

DASHES = {
    "average none": ":", "average uniform": (0, (1, 3)), "average suffix": "-.", "step decreasing": "--",
    "step blended": "--", "restarts": "--", "entropic": ":",
}  # fmt: skip


@dataclass(frozen=True)
class Panel:
    """problem, regularization: whose runs; which λ, 2 is 1/n.  value: "above" the optimum, or a column of the trace."""

    problem: str
    which: int
    lines: tuple[str, ...]
    value: str = "above"
    axis: str = "effective"


FIGURES: dict[str, list[list[Panel]]] = {
    "paper": [
        [Panel("letters", which, PAPER) for which in range(3)],
        [Panel("chunks", 2, PAPER), Panel("chunks", 2, PAPER, "measured"), Panel("matchings", 1, PAPER)],
    ],
    "steps": [[Panel("letters", which, STEPS) for which in range(3)]],
    "averages": [[Panel(problem, which, AVERAGES) for which in range(3)] for problem in ("letters", "chunks")],
    "matchings": [
        [Panel("matchings", 0, PAPER), Panel("matchings", 2, PAPER), Panel("matchings", 2, PAPER, "measured")],
        [Panel("matchings", which, RELATIVES, "relative_gap", "seconds") for which in range(3)],
    ],
}
SOLVERS = [*dict.fromkeys(line.partition(", ")[0] for line in (*PAPER, *STEPS, *RELATIVES)), "extragradient"]
"""Each has a colour, by its place."""
VALUES = {
    "above": "primal suboptimality", "measured": "error on held-out data", "relative_gap": "certified gap, relative",
}  # fmt: skip
AXES = {"effective": "effective passes", "seconds": "seconds of solving"}


def style(line: str) -> dict[str, Any]:
    name, _, option = line.partition(", ")
    dash = "--" if line in ("bcfw, average weighted", SSG) else DASHES.get(option, "-")
    return {"color": f"C{SOLVERS.index(name)}", "linestyle": dash, "linewidth": 1.6}


def track(run: Run, panel: Panel, optimum: float) -> tuple[Array, Array]:
    """The axis and the value at audits, but for the first, which is at 0."""
    x = run.column(panel.axis)
    y = run.column("primal") - optimum if panel.value == "above" else run.column(panel.value)
    return x[x > 0], np.maximum(y[x > 0], 1e-12)


def band(tracks: Sequence[tuple[Array, Array]]) -> tuple[Array, Array, Array]:
    """(points,) of the axis, the least and the greatest values of the tracks there, straight lines between audits."""
    first, last = (choose(x[end] for x, _ in tracks) for choose, end in ((max, 0), (min, -1)))
    grid = np.geomspace(first, max(first, last), 80)
    values = [np.interp(np.log(grid), np.log(x), y) for x, y in tracks]
    return grid, np.min(values, axis=0), np.max(values, axis=0)


def draw(name: str, races: Races, path: Path) -> None:
    """One figure of FIGURES, those lines of it that were run."""
    plt = pyplot()
    plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
    rows = FIGURES[name]
    shape = len(rows), len(rows[0])
    figure, axes = plt.subplots(*shape, figsize=(11, 3.1 * shape[0] + 0.5), layout="constrained", squeeze=False)
    shown: dict[tuple[str, ...], dict[str, Any]] = {}
    for number, (panel, place) in enumerate(zip(chain(*rows), axes.flat, strict=True)):
        found = sorted(key for key in races if key[0] == panel.problem)[::-1]
        if not found:
            place.set_visible(False)
            continue
        race = races[found[min(panel.which, len(found) - 1)]]
        for line in panel.lines:
            if line not in race.lines:
                continue
            tracks = [track(run, panel, race.optimum) for run in race.lines[line]]
            (drawn,) = place.plot(*tracks[0], **style(line))
            place.fill_between(*band(tracks), color=drawn.get_color(), alpha=0.2, linewidth=0)
            shown.setdefault(panel.lines, {})[line if line != SSG else f"{SSG}, average weighted"] = drawn
        decorate(place, panel, race, f"({'abcdef'[number]}) {panel.problem}, λ = {of_lambda(race.runs[0])}")
    for lines, handles in shown.items():
        inside = "outside upper center" if lines == rows[0][0].lines else "outside lower center"
        figure.legend(handles.values(), handles.keys(), loc=inside, ncols=4, frameon=False, fontsize=9)
    figure.savefig(path, dpi=90)
    plt.close(figure)
    print(f"figure written to {path}", flush=True)


def decorate(place: Any, panel: Panel, race: Race, title: str) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    place.set(xscale="log", yscale="log", xlabel=AXES[panel.axis], ylabel=VALUES[panel.value])
    place.set_title(title, loc="left", fontsize=9, fontweight="bold")
    place.xaxis.set_minor_formatter(NullFormatter())
    if panel.value == "above":
        low, high = place.get_ylim()
        place.set_ylim(max(low, 0.5 * race.certified, 1e-7), min(high, 50.0))
        place.axhspan(1e-12, max(race.certified, 1e-12), color="black", alpha=0.06, linewidth=0)
    elif panel.value == "measured":
        place.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        place.yaxis.set_major_formatter("{x:g}")
        place.yaxis.set_minor_formatter(NullFormatter())
