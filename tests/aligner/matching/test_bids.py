"""The bid of a row, against numpy."""

from __future__ import annotations

import numba as nb
import numpy as np
import pytest

from aligner.matching._bid_kernels import bid


@nb.njit
def bid_of(value, price):  # type: ignore[no-untyped-def]
    return bid(value, price)


def by_sorting(value: np.ndarray, price: np.ndarray) -> tuple[int, float, float]:
    net = value - price
    ranked = np.sort(np.concatenate([net, [0.0, 0.0]]))[::-1]
    return (int(np.argmax(net)) if ranked[0] > 0 else -1), ranked[0], ranked[1]


@pytest.mark.parametrize("columns", range(1, 24))
def test_equals_sorting(columns: int) -> None:
    rng = np.random.default_rng(columns)
    for case in range(200):
        value = rng.standard_normal(columns) if case % 2 else rng.integers(-2, 3, columns).astype(float)
        price = rng.integers(0, 3, columns) / 2
        value[rng.random(columns) < 0.2] = -np.inf
        assert bid_of(value, price) == by_sorting(value, price)


def test_of_no_column() -> None:
    assert bid_of(np.empty(0), np.empty(0)) == (-1, 0.0, 0.0)


def test_reads_nothing_beyond_its_row() -> None:
    values = np.full(32, np.inf)
    for first in range(8):
        for columns in range(1, 16):
            values[first : first + columns] = np.arange(columns)
            found = bid_of(values[first : first + columns], np.zeros(columns))
            assert found[0] == (columns - 1 if columns > 1 else -1)
            values[:] = np.inf


@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_other_rows_are_refused(kind: type) -> None:
    with pytest.raises(nb.TypingError, match="contiguous float64"):
        bid_of(np.zeros(3, kind), np.zeros(3))
    with pytest.raises(nb.TypingError, match="contiguous float64"):
        bid_of(np.zeros(6)[::2], np.zeros(3))
