"""Search in rows of word pairs equals that of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from features.word_pairs import search_together


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 64, 1000])
def test_every_wanted_word_is_found_where_it_is(size: int) -> None:
    rng = np.random.default_rng(size)
    row = np.sort(rng.permutation(3 * size)[:size]).astype(np.int32)
    wanted = np.concatenate([[-1, 3 * size], rng.permutation(3 * size), row]).astype(np.int32)
    places = np.empty(len(wanted) + 1, np.int32)
    places[-1] = 7
    search_together(row, wanted, places)
    for f, place in zip(wanted.tolist(), places.tolist(), strict=False):
        assert np.flatnonzero(row == f).tolist() == ([] if place < 0 else [place])
    assert places[-1] == 7
