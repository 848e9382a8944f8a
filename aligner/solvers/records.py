"""Records of solving: limits, statuses, the history, the result."""

import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import Enum
from math import inf
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from aligner.errors import SettingError
from corpora.ragged import F64, I64


class Status(Enum):
    """The reason why solving ended."""

    RUNNING = "solving goes on"
    CONVERGED = "the duality gap is within the tolerance"
    PASSES = "the limit of passes was reached"
    SECONDS = "the limit of seconds was reached"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = "interrupted; the weights are those of the best audit"
    NOT_FINITE = "weights, or an oracle's answers, are not finite; the weights returned are of the best audit"
    NEGATIVE_GAP = "the duality gap is negative: an oracle answered worse than the target, and nothing is certified"
    NOT_THE_BEST = "an oracle's answers are not the best, and nothing is certified (check_problem says more)"


class Limits(TypedDict, total=False):
    """The limits of `Stop` that `solve` takes by themselves."""

    gap: float
    absolute_gap: float
    passes: float
    seconds: float


@dataclass(frozen=True)
class Stop:
    """When to stop: at the first of these limits.  SettingError for what is no number from 0 on.

    gap: relative, (primal − dual) / |primal|; 0: only an exact optimum, to rounding.
    absolute_gap: primal − dual; 0: no such limit. For objectives whose optimum is 0, which no relative gap can certify.
    passes: effective passes over the blocks.
    seconds: of solving; compilation does not count, nor do audits that the solver does not use.
    audit_growth: the next audit comes after this many times the passes of the last one, but at least one pass later.
    An audit is one more pass of oracle calls: at 1.25 the first passes are all audited, later fewer and fewer.
    interrupted: called after each pass; if it returns True, solving ends as by Ctrl-C.
    """

    gap: float = 1e-3
    passes: float = 1000
    seconds: float = inf
    audit_growth: float = 1.25
    interrupted: Callable[[], bool] = bool  # never
    absolute_gap: float = 0.0

    def __post_init__(self) -> None:
        for name in (*Limits.__annotations__, "audit_growth"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not value >= 0:  # nor NaN
                raise SettingError(f"the limit {name} is {value!r} (a number from 0 on)")

    def within(self, limits: Limits) -> "Stop":
        """The same but for these limits; with seconds alone passes have none, and with one gap the other has none."""
        if unknown := ", ".join(limits.keys() - Limits.__annotations__.keys()):
            raise SettingError(f"unknown limit {unknown} (choose from {', '.join(Limits.__annotations__)})")
        others = {"seconds": {"passes": inf}, "gap": {"absolute_gap": 0.0}, "absolute_gap": {"gap": 0.0}}
        left = {name: value for given in limits for name, value in others.get(given, {}).items()}
        return replace(self, **{**left, **limits})  # type: ignore[arg-type]


@dataclass(frozen=True)
class TracePoint:
    """The figures of one audit.

    passes: sweeps of the solver so far.  oracle_calls: those that solving used, one for each block and call.
    audit_calls: those that only measured.  seconds: of solving.  primal, dual: P(w) and D at the present iterate.
    gap: the certificate, the least primal minus the greatest dual of all audits so far: the best iterate is no further
    from the optimum.  relative_gap: gap / |least primal|; 0 if the gap is 0 but for rounding.
    bound: the gap that theory guarantees, on average over seeds; None without a guarantee.
    cheap_steps: steps so far without an oracle call, towards kept corners.
    measured: the result of the argument `measure` of `solve`, such as the error on held-out text.
    """

    passes: float
    oracle_calls: int
    audit_calls: int
    seconds: float
    primal: float
    dual: float
    gap: float
    relative_gap: float
    bound: float | None = None
    cheap_steps: int = 0
    measured: float | None = None


@dataclass(frozen=True, eq=False)
class Active:
    """The corners of positive weight in a dual point.

    blocks: (m,) the block of each; -1 for corners of all blocks at once.  weights: (m,), 1 in sum over each block.
    v: (m, d) = ψ_i(z)/(λn), or the sum of that over all blocks.  losses: (m,) = L_i(z)/n, or the sum.
    """

    blocks: I64
    weights: F64
    v: F64
    losses: F64


@dataclass(frozen=True, eq=False)
class DualPoint:
    """A feasible point α of the dual, in the solver's own arrays, not copies; None for what it does not keep.

    v: (d,) = Σ_i Σ_z α_i(z) ψ_i(z)/(λn); `gap.clip` makes w.  loss: ℓ = Σ_i Σ_z α_i(z) L_i(z)/n.
    active: its corners.  marginals: (E,) z of the parts of all blocks, see `aligner.problem.Marginals`.
    block_v, block_losses: each block's share of v, n rows, and of the loss, (n,).
    """

    v: F64
    loss: float
    active: Active | None = None
    marginals: F64 | None = None
    block_v: F64 | None = None
    block_losses: F64 | None = None


class Origin:
    """The origin of a solver's state: the solver's signature, the problem and λ; a pickle leaves the problem out."""

    def __init__(self, solver: Any, problem: Any) -> None:
        self.signature, self.problem, self.regularization = solver.signature, problem, problem.regularization
        self.sizes = problem.n_blocks, problem.n_features

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "problem": None}


@dataclass(frozen=True, eq=False)
class Audit:
    """Exact values of the objective at a solver's answer.

    w: the answer.  primal, dual: P(w), and D at a feasible dual point of the solver's.
    used: whether the solver uses the audit's oracle calls for its next step, so that they count as solving.
    size: of terms that cancel out in these values, such as losses; 0 if they are no larger.
    bound, cheap: see `TracePoint`.  notes: for the user, on how the figures came about.
    """

    w: F64
    primal: float
    dual: float
    used: bool = False
    bound: float | None = None
    cheap: int = 0
    notes: tuple[str, ...] = ()
    size: float = 0.0


class Trace(tuple[TracePoint, ...]):
    """The figures of all audits, the first one before any step."""

    __slots__ = ()

    def __repr__(self) -> str:
        last = f", the last: {self[-1]}" if self else ""
        return f"<{len(self)} audits{last}>"

    def frame(self) -> Any:
        """A pandas frame with a row for each audit and a column for each field of `TracePoint`."""
        from pandas import DataFrame

        return DataFrame([asdict(point) for point in self])


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The result of solving: weights (d,) of the best audit, status, all audits, signature, and notes for the user.

    The best audit has the least primal; among equals it is the last. With a kernel method weights are coefficients of
    the training edges  (see `solvers.kernel`).
    dual_point: the solver's last, if it keeps one; if the solver averages, it is not the average.
    state: the solver's own. ``solve(problem, solver, start=result)`` goes on from a copy of it.
    origin: the solver, problem and λ that this state is of.
    """

    w: F64
    status: Status
    trace: Trace
    signature: str
    notes: tuple[str, ...] = ()
    dual_point: DualPoint | None = None
    state: Any = None
    origin: Origin | None = None

    @property
    def primal(self) -> float:
        """P(w): the least of all audits, ∞ without one.  With `dual` it certifies the weights."""
        return min((point.primal for point in self.trace), default=inf)

    @property
    def dual(self) -> float:
        """The greatest dual value of all audits, a lower bound of the optimum; -∞ without one."""
        return max((point.dual for point in self.trace), default=-inf)

    @property
    def gap(self) -> float:
        """primal − dual: w is no further from the optimum; ∞ without an audit."""
        return self.primal - self.dual if self.trace else inf

    def __repr__(self) -> str:
        last = self.trace[-1] if self.trace else None
        effort = f", {last.passes:,} passes, {last.seconds:.3g} s" if last else ""
        why = f" ({self.notes[-1]})" if self.status is Status.NOT_FINITE and self.notes else ""
        figures = f"gap {self.gap:.3g}, primal {self.primal:.6g}{effort}, {len(self.w):,} weights"
        return f"<{self.status.name}{why}: {figures}>"

    def plot(self, axes: Any = None) -> Any:
        """Plot the certified gap of all audits against passes, by matplotlib.  axes: where; by default new ones."""
        if axes is None:
            from matplotlib.pyplot import subplots

            axes = subplots()[1]
        axes.semilogy([point.passes for point in self.trace], [point.gap for point in self.trace], label=self.signature)
        axes.set_xlabel("passes")
        axes.set_ylabel("duality gap")
        return axes

    def save(self, path: str | Path) -> None:
        """Write the result with the solver's state to a file, which `pickle.load` reads; the problem is not in it."""
        part = Path(f"{path}.part")
        part.write_bytes(pickle.dumps(self))
        part.replace(path)
