"""solve(): the only loop. It owns the clock, the audits, the stopping rules and Ctrl-C; solvers own their steps."""

import time
from collections.abc import Callable
from contextlib import suppress
from math import ceil, isfinite
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from aligner.errors import AlignerError, ScoreError, SettingError
from aligner.problem import BlockProblem, Problem, check_sizes
from aligner.solvers.records import Audit, DualPoint, Origin, Result, Status, Stop, TracePoint
from corpora.ragged import F64
from corpora.threads import one_blas_thread

_ROUNDING = 1e-9
"""A relative gap that is further below 0 than this is no rounding error, but a wrong oracle."""

_REHEARSED = 11
"""Sweeps after which a solver has called all its kernels: restarts are considered after ten."""

State = TypeVar("State")
Solved = TypeVar("Solved", bound=Problem)
Solvable = TypeVar("Solvable", bound=Problem, contravariant=True)


class Solver(Protocol[Solvable, State]):
    """A frozen configuration of a solver; everything that changes is in the state it makes."""

    @property
    def signature(self) -> str: ...

    def init(self, problem: Solvable, rng: np.random.Generator) -> State:
        """Make the state before the first step."""
        ...

    def sweep(self, problem: Solvable, state: State) -> int:
        """Make one effective pass over the blocks; returns the number of oracle calls."""
        ...

    def audit(self, problem: Solvable, state: State) -> Audit:
        """Compute the objective of the present answer exactly, by one oracle call for each block; arrays are copies.

        The solver may use these oracle calls for its next step, and sets `Audit.used` if it does.
        """
        ...

    def dual_point(self, problem: Solvable, state: State) -> DualPoint | None:
        """The dual point of the state; None if it keeps no single point."""
        ...


@one_blas_thread()
def solve(
    problem: Solved,
    solver: Solver[Solved, Any],
    *,
    stop: Stop = Stop(),  # noqa: B008 - frozen
    seed: int = 0,
    callback: Callable[[TracePoint, F64], bool | None] | None = None,
    measure: Callable[[F64], float] | None = None,
    state: Any = None,
) -> Result:
    """Minimise the regularised loss of a problem until one of the stopping rules holds.

    callback: called after each audit with its numbers and weights; solving stops if it returns False.
    measure: called at each audit with its weights, for `TracePoint.measured`; it takes no time of solving.
    state: to go on from, made by the solver's `init` and changed in place; by default a new one. At another λ
    the solver resumes it; SettingError if it cannot, or the state is of another solver or problem.
    Each audit evaluates the objective exactly, by one oracle call for each block. The answer is the best iterate of all
    audits; the least primal minus the greatest dual certifies it.
    """
    if not (hasattr(solver, "sweep") and isinstance(stop, Stop)):
        raise SettingError(f"solver {solver!r} and stop {stop!r} (make_solver makes solvers, Stop says when to end)")
    check_sizes(problem)
    if state is None:
        state = solver.init(problem, np.random.default_rng(seed))
    else:
        _take_up(problem, solver, state)
    signature = f"{solver.signature}|{problem.signature}|seed:{seed}"
    judged: list[_Judged] = []
    passes = oracle_calls = audit_calls = next_audit = 0
    seconds = 0.0

    def ended(status: Status) -> Result:
        w, notes = (judged[-1].best.w, judged[-1].last.notes) if judged else (np.zeros(problem.n_features), ())
        trace = tuple(one.point for one in judged)
        return Result(w, status, trace, signature, (*problem.notes, *notes), solver.dual_point(problem, state))

    try:
        _rehearse(problem, solver)
        while True:
            out_of_time = seconds >= stop.seconds
            if passes >= next_audit or passes >= stop.passes or out_of_time:
                start = time.perf_counter()
                audit = solver.audit(problem, state)
                if not (isfinite(audit.primal) and isfinite(audit.dual) and np.isfinite(audit.w).all()):
                    return ended(Status.NOT_FINITE)
                if audit.used:
                    seconds += time.perf_counter() - start
                    oracle_calls += problem.n_blocks
                else:
                    audit_calls += problem.n_blocks
                best, dual = audit, audit.dual
                if judged:
                    dual = max(dual, judged[-1].dual)
                    best = min(audit, judged[-1].best, key=lambda one: one.primal)
                gap = best.primal - dual
                point = TracePoint(
                    passes, oracle_calls, audit_calls, seconds, audit.primal, audit.dual, gap,
                    gap / max(1.0, abs(best.primal)), audit.bound, audit.cheap, measure and measure(audit.w),
                )  # fmt: skip
                judged.append(_Judged(point, audit, best, dual))
                go_on = callback(point, audit.w) if callback is not None else None
                status = _status(point, stop, out_of_time, go_on)
                if status is Status.CONVERGED and not _believable(problem, best.w):
                    status = Status.NOT_THE_BEST
                if status is not None:
                    return ended(status)
                next_audit = max(passes + 1, ceil(passes * stop.audit_growth))
            start = time.perf_counter()
            oracle_calls += solver.sweep(problem, state)
            seconds += time.perf_counter() - start
            passes += 1
            if stop.interrupted():
                return ended(Status.INTERRUPTED)
    except ScoreError:  # features are finite, so the weights are not
        return ended(Status.NOT_FINITE)
    except KeyboardInterrupt:
        return ended(Status.INTERRUPTED)


class _Judged(NamedTuple):
    """The last audit, the best audit so far, and the greatest dual value so far."""

    point: TracePoint
    last: Audit
    best: Audit
    dual: float


def _rehearse(problem: Problem, solver: Solver[Any, Any]) -> None:
    """Let the solver compile, or load, its kernels on a small problem, before the clock starts."""
    with suppress(AlignerError):  # what is wrong is told when it is met in the problem itself
        small = problem.rehearsal()
        if small is not None:
            state = solver.init(small, np.random.default_rng(0))
            for _ in range(_REHEARSED):
                solver.sweep(small, state)
            solver.audit(small, state)


def _take_up(problem: Any, solver: Any, state: Any) -> None:
    """Take over a given state for this problem.  SettingError unless it is of this solver and differs in λ only."""
    from aligner.solvers.checking import differ_in_strength  # which loads numba

    own = Origin(solver, problem)
    old = getattr(state, "origin", own)  # other packages' states have none
    other = old.regularization != own.regularization
    fits = (old.signature, old.sizes) == (own.signature, own.sizes) and (hasattr(solver, "resume") or not other)
    seen = old.problem is None or old.problem is problem
    if not (fits and (seen or differ_in_strength(old.problem, problem))):
        what = f"the state of {old.signature} at λ {old.regularization:g} does not fit {own.signature}"
        raise SettingError(f"{what} here (init makes a new one; another λ needs a solver with resume)")
    if other:
        solver.resume(problem, state)


def _believable(problem: Problem, w: F64) -> bool:
    """Whether the corners of an oracle in Python pass a small test; compiled oracles count as tested."""
    if not isinstance(problem, BlockProblem) or problem.compiled() is not None:
        return True
    from aligner.solvers.checking import answers_are_best  # which loads numba

    return answers_are_best(problem, w)


def _status(point: TracePoint, stop: Stop, out_of_time: bool, go_on: bool | None) -> Status | None:
    if point.relative_gap < -_ROUNDING:
        return Status.NEGATIVE_GAP
    if point.relative_gap <= stop.gap:
        return Status.CONVERGED
    if go_on is False:
        return Status.CALLBACK
    if point.passes >= stop.passes:
        return Status.PASSES
    return Status.SECONDS if out_of_time else None
