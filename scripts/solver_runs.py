"""Runs of solvers, as lines of JSON, and the tables of docs/solvers.md that are made of them."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from math import inf, log
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from solver_problems import Array, Field
from tables import markdown

from aligner.errors import SettingError
from aligner.solvers import SOLVERS, Stop, make_solver, solve

VARIANTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("bcfw", {"step": "decreasing"}),
    ("bcfw", {"average": "uniform"}),
    ("bcfw", {"average": "weighted"}),
    ("bcfw", {"average": "suffix"}),
    ("bcfw-gap", {"step": "blended"}),
    ("stochastic-subgradient", {"average": "none"}),
    ("stochastic-subgradient", {"average": "uniform"}),
    ("stochastic-subgradient", {"average": "suffix"}),
    ("extragradient", {"projection": "entropic"}),
)
"""Solvers that run beside all registered ones with their defaults."""

APART = {"kernel-bcfw"}
"""Those whose weights are not those of the other solvers."""

OF_MARGINALS = {"projected-gradient", "extragradient", "exponentiated-gradient", "excessive-gap"}
"""Those whose passes are of projections or expectations: oracle calls, if any, are for something else."""

LONGER = 3
"""Times as long as others their first run may take."""

LONG = "bcfw", "bcfw, average weighted", "bcfw, average suffix"
"""Lines whose first run takes the longest: where others run out of time these go on to the small gaps."""


def label_of(name: str, options: dict[str, str]) -> str:
    return ", ".join([name, *(f"{option} {value}" for option, value in options.items())])


LINES = {label_of(*line): line for line in [*((name, {}) for name in SOLVERS if name not in APART), *VARIANTS]}


@dataclass(frozen=True)
class Limits:
    """passes, seconds: of the first run of a solver.  more: seconds of those with other seeds.

    long: seconds of the first run of LONG.  optimum: of the run that finds the optimum.  memory: whether to measure it.
    """

    passes: int
    seconds: float
    more: float
    long: float
    optimum: float
    memory: bool


@dataclass(frozen=True)
class Run:
    """A run of a solver; `line` is "optimum" for a long one that tells where the optimum is.

    memory: peak bytes of two sweeps.  trace: the audits, a dictionary each.
    """

    problem: str
    about: str
    regularization: float
    n: int
    line: str
    seed: int
    memory: int
    trace: list[dict[str, Any]]

    def column(self, name: str) -> Array:
        """(audits,) of one figure of the trace; `effective` are passes by oracle calls, of those that ask it."""
        if name != "effective":
            return np.array([point[name] for point in self.trace], float)
        calls = self.column("oracle_calls") / self.n
        asks = calls[-1] > 0 and self.line.split(",")[0] not in OF_MARGINALS
        return calls if asks else self.column("passes")


@dataclass(frozen=True)
class Race:
    """All runs on one problem at one λ."""

    runs: tuple[Run, ...]

    @cached_property
    def optimum(self) -> float:
        """The greatest dual value that any run knows."""
        return max(float(run.column("dual").max()) for run in self.runs)

    @cached_property
    def certified(self) -> float:
        """How far the least primal value of all runs is above that."""
        return min(float(run.column("primal").min()) for run in self.runs) - self.optimum

    @cached_property
    def lines(self) -> dict[str, list[Run]]:
        found: dict[str, list[Run]] = {}
        for run in self.runs:
            if run.line != "optimum":
                found.setdefault(run.line, []).append(run)
        return found

    def reached(self, line: str, gap: float, axis: str, kind: str = "relative_gap") -> float:
        """How far along the axis the first run certified this gap; inf if it never did."""
        run = self.lines[line][0]
        below = np.flatnonzero(run.column(kind) <= gap)
        return float(run.column(axis)[below[0]]) if len(below) else inf


Races = dict[tuple[str, float], Race]


def read_races(path: Path) -> Races:
    found: dict[tuple[str, float], list[Run]] = {}
    for line in path.read_text("utf-8").splitlines():
        run = Run(**json.loads(line))
        found.setdefault((run.problem, run.regularization), []).append(run)
    return {key: Race(tuple(runs)) for key, runs in found.items()}


def race(field: Field, regularization: float, seeds: Callable[[str], int], limits: Limits) -> Iterator[Run]:
    """Runs that find the optimum, and those of all lines that know the problem, with so many seeds if they draw."""
    problem = field.at(regularization)
    common = (field.name, field.about, regularization, problem.n_blocks)

    def run(line: str, seed: int, stop: Stop, memory: int = 0) -> tuple[Run, bool]:
        """A run, and whether it drew random numbers."""
        name, options = LINES[line]
        solver, rng = make_solver(name, **options), np.random.default_rng(seed)
        state = solver.init(problem, rng)
        with patch("time.perf_counter", time.process_time):  # of a loaded machine the processor's time is comparable
            trace = solve(problem, solver, stop=stop, seed=seed, start=state, measure=field.error).trace
        drew = rng.bit_generator.state != np.random.default_rng(seed).bit_generator.state
        return Run(*common, line, seed, memory, [asdict(point) for point in trace]), drew

    with suppress(SettingError):  # where corners do not fit into memory, LONG knows the optimum best
        found, _ = run("bcfw-pairwise", 0, Stop(1e-7, 1_000_000, limits.optimum, audit_growth=1.5))
        yield Run(*common, "optimum", found.seed, 0, found.trace[-1:])
    for line in (line for line in LINES if LINES[line][0] not in field.slow):
        for seed in range(seeds(line)):
            first = limits.seconds * field.longer * (LONGER if LINES[line][0] in OF_MARGINALS else 1)
            first = max(first, limits.long) if line in LONG else first
            stop = Stop(1e-4, limits.passes, limits.more * field.longer if seed else first, audit_growth=1.3)
            try:
                found, drew = run(
                    line, seed, stop, peak_memory(field, regularization, line) if limits.memory and not seed else 0
                )
            except SettingError as error:
                print(f"{field.name}: {line} leaves it alone: {error}", flush=True)
                break
            yield found
            if not drew:
                break


def peak_memory(field: Field, regularization: float, line: str) -> int:
    """Bytes that two sweeps of a solver allocate beside the problem, at most."""
    name, options = LINES[line]
    problem, solver = field.at(regularization), make_solver(name, **options)
    tracemalloc.start()
    try:
        solve(problem, solver, stop=Stop(gap=0.0, passes=2))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


GAPS = 0.1, 0.03, 0.01, 0.001, 0.0001
RATES = (
    "extragradient, projection entropic", "exponentiated-gradient", "excessive-gap", "cutting-plane", "frank-wolfe",
    "stochastic-subgradient, average none", "stochastic-subgradient", "bcfw", "bcfw, average weighted", "bcfw-gap",
    "bcfw-pairwise",
)  # fmt: skip
"""Lines of [LJSP13 Table 1], and some of their relatives."""


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


def compared(races: Races) -> str:
    """All lines on each problem at its middle λ: passes and seconds to gaps, the last gap, memory."""
    rows, about = [], []
    for problem in dict.fromkeys(name for name, _ in races):
        own = sorted_races({key: race for key, race in races.items() if key[0] == problem})
        race = own[len(own) // 2]
        for line, runs in race.lines.items():
            cells = []
            for gap in GAPS:
                passes, seconds = (race.reached(line, gap, axis) for axis in ("effective", "seconds"))
                cells.append("–" if passes == inf else f"{passes:.3g} / {seconds:.2g}")
            last, error = (runs[0].column(name)[-1] for name in ("relative_gap", "measured"))
            rows.append([problem, line, *cells, f"{last:.0e}", f"{error:.3f}", f"{runs[0].memory / 2**20:.1f}"])
        first = race.runs[0]
        what = f"{first.about}; λ {first.regularization:g}; optimum certified to {race.certified:.0e}."
        about.append(f"{what[0].upper()}{what[1:]}")
    header = ["problem", "solver", *(f"gap {gap:g}" for gap in GAPS), "last gap", "error", "MiB"]
    return f"{markdown(header, rows, words=2)}\n\n{' '.join(about)}"


def rates(race: Race, gaps: tuple[float, ...] = (0.3, 0.1, 0.03, 0.01)) -> str:
    """Oracle calls, in passes, to a duality gap of ε, and the power of 1/ε."""
    rows = []
    for line in (line for line in RATES if line in race.lines):
        passes = [race.reached(line, gap, "effective", "gap") for gap in gaps]
        known = [(-log(gap), log(place)) for gap, place in zip(gaps, passes, strict=True) if 0 < place < inf]
        slope = f"{np.polyfit(*zip(*known, strict=True), 1)[0]:.2f}" if len(known) > 2 else "–"
        rows.append([f"`{line}`", *("–" if place == inf else f"{place:.3g}" for place in passes), slope])
    first = race.runs[0]
    what = f"{first.about}; λ {first.regularization:g}. Passes of n oracle calls to a certified gap of ε."
    table = markdown(["method", *(f"ε {gap:g}" for gap in gaps), "power of 1/ε"], rows)
    return f"{table}\n\n{what[0].upper()}{what[1:]}"


def of_lambda(run: Run) -> str:
    return "1/n" if run.regularization == 1.0 / run.n else f"{run.regularization:g}"
