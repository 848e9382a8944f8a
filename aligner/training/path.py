"""The regularisation path: a solution for each λ, with warm starts, and the choice by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from aligner.errors import SettingError
from aligner.model.calibration import JudgedLinks
from aligner.model.decoding import decode_edges, links_of
from aligner.progress import ignore
from aligner.report.evaluation import PairCounts, bootstrap, count, scores
from aligner.solvers import Result, Status, Stop, TracePoint, solve
from aligner.solvers.kernel import scorer_of
from aligner.training.settings import LabelledProblem, Plan
from corpora.alignment import Links
from features.extractor import DEFAULT_MEMORY

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

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
    """Solutions on all pairs, from the largest λ down and then for other miss costs, and which of them is chosen.

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
    """Solve for each λ of a plan, then for other miss costs; choose what has the lowest cross-validated AER.

    Of equal ones the first is taken, of λ the largest. λ is chosen at the first miss cost, and the other costs are
    tried at that λ, on the same folds; costs whose folds are not all finished are not chosen. Without folds it is the
    last λ.

    links: gold of the pairs, sure and possible, as it is evaluated.  stop: for each solution.
    seed: of the solver, and of the folds, which are parts of the pairs, each held out once.
    memory: bytes of features to hold; a fold's copy that goes beyond is on disk.
    callback: called at each audit; if it returns False all ends as by Ctrl-C.  on_solution: with the number of
    solutions done, of plan.solutions.

    Each solution starts at the dual point of the one before, with a solver that is `Resumable`, otherwise at 0; its
    gap is a certificate either way. The solutions on all pairs come first, so that Ctrl-C leaves a model at any later
    time: of the λ that the finished folds choose, otherwise of the last audit. Memory: the features of one fold and
    its remainder are copied at a time, so as much as the features take.

    Raises SettingError for weights that are not finite, and KeyboardInterrupt if there is no audit yet.
    """
    search = _Search(problem, links, plan, stop, seed, memory, callback, on_solution)
    interrupted = False
    try:
        search.solve([(regularization, plan.miss_costs[0]) for regularization in plan.regularizations])
        if len(plan.miss_costs) > 1:
            best = plan.regularizations[int(np.argmin(search.stages[0].errors()))]
            search.solve([(best, cost) for cost in plan.miss_costs[1:]])
    except _Stopped:
        pass
    except KeyboardInterrupt:
        interrupted = True
    stages = search.stages
    if not stages[0].results:
        raise KeyboardInterrupt
    for later in stages[1:]:
        if len(later.folds) < plan.folds:  # an AER of fewer pairs is not to be compared
            later.folds.clear()
    rows = [row for stage in stages for row in stage.rows(problem, plan, seed)]
    solved = [(stage, index) for stage in stages for index in range(len(stage.results))]
    errors = {number: row.aer for number, row in enumerate(rows) if row.aer is not None}
    chosen = min(errors, key=errors.__getitem__) if errors else len(stages[0].results) - 1
    stage, index = solved[chosen]
    held_out = JudgedLinks.joined(fold.judged[index] for fold in stage.folds) if stage.folds else None
    results = tuple(stage.results[index] for stage, index in solved)
    return RegularizationPath(tuple(rows), results, chosen, plan.folds, len(stages[0].folds), interrupted, held_out)


class _Stopped(Exception):
    """The callback asked for the end."""


@dataclass(frozen=True, eq=False)
class _Fold:
    """What held-out pairs tell of each of L settings.  counts: (L, m, 5) of `PairCounts`.  ends: last audits."""

    counts: I64
    judged: list[JudgedLinks]
    ends: list[TracePoint]


@dataclass(frozen=True, eq=False)
class _Stage:
    """Settings that are compared with each other.  results: on all pairs, as far as solved.  folds: finished ones."""

    settings: Sequence[Setting]
    results: list[Result] = field(default_factory=list)
    folds: list[_Fold] = field(default_factory=list)

    def systems(self) -> list[PairCounts]:
        """The counts of all held-out pairs, for each setting."""
        return [PairCounts(table) for table in np.concatenate([fold.counts for fold in self.folds], axis=1)]

    def errors(self) -> list[float]:
        """Cross-validated AER, a fraction, for each setting."""
        return [float(scores(system.total()).aer) for system in self.systems()]

    def rows(self, problem: LabelledProblem, plan: Plan, seed: int) -> list[PathRow]:
        rows = []
        for (regularization, cost), result in zip(self.settings, self.results, strict=False):  # the last may be missing
            end, norm = result.trace[-1], scorer_of(plan.solver, problem.edges, result.w).norm
            rows.append(PathRow(regularization, cost, norm, end.passes, end.seconds, end.relative_gap))
        if not self.folds:
            return rows
        resampled = bootstrap(self.systems(), _RESAMPLES, seed).aer
        return [
            replace(
                row,
                fold_passes=sum(fold.ends[index].passes for fold in self.folds),
                fold_seconds=sum(fold.ends[index].seconds for fold in self.folds),
                fold_gap=max(fold.ends[index].relative_gap for fold in self.folds),
                aer=error,
                standard_error=float(resampled[index].std(ddof=1)),
            )
            for index, (row, error) in enumerate(zip(rows, self.errors(), strict=True))
        ]


@dataclass(eq=False)
class _Search:
    """The arguments of `follow_path`, and what has been solved: a state.  done: solutions."""

    problem: LabelledProblem
    links: Links
    plan: Plan
    stop: Stop
    seed: int
    memory: int
    callback: Callable[[TracePoint, Place], bool | None]
    on_solution: Callable[[int], None]
    stages: list[_Stage] = field(default_factory=list)
    done: int = 0

    def solve(self, settings: Sequence[Setting]) -> None:
        """Add a stage: solve on all pairs, then without each fold, and judge on that."""
        stage = _Stage(settings)
        self.stages.append(stage)
        for result in self._solutions(self.problem, settings, None):
            stage.results.append(result)
        if self.plan.folds:
            pairs = np.random.default_rng(self.seed).permutation(len(self.links))
            for number, part in enumerate(np.array_split(pairs, self.plan.folds), 1):
                stage.folds.append(self._hold_out(settings, np.sort(part), number))

    def _hold_out(self, settings: Sequence[Setting], held_out: I64, number: int) -> _Fold:
        """Solve on all other pairs and judge the solutions on these, (m,) ascending."""
        size = self.problem.edges.features.nbytes
        memory = size if 2 * size <= self.memory else 0  # features that are too large themselves are on disk
        rest = self.problem.take(np.setdiff1d(np.arange(len(self.links)), held_out), memory=memory)
        part = self.problem.take(held_out, memory=memory)
        gold = self.links.take(held_out)
        counts, judged, ends = [], [], []
        for result in self._solutions(rest, settings, number):
            scorer = scorer_of(self.plan.solver, rest.edges, result.w)
            found = decode_edges(part.edges, scorer, rest.link_rewards(result.w))
            counts.append(count(gold, links_of(found)).table)
            judged.append(JudgedLinks.of(found, gold))
            ends.append(result.trace[-1])
        return _Fold(np.array(counts), judged, ends)

    def _solutions(self, problem: LabelledProblem, settings: Sequence[Setting], fold: int | None) -> Iterator[Result]:
        """The solution for each λ and miss cost.  After one that was ended early, KeyboardInterrupt or _Stopped."""
        solver, state, last_cost = self.plan.solver, None, None
        for regularization, cost in settings:
            current = replace(problem, regularization=regularization, miss_cost=cost)
            if state is not None and cost == last_cost and isinstance(solver, Resumable):
                solver.resume(current, state)
            else:
                state = solver.init(current, np.random.default_rng(self.seed))
            last_cost = cost
            place = Place(regularization, fold, cost if len(self.plan.miss_costs) > 1 else None)

            def audited(point: TracePoint, _: F64, place: Place = place) -> bool | None:
                return self.callback(point, place)

            result = solve(current, solver, stop=self.stop, seed=self.seed, callback=audited, state=state)
            if result.status is Status.NOT_FINITE:
                raise SettingError(f"{place}: the weights grew without bound (raise the regularization)")
            if result.trace:
                yield result
                self.done += 1
                self.on_solution(self.done)
            if result.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            if result.status is Status.CALLBACK:
                raise _Stopped
