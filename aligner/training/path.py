"""The regularisation path: a solution for each λ, with warm starts, and the choice of λ by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from aligner.errors import OracleError, SettingError
from aligner.model.calibration import JudgedLinks
from aligner.model.decoding import decode_edges, links_of
from aligner.report.evaluation import PairCounts, bootstrap, count, scores
from aligner.solvers import Result, Solver, Status, Stop, TracePoint, solve
from aligner.svm.hinge import MatchingProblem
from aligner.svm.logistic import LogisticProblem
from aligner.training.scorers import scorer_of
from corpora.alignment import Links
from features.table import DEFAULT_MEMORY

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

LabelledProblem = MatchingProblem | LogisticProblem
Setting = tuple[float, float]
"""λ and the miss cost c⁺."""

_RESAMPLES = 1000
"""Bootstrap resamples of a standard error."""


@runtime_checkable
class Resumable(Protocol):
    """A solver that can go on in a problem that differs in λ only."""

    def resume(self, problem: Any, state: Any) -> None:
        """Make the state one of this problem, in place, at the same dual point."""
        ...


@dataclass(frozen=True)
class Place:
    """Where on a path an audit is.

    regularization: λ.  fold: the one held out, from 1 on; None: all pairs are used.
    miss_cost: c⁺, where there are several.
    """

    regularization: float
    fold: int | None = None
    miss_cost: float | None = None

    def __str__(self) -> str:
        cost = "" if self.miss_cost is None else f", c⁺ {self.miss_cost:.4g}"
        return f"λ {self.regularization:.4g}{cost}" + ("" if self.fold is None else f" without fold {self.fold}")


@dataclass(frozen=True)
class PathRow:
    """One λ of a path, with one miss cost c⁺.

    norm: ‖w‖, in the space of the kernel if there is one.  passes, seconds, relative_gap: of the solution on all
    pairs.  fold_passes, fold_seconds: of the finished folds together.  fold_gap: the largest relative gap of a fold.
    aer: cross-validated, a fraction: that of all held-out pairs together, each with what was learnt without its fold.
    standard_error: of the AER, over the choice of pairs, by bootstrap.
    Gap, AER and its error are None where no fold was finished.
    """

    regularization: float
    miss_cost: float
    norm: float
    passes: float
    seconds: float
    relative_gap: float
    fold_passes: float = 0.0
    fold_seconds: float = 0.0
    fold_gap: float | None = None
    aer: float | None = None
    standard_error: float | None = None


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """Solutions on all pairs, for each miss cost from the largest λ down, and which of them is chosen.

    folds: how many were asked for.  finished_folds: those that the AER is of.  held_out: the links found, at the
    chosen λ, in the pairs of these folds, each with what was learnt without its fold; None where there are no folds.
    interrupted: by Ctrl-C; there may be fewer solutions or finished folds than asked for.
    """

    rows: tuple[PathRow, ...]
    results: tuple[Result, ...]
    chosen: int
    folds: int
    finished_folds: int
    interrupted: bool
    held_out: JudgedLinks | None = None


def geometric_path(largest: float, smallest: float, values: int) -> tuple[float, ...]:
    """So many λ from the largest to the smallest, each the same fraction of the one before.

    >>> [f"{regularization:g}" for regularization in geometric_path(1, 0.01, 3)]
    ['1', '0.1', '0.01']

    Raises SettingError unless ∞ > largest > smallest > 0 and there are at least 2 values.
    """
    if not (np.isfinite(largest) and largest > smallest > 0 and values >= 2):
        what = f"a path from λ {largest:g} down to {smallest:g} in {values} values is not possible"
        raise SettingError(f"{what} (give LARGEST:SMALLEST:N, LARGEST above SMALLEST above 0, N at least 2)")
    return tuple(np.geomspace(largest, smallest, values).tolist())


def check_folds(folds: int, pairs: int) -> None:
    """Raise SettingError unless so many pairs can be cut into so many folds, or none."""
    if folds and not 2 <= folds <= pairs:
        raise SettingError(f"{pairs} labelled pairs cannot be held out in {folds} folds (give from 2 to {pairs})")


def follow_path(
    problem: LabelledProblem,
    links: Links,
    solver: Solver[Any, Any],
    regularizations: Sequence[float],
    *,
    miss_costs: Sequence[float] = (),
    folds: int = 0,
    stop: Stop = Stop(),  # noqa: B008 - frozen
    seed: int = 0,
    memory: int = DEFAULT_MEMORY,
    callback: Callable[[TracePoint, Place], bool | None] | None = None,
    on_solution: Callable[[int], None] | None = None,
) -> RegularizationPath:
    """Solve for each λ and miss cost; choose those of lowest cross-validated AER, of equal ones the first, largest λ.

    links: gold of the pairs, sure and possible, as it is evaluated.  regularizations: descending.
    miss_costs: c⁺ to choose from, by default that of the problem.
    folds: parts of the pairs, drawn by the seed, each held out once; without them the last λ of the first cost is
    chosen.
    stop: for each solution.  memory: bytes of features to hold; a fold's copy that goes beyond is on disk.
    callback: called at each audit; if it returns False all ends as by Ctrl-C.  on_solution: with the number of
    solutions done, of len(regularizations) · len(miss_costs) · (1 + folds).

    Each solution starts at the dual point of the one before, with a solver that is `Resumable`, otherwise at 0; its
    gap is a certificate either way. The solutions on all pairs come first, so that Ctrl-C leaves a model at any later
    time: of the λ that the finished folds choose, otherwise of the best audit. Memory: the features of one fold and
    its remainder are copied at a time, so as much as the features take.

    Raises SettingError for settings that cannot work and weights that are not finite, OracleError for an oracle that
    is wrong, and KeyboardInterrupt if there is no audit yet.
    """
    n = len(links)
    check_folds(folds, n)
    if not regularizations or any(later >= earlier for earlier, later in pairwise(regularizations)):
        raise SettingError("a path needs at least one λ, descending")
    settings = [(λ, cost) for cost in miss_costs or (problem.miss_cost,) for λ in regularizations]
    done = 0

    def solutions(part: LabelledProblem, fold: int | None) -> Iterator[Result]:
        nonlocal done
        for result in _solutions(part, solver, settings, stop, seed, fold, callback):
            yield result
            done += 1
            if on_solution is not None:
                on_solution(done)

    results: list[Result] = []
    finished: list[_Fold] = []
    interrupted = False
    try:
        for result in solutions(problem, None):
            results.append(result)
        if folds:
            parts = np.array_split(np.random.default_rng(seed).permutation(n), folds)
            for number, part in enumerate(parts, 1):
                finished.append(_hold_out(problem, links, solver, np.sort(part), number, memory, solutions))
    except _Stopped:
        pass
    except KeyboardInterrupt:
        interrupted = True
    if not results:
        raise KeyboardInterrupt
    norms = [scorer_of(solver, problem.edges, result.w).norm for result in results]
    rows = _rows(settings, results, norms, finished, seed)
    errors = [row.aer for row in rows if row.aer is not None]
    # Of equal ones the first is taken.
    chosen = int(np.argmin(errors)) if errors else min(len(rows), len(regularizations)) - 1
    held_out = JudgedLinks.joined(fold.judged[chosen] for fold in finished) if finished else None
    return RegularizationPath(rows, tuple(results), chosen, folds, len(finished), interrupted, held_out)


class _Stopped(Exception):
    """The callback asked for the end."""


@dataclass(frozen=True, eq=False)
class _Fold:
    """What held-out pairs tell of each of L values of λ.  counts: (L, m, 5) of `PairCounts`.  ends: last audits."""

    counts: I64
    judged: list[JudgedLinks]
    ends: list[TracePoint]


def _solutions(
    problem: LabelledProblem,
    solver: Solver[Any, Any],
    settings: Sequence[Setting],
    stop: Stop,
    seed: int,
    fold: int | None,
    callback: Callable[[TracePoint, Place], bool | None] | None,
) -> Iterator[Result]:
    """The solution for each λ and miss cost.  After one that was ended early, KeyboardInterrupt or _Stopped."""
    state, last_cost = None, settings[0][1]
    several = any(cost != last_cost for _, cost in settings)
    for regularization, cost in settings:
        current = replace(problem, regularization=regularization, miss_cost=cost)
        if state is not None and cost == last_cost and isinstance(solver, Resumable):
            solver.resume(current, state)
        else:
            state = solver.init(current, np.random.default_rng(seed))
        last_cost = cost
        place = Place(regularization, fold, cost if several else None)

        def audited(point: TracePoint, _: F64, place: Place = place) -> bool | None:
            return callback(point, place) if callback is not None else None

        result = solve(current, solver, stop=stop, seed=seed, callback=audited, state=state)
        if result.status is Status.NOT_FINITE:
            raise SettingError(f"{place}: the weights grew without bound (raise the regularization)")
        if result.status is Status.NEGATIVE_GAP:
            raise OracleError(f"{place}: {result.status.value} (please report this)")
        if result.trace:
            yield result
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if result.status is Status.CALLBACK:
            raise _Stopped


def _hold_out(
    problem: LabelledProblem,
    links: Links,
    solver: Solver[Any, Any],
    held_out: I64,
    number: int,
    memory: int,
    solutions: Callable[[LabelledProblem, int | None], Iterator[Result]],
) -> _Fold:
    """Solve on all other pairs and judge the solutions on these, (m,) ascending."""
    size = problem.edges.features.nbytes
    room = size if 2 * size <= memory else 0  # features that are too large themselves are on disk
    rest = problem.take(np.setdiff1d(np.arange(len(links)), held_out), memory=room)
    part = problem.take(held_out, memory=room)
    gold = links.take(held_out)
    counts, judged, ends = [], [], []
    for result in solutions(rest, number):
        scorer = scorer_of(solver, rest.edges, result.w)
        found = decode_edges(part.edges, scorer, rest.link_rewards(result.w))
        counts.append(count(gold, links_of(found)).table)
        judged.append(JudgedLinks.of(found, gold))
        ends.append(result.trace[-1])
    return _Fold(np.array(counts), judged, ends)


def _rows(
    settings: Sequence[Setting],
    results: Sequence[Result],
    norms: Sequence[float],
    folds: Sequence[_Fold],
    seed: int,
) -> tuple[PathRow, ...]:
    rows = []
    for (regularization, cost), result, norm in zip(settings, results, norms, strict=False):  # the last may be missing
        end = result.trace[-1]
        rows.append(PathRow(regularization, cost, norm, end.passes, end.seconds, end.relative_gap))
    if not folds:
        return tuple(rows)
    systems = [PairCounts(table) for table in np.concatenate([fold.counts for fold in folds], axis=1)]
    resampled = bootstrap(systems, _RESAMPLES, seed).aer
    return tuple(
        replace(
            row,
            fold_passes=sum(fold.ends[index].passes for fold in folds),
            fold_seconds=sum(fold.ends[index].seconds for fold in folds),
            fold_gap=max(fold.ends[index].relative_gap for fold in folds),
            aer=float(scores(system.total()).aer),
            standard_error=float(resampled[index].std(ddof=1)),
        )
        for index, (row, system) in enumerate(zip(rows, systems, strict=True))
    )
