"""solve(): the only loop. It owns the clock, the audits, the stopping rules and Ctrl-C; solvers own their steps."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from copy import deepcopy
from math import ceil, isfinite
from typing import Any, NamedTuple, TypeVar, Unpack, cast

import numpy as np

from aligner.errors import AlignerError, ScoreError, SettingError
from aligner.problem import BlockProblem, Problem, check_sizes
from aligner.solvers.certificate import Certificate
from aligner.solvers.records import Audit, Limits, Origin, Result, Status, Stop, Trace, TracePoint
from aligner.solvers.registry import make_solver
from aligner.solvers.solver import Solver
from corpora.ragged import F64
from corpora.threads import one_blas_thread

_REHEARSED = 11
"""Sweeps after which a solver has called all its kernels: restarts are considered after ten."""

Solved = TypeVar("Solved", bound=Problem)


@one_blas_thread()
def solve(
    problem: Solved,
    solver: Solver[Solved, Any] | str = "bcfw",
    *,
    stop: Stop = Stop(),  # noqa: B008 - frozen
    seed: int = 0,
    start: Any = None,
    callback: Callable[[Result], bool | None] | None = None,
    measure: Callable[[F64], float] | None = None,
    progress: bool = False,
    **limits: Unpack[Limits],
) -> Result:
    """Minimise the regularised loss of a problem until one of the stopping rules holds.

    solver: an object, or a name that `make_solver` knows.
    limits: gap, absolute_gap, passes, seconds in place of those of `stop`. With seconds alone passes have no limit,
    with one of the gaps alone the other has none.
    start: a result to go on from, of the same solver and data; it does not change. Or a state of the solver's `init`,
    which is changed in place. At another λ the solver resumes it; SettingError if it cannot, or it does not fit.
    callback: called after each audit with the result so far; solving stops if it returns False.
    measure: called at each audit with its weights, for `TracePoint.measured`; it takes no time of solving.
    progress: whether to show the last audit on the terminal.
    Each audit evaluates the objective exactly, by one oracle call for each block. The answer is the best iterate of all
    audits; the least primal minus the greatest dual certifies it.
    """
    solver = cast(Solver[Solved, Any], make_solver(solver) if isinstance(solver, str) else solver)
    if not hasattr(solver, "sweep") or isinstance(solver, type):
        raise SettingError(f"solver {solver!r} is none (a name, or an object such as Block())")
    if not isinstance(stop, Stop):
        raise SettingError(f"stop {stop!r} is no Stop (limits may also be given by themselves: gap, passes, seconds)")
    if isinstance(start, int | float | str | np.ndarray):
        raise SettingError(f"start is {type(start).__name__} (a result of the same solver; weights alone have no dual)")
    _check_fit(problem, solver)
    stop = stop.within(limits)
    state = solver.init(problem, np.random.default_rng(seed)) if start is None else _take_up(problem, solver, start)
    signature = f"{solver.signature}|{problem.signature}|seed:{seed}"
    judged: list[_Judged] = []
    passes = oracle_calls = audit_calls = next_audit = 0
    seconds = 0.0

    def ended(status: Status, *why: str) -> Result:
        w, notes = (judged[-1].best.w, judged[-1].last.notes) if judged else (np.zeros(problem.n_features), ())
        trace, point = Trace(one.point for one in judged), solver.dual_point(problem, state)
        told = *problem.notes, *notes, *why
        return Result(w.copy(), status, trace, signature, told, point, state, Origin(solver, problem))

    display = ExitStack()
    try:
        show = display.enter_context(_shown()) if progress else None
        _rehearse(problem, solver)
        while True:
            out_of_time = seconds >= stop.seconds
            if passes >= next_audit or passes >= stop.passes or out_of_time:
                start = time.perf_counter()
                audit = solver.audit(problem, state)
                audit.w.flags.writeable = False  # for `measure`
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
                found = Certificate(best.primal, dual, best.size)
                point = TracePoint(
                    passes=passes,
                    oracle_calls=oracle_calls,
                    audit_calls=audit_calls,
                    seconds=seconds,
                    primal=audit.primal,
                    dual=audit.dual,
                    gap=found.gap,
                    relative_gap=found.relative,
                    bound=audit.bound,
                    cheap_steps=audit.cheap,
                    measured=measure and measure(audit.w),
                )
                judged.append(_Judged(point, audit, best, dual))
                if show is not None:
                    show(f"pass {passes:,} · gap {point.relative_gap:.2g} of {stop.gap:g} · {seconds:.1f} s")
                go_on = callback(ended(Status.RUNNING)) if callback is not None else None
                status = found.ends(stop) or _limit(point, stop, out_of_time, go_on)
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
    except ScoreError as error:
        return ended(Status.NOT_FINITE, str(error))
    except KeyboardInterrupt:
        return ended(Status.INTERRUPTED)
    finally:
        display.close()


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


def _check_fit(problem: Any, solver: Any) -> None:
    """SettingError, or OracleError, if this is no problem, or not one for this solver."""
    check_sizes(problem)
    name, smooth = solver.signature.split("|")[0], getattr(solver, "smooth", False)
    if smooth and not hasattr(problem, "sums"):
        raise SettingError(f"{name} needs a smooth loss (LogLoss makes one of a problem with marginals)")
    if not smooth and not hasattr(problem, "corners"):
        raise SettingError(f"{name} needs a problem with corners (newton and lbfgs are for smooth losses)")


@contextmanager
def _shown() -> Iterator[Callable[[str], None]]:
    """Show a line on the terminal, if there is one, until the end of the block; called, it becomes another line."""
    from rich.console import Console

    with Console(stderr=True).status("starts") as status:
        yield status.update


def _take_up(problem: Any, solver: Any, start: Any) -> Any:
    """The state that goes on from `start` in this problem.  SettingError unless it is of this solver and data."""
    from aligner.solvers.checking import differ_in_strength  # which loads numba

    state, own = start.state if isinstance(start, Result) else start, Origin(solver, problem)
    old = getattr(state, "origin", getattr(start, "origin", None)) or own  # other packages' states have none
    other = old.regularization != own.regularization
    fits = (old.signature, old.sizes) == (own.signature, own.sizes) and (hasattr(solver, "resume") or not other)
    seen = old.problem is None or old.problem is problem
    if not (fits and (seen or differ_in_strength(old.problem, problem))):
        what = (
            f"{own.signature} at λ {own.regularization:g} cannot go on from {old.signature} at {old.regularization:g}"
        )
        what += " of other data" if fits else ""
        raise SettingError(f"{what} (leave out start; only the same data fit, another λ if the solver has resume)")
    if isinstance(start, Result):
        state = deepcopy(state, {id(problem): problem, id(old.problem): old.problem})
        if hasattr(state, "origin"):
            state.origin.problem = problem
    if other:
        solver.resume(problem, state)
    return state


def _believable(problem: Problem, w: F64) -> bool:
    """Whether the corners of an oracle in Python pass a small test; compiled oracles count as tested."""
    if not isinstance(problem, BlockProblem) or problem.compiled() is not None:
        return True
    from aligner.solvers.checking import answers_are_best  # which loads numba

    return answers_are_best(problem, w)


def _limit(point: TracePoint, stop: Stop, out_of_time: bool, go_on: bool | None) -> Status | None:
    if go_on is False:
        return Status.CALLBACK
    if point.passes >= stop.passes:
        return Status.PASSES
    return Status.SECONDS if out_of_time else None
