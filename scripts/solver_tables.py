"""The tables of docs/solvers.md that are made of runs of `bench_solvers.py`."""

from __future__ import annotations

from math import inf, log

import numpy as np
from solver_figures import SSG, of_lambda
from solver_runs import Race, Races
from tables import markdown

GAPS = (0.1, 0.03, 0.01, 0.001, 0.0001)


def sorted_races(races: Races) -> list[Race]:
    """By problem, in the order of the runs, and from the largest λ down."""
    names = list(dict.fromkeys(name for name, _ in races))
    return [races[key] for key in sorted(races, key=lambda key: (names.index(key[0]), -key[1]))]


def advice(races: Races) -> str:
    """For each problem, λ and gap the quickest line, by seconds and by passes; and the smallest gap of all."""
    rows = []
    for race in sorted_races(races):
        first = race.runs[0]
        cells = []
        for gap in GAPS:
            found = []
            for axis, unit in (("seconds", " s"), ("effective", " passes")):
                place, line = min((race.reached(line, gap, axis), line) for line in race.lines)
                found.append("–" if place == inf else f"`{line}` {place:.2g}{unit}")
            same = found[0].split("`")[:2] == found[1].split("`")[:2] and found[0] != "–"
            cells.append(f"{found[0]}, {found[1].split('` ')[1]}" if same else "<br>".join(dict.fromkeys(found)))
        least, line = min((runs[0].column("relative_gap").min(), line) for line, runs in race.lines.items())
        rows.append([first.problem, of_lambda(first), *cells, f"{least:.1e} `{line}`"])
    header = ["problem", "λ", *(f"gap {gap:g}" for gap in GAPS), "smallest gap in the time"]
    return markdown(header, rows, words=len(header))


def compared(races: Races, problem: str) -> str:
    """All lines on one problem at the middle λ: passes and seconds to gaps, the last gap, memory."""
    own = sorted_races({key: race for key, race in races.items() if key[0] == problem})
    race = own[len(own) // 2]
    rows = []
    for line, runs in race.lines.items():
        cells = []
        for gap in GAPS:
            passes, seconds = (race.reached(line, gap, axis) for axis in ("effective", "seconds"))
            cells.append("–" if passes == inf else f"{passes:.3g} / {seconds:.2g}")
        last, error = (runs[0].column(name)[-1] for name in ("relative_gap", "measured"))
        rows.append([line, *cells, f"{last:.0e}", f"{error:.3f}", f"{runs[0].memory / 2**20:.1f}"])
    header = [problem, *(f"gap {gap:g}" for gap in GAPS), "last gap", "error", "MiB"]
    first = race.runs[0]
    what = f"{first.about}; λ {first.regularization:g}; optimum certified to {race.certified:.0e}."
    return f"{markdown(header, rows)}\n\n{what[0].upper()}{what[1:]}"


def bounds(race: Race) -> dict[str, tuple[str, str, str, str, float, float]]:
    """Line -> name in [LJSP13 Table 1], oracle, guarantee, rate, calls for ε = 1 without constants, power of 1/ε."""
    n, R, answers, value = race.runs[0].n, race.runs[0].radius, race.runs[0].log_answers, race.runs[0].regularization
    square = R**2 / value
    batch = ("maximisation", "duality gap", "n R² / (λε)", n * square, 1.0)
    of_one = ("maximisation", "duality gap, mean", "R² / (λε)", square, 1.0)
    return {
        "extragradient, projection entropic": (
            "dual extragradient",
            "Bregman projection",
            "saddle point gap",
            "n R log\\|Y\\| / (λε)",
            n * R * answers / value,
            1.0,
        ),
        "exponentiated-gradient": (
            "online exponentiated gradient",
            "expectation",
            "dual error, mean",
            "(n + log\\|Y\\|) R² / (λε)",
            (n + answers) * square,
            1.0,
        ),
        "excessive-gap": (
            "excessive gap reduction",
            "expectation",
            "duality gap",
            "n R √(log\\|Y\\| / (λε))",
            n * R * (answers / value) ** 0.5,
            0.5,
        ),
        "cutting-plane": ("BMRM, 1-slack SVM-struct", *batch),
        "frank-wolfe": ("–", *batch),
        f"{SSG}, average none": (
            "stochastic subgradient",
            "maximisation",
            "primal error, likely",
            "Õ(R² / (λε))",
            square,
            1.0,
        ),
        SSG: ("–", "maximisation", "primal error, mean", "R² / (λε)", square, 1.0),
        "bcfw": ("this paper", *of_one),
        "bcfw, average weighted": ("this paper", *of_one),
        "bcfw-gap": ("–", *of_one),
        "bcfw-pairwise": ("–", "maximisation", "duality gap, mean", "log(1/ε)", inf, 0.0),
    }


def rates(race: Race, gaps: tuple[float, ...] = (0.3, 0.1, 0.03, 0.01)) -> str:
    """Oracle calls, in passes, to a duality gap of ε: measured, and what theory says without its constants."""
    rows = []
    for line, (paper, oracle, kind, rate, calls, power) in bounds(race).items():
        if line not in race.lines:
            continue
        passes = [race.reached(line, gap, "effective", "gap") for gap in gaps]
        known = [(-log(gap), log(place)) for gap, place in zip(gaps, passes, strict=True) if 0 < place < inf]
        slope = f"{np.polyfit(*zip(*known, strict=True), 1)[0]:.2f}" if len(known) > 2 else "–"
        theory = "–" if calls == inf else f"{calls / gaps[-1] ** power / race.runs[0].n:.0f}"
        cells = ["–" if place == inf else f"{place:.3g}" for place in passes]
        rows.append(
            [f"`{line}`", paper, oracle, kind, rate, theory, *cells, slope, f"{power:g}" if power else "0, of log"]
        )
    header = [
        "method", "in the paper", "oracle", "guaranteed", "calls, theory", f"in passes, ε {gaps[-1]:g}",
        *(f"ε {gap:g}" for gap in gaps), "power of 1/ε", "of theory",
    ]  # fmt: skip
    first = race.runs[0]
    what = (
        f"{first.about}; λ {first.regularization:g}; R ≤ {first.radius:.3g}, log\\|Y\\| ≤ {first.log_answers:.3g}. "
        "Passes of n oracle calls to a certified gap of ε."
    )
    return f"{markdown(header, rows, words=5)}\n\n{what[0].upper()}{what[1:]}"
