"""What solving takes and gives: limits, statuses, the history, the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from math import inf

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]


class Status(Enum):
    """Why solving ended."""

    CONVERGED = "the duality gap is within the tolerance"
    PASSES = "the limit of passes was reached"
    SECONDS = "the limit of seconds was reached"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "interrupted; the weights are those of the last audit"
    NOT_FINITE = "the weights are no longer finite; those returned are of the last audit"


def never() -> bool:
    return False


@dataclass(frozen=True)
class Stop:
    """When to stop.

    gap: relative tolerance, gap <= gap · max(1, |primal|).  passes: effective passes over the blocks.
    seconds: of solving; audits do not count where the solver has no use for them.
    audit_growth: the next audit comes after this many times the passes of the last one, but at least one pass later.
    An audit is one more pass of oracle calls: at 1.25 the first passes are all audited, later about one in five.
    interrupted: asked after each pass; if it holds, solving ends as by Ctrl-C, with the last audit.
    """

    gap: float = 1e-3
    passes: int = 50
    seconds: float = inf
    audit_growth: float = 1.25
    interrupted: Callable[[], bool] = never


@dataclass(frozen=True)
class TracePoint:
    """One audit.

    passes: sweeps of the solver so far.  oracle_calls: that moved the solver on, one for each block and question.
    audit_calls: those that only measured.  seconds: of solving.  primal, dual: an upper and a lower value of the
    optimum.  gap: primal - dual.  bound: what theory promises of the gap, of solvers that have such a bound.
    """

    passes: float
    oracle_calls: int
    audit_calls: int
    seconds: float
    primal: float
    dual: float
    gap: float
    bound: float | None = None

    @property
    def relative_gap(self) -> float:
        return self.gap / max(1.0, abs(self.primal))


@dataclass(frozen=True, eq=False)
class Audit:
    """Exact values of the objective at a solver's answer.

    w: the answer.  primal, dual: P(w), and D at a feasible dual point of the solver's.
    used: whether the solver moves on from the oracle's answers given here, so that they count as solving.
    bound: what theory promises of the gap.  notes: what a user should know of how the figures came about.
    """

    w: F64
    primal: float
    dual: float
    used: bool = False
    bound: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Result:
    """The weights (d,) of the last audit, why solving ended, all audits, what was solved how, and notes for the user.

    Of a kernelised solver the weights are coefficients of the training edges  (see `solvers.kernel`).
    """

    w: F64
    status: Status
    trace: tuple[TracePoint, ...]
    signature: str
    notes: tuple[str, ...] = ()
