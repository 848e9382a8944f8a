"""Block-coordinate Frank-Wolfe: an order of the blocks times a step  [LJSP13 Alg. 4, OAD16].

[RSSS06] Rousu, Saunders, Szedmak and Shawe-Taylor 2006, Kernel-based learning of hierarchical multilabel
classification models.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.solvers import _active_kernels as active
from aligner.solvers import _block_kernels as kernels
from aligner.solvers import sparse
from aligner.solvers.active import larger_pool, new_point, new_pool, of_blocks, rescale
from aligner.solvers.audit import Answers, ask_all, clip, judge
from aligner.solvers.averages import Average
from aligner.solvers.orders import ByGap, Order, Permuted, Uniform
from aligner.solvers.rates import Rate, step_size, with_bound
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.sparse import SparseState
from aligner.solvers.steps import BlockStep, Forward
from aligner.svm.corners import ask, check_code
from aligner.svm.protocols import BlockProblem, GoodCorner, Wanted
from corpora.ragged import I64

_BLOCKS_AT_ONCE = 8192
"""Blocks of one compiled call, between which Ctrl-C is heard."""

_SWEEPS_BETWEEN_REFRESHES = 2
"""Sweeps by gap after which all gaps are asked for anew. [OAD16] do so after 10; on word alignment 2 takes the fewest
oracle calls, those of refreshing included, because a few steps move w, and with it the gaps of all blocks."""

_DRAWS_A_SWEEP = 16
"""Times a sweep that blocks are drawn by the gaps known then."""

_KEPT = 20
"""Corners that a block keeps, at most, to use in place of the oracle; more only if they all have weight."""


@dataclass(eq=False)
class BlockState:
    """The dual point and, where the solver uses them, the gaps and corners of the blocks.

    sweeps: since all gaps were last asked for.
    kept: what the problem knows of its earlier answers, see `BlockProblem.good_corner`.  rate: what theory knows of the
    solver here, None where it is nothing, or not asked for.  start: the gap at which steps began.
    cheap: steps on corners that the oracle was not asked for.
    """

    origin: Origin
    rng: np.random.Generator
    point: kernels.Point
    gaps: kernels.Gaps
    pool: active.Pool | None
    kept: Any
    rate: Rate | None
    start: float = inf
    sweeps: int = 0
    cheap: int = 0


@dataclass(frozen=True)
class Block:
    """Block-coordinate Frank-Wolfe on the dual of the structured SVM: an order × a step.

    Guarantee: with forward steps in uniform order the expected gap falls as O(1/k) after k steps  [LJSP13 Thm. 3];
    with line search the dual never falls; away and pairwise steps converge linearly  [OAD16 App. B].
    repeats: steps in a row of each block drawn, each with the oracle's answer at the w of the last  [RSSS06].
    cache: each block keeps corners and uses the best of them where it promises enough, instead of the oracle
    [OAD16 §3.2]; worth it where the oracle is dear.
    error, share: δ and ν of answers that need not be exact, see `solvers.rates`: an additive error of ½ δ γ_k D_i²/(λn)
    in H_i at step k, for oracles that can use it, and a cheap corner in place of the oracle's where it provably has a
    share ν of the block's gap. Such steps are taken in Python.
    Solver memory: n · d numbers for the blocks' shares of w, and d more for each corner kept; where corners are sparse
    2 numbers for each feature that those of a block have touched, see `sparse`.
    """

    order: Order = Permuted()  # noqa: RUF009 - frozen
    step: BlockStep = Forward()  # noqa: RUF009 - frozen
    average: Average = Average.NONE
    cache: bool = False
    repeats: int = 1
    error: float = 0.0
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise SettingError(f"repeats must be at least 1, not {self.repeats}")
        if not 0 <= self.error < inf:
            raise SettingError(f"error must be a number from 0 on, not {self.error}")
        if not 0 < self.share <= 1:
            raise SettingError(f"share must be above 0 and at most 1, not {self.share}")

    @property
    def signature(self) -> str:
        parts = ["bcfw", f"order:{self.order.name}", f"step:{self.step.name}", f"average:{self.average.value}"]
        parts += ["cache"] * self.cache + [f"repeats:{self.repeats}"] * (self.repeats > 1)
        parts += [f"error:{self.error:g}|share:{self.share:g}"] * (not self._asks_exactly)
        return "|".join(parts)

    @property
    def _is_forward(self) -> bool:
        """Whether nothing is known of a block but its share."""
        plain = isinstance(self.step, Forward) and not isinstance(self.order, ByGap)
        return plain and not self.cache and self._asks_exactly

    @property
    def _asks_exactly(self) -> bool:
        return self.error == 0 and self.share == 1

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> BlockState | SparseState:
        n, d, origin = problem.n_blocks, problem.n_features, Origin(self, problem)
        keeps_corners = self.cache or not isinstance(self.step, Forward)
        known = n if keeps_corners or isinstance(self.order, ByGap) else 0
        gaps = kernels.Gaps(np.full(known, np.inf), np.zeros(1))
        known = isinstance(self.order, Uniform) and not keeps_corners and self.repeats == 1
        diameters = problem.diameters() if known or self.error > 0 else None
        rate = None if diameters is None else Rate(diameters, share=self.share, error=self.error, known=known)
        if problem.sparse and self._is_forward:
            return sparse.init(origin, problem, rng, rate)
        point, kept = new_point(problem, self.share), None if self._asks_exactly else problem.nothing_kept()
        pool = new_pool(n, d) if keeps_corners else None
        return BlockState(origin, rng, point, gaps, pool, kept, rate)

    def resume(self, problem: BlockProblem, state: BlockState | SparseState) -> None:
        """Go on from the same dual point α in a problem that differs in λ only: v(α) is scaled by 1/λ."""
        if isinstance(state, SparseState):
            sparse.resume(self, problem, state)
            return
        rescale(state.point, state.pool, state.origin.regularization / problem.regularization)
        state.origin = Origin(self, problem)
        state.point.steps[0] = 0  # averages and decreasing steps begin anew
        state.gaps.last[:] = np.inf

    def sweep(self, problem: BlockProblem, state: BlockState | SparseState) -> int:
        if isinstance(state, SparseState):
            return sparse.sweep(self, problem, state)
        point, gaps, n = state.point, state.gaps, problem.n_blocks
        calls = 0
        if self._is_stale(state):
            self._refresh(state, ask_all(problem, point.w, exact=False))
            calls += n
        gaps.total[0] = gaps.last[np.isfinite(gaps.last)].sum()  # free of what rounding has collected
        state.sweeps += 1
        generic = problem.compiled() is None or not self._asks_exactly
        take_steps = self._generic_steps if generic else self._compiled_steps
        by_gap = self.order if isinstance(self.order, ByGap) and np.isfinite(gaps.last).all() else None
        at_once = ceil(n / _DRAWS_A_SWEEP) if by_gap else _BLOCKS_AT_ONCE
        order = self.order.draw(n, state.rng)
        for first in range(0, n, at_once):
            part = order[first : first + at_once]
            if by_gap:
                part = by_gap.redraw(gaps.last, len(part), state.rng)
            part = np.repeat(part, self.repeats)
            new = take_steps(problem, state, part)
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

    def _compiled_steps(self, problem: BlockProblem, state: BlockState, order: I64) -> int:
        """Steps of blocks in this order; returns the oracle calls."""
        blocks = problem.compiled()
        if state.pool is None:
            code, block = kernels.forward_steps(
                order, state.gaps, self.step.line_search, self.average.code, blocks,
                problem.regularization, state.point,
            )  # fmt: skip
            check_code(code, block)
            return len(order)
        rule = active.Rule(self.step.kind, self.step.line_search, self.cache, _KEPT, self.average.code)
        done, calls = 0, 0
        while done < len(order):
            code, block, done, new = active.active_steps(
                order, done, state.gaps, rule, blocks, problem.regularization, state.point,
                state.pool,
            )  # fmt: skip
            calls += new
            if code == active.FULL:
                state.pool = larger_pool(state.pool, block)
            else:
                check_code(code, block)
        return calls

    def _generic_steps(self, problem: BlockProblem, state: BlockState, order: I64) -> int:
        """The same steps on corners that the problem gives one by one, with any oracle."""
        point, gaps, regularization = state.point, state.gaps, problem.regularization
        direction = np.empty(len(point.w))
        calls = 0
        for block in order.tolist():
            place = active.kept_answer(block, gaps, regularization, point, state.pool) if self.cache else -1
            if place < 0:
                corner = self._corner(problem, state, block)
                calls += corner.asked
                if len(gaps.last) > 0:
                    hinge = corner.loss - float(corner.psi @ point.w)
                    kernels.set_gap(gaps, block, kernels.block_gap(block, hinge, point.w, regularization, point))
                if state.pool is None:
                    kernels.forward_step(block, corner.psi, corner.loss, self.step.line_search, regularization, point)
                else:
                    if not active.make_room(block, _KEPT, state.pool):
                        state.pool = larger_pool(state.pool, block)
                    place = active.take_answer(block, corner.psi, corner.loss, regularization, point, state.pool)
            if state.pool is not None:
                active.active_step(
                    block, place, self.step.kind, self.step.line_search, self.cache, regularization, direction, point,
                    state.pool,
                )  # fmt: skip
            kernels.count_step(self.average.code, point)
        return calls

    def _corner(self, problem: BlockProblem, state: BlockState, block: int) -> GoodCorner:
        """The oracle's corner of a block, or one that is good enough  [LJSP13 App. C]."""
        point = state.point
        if self._asks_exactly:
            corners = ask(problem, np.array([block]), point.w)
            return GoodCorner(corners.dense[0], float(corners.losses[0]), True)
        n, regularization = problem.n_blocks, problem.regularization
        floor = n * float(point.block_loss[block] - regularization * (point.block_w[block] @ point.w))
        error = 0.0
        if state.rate is not None:
            gamma = step_size(n, self.share, int(point.steps[0]))
            error = 0.5 * self.error * gamma * float(state.rate.diameters[block]) ** 2 / (regularization * n)
        good = problem.good_corner(block, point.w, Wanted(floor, self.share, error), state.kept)
        return replace(good, psi=np.array(good.psi, np.float64), loss=float(good.loss))

    def _is_stale(self, state: BlockState) -> bool:
        return isinstance(self.order, ByGap) and state.sweeps >= _SWEEPS_BETWEEN_REFRESHES

    def _refresh(self, state: BlockState, answers: Answers) -> None:
        point = state.point
        values = point.block_loss - state.origin.regularization * (point.block_w @ point.w)
        state.gaps.last[:] = np.maximum(answers.hinges / len(values) - values, 0.0)
        state.sweeps = 0

    def audit(self, problem: BlockProblem, state: BlockState | SparseState) -> Audit:
        if isinstance(state, SparseState):
            return sparse.audit(self, problem, state)
        point = state.point
        averaged = self.average is not Average.NONE and point.steps[0] > 0
        v, loss = (point.mean_v, point.mean_loss) if averaged else (point.v, point.loss)
        w = clip(v, point.n_nonpositive)
        answers = ask_all(problem, w)
        used = not averaged and self._is_stale(state)
        if used:
            self._refresh(state, answers)
        found = judge(problem, w, float(loss[0]), answers, used=used)
        found = with_bound(found, state, problem.regularization, int(point.steps[0]), self.average)
        return replace(found, cheap=state.cheap)

    def dual_point(self, problem: BlockProblem, state: BlockState | SparseState) -> DualPoint:
        if isinstance(state, SparseState):
            return sparse.dual_point(state)
        return of_blocks(state.point, state.pool)
