"""The regularisation path: a solution for each λ, with warm starts, and the choice by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from aligner.errors import OracleError, SettingError
from aligner.model.calibration import JudgedLinks
from aligner.model.decoding import decode_edges, links_of
from aligner.progress import ignore
from aligner.report.evaluation import PairCounts, bootstrap, count, scores
from aligner.solvers import Result, Status, Stop, TracePoint, solve
from aligner.training.scorers import scorer_of
from aligner.training.settings import LabelledProblem, Plan
from corpora.alignment import Links
from features.table import DEFAULT_MEMORY

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

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
    """

    regularization: float
    fold: int | None = None

    def __str__(self) -> str:
        return f"λ {self.regularization:.4g}" + ("" if self.fold is None else f" without fold {self.fold}")


@dataclass(frozen=True)
class PathRow:
    """One λ of a path.

    norm: ‖w‖, in the space of the kernel if there is one.  passes, seconds, relative_gap: of the solution on all
    pairs.  fold_passes, fold_seconds: of the finished folds together.  fold_gap: the largest relative gap of a fold.
    aer: cross-validated, a fraction: that of all held-out pairs together, each with what was learnt without its fold.
    standard_error: of the AER, over the choice of pairs, by bootstrap.
    Gap, AER and its error are None where no fold was finished.
    """

    regularization: float
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
    """Solutions on all pairs, from the largest λ down, and which of them is chosen.

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


def follow_path(
    problem: LabelledProblem,
    links: Links,
    plan: Plan,
    *,
    stop: Stop = Stop(),  # noqa: B008 - frozen
    seed: int = 0,
    memory: int = DEFAULT_MEMORY,
    callback: Callable[[TracePoint, Place], bool | None] = ignore,
    on_solution: Callable[[int], None] = ignore,
) -> RegularizationPath:
    """Solve for each λ of a plan; choose the one of lowest cross-validated AER, of equal ones the largest.

    Without folds the last λ is chosen.

    links: gold of the pairs, sure and possible, as it is evaluated.  stop: for each solution.
    seed: of the solver, and of the folds, which are parts of the pairs, each held out once.
    memory: bytes of features to hold; a fold's copy that goes beyond is on disk.
    callback: called at each audit; if it returns False all ends as by Ctrl-C.  on_solution: with the number of
    solutions done, of plan.solutions.

    Each solution starts at the dual point of the one before, with a solver that is `Resumable`, otherwise at 0; its
    gap is a certificate either way. The solutions on all pairs come first, so that Ctrl-C leaves a model at any later
    time: of the λ that the finished folds choose, otherwise of the best audit. Memory: the features of one fold and
    its remainder are copied at a time, so as much as the features take.

    Raises SettingError for weights that are not finite, OracleError for an oracle that is wrong, and KeyboardInterrupt
    if there is no audit yet.
    """
    search = _Search(problem, links, plan, stop, seed, memory, callback, on_solution)
    interrupted = False
    try:
        search.solve()
    except _Stopped:
        pass
    except KeyboardInterrupt:
        interrupted = True
    results, folds = search.results, search.folds
    if not results:
        raise KeyboardInterrupt
    errors = search.errors() if folds else []
    chosen = int(np.argmin(errors)) if errors else len(results) - 1  # of equal ones argmin takes the first
    held_out = JudgedLinks.joined(fold.judged[chosen] for fold in folds) if folds else None
    return RegularizationPath(search.rows(), tuple(results), chosen, plan.folds, len(folds), interrupted, held_out)


class _Stopped(Exception):
    """The callback asked for the end."""


@dataclass(frozen=True, eq=False)
class _Fold:
    """What held-out pairs tell of each of L values of λ.  counts: (L, m, 5) of `PairCounts`.  ends: last audits."""

    counts: I64
    judged: list[JudgedLinks]
    ends: list[TracePoint]


@dataclass(eq=False)
class _Search:
    """The arguments of `follow_path`, and what has been solved: a state.

    results: on all pairs.  folds: finished ones.  done: solutions, on all pairs and without folds.
    """

    problem: LabelledProblem
    links: Links
    plan: Plan
    stop: Stop
    seed: int
    memory: int
    callback: Callable[[TracePoint, Place], bool | None]
    on_solution: Callable[[int], None]
    results: list[Result] = field(default_factory=list)
    folds: list[_Fold] = field(default_factory=list)
    done: int = 0

    def solve(self) -> None:
        """Solve on all pairs, then without each fold, and judge on that."""
        for result in self._solutions(self.problem, None):
            self.results.append(result)
        if self.plan.folds:
            pairs = np.random.default_rng(self.seed).permutation(len(self.links))
            for number, part in enumerate(np.array_split(pairs, self.plan.folds), 1):
                self.folds.append(self._hold_out(np.sort(part), number))

    def systems(self) -> list[PairCounts]:
        """The counts of all held-out pairs, for each λ."""
        return [PairCounts(table) for table in np.concatenate([fold.counts for fold in self.folds], axis=1)]

    def errors(self) -> list[float]:
        """Cross-validated AER, a fraction, for each λ."""
        return [float(scores(system.total()).aer) for system in self.systems()]

    def rows(self) -> tuple[PathRow, ...]:
        rows = []
        for regularization, result in zip(self.plan.regularizations, self.results, strict=False):  # some may be missing
            end, norm = result.trace[-1], scorer_of(self.plan.solver, self.problem.edges, result.w).norm
            rows.append(PathRow(regularization, norm, end.passes, end.seconds, end.relative_gap))
        if not self.folds:
            return tuple(rows)
        resampled = bootstrap(self.systems(), _RESAMPLES, self.seed).aer
        return tuple(
            replace(
                row,
                fold_passes=sum(fold.ends[index].passes for fold in self.folds),
                fold_seconds=sum(fold.ends[index].seconds for fold in self.folds),
                fold_gap=max(fold.ends[index].relative_gap for fold in self.folds),
                aer=error,
                standard_error=float(resampled[index].std(ddof=1)),
            )
            for index, (row, error) in enumerate(zip(rows, self.errors(), strict=True))
        )

    def _hold_out(self, held_out: I64, number: int) -> _Fold:
        """Solve on all other pairs and judge the solutions on these, (m,) ascending."""
        size = self.problem.edges.features.nbytes
        memory = size if 2 * size <= self.memory else 0  # features that are too large themselves are on disk
        rest = self.problem.take(np.setdiff1d(np.arange(len(self.links)), held_out), memory=memory)
        part = self.problem.take(held_out, memory=memory)
        gold = self.links.take(held_out)
        counts, judged, ends = [], [], []
        for result in self._solutions(rest, number):
            scorer = scorer_of(self.plan.solver, rest.edges, result.w)
            found = decode_edges(part.edges, scorer, rest.link_rewards(result.w))
            counts.append(count(gold, links_of(found)).table)
            judged.append(JudgedLinks.of(found, gold))
            ends.append(result.trace[-1])
        return _Fold(np.array(counts), judged, ends)

    def _solutions(self, problem: LabelledProblem, fold: int | None) -> Iterator[Result]:
        """The solution for each λ.  After one that was ended early, KeyboardInterrupt or _Stopped."""
        solver, state = self.plan.solver, None
        for regularization in self.plan.regularizations:
            current = replace(problem, regularization=regularization)
            if state is not None and isinstance(solver, Resumable):
                solver.resume(current, state)
            else:
                state = solver.init(current, np.random.default_rng(self.seed))
            place = Place(regularization, fold)

            def audited(point: TracePoint, _: F64, place: Place = place) -> bool | None:
                return self.callback(point, place)

            result = solve(current, solver, stop=self.stop, seed=self.seed, callback=audited, state=state)
            if result.status is Status.NOT_FINITE:
                raise SettingError(f"{place}: the weights grew without bound (raise the regularization)")
            if result.status is Status.NEGATIVE_GAP:
                raise OracleError(f"{place}: {result.status.value} (please report this)")
            if result.trace:
                yield result
                self.done += 1
                self.on_solution(self.done)
            if result.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            if result.status is Status.CALLBACK:
                raise _Stopped
