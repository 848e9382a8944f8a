"""Orders: which block comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt


class Order(Protocol):
    @property
    def name(self) -> str: ...

    def draw(self, n_blocks: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """The blocks of one pass, (n_blocks,)."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Each block drawn independently, as the convergence proof assumes  [LJSP13 Alg. 4]."""

    name: str = "uniform"

    def draw(self, n_blocks: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        return rng.integers(n_blocks, size=n_blocks)


@dataclass(frozen=True)
class Permuted:
    """Every block once a pass, in a new random order each time; faster than Uniform in practice."""

    name: str = "permuted"

    def draw(self, n_blocks: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        return rng.permutation(n_blocks)


ORDERS: dict[str, Order] = {order.name: order for order in (Uniform(), Permuted())}
