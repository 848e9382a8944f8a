"""Block-coordinate Frank-Wolfe: an order of the blocks times a step  [LJSP13 Alg. 4, OAD16].

[RSSS06] Rousu, Saunders, Szedmak and Shawe-Taylor 2006, Kernel-based learning of hierarchical multilabel
classification models.
"""

from dataclasses import dataclass, replace
from inspect import isfunction
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.problem import BlockProblem
from aligner.solvers import _active_kernels as active
from aligner.solvers import _block_kernels as kernels
from aligner.solvers import sparse
from aligner.solvers._block_kernels import Along
from aligner.solvers._sparse_kernels import SparsePoint
from aligner.solvers.averages import Average, OwnAverage, Suffix
from aligner.solvers.gap import Answers, ask, ask_all, audit_at, clip
from aligner.solvers.orders import ByGap, Order, Permuted, draw_blocks
from aligner.solvers.points import larger_pool, mean_of, new_point, new_pool, of_blocks, rescale, settle
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.steps import BlockStep, Forward, OwnLength
from aligner.templates import Compiled, check_code
from corpora.ragged import F64, I64

_BLOCKS_AT_ONCE = 8192
"""Blocks of one compiled call, between which Ctrl-C is heard."""

_DRAWS_A_SWEEP = 16
"""How often in a sweep blocks are drawn, each time by the latest gaps."""

_KEPT = 20
"""Corners that a block keeps, at most, to use in place of the oracle; more only if they all have weight."""


@dataclass(eq=False)
class BlockState:
    """The dual point and, if the solver uses them, the gaps and corners of the blocks.

    point: sparse where corners are, and only shares are kept.
    sweeps: since all gaps were last computed.
    cheap: steps towards corners without an oracle call.
    """

    origin: Origin
    rng: np.random.Generator
    point: kernels.Point | SparsePoint
    gaps: kernels.Gaps
    pool: active.Pool | None
    sweeps: int = 0
    cheap: int = 0


@dataclass(frozen=True)
class Block:
    """Block-coordinate Frank-Wolfe on the dual of the structured SVM: an order × a step.

    Guarantee: with forward steps in uniform order the expected gap falls as O(1/k) after k steps  [LJSP13 Thm. 3];
    with line search the dual never falls; away and pairwise steps converge linearly  [OAD16 App. B].
    step, average: also functions of one's own, see `OwnLength`, `OwnAverage`; an order is any object like those.
    repeats: steps in a row of each drawn block, each with an oracle call at the w of the last  [RSSS06].
    batch: blocks for which the oracle is called at once, from Python, at the w before their steps. Each step is safe,
    since it searches its own line at the w that the steps before it have left: the dual does not fall. The corners
    are up to batch − 1 steps old, an error of the oracle as in `Approximate` [LJSP13 Thm. C.1, δ <= 2 batch].
    cache: each block keeps corners and uses the best of them, if its gap is large enough, instead of the oracle
    [OAD16 §3.2]; worth it if the oracle is expensive.
    store: a folder; the blocks' shares of w are in a temporary file there, of which the system keeps in memory what it
    has room for. Sparse shares stay in memory.
    Solver memory: n · d numbers for the blocks' shares of w, and d more for each kept corner; with sparse corners
    2 numbers for each feature that a block's corners have touched, see `sparse`.
    """

    order: Order = Permuted()  # noqa: RUF009 - frozen
    step: BlockStep = Forward()  # noqa: RUF009 - frozen
    average: Average | Suffix | OwnAverage = Average.NONE
    cache: bool = False
    repeats: int = 1
    batch: int = 1
    store: str | Path | None = None

    def __post_init__(self) -> None:
        for name, make in (("step", OwnLength), ("average", OwnAverage)):
            given = getattr(self, name)
            if isfunction(given) or hasattr(given, "py_func"):
                object.__setattr__(self, name, make(given))
        for name, kind in (("order", "draw"), ("step", "kind"), ("average", "code")):
            if not hasattr(getattr(self, name), kind) or isinstance(getattr(self, name), type):
                raise SettingError(f"{name} is {getattr(self, name)!r} (an object of aligner.solvers, or a function)")
        if not all(isinstance(count, int) and count >= 1 for count in (self.repeats, self.batch)):
            raise SettingError(f"repeats and batch must be whole numbers from 1 on, not {self.repeats}, {self.batch}")
        if self.repeats > 1 and self.batch > 1:
            raise SettingError("repeats need an oracle call for each step (take repeats or batch)")
        if self.cache and isinstance(self.step, OwnLength):
            raise SettingError("cached corners need a step with line search (leave out cache, or the length)")

    @property
    def signature(self) -> str:
        parts = ["bcfw", f"order:{self.order.name}", f"step:{self.step.name}", f"average:{self.average.value}"]
        parts += ["cache"] * self.cache + [f"repeats:{self.repeats}"] * (self.repeats > 1)
        return "|".join(parts + [f"batch:{self.batch}"] * (self.batch > 1))

    @property
    def _steps_compiled(self) -> bool:
        """Whether steps around a compiled oracle are compiled, too."""
        own: list[Any] = [self.step.rule] if isinstance(self.step, OwnLength) else []
        own += [self.average.weight] if isinstance(self.average, OwnAverage) else []
        return self.batch == 1 and all(hasattr(function, "py_func") for function in own)

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> BlockState:
        n, d = problem.n_blocks, problem.n_features
        keeps_corners = self.cache or self.step.kind != active.FORWARD
        keeps_gaps = keeps_corners or isinstance(self.order, ByGap)
        gaps = kernels.Gaps(np.full(n if keeps_gaps else 0, np.inf), np.zeros(1))
        own = isinstance(self.step, OwnLength) or isinstance(self.average, OwnAverage)
        point = (
            sparse.new_point(problem) if problem.sparse and not (keeps_gaps or own) else new_point(problem, self.store)
        )
        return BlockState(Origin(self, problem), rng, point, gaps, new_pool(n, d) if keeps_corners else None)

    def resume(self, problem: BlockProblem, state: BlockState) -> None:
        """Go on from the same dual point α in a problem that differs in λ only: v(α) is scaled by 1/λ."""
        rescale(state.point, state.pool, state.origin.regularization / problem.regularization)
        state.origin = Origin(self, problem)
        state.point.steps[0] = 0  # averages and decreasing steps begin anew
        state.gaps.last[:] = np.inf

    def sweep(self, problem: BlockProblem, state: BlockState) -> int:
        gaps, n = state.gaps, problem.n_blocks
        calls = 0
        if self._is_stale(state):
            self._refresh(problem, state, ask_all(problem, state.point.w, exact=False))
            calls += n
        gaps.total[0] = gaps.last[np.isfinite(gaps.last)].sum()  # free of what rounding has collected
        state.sweeps += 1
        compiled = problem.compiled() if self._steps_compiled else None
        by_gap = self.order if isinstance(self.order, ByGap) and np.isfinite(gaps.last).all() else None
        at_once = ceil(n / _DRAWS_A_SWEEP) if by_gap else _BLOCKS_AT_ONCE
        order = draw_blocks(self.order, n, state.rng)
        for first in range(0, n, at_once):
            part = order[first : first + at_once]
            if by_gap:
                part = by_gap.redraw(gaps.last, len(part), state.rng)
            part = np.repeat(part, self.repeats)
            if compiled is None:
                some = range(0, len(part), self.batch)
                new = sum(self._take_steps(problem, state, part[begin : begin + self.batch]) for begin in some)
            else:
                new = self._take_compiled_steps(compiled, problem.regularization, state, part)
            state.cheap += len(part) - new
            calls += new
        settle(state.point, state.pool)
        return calls

    def _take_compiled_steps(self, compiled: Compiled, regularization: float, state: BlockState, order: I64) -> int:
        """Take a step of each block in this order; returns the oracle calls."""
        arrays, step, average = compiled.arrays, self.step, self.average
        if isinstance(state.point, SparsePoint):
            state.point = sparse.take_compiled_steps(
                compiled, state.point, order, step.line_search, average.code, regularization
            )
            return len(order)
        own_weight = average.weight if isinstance(average, OwnAverage) else kernels.no_weight
        if isinstance(step, Forward | OwnLength) and state.pool is None:
            own_length = step.rule if isinstance(step, OwnLength) else kernels.no_length
            take_steps = compiled.fill(kernels.forward_steps, own_length=own_length, own_weight=own_weight)
            code, block = take_steps(order, state.gaps, step.length, average.code, arrays, regularization, state.point)
            check_code(code, block)
            return len(order)
        assert state.pool is not None
        rule = active.Rule(step.kind, step.line_search, self.cache, _KEPT, average.code)
        take_steps = compiled.fill(active.active_steps, own_weight=own_weight)
        done, calls = 0, 0
        while done < len(order):
            code, block, done, new = take_steps(
                order, done, state.gaps, rule, arrays, regularization, state.point, state.pool
            )
            calls += new
            if code == active.FULL:
                state.pool = larger_pool(state.pool, block)
            else:
                check_code(code, block)
        return calls

    def _take_steps(self, problem: BlockProblem, state: BlockState, batch: I64) -> int:
        """`_take_compiled_steps` with any oracle, called once, from Python, for all blocks that need it."""
        point, average = state.point, self.average
        if isinstance(point, SparsePoint):
            all_corners = ask(problem, batch, point.w)
            state.point = sparse.take_steps(
                all_corners, point, batch, self.step.line_search, average.code, problem.regularization
            )
            return len(batch)
        blocks = batch.tolist()
        places = [self._kept_answer(block, state, problem.regularization) for block in blocks]
        due = [block for block, place in zip(blocks, places, strict=True) if place < 0]
        found = ask(problem, np.array(due), point.w) if due else None
        corners = iter(zip(found.dense, found.losses.tolist(), strict=True) if found else ())
        for block, place in zip(blocks, places, strict=True):
            if place < 0:
                self._step_towards(block, *next(corners), state, problem.regularization)
            else:
                if len(blocks) > 1:
                    place = self._kept_answer(block, state, problem.regularization)
                if place < 0:  # other steps of the batch have closed its gap
                    continue
                self._step_actively(block, place, state, problem.regularization)
            kernels.count_step(kernels.share_of(float(average.weight(int(point.steps[0])))), point)
        return len(due)

    def _kept_answer(self, block: int, state: BlockState, regularization: float) -> int:
        """The place of a kept corner to use in place of the oracle's, or −1."""
        if not self.cache:
            return -1
        return int(active.kept_answer(block, state.gaps, regularization, state.point, state.pool))

    def _step_towards(self, block: int, psi: F64, loss: float, state: BlockState, regularization: float) -> None:
        """Take a step of a block, for which the oracle has found ψ and L.  psi is overwritten."""
        point, gaps, step = state.point, state.gaps, self.step
        if len(gaps.last) > 0:
            hinge = loss - float(psi @ point.w)
            kernels.set_gap(gaps, block, kernels.block_gap(block, hinge, point.w, regularization, point))
        if state.pool is not None:
            if not active.make_room(block, _KEPT, state.pool):
                state.pool = larger_pool(state.pool, block)
            place = active.take_answer(block, psi, loss, regularization, point, state.pool)
            self._step_actively(block, place, state, regularization)
        elif isinstance(step, OwnLength):
            loss_gain = kernels.aim(block, psi, loss, regularization, point)
            along = Along(*kernels.look_along(regularization, psi, loss_gain, point))
            kernels.move_block(block, kernels.share_of(float(step.rule(along))), psi, loss_gain, point)
        else:
            kernels.forward_step(block, psi, loss, step.line_search, regularization, point)

    def _step_actively(self, block: int, place: int, state: BlockState, regularization: float) -> None:
        """Take a step of a block towards the corner at this place of the pool, or away from another."""
        step, point = self.step, state.point
        scratch = np.empty(len(point.w))
        active.active_step(
            block, place, step.kind, step.line_search, self.cache, regularization, scratch, point, state.pool
        )

    def _is_stale(self, state: BlockState) -> bool:
        return isinstance(self.order, ByGap) and state.sweeps >= self.order.refresh

    def _refresh(self, problem: BlockProblem, state: BlockState, answers: Answers) -> None:
        point = state.point
        assert isinstance(point, kernels.Point)
        values = point.block_loss - problem.regularization * (point.block_w @ point.w)
        state.gaps.last[:] = np.maximum(answers.hinges / len(values) - values, 0.0)
        state.sweeps = 0

    def answer(self, problem: BlockProblem, state: BlockState) -> tuple[bool, F64, float]:
        """Whether the solver averages and has stepped; w and ℓ of the average then, else of the iterate."""
        point = state.point
        averaged = self.average is not Average.NONE and bool(point.steps[0] > 0)
        v, loss = mean_of(point) if averaged else (point.v, float(point.loss[0]))
        return averaged, clip(v, problem.n_nonpositive), loss

    def audit(self, problem: BlockProblem, state: BlockState) -> Audit:
        averaged, w, loss = self.answer(problem, state)
        answers = ask_all(problem, w)
        used = not averaged and self._is_stale(state)
        if used:
            self._refresh(problem, state, answers)
        return replace(audit_at(problem, w, loss, answers, used=used), cheap=state.cheap)

    def dual_point(self, problem: BlockProblem, state: BlockState) -> DualPoint:
        return of_blocks(state.point, state.pool)
