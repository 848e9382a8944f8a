"""What solvers know of a structured problem: blocks, and corners of them that an oracle finds.  No words here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from aligner.svm import _corner_kernels as _kernels

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Corners:
    """Corners of m blocks.

    psi: (m, d) = ψ_i(z_i).  losses: (m,) = L_i(z_i).  mates: (sum J * B,) packed matchings: of each source word, which
    may have B links, the columns in ascending order, then -1.
    """

    psi: F64
    losses: F64
    mates: I32


class Problem(Protocol):
    """All that the driver knows of a problem: a mean over n blocks, and a regulariser."""

    @property
    def n_blocks(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def regularization(self) -> float: ...

    @property
    def signature(self) -> str: ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of how it is solved."""
        ...


class BlockProblem(Problem, Protocol):
    """All that Frank-Wolfe, cutting-plane and subgradient solvers know of a problem.

    min_w  λ/2 ‖w‖² + 1/n Σ_i max_z [L_i(z) − w·ψ_i(z)]   [SPEC §3], with a block for each i, over the w whose last
    n_nonpositive coordinates are at most 0. For a dual point α with v = 1/(λn) Σ_i Σ_z α_i(z) ψ_i(z) the Lagrangian
    λ/2 ‖w‖² − λ w·v + ℓ(α) is least at w = clip(v), the last coordinates cut to at most 0, where w·v = ‖w‖²: so
    D(α) = ℓ − λ/2 ‖clip(v)‖², and P(w) − D(α) = λ w·(v − v_s) − ℓ + ℓ_s at the oracle's answers s. As clip moves no
    two points apart, D is curved by at most λ ‖v_s − v‖² towards s: line search with that never lowers the dual.
    """

    @property
    def n_nonpositive(self) -> int:
        """How many of the weights, the last ones, must not be above 0."""
        ...

    def corners(self, blocks: I64, w: F64) -> Corners:
        """argmax_z L_i(z) − w·ψ_i(z) for each of these blocks, as well as the oracle can."""
        ...

    def exact_corners(self, blocks: I64, w: F64) -> Corners:
        """The same, exactly, for audits: with an approximate oracle a gap would be no certificate."""
        ...


@runtime_checkable
class CompiledProblem(Protocol):
    """A problem whose arrays compiled solvers can work on."""

    @property
    def blocks(self) -> _kernels.Blocks | None:
        """None where its oracle is not the one that kernels have."""
        ...
