"""solve(): the only loop. It owns the clock, the audits, the stopping rules and Ctrl-C; solvers own their steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil
from typing import Any, Protocol, TypeVar

import numpy as np

from aligner.errors import ScoreError
from aligner.problem import BlockProblem
from aligner.solvers.records import F64, Audit, Result, Status, Stop, TracePoint

State = TypeVar("State")

_BLOCKS_AT_ONCE = 4096


class Solver(Protocol[State]):
    """A frozen configuration; everything that changes is in the state it makes."""

    @property
    def signature(self) -> str: ...

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> State:
        """The state at w = 0."""
        ...

    def sweep(self, problem: BlockProblem, state: State) -> int:
        """One effective pass over the blocks; returns the number of oracle calls."""
        ...

    def iterate(self, state: State) -> tuple[F64, float]:
        """The weights (d,) to judge, and ℓ(α) of the dual point they belong to."""
        ...

    def absorb(self, state: State, audit: Audit) -> bool:
        """Use the oracle's answers of an audit; whether they save oracle calls, so that their time is solving."""
        ...


def solve(
    problem: BlockProblem,
    solver: Solver[Any],
    *,
    stop: Stop = Stop(),  # noqa: B008 - frozen
    seed: int = 0,
    callback: Callable[[TracePoint, F64], bool | None] | None = None,
) -> Result:
    """Minimise the structured hinge loss until one of the stopping rules holds.

    callback: called after each audit with its numbers and weights; solving stops if it returns False.
    Each audit evaluates the objective exactly, by one oracle call for each block; primal - dual certifies it.
    """
    state = solver.init(problem, np.random.default_rng(seed))
    signature = f"{solver.signature}|{problem.signature}|seed:{seed}"
    trace: list[TracePoint] = []
    judged: list[F64] = []  # the weights of each audit; appended last, so that its length is that of whole audits
    passes = oracle_calls = 0
    seconds = 0.0
    next_audit = 0

    def ended(status: Status) -> Result:
        w = judged[-1] if judged else np.zeros(problem.n_features)
        return Result(w, status, tuple(trace[: len(judged)]), signature)

    try:
        while True:
            iterate, loss = solver.iterate(state)
            if not (np.isfinite(iterate).all() and np.isfinite(loss)):
                return ended(Status.NOT_FINITE)
            out_of_time = seconds >= stop.seconds
            if passes >= next_audit or passes >= stop.passes or out_of_time:
                start = time.perf_counter()
                audit = audit_at(problem, iterate.copy(), loss)
                audit_seconds = time.perf_counter() - start
                oracle_calls += problem.n_blocks
                point = TracePoint(passes, oracle_calls, seconds, audit.primal, audit.dual, audit.gap)
                if not (np.isfinite(audit.primal) and np.isfinite(audit.dual)):
                    return ended(Status.NOT_FINITE)
                trace.append(point)
                judged.append(audit.w)
                if solver.absorb(state, audit):
                    seconds += audit_seconds
                go_on = callback(point, audit.w) if callback is not None else None
                status = _status(point, stop, out_of_time, go_on)
                if status is not None:
                    return ended(status)
                next_audit = max(passes + 1, ceil(passes * stop.audit_growth))
            start = time.perf_counter()
            oracle_calls += solver.sweep(problem, state)
            seconds += time.perf_counter() - start
            passes += 1
    except ScoreError:
        if np.isfinite(solver.iterate(state)[0]).all():
            raise
        return ended(Status.NOT_FINITE)
    except KeyboardInterrupt:
        return ended(Status.INTERRUPTED)


def _status(point: TracePoint, stop: Stop, out_of_time: bool, go_on: bool | None) -> Status | None:
    if point.relative_gap <= stop.gap:
        return Status.CONVERGED
    if go_on is False:
        return Status.CALLBACK
    if point.passes >= stop.passes:
        return Status.PASSES
    return Status.SECONDS if out_of_time else None


def audit_at(problem: BlockProblem, w: F64, loss: float, *, exact: bool = True) -> Audit:
    """Primal, dual and gap at weights w whose dual point has ℓ(α) = loss  [SPEC §3]; one oracle call a block.

    exact: whatever oracle the problem trains with; otherwise the gap of an approximate one is a lower estimate.
    """
    find = problem.exact_corners if exact else problem.corners
    n, regularization = problem.n_blocks, problem.regularization
    hinge = 0.0
    psi, losses = np.zeros_like(w), 0.0
    for first in range(0, n, _BLOCKS_AT_ONCE):
        blocks = np.arange(first, min(first + _BLOCKS_AT_ONCE, n))
        corners = find(blocks, w)
        hinge += float((corners.losses - corners.psi @ w).sum()) / n
        psi += corners.psi.sum(axis=0)
        losses += float(corners.losses.sum())
    squared = float(w @ w)
    primal = 0.5 * regularization * squared + hinge
    dual = loss - 0.5 * regularization * squared
    return Audit(w, loss, primal, dual, primal - dual, psi / (regularization * n), losses / n)
