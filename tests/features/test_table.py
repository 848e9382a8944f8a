"""EdgeTable: rows are where the docstring says, and what does not fit is refused."""

from typing import Any

import numpy as np
import pytest

from corpora.ragged import Lists
from features.table import EdgeTable

LISTS = Lists(
    np.array([0, 0, 1, 1, 0], np.int32),
    np.array([0, 2, 0, 1, 0], np.int32),
    np.array([(2, 3), (0, 4), (1, 1)]),
    np.array([0, 4, 4, 5]),
)


def parts(**changes: Any) -> dict[str, Any]:
    features = np.arange(10, dtype=np.float32).reshape(5, 2)
    return {"features": features, "lists": LISTS, "names": ("a", "b"), **changes}


def test_rows_and_views() -> None:
    table = EdgeTable(**parts())
    assert len(table) == 3
    assert [table[i].shape for i in range(3)] == [(4, 2), (0, 2), (1, 2)]
    assert np.shares_memory(table[0], table.features)
    assert [table[i].tolist() for i in range(-3, 0)] == [table[i].tolist() for i in range(3)]
    for beyond in (3, -4):
        with pytest.raises(IndexError):
            table[beyond]


def test_a_part_has_the_edges_of_its_pairs() -> None:
    table = EdgeTable(**parts())
    for memory in (None, 0):
        part = table.take(np.array([2, 0]), memory=memory)
        assert isinstance(part.features, np.memmap) == (memory == 0)
        assert np.array_equal(part[0], table[2])
        assert np.array_equal(part[1], table[0])
        assert part.lists.source.tolist() == [0, 0, 0, 1, 1]
        assert part.lists.target.tolist() == [0, 0, 2, 0, 1]
        assert part.lists.shapes.tolist() == [[1, 1], [2, 3]]


def test_lists_know_their_edges() -> None:
    pairs, source, target = np.array([0, 0, 2, 0]), np.array([1, 0, 0, 1]), np.array([1, 1, 0, 2])
    assert LISTS.find(pairs, source, target).tolist() == [3, -1, 4, -1]
    assert LISTS.pairs.tolist() == [0, 0, 0, 0, 2]
    every = Lists.of_all(LISTS.shapes)
    assert [*zip(every.source.tolist(), every.target.tolist(), strict=True)] == [
        *((j, k) for j in range(2) for k in range(3)),
        (0, 0),
    ]
    whole = Lists.join([LISTS, every])
    assert np.array_equal(whole.take(np.arange(3, 6)).source, every.source)
    assert whole.offsets.tolist() == [0, 4, 4, 5, 11, 11, 12]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": np.zeros((5, 2))}, "float32"),
        ({"features": np.zeros((5, 2), np.float32, order="F")}, "C-contiguous"),
        ({"features": np.zeros((5, 4), np.float32)[:, ::2]}, "C-contiguous"),
        ({"features": np.zeros((6, 2), np.float32)}, r"\(5, 2\)"),
        ({"features": np.zeros((5, 3), np.float32)}, r"\(5, 2\)"),
        ({"names": ("a",)}, r"\(5, 1\)"),
        ({"lists": LISTS._replace(shapes=np.array([2, 3]))}, "shapes"),
        ({"lists": LISTS._replace(shapes=np.array([(2, 3, 1)] * 3))}, "shapes"),
        ({"lists": LISTS._replace(shapes=np.array([(-1, -7)] * 3))}, "shapes"),
        ({"lists": LISTS._replace(offsets=np.array([0, 4, 5]))}, "offset"),
        ({"lists": LISTS._replace(offsets=np.array([0, 4, 4, 6]))}, "lists need"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EdgeTable(**parts(**changes))
