"""Codes say the same as the table."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from corpora.ragged import edge_offsets
from features.codes import (
    CODE_BITS,
    COLUMN_BITS,
    GRID,
    KAPPA,
    LINE,
    PIECE,
    Codes,
    encode,
    entry_column,
    entry_edge,
    entry_steps,
)
from features.codes import round_to_grid as round_in_place
from features.table import EdgeTable


def table(seed: int = 0, n: int = 30) -> EdgeTable:
    """Columns of all kinds: from -1 to 1, from 0 to 1, rare values, a constant, links, and rare ones of both signs."""
    rng = np.random.default_rng(seed)
    shapes = rng.integers(0, 14, (n, 2))
    offsets = edge_offsets(shapes)
    features = rng.uniform(-1, 1, (offsets[-1], 6)).astype(np.float32)
    features[:2, 0] = -1, 1
    features[:, 1] = np.abs(features[:, 1])
    features[np.abs(features[:, 2]) < 0.95, 2] = 0.5
    features[:, 3] = 1
    features[:, 4] = features[:, 4] > 0.5
    features[np.abs(features[:, 5]) < 0.95, 5] = 0
    round_in_place(features)
    return EdgeTable(features, shapes, offsets, tuple("abcdef"))


def decode(coded: Codes, offsets: np.ndarray) -> np.ndarray:
    """[features.codes], read aloud."""
    features = np.tile(coded.base / GRID, (offsets[-1], 1))
    for i, (first, last) in enumerate(pairwise(offsets)):
        padded = -(-(last - first) // PIECE) * PIECE
        rows = coded.codes[coded.starts[i] : coded.starts[i + 1]].reshape(len(coded.dense), padded)
        features[first:last, coded.dense] += rows[:, : last - first].T / GRID
        assert not rows[:, last - first :].any()
        for entry in coded.entries[coded.entry_starts[i] : coded.entry_starts[i + 1]].tolist():
            features[first + int(entry_edge(np.uint64(entry))), int(entry_column(np.uint64(entry)))] += (
                steps_of(entry) / GRID
            )
    return features


def steps_of(entry: int) -> int:
    low = entry & ((1 << CODE_BITS) - 1)
    return low - (1 << CODE_BITS) if low >> (CODE_BITS - 1) else low


@pytest.mark.parametrize("seed", range(3))
def test_codes_say_what_the_table_says(seed: int) -> None:
    edges = table(seed)
    coded = edges.codes
    assert set(coded.dense) == {0, 1, 4}
    assert coded.codes.ctypes.data % LINE == 0
    assert np.array_equal(decode(coded, edges.offsets), edges.features)
    distances = np.linalg.norm(edges.features - coded.centre, axis=1) + KAPPA
    assert (coded.distances >= distances).all()
    np.testing.assert_allclose(coded.distances, distances, rtol=1e-5)
    assert [entry_steps(entry) for entry in coded.entries] == [steps_of(entry) for entry in coded.entries.tolist()]


def test_rounding_goes_to_the_nearest_and_only_once() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, (100, 3)).astype(np.float32)
    rounded = values.copy()
    round_in_place(rounded)
    assert np.abs(rounded - values).max() <= 0.5 / GRID
    assert np.array_equal(rounded * GRID, np.rint(values.astype(float) * GRID))
    again = rounded.copy()
    round_in_place(again)
    assert np.array_equal(rounded, again)
    assert not np.signbit(again[again == 0]).any()


@pytest.mark.parametrize("value", [0.3, 1 + 1 / GRID, -2, np.nan, np.inf])
def test_features_that_are_not_on_the_grid_have_no_codes(value: float) -> None:
    edges = table()
    edges.features[-1, 2] = value
    assert all(len(part) == 0 for part in edges.codes)


def test_features_in_a_file_have_no_codes(tmp_path: Path) -> None:
    edges = table()
    on_disk = np.memmap(tmp_path / "features", np.float32, "w+", shape=edges.features.shape)
    on_disk[:] = edges.features
    assert all(len(part) == 0 for part in encode(on_disk, edges.offsets))


def test_there_may_be_nothing_to_encode() -> None:
    shapes = np.zeros((2, 2), np.int64)
    assert len(EdgeTable(np.zeros((0, 3), np.float32), shapes, edge_offsets(shapes), tuple("abc")).codes.starts) == 0
    wide = np.zeros((1, 1 << COLUMN_BITS), np.float32)
    assert len(encode(wide, np.array([0, 1])).starts) == 0
