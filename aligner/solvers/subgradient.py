"""Stochastic subgradient descent on the primal, with the Pegasos step and exact certificates."""

from dataclasses import dataclass

import numpy as np

from aligner.problem import BlockProblem
from aligner.solvers import _subgradient_kernels as kernels
from aligner.solvers.averages import Average
from aligner.solvers.gap import ask, ask_all, clip, dual_value, primal_value
from aligner.solvers.orders import Permuted, Visiting, draw_blocks
from aligner.solvers.records import Audit, DualPoint, Origin
from aligner.solvers.simplex import Mixture
from aligner.templates import check_code
from corpora.ragged import F64

_BLOCKS_AT_ONCE = 4096
"""Blocks of one compiled call, between which Ctrl-C is heard."""


@dataclass(eq=False)
class WalkState:
    """The walk so far, and the mixture of its dual points of greatest dual value."""

    origin: Origin
    rng: np.random.Generator
    walk: kernels.Walk
    lower: Mixture


@dataclass(frozen=True)
class StochasticSubgradient:
    """Stochastic subgradient descent with the Pegasos step [Shalev-Shwartz et al. 2007; Ratliff et al. 2007].

    w ← (1 − γ) w + γ ψ_i(z)/λ, γ = 1/k at visit k, z the oracle's answer for block i at w  [LJSP13 §3]. The whole
    pass is compiled if the problem has kernels. If weights must not be above 0, the walk is in v, and w is clip(v).

    Guarantee: in uniform order the expected suboptimality is O(log k / k), and O(1/k) for the suffix average
    [Rakhlin et al. 2012]. Solver memory: O(d), two numbers for each block, and the points of the certificate.

    Certificate: visits put more weight on some blocks than on others, m_i on block i (n · visits_i / k for the last
    iterate); a dual point has 1 on each, so (w, ℓ) is none. But c (w, ℓ), with c = 1/max_i m_i, becomes one if the
    rest 1 − c m_i of each block's weight goes to some corner: the oracle's answer at w, which an audit computes.
    All weight on these answers, the batch corner, is another dual point, and a good one if w is nearly optimal.
    The dual value is that of the best mixture of all such points so far, so it never falls; points without weight in
    the mixture are dropped, which leaves about d points of d numbers each.
    """

    order: Visiting = Permuted()  # noqa: RUF009 - frozen
    average: Average = Average.WEIGHTED

    @property
    def signature(self) -> str:
        return f"stochastic-subgradient|order:{self.order.name}|average:{self.average.value}"

    def init(self, problem: BlockProblem, rng: np.random.Generator) -> WalkState:
        n, d = problem.n_blocks, problem.n_features
        walk = kernels.Walk(
            sums=np.zeros(d),
            behind=np.zeros(d),
            loss_sum=np.zeros(1),
            loss_behind=np.zeros(1),
            w=np.zeros(d),
            steps=np.zeros(1, np.int64),
            visits=np.zeros(n, np.int64),
            reach=np.zeros(1),
            total=np.zeros(1),
            credit=np.zeros(n),
            n_nonpositive=problem.n_nonpositive,
        )
        return WalkState(Origin(self, problem), rng, walk, Mixture.of_target(d, problem.n_nonpositive))

    def sweep(self, problem: BlockProblem, state: WalkState) -> int:
        order = draw_blocks(self.order, problem.n_blocks, state.rng)
        average, regularization, walk = self.average.code, problem.regularization, state.walk
        compiled = problem.compiled()
        if compiled is None:
            for block in order.tolist():
                corners = ask(problem, np.array([block]), walk.w)
                kernels.visit(block, corners.dense[0], float(corners.losses[0]), average, regularization, walk)
        else:
            visit = compiled.fill(kernels.visit_sparsely if problem.sparse else kernels.visit_blocks)
            for first in range(0, len(order), _BLOCKS_AT_ONCE):
                part = order[first : first + _BLOCKS_AT_ONCE]
                check_code(*visit(part, average, compiled.arrays, regularization, walk))
        return len(order)

    def audit(self, problem: BlockProblem, state: WalkState) -> Audit:
        walk, lower = state.walk, state.lower
        averaged = self.average is not Average.NONE and walk.steps[0] > 0
        v, loss = iterate(walk, averaged=averaged)
        w = clip(v, problem.n_nonpositive)
        met = block_weights(walk, averaged=averaged)
        scale = 1.0 / met.max() if walk.steps[0] > 0 else 0.0
        answers = ask_all(problem, w, shares=1.0 - scale * met)
        lower.find(scale * v + answers.mix_w, scale * loss + answers.mix_loss)
        lower.find(answers.corner_w, answers.corner_loss)
        lower.optimise(problem.regularization)
        lower.keep(lower.weights > 0)
        return Audit(w, primal_value(problem, w, answers), dual_value(problem, lower.w, lower.loss))

    def dual_point(self, problem: BlockProblem, state: WalkState) -> DualPoint:
        return state.lower.dual_point


def iterate(walk: kernels.Walk, *, averaged: bool) -> tuple[F64, float]:
    """Return (v, ℓ) of the average or of the last iterate; 0 before any step."""
    reach, total = (walk.reach[0], walk.total[0]) if averaged else (1.0, float(max(1, walk.steps[0])))
    behind = 1.0 if averaged else 0.0
    v: F64 = (reach * walk.sums - behind * walk.behind) / total
    return v, float(reach * walk.loss_sum[0] - behind * walk.loss_behind[0]) / total


def block_weights(walk: kernels.Walk, *, averaged: bool) -> F64:
    """The weight m_i (n,) of each block in the average or in the last iterate, 1 on average; 0 before any step.

    In the last iterate m_i = n · visits_i / k; in the average m_i = n (visits_i A_k − Σ_t A_{t−1}) / Σ_j u_j, where t
    runs over the visits of the block  (`Walk`).
    """
    n = len(walk.visits)
    if averaged:
        weights: F64 = n * (walk.visits * walk.reach[0] - walk.credit) / walk.total[0]
        return weights
    return n * walk.visits / float(max(1, walk.steps[0]))
