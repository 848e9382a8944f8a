"""Scores equal those of NumPy, to the last bit in whatever order and company they are summed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from aligner.model import _score_kernels as _kernels
from aligner.model.scoring import exact_weights, score_table
from features.table import GRID


def test_scores_equal_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    features, weights = rng.standard_normal((50, 7)).astype(np.float32), rng.standard_normal(7)
    expected = features.astype(np.float64) @ weights
    bound = 1e-12 * np.abs(weights).sum() * np.abs(features).sum(axis=1)
    scores = score_table(weights, features)
    assert (np.abs(scores - expected) <= bound).all()
    alone = np.concatenate([score_table(weights, features[e : e + 1]) for e in range(len(features))])
    assert scores.tobytes() == alone.tobytes()
    assert score_table(weights, features[:0]).shape == (0,)


@pytest.mark.parametrize("scale", [1e-250, 1.0, 3e7])
def test_scores_do_not_depend_on_the_order_of_sums(scale: float) -> None:
    """To the last bit, for features on the grid."""
    rng = np.random.default_rng(1)
    features = (rng.integers(-GRID, GRID + 1, (600, 40)) / GRID).astype(np.float32)
    weights = scale * rng.standard_normal(40) * 10.0 ** rng.integers(-6, 3, 40)
    scores = score_table(weights, features)
    assert np.array_equal(score_table(weights, np.asfortranarray(features)), scores)
    order = rng.permutation(40)
    assert np.array_equal(score_table(weights[order], np.ascontiguousarray(features[:, order])), scores)
    assert np.array_equal(score_table(np.zeros(40), features), np.zeros(600))
    exact = exact_weights(weights)
    assert [sum(map(Fraction, (row * exact).tolist())) for row in features[:50].astype(float)] == scores[:50].tolist()
    parts = np.zeros(600)
    for columns in (slice(0, 13), slice(13, 40)):
        off_the_grid = features[:, columns] + np.float32(0.4 / GRID)
        _kernels.add_rounded_scores(np.ascontiguousarray(off_the_grid.T), exact[columns], parts)
    assert np.array_equal(parts, scores)
