"""Orders: which block comes next."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aligner.errors import SettingError
from corpora.ragged import F64, I64


@dataclass(frozen=True)
class Uniform:
    """Each block drawn independently, as the convergence proof assumes  [LJSP13 Alg. 4]."""

    name: str = "uniform"

    def draw(self, n_blocks: int, rng: np.random.Generator) -> I64:
        """The blocks of one pass, (n_blocks,)."""
        return rng.integers(n_blocks, size=n_blocks)


@dataclass(frozen=True)
class Permuted:
    """Every block once a pass, in a new random order each time; faster than Uniform in practice."""

    name: str = "permuted"

    def draw(self, n_blocks: int, rng: np.random.Generator) -> I64:
        return rng.permutation(n_blocks)


@dataclass(frozen=True)
class Cyclic:
    """The blocks in their own order, every pass; the fastest to read, the slowest if neighbours are alike."""

    name: str = "cyclic"

    def draw(self, n_blocks: int, rng: np.random.Generator) -> I64:
        return np.arange(n_blocks)


@dataclass(frozen=True)
class ByGap:
    """Each block drawn in proportion to its last known gap  [OAD16 §3.1]; the first pass, which finds the gaps, is
    permuted. Gaps grow stale while other blocks move w, so the solver computes all of them anew.

    refresh: passes between that. [OAD16] do so after 10; on word alignment 2 takes the fewest oracle calls, refreshing
    included, because a few steps move w, and with it the gaps of all blocks.
    """

    refresh: int = 2
    name: str = "gap"

    def __post_init__(self) -> None:
        if self.refresh < 1:
            raise SettingError(f"refresh must be at least 1, not {self.refresh}")

    def draw(self, n_blocks: int, rng: np.random.Generator) -> I64:
        """The blocks of a pass before gaps are known."""
        return rng.permutation(n_blocks)

    def redraw(self, gaps: F64, size: int, rng: np.random.Generator) -> I64:
        """Draw blocks (size,) in proportion to gaps (n,) >= 0, or uniformly if all are 0."""
        return rng.choice(len(gaps), size, p=gaps / gaps.sum() if gaps.any() else None)


def draw_blocks(order: Any, n_blocks: int, rng: np.random.Generator) -> I64:
    """The blocks of one pass.  SettingError for an order of one's own that draws others, which kernels do not check."""
    found = np.ascontiguousarray(order.draw(n_blocks, rng), np.int64)
    if found.shape != (n_blocks,) or not 0 <= found.min() <= found.max() < n_blocks:
        what = f"{found.min()} to {found.max()}" if found.shape == (n_blocks,) else f"an array of shape {found.shape}"
        raise SettingError(f"order {order.name} draws {what} ({n_blocks} indices from 0 to {n_blocks - 1})")
    return found


Visiting = Uniform | Permuted | Cyclic
Order = Visiting | ByGap

VISITING_ORDERS: dict[str, Visiting] = {order.name: order for order in (Uniform(), Permuted(), Cyclic())}
"""The orders of solvers that do not compute gaps of blocks."""

ORDERS: dict[str, Order] = {**VISITING_ORDERS, "gap": ByGap()}
