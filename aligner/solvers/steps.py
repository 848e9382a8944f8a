"""Steps: how a block moves among its corners.

A new rule is a class here, its name in STEPS, and its arithmetic in `_active_kernels.active_step`.

[LJ15] Lacoste-Julien and Jaggi 2015, On the global linear convergence of Frank-Wolfe optimization variants.
[TTP22] Tsuji, Tanaka and Pokutta 2022, Pairwise conditional gradients without swap steps and sparser kernel herding.
"""

from dataclasses import dataclass

from aligner.solvers import _active_kernels as kernels


@dataclass(frozen=True)
class Forward:
    """Step from the block's point towards the corner the oracle found.

    line_search: the step of greatest dual gain, clipped to [0, 1], so the dual never falls; otherwise
    γ = 2n/(k + 2n) at step k, for blocks, and 2/(k + 2) for whole passes  [LJSP13 Alg. 2 and 4].
    """

    line_search: bool = True
    kind: int = kernels.FORWARD

    @property
    def name(self) -> str:
        return "line-search" if self.line_search else "decreasing"


@dataclass(frozen=True)
class Away:
    """Step towards the oracle's corner or away from the active set's worst, whichever promises more.

    Guarantee: the expected gap falls linearly, exp(−ρk), with a constant of the polytope  [LJ15 Alg. 1; OAD16 App. B].
    """

    name: str = "away"
    line_search: bool = True
    kind: int = kernels.AWAY


@dataclass(frozen=True)
class Pairwise:
    """Move weight from the worst corner of the active set to the oracle's  [LJ15 Alg. 2; OAD16 App. B].

    Guarantee: linear but for steps that swap one corner for another; usually the fastest.
    """

    name: str = "pairwise"
    line_search: bool = True
    kind: int = kernels.PAIRWISE


@dataclass(frozen=True)
class Blended:
    """Pairwise among the corners in use, or towards the oracle's corner, whichever promises more  [TTP22 Alg. 1].

    Guarantee: as of Pairwise, but no step swaps one corner for another; the fewest corners are in use.
    """

    name: str = "blended"
    line_search: bool = True
    kind: int = kernels.BLENDED


BlockStep = Forward | Away | Pairwise | Blended

DECREASING = Forward(line_search=False)
FORWARD_STEPS: dict[str, Forward] = {step.name: step for step in (Forward(), DECREASING)}

STEPS: dict[str, BlockStep] = {**FORWARD_STEPS, **{step.name: step for step in (Away(), Pairwise(), Blended())}}
