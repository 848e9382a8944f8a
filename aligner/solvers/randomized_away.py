"""Randomised away-step Frank-Wolfe: the oracle is called on random parts of the domain only  [KPd18 Alg. 3]."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from aligner.errors import SettingError
from aligner.problem import BlockProblem, Corners
from aligner.solvers import _active_kernels as kernels
from aligner.solvers._block_kernels import Point
from aligner.solvers.gap import ask, ask_all, audit_at
from aligner.solvers.orders import Permuted, Visiting, draw_blocks
from aligner.solvers.points import larger_pool, new_point, new_pool, of_blocks, rescale, settle
from aligner.solvers.records import Audit, DualPoint, Origin
from corpora.ragged import F64, I64


@runtime_checkable
class AtomicProblem(Protocol):
    """A problem of one block whose oracle can be called for some of its atoms."""

    @property
    def n_atoms(self) -> int: ...

    def best_of(self, atoms: I64, w: F64) -> Corners:
        """The best corner among these atoms, (m,) below n_atoms."""
        ...


@dataclass(eq=False)
class RandomizedState:
    """The dual point and the active set of each block."""

    origin: Origin
    rng: np.random.Generator
    point: Point
    pool: kernels.Pool


@dataclass(frozen=True)
class RandomizedAway:
    """Away-step Frank-Wolfe with the oracle over a random part of the domain and the active set  [KPd18 Alg. 3].

    In each round the oracle is called for a random `sample` of the blocks at the present w, at once, and its corners
    join the sets that the blocks keep. Then every block with a choice, in the sample or not, steps once: towards the
    best of its own corners or away from the worst of its active set, whichever promises more, by exact line search;
    a corner that loses all its weight is dropped. Steps are cheap beside the oracle, so a small sample is a good one:
    its corners are fresh, and weights are near their optimum before the oracle is called again. In a problem of one
    block, see `AtomicProblem`, the sample is of its atoms, and a round is one iteration of the source.

    order: whether the parts are drawn independently, as theory assumes, or cut from a permutation a pass; faster.
    sample: share of the blocks, or atoms, of a round, in (0, 1].
    Guarantee: the dual never falls. In uniform order the expected gap falls linearly, as (1 − η²ρ)^(k/2) after k
    rounds for atoms, η the sample's share, ρ the constant of the deterministic method  [KPd18, LJ15 Thm. 1].
    Solver memory: n · d numbers for the blocks' shares of w, and d for each corner in use.
    """

    order: Visiting = Permuted()  # noqa: RUF009 - frozen
    sample: float = 0.01

    def __post_init__(self) -> None:
        if not 0.0 < self.sample <= 1.0:
            raise SettingError(f"sample must be a share above 0 and at most 1, not {self.sample}")

    @property
    def signature(self) -> str:
        return f"randomized-away|order:{self.order.name}|sample:{self.sample:g}"

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> RandomizedState:
        n, d = problem.n_blocks, problem.n_features
        return RandomizedState(Origin(self, problem), rng, new_point(problem), new_pool(n, d))

    def resume(self, problem: BlockProblem, state: RandomizedState) -> None:
        """Go on from the same dual point in a problem that differs in λ only."""
        rescale(state.point, state.pool, state.origin.regularization / problem.regularization)
        state.origin = Origin(self, problem)

    def sweep(self, problem: BlockProblem, state: RandomizedState) -> int:
        size = problem.n_atoms if isinstance(problem, AtomicProblem) else problem.n_blocks
        share = max(1, round(self.sample * size))
        order = draw_blocks(self.order, size, state.rng)
        direction = np.empty(problem.n_features)
        for first in range(0, size, share):
            blocks = order[first : first + share]
            if isinstance(problem, AtomicProblem):
                blocks, corners = np.zeros(1, np.int64), problem.best_of(blocks, state.point.w)
            else:
                corners = ask(problem, blocks, state.point.w)
            taken = 0
            while taken < len(blocks):
                taken = kernels.take_answers(
                    blocks, taken, corners.dense, corners.losses, problem.regularization, state.point, state.pool
                )
                if taken < len(blocks):
                    state.pool = larger_pool(state.pool, int(blocks[taken]))
            everyone = state.rng.permutation(problem.n_blocks)
            kernels.away_steps(everyone, problem.regularization, direction, state.point, state.pool)
        settle(state.point, state.pool)
        return problem.n_blocks  # an order is one pass; over all atoms, it is as much as one whole call

    def audit(self, problem: BlockProblem, state: RandomizedState) -> Audit:
        w = state.point.w.copy()
        return audit_at(problem, w, float(state.point.loss[0]), ask_all(problem, w))

    def dual_point(self, problem: BlockProblem, state: RandomizedState) -> DualPoint:
        return of_blocks(state.point, state.pool)
