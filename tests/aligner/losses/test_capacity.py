"""Fertility: rewards of further links, and the columns that are linear in their weights."""

from __future__ import annotations

import numpy as np
import pytest

from aligner.losses import _corner_kernels as kernels
from aligner.losses.capacity import Fertility


@pytest.mark.parametrize("capacities", [(2, 2), (4, 1), (1, 3), (1, 1)])
def test_weights_times_columns_are_the_rewards(capacities: tuple[int, int]) -> None:
    """v · Σ max(0, deg − u + 1) = Σ_words Σ_{t=2..deg} ρ_t, with ρ_t = Σ_{u=2..t} v_u summed here anew."""
    fertility, rng = Fertility(*capacities), np.random.default_rng(1)
    weights = -rng.random(len(fertility.names))
    rewards = fertility.rewards(weights)
    named = dict(zip(fertility.names, weights, strict=True))
    for name, side, capacity in (
        ("source", rewards.source, capacities[0]),
        ("target", rewards.target, capacities[1]),
    ):
        assert len(side) == capacity - 1
        own = np.array([named[f"{name}:{u}"] for u in range(2, capacity + 1)])
        for links in range(capacity + 1):
            columns = np.zeros(capacity - 1)
            kernels.subtract_further(links, columns)
            by_links = sum(named[f"{name}:{u}"] for t in range(2, links + 1) for u in range(2, t + 1))
            assert -columns @ own == pytest.approx(by_links, abs=1e-12)
            assert sum(side[: max(0, links - 1)]) == pytest.approx(by_links, abs=1e-12)


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(ValueError, match="capacity of at least 1"):
        Fertility(2, 0)
    for bad in ([0.5, -1.0], [np.nan, -1.0], [-1.0]):
        with pytest.raises(ValueError, match="2 numbers that are at most 0"):
            Fertility(2, 2).rewards(np.array(bad))
