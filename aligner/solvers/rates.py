"""How fast Frank-Wolfe's gaps fall by theory, and what answers of an oracle keep it so fast  [LJSP13 App. C].

The dual is curved by C_i = λ max ‖(ψ_i(z) − ψ_i(z'))/(λn)‖² = D_i²/(λn²) in block i, whose diameter D_i is at most
2 max_z ‖ψ_i(z)‖, and by C <= (Σ_i D_i)²/(λn²) in all together; where weights are clipped it is curved less.

Let step k, of size γ_k = 2n/(νk + 2n) or by line search, be towards an answer z of block i, drawn uniformly, with

    H_i(z) − floor >= ν (max H_i − floor) − ½ δ γ_k n C_i,    n C_i = D_i²/(λn),    floor = n (ℓ_i − λ w_i·w),

where the floor is H_i of the block's present mixture. It gains at least ν γ_k gap/n − ½ γ_k² (1 + δ) Σ_i C_i/n in the
mean, and so, by induction,

    D* − D_k <= γ_k Q,    Q = (1 + δ) Σ_i C_i/ν + h_0,    h_0 = D* − D_0                       [LJSP13 Thm. C.1].

Added up with weights k, the gains bound the gap of the weighted average, and so that of the best of all iterates, by
6n Q/(ν (k + 1)) [LJSP13 Thm. C.3]. The gap of the last is at most min over γ <= 1 of (D* − D_k)/γ + ½ γ C, as the exact
step of all blocks together could else gain more than there is. Frank-Wolfe on all blocks at once is the case of n = 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any

from aligner.solvers.averages import Average
from aligner.solvers.records import Audit
from corpora.ragged import F64


def step_size(n: int, share: float, step: int) -> float:
    """γ_k = 2n/(νk + 2n).  n: blocks.  share: ν."""
    return 2.0 * n / (share * step + 2.0 * n)


@dataclass(frozen=True)
class Rate:
    """The constants of a method on a problem.

    diameters: (n,) at least D_i.  at_once: whether a step is one of all blocks.  share: ν.  error: δ.
    known: whether theory knows the order and the steps.
    """

    diameters: F64
    at_once: bool = False
    share: float = 1.0
    error: float = 0.0
    known: bool = True

    def gap_bound(self, regularization: float, start: float, step: int, average: Average) -> float | None:
        """What the gap is at most after these steps, in the mean; None where no theory is known.

        start: at least h_0, such as the first gap.
        """
        n = len(self.diameters)
        whole = float(self.diameters.sum()) ** 2 / (regularization * n**2)
        blocks = whole if self.at_once else float(self.diameters @ self.diameters) / (regularization * n**2)
        n = 1 if self.at_once else n
        constant = (1.0 + self.error) * blocks / self.share + start
        if not self.known or constant == inf or average not in (Average.NONE, Average.WEIGHTED):
            return None
        if average is Average.WEIGHTED:
            return 6.0 * n * constant / (self.share * (step + 1))
        left = step_size(n, self.share, step) * constant
        return sqrt(2.0 * left * whole) if 2.0 * left <= whole else left + 0.5 * whole


def with_bound(found: Audit, state: Any, regularization: float, step: int, average: Average) -> Audit:
    """The audit of a state after so many steps with the bound that its `rate` gives; the first sets its `start`."""
    if state.rate is None:
        return found
    state.start = found.primal - found.dual if step == 0 else state.start
    return replace(found, bound=state.rate.gap_bound(regularization, state.start, step, average))
