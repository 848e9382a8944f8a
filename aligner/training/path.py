"""The regularisation path: a solution for each λ, with warm starts, and the choice by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count as count_up
from typing import Any, NamedTuple

import numpy as np

from aligner.errors import OracleError, SettingError
from aligner.evaluation.counts import bootstrap, count, scores
from aligner.model.calibration import JudgedLinks
from aligner.model.decoding import decode_edges
from aligner.model.scoring import KernelScorer, LinearScorer, Scorer
from aligner.progress import ignore
from aligner.solvers import Result, Solver, Status, Stop, TracePoint, solve
from aligner.solvers.kernel import KernelBlock
from aligner.solvers.regularization import Resumable
from aligner.svm.kernels import Linear
from aligner.training.settings import LabelledProblem, Plan
from corpora.alignment import Links
from corpora.ragged import F64, I64
from features.table import DEFAULT_MEMORY

_RESAMPLES = 1000
"""Bootstrap resamples of a standard error."""


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
    aer: cross-validated, a fraction, of all held-out pairs together, each with what was learnt without its fold.
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

    finished_folds: those that the AER is of.  held_out: the links found, at the chosen λ, in the pairs of these folds,
    each with what was learnt without its fold; None where there are no folds.
    interrupted: by Ctrl-C; there may be fewer solutions or finished folds than asked for.
    """

    rows: tuple[PathRow, ...]
    results: tuple[Result, ...]
    chosen: int
    finished_folds: int
    interrupted: bool
    held_out: JudgedLinks | None


class _HeldOut(NamedTuple):
    """What one solution finds in the pairs of a fold.  counts: (m, 5).  end: the solution's last audit."""

    counts: I64
    judged: JudgedLinks
    end: TracePoint


_Solutions = Callable[[LabelledProblem, int | None], Iterator[Result]]
"""The solution for each λ, of a problem without the fold of this number."""


class _Stopped(Exception):
    """The callback asked for the end."""


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
    numbers = count_up(1)

    def solutions(part: LabelledProblem, fold: int | None) -> Iterator[Result]:
        solver, state = plan.solver, None
        for regularization in plan.regularizations:
            current = replace(part, regularization=regularization)
            if state is not None and isinstance(solver, Resumable):
                solver.resume(current, state)
            else:
                state = solver.init(current, np.random.default_rng(seed))
            place = Place(regularization, fold)

            def audited(point: TracePoint, _: F64, place: Place = place) -> bool | None:
                return callback(point, place)

            result = solve(current, solver, stop=stop, seed=seed, callback=audited, state=state)
            if result.status is Status.NOT_FINITE:
                raise SettingError(f"{place}: the weights grew without bound (raise the regularization)")
            if result.status is Status.NEGATIVE_GAP:
                raise OracleError(f"{place}: {result.status.value} (please report this)")
            if result.trace:
                yield result
                on_solution(next(numbers))
            if result.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            if result.status is Status.CALLBACK:
                raise _Stopped

    results: list[Result] = []
    folds: list[list[_HeldOut]] = []
    interrupted = False
    try:
        for result in solutions(problem, None):
            results.append(result)
        pairs = np.random.default_rng(seed).permutation(len(links))
        for number, part in enumerate(np.array_split(pairs, plan.folds), 1) if plan.folds else ():
            folds.append([*_hold_out(problem, links, np.sort(part), number, plan, memory, solutions)])
    except _Stopped:
        pass
    except KeyboardInterrupt:
        interrupted = True
    if not results:
        raise KeyboardInterrupt
    rows = _rows(problem, plan, results, folds, seed)
    errors = [row.aer for row in rows if row.aer is not None]
    chosen = int(np.argmin(errors)) if errors else len(results) - 1  # of equal ones argmin takes the first
    held_out = JudgedLinks.joined(fold[chosen].judged for fold in folds) if folds else None
    return RegularizationPath(rows, tuple(results), chosen, len(folds), interrupted, held_out)


def scorer_of(solver: Solver[Any, Any], problem: LabelledProblem, w: F64) -> Scorer:
    """The function of an edge's features that a solver's answer to a problem is.

    Weights of fertility, which follow those of edges, are left aside; a linear kernel gives weights, too.
    """
    edges = problem.edges
    if not isinstance(solver, KernelBlock):
        return LinearScorer(problem.weights(w)[: len(edges.names)])
    support = np.flatnonzero(w)
    if isinstance(solver.kernel, Linear):
        return LinearScorer(problem.prior + w[support] @ edges.features[support])
    return KernelScorer(solver.kernel, edges.features[support], w[support])


def _hold_out(
    problem: LabelledProblem, links: Links, held_out: I64, number: int, plan: Plan, memory: int, solutions: _Solutions
) -> Iterator[_HeldOut]:
    """Solve on all other pairs and judge the solutions on these, (m,) ascending."""
    size = problem.edges.features.nbytes
    memory = size if 2 * size <= memory else 0  # features that are too large themselves are on disk
    rest = problem.take(np.setdiff1d(np.arange(len(links)), held_out), memory=memory)
    part = problem.take(held_out, memory=memory)
    gold = links.take(held_out)
    for result in solutions(rest, number):
        scorer = scorer_of(plan.solver, rest, result.w)
        found = decode_edges(part.edges, scorer, rest.link_rewards(result.w))
        yield _HeldOut(count(gold, found.to_links()), JudgedLinks.of(found, gold), result.trace[-1])


def _rows(
    problem: LabelledProblem, plan: Plan, results: list[Result], folds: list[list[_HeldOut]], seed: int
) -> tuple[PathRow, ...]:
    rows = []
    for regularization, result in zip(plan.regularizations, results, strict=False):  # some may be missing
        end, norm = result.trace[-1], scorer_of(plan.solver, problem, result.w).norm
        rows.append(PathRow(regularization, norm, end.passes, end.seconds, end.relative_gap))
    if not folds:
        return tuple(rows)
    columns = [*zip(*folds, strict=True)]  # what the folds found, for each λ
    systems = [np.concatenate([found.counts for found in column]) for column in columns]
    resampled = bootstrap(systems, _RESAMPLES, seed).aer
    return tuple(
        replace(
            row,
            fold_passes=sum(found.end.passes for found in column),
            fold_seconds=sum(found.end.seconds for found in column),
            fold_gap=max(found.end.relative_gap for found in column),
            aer=float(scores(system.sum(axis=0)).aer),
            standard_error=float(errors.std(ddof=1)),
        )
        for row, column, system, errors in zip(rows, columns, systems, resampled, strict=True)
    )
