"""Approximate oracles for any problem, with their convergence guarantee  [LJSP13 App. C]."""

from dataclasses import dataclass, field
from math import inf

import numpy as np
import numpy.typing as npt

from aligner.errors import SettingError
from aligner.problem import BlockDefaults, BlockProblem, Corners, OfProblem
from aligner.solvers.gap import ask
from corpora.ragged import F64, I64
from corpora.threads import shared_property

_KEPT = 5
"""Corners that a block keeps."""


@dataclass(eq=False)
class Approximate(OfProblem, BlockDefaults):
    """A problem whose oracle is called for only some of its answers; the others are corners that blocks keep.

    Let step k be of size γ_k = 2n/(νk + 2n), or by line search, towards an answer z of block i, drawn uniformly, with

        E H_i(z) − floor >= ν (max H_i − floor) − ½ δ γ_k D_i²/(λn),    floor = n (ℓ_i − λ w_i·w),

    where D_i is the largest distance of two corners ψ_i and the floor H_i of the block's present mixture. Then

        E[D* − D_k] <= γ_k Q,    Q = (1 + δ)/ν · Σ_i D_i²/(λn²) + D* − D_0                    [LJSP13 Thm. C.1]

    and the expected gap of the weighted average, or of the best iterate, is at most 6n Q/(ν (k + 1))  [Thm. C.3].

    share: ν, the probability that the oracle is called. Otherwise the answer is the best kept corner, towards which
    line search never loses: so on average a step gains at least ν times as much as an exact one.
    error: δ. An exact answer at w' is at w within D_i ‖w − w'‖ of the best; while that is at most the error that is
    allowed, it is taken again.  diameters: (n,) D_i or more, or one number; required with an error.
    State: the problem keeps corners, d numbers each; so each run needs a new problem, and takes single blocks in turn,
    as `Block` does.  asked: how many answers, of all `steps`, were oracle calls.
    Audits are exact: the certificate holds whatever the answers are.
    """

    problem: BlockProblem
    share: float = 1.0
    error: float = 0.0
    diameters: npt.ArrayLike = inf
    seed: int = 0
    asked: int = field(default=0, init=False)
    steps: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise SettingError(f"share must be above 0 and at most 1, not {self.share}")
        if not 0 <= self.error < inf:
            raise SettingError(f"error must be a number from 0 on, not {self.error}")
        if self.error > 0 and not np.isfinite(self.diameters).all():
            raise SettingError("an error needs the diameters of blocks")
        self._rng = np.random.default_rng(self.seed)
        self._kept: dict[int, tuple[F64, F64]] = {}  # (m, d) ψ and (m,) L, the latest last
        self._last: dict[int, F64] = {}  # w of the oracle's last answer

    @property
    def n_nonpositive(self) -> int:  # type: ignore[override]
        return self.problem.n_nonpositive

    @property
    def signature(self) -> str:
        return f"{self.problem.signature}|share:{self.share:g}|error:{self.error:g}"

    @shared_property
    def _reach(self) -> F64:
        """How far w may move, (n,), from where a block's answer was exact, at a step of size 1: ½ δ D_i/(λn)."""
        reach = 0.5 * self.error / (self.regularization * self.n_blocks)
        return np.broadcast_to(reach * np.asarray(self.diameters if self.error else 0.0, np.float64), self.n_blocks)

    def corners(self, blocks: I64, w: F64) -> Corners:
        found = [self._corner(block, w) for block in blocks.tolist()]
        return Corners(np.array([psi for psi, _ in found]), np.array([loss for _, loss in found]))

    def _corner(self, block: int, w: F64) -> tuple[F64, float]:
        step, n = self.steps, self.n_blocks
        self.steps += 1
        psi, losses = self._kept.get(block, (np.zeros((1, len(w))), np.zeros(1)))  # the target
        if block in self._last:
            gone = float(np.linalg.norm(w - self._last[block]))
            if gone <= self._reach[block] * 2.0 * n / (self.share * step + 2.0 * n):
                return psi[-1], float(losses[-1])
        if self._rng.random() >= self.share:
            best = int((losses - psi @ w).argmax())
            return psi[best], float(losses[best])
        self.asked += 1
        found = ask(self.problem, np.array([block]), w)
        self._kept[block] = np.vstack([psi[1 - _KEPT :], found.dense]), np.append(losses[1 - _KEPT :], found.losses)
        self._last[block] = w.copy()
        return found.dense[0], float(found.losses[0])

    def exact_corners(self, blocks: I64, w: F64) -> Corners:
        return self.problem.exact_corners(blocks, w)
