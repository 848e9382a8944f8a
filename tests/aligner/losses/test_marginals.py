"""Marginals of matchings: their parts, against the definitions and a general solver."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize

from aligner.losses.hinge import MatchingProblem

MakeProblem = Callable[..., MatchingProblem]


def limits(problem: MatchingProblem, i: int) -> np.ndarray:
    """(J + K, P) which parts take a link of each word: its edges, and each further link that is not taken."""
    lists = problem.edges.lists
    J, K = lists.shapes[i]
    edges = slice(lists.offsets[i], lists.offsets[i + 1])
    of_source, of_target = problem.fertility.source_capacity - 1, problem.fertility.target_capacity - 1
    words = np.eye(J + K)
    columns = [words[:, lists.source[edges]] + words[:, J + lists.target[edges]]]
    columns += [np.repeat(words[:, :J], of_source, axis=1), np.repeat(words[:, J:], of_target, axis=1)]
    return np.concatenate(columns, axis=1)


def capacities(problem: MatchingProblem, i: int) -> np.ndarray:
    J, K = problem.edges.lists.shapes[i]
    return np.repeat([problem.fertility.source_capacity, problem.fertility.target_capacity], [J, K]).astype(float)


@pytest.mark.parametrize("capacity", [1, 2, 3])
@pytest.mark.parametrize("geometry", ["euclidean", "entropic"])
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")  # of SciPy 1.11
def test_nearest_points_are_those_of_a_general_solver(geometry: str, capacity: int, make_problem: MakeProblem) -> None:
    problem = make_problem(n=6, largest=4, capacity=capacity, listed=0.7)
    rng = np.random.default_rng(0)
    for i in range(6):
        matrix, most = limits(problem, i), capacities(problem, i)
        q = rng.standard_normal(matrix.shape[1])

        def value(z: np.ndarray, q: np.ndarray = q) -> float:
            omega = 0.5 * z @ z if geometry == "euclidean" else z @ np.log(z) - z.sum()
            return float(omega - q @ z)

        def slope(z: np.ndarray, q: np.ndarray = q) -> np.ndarray:
            return (z if geometry == "euclidean" else np.log(z)) - q

        answer = minimize(
            value,
            np.full(len(q), 0.2),
            jac=slope,
            bounds=[(1e-12, 1.0)] * len(q),
            method="SLSQP",
            constraints={"type": "ineq", "fun": lambda z, a=matrix, b=most: b - a @ z, "jac": lambda z, a=matrix: -a},
            options={"maxiter": 500, "ftol": 1e-14},
        )
        np.testing.assert_allclose(problem.marginals().nearest(np.array([i]), q, geometry), answer.x, atol=2e-5)


@pytest.mark.parametrize("capacity", [1, 3])
def test_scores_and_moments_are_those_of_the_corners(capacity: int, make_problem: MakeProblem) -> None:
    """H_i at a matching is the difference of its parts' scores from the target's; and ψ_i that of the moments."""
    problem = make_problem(n=8, capacity=capacity, listed=0.7)
    rng = np.random.default_rng(0)
    for i in range(8):
        w = np.append(rng.standard_normal(5), -rng.random(problem.n_nonpositive))
        block, target = (
            np.array([i]),
            problem.marginals().target[problem.marginals().parts[i] : problem.marginals().parts[i + 1]],
        )
        scores = problem.marginals().scores(block, w)
        assert (limits(problem, i) @ target <= capacities(problem, i)).all()
        z = np.round(problem.marginals().nearest(block, 1e6 * scores, "euclidean"))  # the best one
        corners = problem.corners(block, w)
        assert scores @ (z - target) == pytest.approx(corners.losses[0] - corners.psi[0] @ w, abs=1e-9)
        moved = problem.marginals().moments(block, target) - problem.marginals().moments(block, z)
        np.testing.assert_allclose(moved, np.append(corners.psi[0], -corners.losses[0]), atol=1e-6)
        assert problem.marginals().moments(block, z)[:-1] @ w + problem.marginals().moments(block, z)[
            -1
        ] == pytest.approx(scores @ z)


@pytest.mark.parametrize("capacity", [1, 2])
def test_without_some_parts_the_others_are_as_if_those_were_0(capacity: int, make_problem: MakeProblem) -> None:
    problem = make_problem(n=8, capacity=capacity)
    rng, blocks = np.random.default_rng(0), np.arange(8)
    wanted = (rng.random(problem.marginals().parts[-1]) < 0.5) | (problem.marginals().target > 0)
    some, kept = problem.marginals().restricted(wanted)
    assert (kept | ~wanted).all()
    w, q = -rng.random(problem.n_features), rng.standard_normal(len(kept))
    np.testing.assert_array_equal(some.scores(blocks, w), problem.marginals().scores(blocks, w)[kept])
    np.testing.assert_array_equal(some.target, problem.marginals().target[kept])
    far = np.where(kept, q, -1e6)
    z = problem.marginals().nearest(blocks, far, "euclidean")
    np.testing.assert_allclose(some.nearest(blocks, q[kept], "euclidean"), z[kept], atol=1e-9)
    np.testing.assert_allclose(some.moments(blocks, z[kept]), problem.marginals().moments(blocks, z))
