"""Block-coordinate Frank-Wolfe: an order of the blocks times a step  [LJSP13 Alg. 4]."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from aligner._kernels import Blocks
from aligner.problem import BlockProblem, check_code
from aligner.solvers._block_kernels import average_weight, forward_steps
from aligner.solvers.audit import ask_all, dual_value, primal_value
from aligner.solvers.orders import Order, Permuted
from aligner.solvers.records import F64, Audit
from aligner.solvers.steps import Average, Forward

_BLOCKS_AT_ONCE = 4096
"""Blocks of one compiled call, between which Ctrl-C is heard."""


@runtime_checkable
class CompiledProblem(Protocol):
    """A problem whose arrays compiled solvers can work on."""

    @property
    def blocks(self) -> Blocks | None: ...


@dataclass(eq=False)
class BlockState:
    """w = Σ block_w (n, d) and loss = Σ block_loss (n,), their running average, and the steps done so far."""

    rng: np.random.Generator
    w: F64
    block_w: F64
    block_loss: F64
    mean_w: F64
    loss: F64 = field(default_factory=lambda: np.zeros(1))
    mean_loss: F64 = field(default_factory=lambda: np.zeros(1))
    steps: int = 0


@dataclass(frozen=True)
class Block:
    """Block-coordinate Frank-Wolfe on the dual of the structured SVM  [LJSP13 Alg. 4].

    Guarantee: the expected gap falls as O(1/k) after k steps, for uniform order; with line search the dual never
    falls. Solver memory: n · d numbers for the blocks' shares of w.
    """

    order: Order = Permuted()  # noqa: RUF009 - frozen
    step: Forward = Forward()  # noqa: RUF009 - frozen
    average: Average = Average.NONE

    @property
    def signature(self) -> str:
        return f"bcfw|order:{self.order.name}|step:{self.step.name}|average:{self.average.value}"

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> BlockState:
        n, d = problem.n_blocks, problem.n_features
        return BlockState(rng, np.zeros(d), np.zeros((n, d)), np.zeros(n), np.zeros(d))

    def sweep(self, problem: BlockProblem, state: BlockState) -> int:
        order = self.order.draw(problem.n_blocks, state.rng)
        blocks = problem.blocks if isinstance(problem, CompiledProblem) else None
        if blocks is not None:
            for first in range(0, len(order), _BLOCKS_AT_ONCE):
                part = order[first : first + _BLOCKS_AT_ONCE]
                code, at_fault = forward_steps(
                    part, state.steps, self.step.line_search, self.average.code, blocks, problem.regularization,
                    state.w, state.loss, state.block_w, state.block_loss, state.mean_w, state.mean_loss,
                )  # fmt: skip
                check_code(code, at_fault)
                state.steps += len(part)
        else:
            for block in order:
                self._step(problem, state, int(block))
        # The running sums collect rounding errors that would pass into the gap.
        state.w[:] = state.block_w.sum(axis=0)
        state.loss[0] = state.block_loss.sum()
        return len(order)

    def _step(self, problem: BlockProblem, state: BlockState, block: int) -> None:
        """One step in Python, for problems and oracles without compiled steps; the same arithmetic."""
        n, regularization = problem.n_blocks, problem.regularization
        corners = problem.corners(np.array([block]), state.w)
        corner_w = corners.psi[0] / (regularization * n)
        corner_loss = float(corners.losses[0]) / n
        difference = state.block_w[block] - corner_w
        loss_gain = corner_loss - float(state.block_loss[block])
        gamma = self.step.size(
            regularization, difference, state.w, loss_gain, decreasing=2.0 * n / (state.steps + 2.0 * n)
        )
        state.block_w[block] -= gamma * difference
        state.w -= gamma * difference
        state.block_loss[block] += gamma * loss_gain
        state.loss[0] += gamma * loss_gain
        rho = average_weight(self.average.code, state.steps)
        state.mean_w += rho * (state.w - state.mean_w)
        state.mean_loss += rho * (state.loss - state.mean_loss)
        state.steps += 1

    def audit(self, problem: BlockProblem, state: BlockState) -> Audit:
        averaged = self.average is not Average.NONE and state.steps > 0
        w, loss = (state.mean_w, state.mean_loss[0]) if averaged else (state.w, state.loss[0])
        answers = ask_all(problem, w)
        return Audit(w.copy(), primal_value(problem, w, answers), dual_value(problem, w, float(loss)))
