"""Fertility: learnt rewards, at most 0, for a word's second, third... link  [LTKJ06 §3]."""

from dataclasses import dataclass

import numpy as np

from aligner.matching import check_rewards
from corpora.ragged import F64


@dataclass(frozen=True)
class LinkRewards:
    """The rewards of a second, third... link of any word of a side: ρ_2, ρ_3..., at most 0 and not rising.

    A side without rewards has one link a word.  Raises ValueError on other rewards.
    """

    source: tuple[float, ...] = ()
    target: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_rewards("source", self.source)
        check_rewards("target", self.target)


@dataclass(frozen=True)
class Fertility:
    """How many links words may have, and the columns whose weights make the rewards of links after the first.

    The t-th link of any word of a side is worth ρ_t = Σ_{u=2..t} v_u, with weights v_u <= 0 of its side: so ρ is at
    most 0 and does not rise with t, and the best alignment is a min-cost flow. Then
    Σ_{t=2..deg} ρ_t = Σ_u v_u max(0, deg − u + 1): linear in v, with a column for each side and u.

    source_capacity, target_capacity: links that a word may have.  Raises ValueError if one is below 1.
    """

    source_capacity: int = 1
    target_capacity: int = 1

    def __post_init__(self) -> None:
        if min(self.source_capacity, self.target_capacity) < 1:
            raise ValueError(f"a word needs a capacity of at least 1, not {self}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns: side and which link.

        >>> Fertility(3, 2).names
        ('source:2', 'source:3', 'target:2')
        """
        sides = (("source", self.source_capacity), ("target", self.target_capacity))
        return tuple(f"{side}:{link}" for side, capacity in sides for link in range(2, capacity + 1))

    def rewards(self, weights: F64) -> LinkRewards:
        """The rewards ρ_2, ρ_3... of each side.  weights: of the columns, at most 0.  Raises ValueError on others."""
        if weights.shape != (len(self.names),) or not (weights <= 0).all():
            raise ValueError(f"weights of fertility must be {len(self.names)} numbers that are at most 0")
        cut = self.source_capacity - 1
        return LinkRewards(tuple(np.cumsum(weights[:cut]).tolist()), tuple(np.cumsum(weights[cut:]).tolist()))
