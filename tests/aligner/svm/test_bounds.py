"""Bounds of scores leave out no edge that scores above 0, however w walks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from aligner.svm import _bound_kernels as bounds
from aligner.svm import _corner_kernels as kernels
from aligner.svm.hinge import MatchingProblem

MakeProblem = Callable[..., MatchingProblem]


@pytest.mark.parametrize("capacity", [1, 2])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e5, 1e33])
def test_useful_scores_are_the_scores_where_above_0(size: float, capacity: int, make_problem: MakeProblem) -> None:
    problem = make_problem(n=20, d=7, largest=20, capacity=capacity)
    problem.edges.features[:, 0] = 1.0  # so that few edges score above 0 where its weight is low
    blocks, rng = problem.arrays, np.random.default_rng(0)
    kept = bounds.new_bounds(20, blocks.features)
    w = size * rng.standard_normal(problem.n_features)
    saved = 0
    for step in rng.permutation(np.geomspace(1e-6, 1.0, 40)):
        w[1:] += size * step * rng.standard_normal(len(w) - 1)
        w[0] = -3.0 * np.linalg.norm(w[1:])
        for i in range(20):
            edges = np.prod(blocks.shapes[i])
            scores, useful = np.empty((2, edges))
            kernels.augmented_scores(i, blocks, w, scores)
            kernels.useful_scores(i, blocks, w, kept, np.empty(edges + 1, np.int64), useful)
            above = (scores > 1e-12 * size) | (useful > 0.0)
            np.testing.assert_allclose(useful[above], scores[above], rtol=1e-9, atol=1e-12 * size)
            saved += np.count_nonzero(useful == -1.0)
    assert (saved > 0) == (size < 1e30), "the walk is too wild to save anything"


def test_a_solver_that_keeps_no_bounds_scores_all(make_problem: MakeProblem) -> None:
    problem = make_problem(n=3)
    w = np.random.default_rng(0).standard_normal(problem.n_features)
    scores, useful = np.empty((2, np.prod(problem.edges.shapes[1])))
    kernels.augmented_scores(1, problem.arrays, w, scores)
    kernels.useful_scores(1, problem.arrays, w, bounds.no_bounds(), np.empty(0, np.int64), useful)
    assert scores.tobytes() == useful.tobytes()
