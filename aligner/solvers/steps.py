"""Steps: how a block moves among its corners.

A new rule is a class here, its name in STEPS, and its arithmetic in `_active_kernels.active_step`; a length of one's
own is a function, see `OwnLength`.

[LJ15] Lacoste-Julien and Jaggi 2015, On the global linear convergence of Frank-Wolfe optimization variants.
[TTP22] Tsuji, Tanaka and Pokutta 2022, Pairwise conditional gradients without swap steps and sparser kernel herding.
Other sources: docs/how-it-works.md.
"""

from collections.abc import Callable
from dataclasses import dataclass

from aligner.solvers import _active_kernels as kernels
from aligner.solvers._block_kernels import DECREASING as DECREASING_LENGTH
from aligner.solvers._block_kernels import LINE_SEARCH, OWN, Along


@dataclass(frozen=True)
class Forward:
    """Step from the block's point towards the corner the oracle found, by a share γ of the way.

    line_search: take the γ in [0, 1] of greatest dual gain, so that the dual never falls. Otherwise, at step
    k = 0, 1, ..., γ = 2n/(k + 2n) where a step is of one block, and 2/(k + 2) where it is of all  [LJSP13 Alg. 4, 2].
    """

    line_search: bool = True
    kind: int = kernels.FORWARD

    @property
    def name(self) -> str:
        return "line-search" if self.line_search else "decreasing"

    @property
    def length(self) -> int:
        """The kind of length in the kernels."""
        return LINE_SEARCH if self.line_search else DECREASING_LENGTH


@dataclass(frozen=True)
class OwnLength:
    """Forward steps of a length of one's own, which is cut to [0, 1].

    rule: `Along` -> γ. With other lengths than those of `Forward` nothing is promised, and the certificate holds.
    Compiled steps need a function that numba has compiled (`numba.njit`).
    """

    rule: Callable[[Along], float]

    name = "own"
    length = OWN
    kind = kernels.FORWARD
    line_search = False


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


BlockStep = Forward | OwnLength | Away | Pairwise | Blended

DECREASING = Forward(line_search=False)
FORWARD_STEPS: dict[str, Forward] = {step.name: step for step in (Forward(), DECREASING)}

STEPS: dict[str, BlockStep] = {**FORWARD_STEPS, **{step.name: step for step in (Away(), Pairwise(), Blended())}}
