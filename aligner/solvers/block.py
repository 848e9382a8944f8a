"""Block-coordinate Frank-Wolfe: an order of the blocks times a step  [LJSP13 Alg. 4, OAD16].

[RSSS06] Rousu, Saunders, Szedmak and Shawe-Taylor 2006, Kernel-based learning of hierarchical multilabel
classification models.
"""

from dataclasses import dataclass, replace
from inspect import isfunction
from math import ceil
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.problem import BlockProblem
from aligner.solvers import _active_kernels as active
from aligner.solvers import _block_kernels as kernels
from aligner.solvers import sparse
from aligner.solvers._block_kernels import Along
from aligner.solvers.averages import Average, OwnAverage, Suffix
from aligner.solvers.gap import Answers, ask, ask_all, audit_at, clip
from aligner.solvers.orders import ByGap, Order, Permuted, draw_blocks
from aligner.solvers.points import larger_pool, new_point, new_pool, of_blocks, rescale
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.sparse import SparseState
from aligner.solvers.steps import BlockStep, Forward, OwnLength
from aligner.templates import Compiled, check_code
from corpora.ragged import I64

_BLOCKS_AT_ONCE = 8192
"""Blocks of one compiled call, between which Ctrl-C is heard."""

_DRAWS_A_SWEEP = 16
"""How often in a sweep blocks are drawn, each time by the latest gaps."""

_KEPT = 20
"""Corners that a block keeps, at most, to use in place of the oracle; more only if they all have weight."""


@dataclass(eq=False)
class BlockState:
    """The dual point and, if the solver uses them, the gaps and corners of the blocks.

    sweeps: since all gaps were last computed.
    cheap: steps towards corners without an oracle call.
    """

    origin: Origin
    rng: np.random.Generator
    point: kernels.Point
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
    Solver memory: n · d numbers for the blocks' shares of w, and d more for each kept corner; with sparse corners
    2 numbers for each feature that a block's corners have touched, see `sparse`.
    """

    order: Order = Permuted()  # noqa: RUF009 - frozen
    step: BlockStep = Forward()  # noqa: RUF009 - frozen
    average: Average | Suffix | OwnAverage = Average.NONE
    cache: bool = False
    repeats: int = 1
    batch: int = 1

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
    def _is_forward(self) -> bool:
        """Whether only its share is kept of each block, no gap and no corners."""
        return self.step.kind == active.FORWARD and not isinstance(self.order, ByGap) and not self.cache

    @property
    def _steps_compiled(self) -> bool:
        """Whether steps around a compiled oracle are compiled, too."""
        own: list[Any] = [self.step.rule] if isinstance(self.step, OwnLength) else []
        own += [self.average.weight] if isinstance(self.average, OwnAverage) else []
        return self.batch == 1 and all(hasattr(function, "py_func") for function in own)

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> BlockState | SparseState:
        n, d, origin = problem.n_blocks, problem.n_features, Origin(self, problem)
        keeps_corners = self.cache or self.step.kind != active.FORWARD
        known = n if keeps_corners or isinstance(self.order, ByGap) else 0
        gaps = kernels.Gaps(np.full(known, np.inf), np.zeros(1))
        own = isinstance(self.step, OwnLength) or isinstance(self.average, OwnAverage)
        if problem.sparse and self._is_forward and not own:
            return sparse.init(origin, problem, rng)
        point = new_point(problem)  # which refuses what does not fit into memory
        return BlockState(origin, rng, point, gaps, new_pool(n, d) if keeps_corners else None)

    def resume(self, problem: BlockProblem, state: BlockState | SparseState) -> None:
        """Go on from the same dual point α in a problem that differs in λ only: v(α) is scaled by 1/λ."""
        if isinstance(state, SparseState):
            sparse.resume(Origin(self, problem), state)
            return
        rescale(state.point, state.pool, state.origin.regularization / problem.regularization)
        state.origin = Origin(self, problem)
        state.point.steps[0] = 0  # averages and decreasing steps begin anew
        state.gaps.last[:] = np.inf

    def sweep(self, problem: BlockProblem, state: BlockState | SparseState) -> int:
        if isinstance(state, SparseState):
            order = np.repeat(draw_blocks(self.order, problem.n_blocks, state.rng), self.repeats)
            assert isinstance(self.step, Forward)
            return sparse.sweep(problem, state, order, self.batch, self.step.line_search, self.average.code)
        point, gaps, n = state.point, state.gaps, problem.n_blocks
        calls = 0
        if self._is_stale(state):
            self._refresh(state, ask_all(problem, point.w, exact=False))
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
                new = self._generic_steps(problem, state, part)
            else:
                new = self._compiled_steps(compiled, state, part)
            state.cheap += len(part) - new
            calls += new
        # The running sums collect rounding errors that would pass into the gap.
        if state.pool is not None:
            active.settle(point, state.pool)
        else:
            point.v[:] = point.block_w.sum(axis=0)
            point.w[:] = clip(point.v, point.n_nonpositive)
            point.loss[0] = point.block_loss.sum()
        return calls

    def _compiled_steps(self, compiled: Compiled, state: BlockState, order: I64) -> int:
        """Take a step of each block in this order; returns the oracle calls."""
        arrays, regularization, step = compiled.arrays, state.origin.regularization, self.step
        own_weight = self.average.weight if isinstance(self.average, OwnAverage) else kernels.no_weight
        if isinstance(step, Forward | OwnLength) and state.pool is None:
            own_length = step.rule if isinstance(step, OwnLength) else kernels.no_length
            take_steps = compiled.fill(kernels.forward_steps, own_length=own_length, own_weight=own_weight)
            code, block = take_steps(
                order, state.gaps, step.length, self.average.code, arrays, regularization, state.point
            )
            check_code(code, block)
            return len(order)
        assert state.pool is not None
        rule = active.Rule(step.kind, step.line_search, self.cache, _KEPT, self.average.code)
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

    def _generic_steps(self, problem: BlockProblem, state: BlockState, order: I64) -> int:
        """`_compiled_steps` with any oracle, called from Python for `batch` blocks at a time."""
        point, gaps, regularization, step = state.point, state.gaps, problem.regularization, self.step
        direction = np.empty(len(point.w))
        calls = 0

        def kept(block: int) -> int:
            return int(active.kept_answer(block, gaps, regularization, point, state.pool)) if self.cache else -1

        for first in range(0, len(order), self.batch):
            part = order[first : first + self.batch].tolist()
            places = [kept(block) for block in part]
            due = [block for block, place in zip(part, places, strict=True) if place < 0]
            corners = ask(problem, np.array(due), point.w) if due else None
            found = iter(zip(corners.dense, corners.losses.tolist(), strict=True) if corners else ())
            calls += len(due)
            for block, place in zip(part, places, strict=True):
                if place >= 0 and self.batch > 1:
                    place = kept(block)
                    if place < 0:  # other steps of the batch have closed its gap
                        continue
                elif place < 0:
                    psi, loss = next(found)
                    if len(gaps.last) > 0:
                        hinge = loss - float(psi @ point.w)
                        kernels.set_gap(gaps, block, kernels.block_gap(block, hinge, point.w, regularization, point))
                    if isinstance(step, OwnLength):
                        loss_gain = kernels.aim(block, psi, loss, regularization, point)
                        along = Along(*kernels.look_along(regularization, psi, loss_gain, point))
                        kernels.move_block(block, kernels.share_of(float(step.rule(along))), psi, loss_gain, point)
                    elif state.pool is None:
                        kernels.forward_step(block, psi, loss, step.line_search, regularization, point)
                    else:
                        if not active.make_room(block, _KEPT, state.pool):
                            state.pool = larger_pool(state.pool, block)
                        place = active.take_answer(block, psi, loss, regularization, point, state.pool)
                if state.pool is not None:
                    active.active_step(
                        block,
                        place,
                        step.kind,
                        step.line_search,
                        self.cache,
                        regularization,
                        direction,
                        point,
                        state.pool,
                    )
                kernels.count_step(kernels.share_of(float(self.average.weight(int(point.steps[0])))), point)
        return calls

    def _is_stale(self, state: BlockState) -> bool:
        return isinstance(self.order, ByGap) and state.sweeps >= self.order.refresh

    def _refresh(self, state: BlockState, answers: Answers) -> None:
        point = state.point
        values = point.block_loss - state.origin.regularization * (point.block_w @ point.w)
        state.gaps.last[:] = np.maximum(answers.hinges / len(values) - values, 0.0)
        state.sweeps = 0

    def audit(self, problem: BlockProblem, state: BlockState | SparseState) -> Audit:
        averaged = self.average is not Average.NONE and state.point.steps[0] > 0
        if isinstance(state, SparseState):
            return sparse.audit(problem, state, averaged)
        point = state.point
        v, loss = (point.mean_v, point.mean_loss) if averaged else (point.v, point.loss)
        w = clip(v, point.n_nonpositive)
        answers = ask_all(problem, w)
        used = not averaged and self._is_stale(state)
        if used:
            self._refresh(state, answers)
        found = audit_at(problem, w, float(loss[0]), answers, used=used)
        return replace(found, cheap=state.cheap)

    def dual_point(self, problem: BlockProblem, state: BlockState | SparseState) -> DualPoint:
        if isinstance(state, SparseState):
            return sparse.dual_point(state)
        return of_blocks(state.point, state.pool)
