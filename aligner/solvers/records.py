"""What solving takes and gives: limits, statuses, the history, the result."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Stop:
    """When to stop.

    gap: relative tolerance, gap <= gap · max(1, |primal|).  passes: effective passes over the blocks.
    seconds: of solving; audits do not count where the solver has no use for them.
    audit_growth: the next audit comes after this many times the passes of the last one, but at least one pass later.
    An audit is one more pass of oracle calls: at 1.25 the first passes are all audited, later about one in five.
    """

    gap: float = 1e-3
    passes: int = 50
    seconds: float = inf
    audit_growth: float = 1.25


@dataclass(frozen=True)
class TracePoint:
    """One audit.  passes: effective passes so far.  oracle_calls: of solving and audits.  seconds: of solving."""

    passes: float
    oracle_calls: int
    seconds: float
    primal: float
    dual: float
    gap: float

    @property
    def relative_gap(self) -> float:
        return self.gap / max(1.0, abs(self.primal))


@dataclass(frozen=True, eq=False)
class Audit:
    """Exact objective values at an iterate (w, loss), and the oracle's answers there.

    corner_w = Σ_i ψ_i(z_i)/(λn), corner_loss = Σ_i L_i(z_i)/n.
    """

    w: F64
    loss: float
    primal: float
    dual: float
    gap: float
    corner_w: F64
    corner_loss: float


@dataclass(frozen=True, eq=False)
class Result:
    """The weights (d,) of the last audit, why solving ended, all audits, and what was solved how."""

    w: F64
    status: Status
    trace: tuple[TracePoint, ...]
    signature: str
