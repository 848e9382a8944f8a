"""LogLoss: a smooth loss for any problem with marginals, such as logistic regression, conditional random fields.

[LMP01] Lafferty, McCallum and Pereira 2001, Conditional random fields.
[GS10] Gimpel and Smith 2010, Softmax-margin CRFs.
"""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from scipy.special import xlogy

from aligner.errors import SettingError
from aligner.problem import BlockProblem, OfProblem, Sums, marginals_of
from aligner.solvers.saddle import Spans, sum_blocks
from corpora.ragged import F64, I64
from corpora.threads import shared_property


@dataclass(frozen=True, eq=False)
class LogLoss(OfProblem):
    """The smooth loss of a problem with entropic marginals, for `Newton`  [BMN20].

        min_w  λ/2 ‖w‖² + 1/n Σ_i max_z [⟨s_i, z⟩ − τ Ω(z)] + τ Ω(y_i) − ⟨s_i, y_i⟩,     s_i = F_iᵀ w + κ c_i

    With Ω the negative entropy it is −log p(y_i): logistic regression of classes, a conditional random field of
    chains [LMP01].  temperature: τ > 0; the hinge loss is its limit at 0 with a margin of 1.
    margin: κ, the factor of the problem's losses; 1 is the softmax margin [GS10].
    Raises SettingError if the problem has no entropic marginals, or has weights that must not be above 0.
    """

    problem: BlockProblem
    temperature: float = 1.0
    margin: float = 0.0
    notes = ()

    def __post_init__(self) -> None:
        if not (0 < self.temperature < inf and 0 <= self.margin < inf):
            raise SettingError(
                f"temperature must be above 0 and margin at least 0, not {self.temperature}, {self.margin}"
            )
        if self.problem.n_nonpositive:
            raise SettingError("a Fenchel-Young loss knows no weights that must not be above 0")
        self._spans  # noqa: B018 - raises now where there are no marginals

    @property
    def signature(self) -> str:
        return f"fenchel-young|temperature:{self.temperature:g}|margin:{self.margin:g}|{self.problem.signature}"

    def rehearsal(self) -> None:
        """None: its kernels are compiled by the sums at the start, before the clock starts."""

    @property
    def prior(self) -> F64:
        return np.zeros(self.n_features)

    @shared_property
    def _spans(self) -> Spans:
        return Spans.of(marginals_of(self.problem, "a Fenchel-Young loss", "entropic"), "entropic")

    @shared_property
    def _costs(self) -> F64:
        """The losses c of all parts, (parts[-1],)."""
        return self._spans.marginals.scores(np.arange(self.n_blocks), np.zeros(self.n_features))

    def sums(self, w: F64, start: Any = None) -> Sums:
        """Return the mean loss at w and its gradient, without the regulariser.  ScoreError if w is not finite."""
        marginals, costs, tau = self._spans.marginals, self._costs, self.temperature

        def omega(z: F64, own: slice) -> float:
            return float((self._spans.counts(own) * (xlogy(z, z) - z)).sum())

        def work(blocks: I64, own: slice) -> F64:
            y, c = marginals.target[own], costs[own]
            scores = marginals.scores(blocks, w) - (1.0 - self.margin) * c
            z = marginals.nearest(blocks, scores / tau, "entropic")
            moments, spread = marginals.moments(blocks, z - y), tau * (omega(y, own) - omega(z, own))
            return np.append(moments[:-1], [float(scores @ (z - y)) + spread, self.margin * moments[-1] + spread])

        found = sum_blocks(marginals, work) / self.n_blocks
        return Sums(float(found[-2]), float(found[-1]), found[:-2])
