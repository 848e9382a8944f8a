"""EdgeTable: rows are where the docstring says, and what does not fit is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corpora.ragged import edge_offsets
from features.table import EdgeTable

SHAPES = np.array([(2, 3), (0, 4), (1, 1)], np.int64)


def parts(**changes: Any) -> dict[str, Any]:
    features = np.arange(14, dtype=np.float32).reshape(7, 2)
    return {"features": features, "shapes": SHAPES, "offsets": edge_offsets(SHAPES), "names": ("a", "b"), **changes}


def test_rows_and_views() -> None:
    table = EdgeTable(**parts())
    assert len(table) == 3
    assert table.offsets.tolist() == [0, 6, 6, 7]
    assert [table[i].shape for i in range(3)] == [(2, 3, 2), (0, 4, 2), (1, 1, 2)]
    for j in range(2):
        for k in range(3):
            assert (table[0][j, k] == table.features[table.offsets[0] + j * 3 + k]).all()
    assert np.shares_memory(table[0], table.features)
    assert [table[i].tolist() for i in range(-3, 0)] == [table[i].tolist() for i in range(3)]
    for beyond in (3, -4):
        with pytest.raises(IndexError):
            table[beyond]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": np.zeros((7, 2))}, "float32"),
        ({"features": np.zeros((7, 2), np.float32, order="F")}, "C-contiguous"),
        ({"features": np.zeros((7, 4), np.float32)[:, ::2]}, "C-contiguous"),
        ({"features": np.zeros((6, 2), np.float32)}, r"\(7, 2\)"),
        ({"features": np.zeros((7, 3), np.float32)}, r"\(7, 2\)"),
        ({"names": ("a",)}, r"\(7, 1\)"),
        ({"shapes": np.array([2, 3])}, "shapes"),
        ({"shapes": np.array([(2, 3, 1)])}, "shapes"),
        ({"shapes": np.array([(-1, -7)])}, "shapes"),
        ({"offsets": np.array([0, 6, 7])}, "offsets"),
        ({"offsets": np.array([0, 6, 6, 8])}, "offsets"),
        ({"offsets": np.array([1, 6, 6, 7])}, "offsets"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EdgeTable(**parts(**changes))
