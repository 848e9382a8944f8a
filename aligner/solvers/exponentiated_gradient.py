"""Online exponentiated gradient in the marginal dual  [CGKCB08].

[CGKCB08] Collins, Globerson, Koo, Carreras and Bartlett 2008, Exponentiated gradient algorithms for conditional random
fields and max-margin Markov networks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aligner.problem import BlockProblem, SaddleProblem, saddle_of
from aligner.solvers.audit import ask_all, clip, judge
from aligner.solvers.orders import Permuted, Visiting
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.saddle import sum_blocks
from corpora.ragged import F64

_CONFIDENCE = 5.0
"""The potential of the parts of the targets, where steps begin: from 0 the first duals are far below that of the
targets, from 10 the other answers take a dozen passes to appear."""

_FASTER = 1.5
"""What a block's η is multiplied by after a step; 1.05 in the source takes twice the passes, 2 twice the tries."""

_LONGEST = 100.0
"""The longest η: beyond it potentials of answers that others must replace later would take long to come back."""

_TRIES = 12
"""Steps tried of a block, each half as long as the one before, until the dual does not fall. Then it stays where it is:
what falls by such short ones is what an inexact projection, or rounding, has lost."""

_ROUNDING = 1e-12
"""Of what n times the dual gains by a step: an answer that is at a corner already only moves by rounding."""


@dataclass(eq=False)
class PotentialState:
    """A point of the marginal dual by its potentials.

    potentials, z: (parts[-1],), z the answers' marginals.  v: (d,), loss: what `DualPoint` says.  rates: (n,) η of the
    blocks.
    """

    origin: Origin
    rng: np.random.Generator
    potentials: F64
    z: F64
    v: F64
    loss: float
    rates: F64


@dataclass(frozen=True)
class ExponentiatedGradient:
    """Exponentiated gradient steps of one block at a time: α_i(z) ∝ exp ⟨θ_i, z⟩, by a potential for each part.

    θ_i ← θ_i + η_i (F_iᵀ w + c_i), and w follows the expectations, which the problem's `nearest` knows (of chains by
    forward-backward). η_i is halved until the dual does not fall, and grows by half after each step.

    Guarantee: the dual never falls; O((n + log |Z|) R²/(λε)) steps to ε, for η small enough  [CGKCB08 Thm. 2].
    Solver memory: two numbers for each part. No oracle is asked but for audits.
    """

    order: Visiting = Permuted()  # noqa: RUF009 - frozen

    @property
    def signature(self) -> str:
        return f"exponentiated-gradient|order:{self.order.name}"

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> PotentialState:
        """Near the targets.  Raises SettingError where there are no marginals."""
        saddle, n = saddle_of(problem, "exponentiated-gradient", "entropic"), problem.n_blocks
        potentials = _CONFIDENCE * saddle.target
        z = saddle.nearest(np.arange(n), potentials, "entropic")
        state = PotentialState(Origin(self, problem), rng, potentials, z, np.empty(0), 0.0, np.ones(n))
        self._settle(saddle, state)
        return state

    def resume(self, problem: BlockProblem, state: PotentialState) -> None:
        """Go on from the same dual point in a problem that differs in λ only: v(z) is scaled by 1/λ."""
        state.v *= state.origin.regularization / problem.regularization
        state.origin = Origin(self, problem)

    def sweep(self, problem: SaddleProblem, state: PotentialState) -> int:
        for block in self.order.draw(problem.n_blocks, state.rng).tolist():
            self._step(problem, state, block)
        self._settle(problem, state)
        return 0

    def _step(self, problem: SaddleProblem, state: PotentialState, block: int) -> None:
        chosen, own = np.array([block]), slice(*problem.parts[block : block + 2])
        w, scale = clip(state.v, problem.n_nonpositive), problem.regularization * problem.n_blocks
        gradient = problem.scores(chosen, w)
        for tries in range(_TRIES):
            rate = 0.5**tries * state.rates[block]
            potentials = state.potentials[own] + rate * gradient
            z = problem.nearest(chosen, potentials, "entropic")
            change = problem.moments(chosen, z - state.z[own])
            slope, curvature = float(change[:-1] @ w), float(change[:-1] @ change[:-1]) / (2.0 * scale)
            falls = change[-1] + slope - curvature < -_ROUNDING * (1.0 + abs(slope))
            if not falls:  # nor where something is not finite, which the audit tells
                break
        else:
            state.rates[block] *= 0.5
            return
        state.rates[block] = min(_FASTER * rate, _LONGEST)
        state.potentials[own], state.z[own] = potentials, z
        state.v -= change[:-1] / scale
        state.loss += change[-1] / problem.n_blocks

    def _settle(self, problem: SaddleProblem, state: PotentialState) -> None:
        """Make v and ℓ anew from the marginals, free of rounding errors."""
        target, n = problem.target, problem.n_blocks
        moved = sum_blocks(problem, lambda blocks, own: problem.moments(blocks, state.z[own] - target[own])) / n
        state.v, state.loss = -moved[:-1] / problem.regularization, float(moved[-1])

    def audit(self, problem: SaddleProblem, state: PotentialState) -> Audit:
        w = clip(state.v, problem.n_nonpositive)
        return judge(problem, w, state.loss, ask_all(problem, w))

    def dual_point(self, problem: SaddleProblem, state: PotentialState) -> DualPoint:
        return DualPoint(state.v, state.loss, marginals=state.z)
