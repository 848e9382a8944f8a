"""Projections: the laws of nearest points, and equality with a general solver."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from scipy.special import entr, expit

from aligner.errors import ScoreError
from aligner.matching import _projection_kernels as kernels
from aligner.matching import best_matchings
from aligner.matching.projection import GEOMETRIES, Nearest, nearest_points
from corpora.ragged import Lists

Project = Callable[..., Nearest]


def of_all(scores: npt.ArrayLike, shapes: npt.ArrayLike, **settings: Any) -> Nearest:
    """The nearest points of matrices, stacked."""
    return nearest_points(scores, Lists.of_all(shapes), **settings)


nearest_euclidean: Project = partial(of_all, geometry="euclidean")
nearest_entropic: Project = partial(of_all, geometry="entropic")
nearest_fermi_dirac: Project = partial(of_all, geometry="fermi-dirac")
EVERY = [nearest_euclidean, nearest_entropic, nearest_fermi_dirac]
every = pytest.mark.parametrize("nearest", EVERY, ids=[*GEOMETRIES])
scales = pytest.mark.parametrize("scale", [0.3, 3.0, 30.0, 1000.0])


def sums(shape: tuple[int, int]) -> np.ndarray:
    """Rows and columns of a flat matrix, summed: (J + K, J * K)."""
    J, K = shape
    return np.vstack([np.kron(np.eye(J), np.ones(K)), np.kron(np.ones(J), np.eye(K))])


def distance(nearest: Project, z: np.ndarray, q: np.ndarray) -> float:
    """What is minimised, up to a constant."""
    if nearest is nearest_euclidean:
        return float(0.5 * z @ z - z @ q)
    if nearest is nearest_fermi_dirac:
        return float(-(entr(z) + entr(1.0 - z)).sum() - z @ q)
    return float(z @ np.log(np.maximum(z, 1e-300)) - z.sum() - z @ q)


def slope(nearest: Project, z: np.ndarray, q: np.ndarray) -> np.ndarray:
    if nearest is nearest_euclidean:
        return z - q
    return np.log(np.maximum(z, 1e-300)) - q - (nearest is nearest_fermi_dirac) * np.log(np.maximum(1.0 - z, 1e-16))


def by_general_solver(nearest: Project, q: np.ndarray, shape: tuple[int, int], capacity: float) -> np.ndarray:
    matrix = sums(shape)
    answer = minimize(
        lambda z: distance(nearest, z, q),
        np.full(len(q), 0.5 / max(shape)),
        jac=lambda z: slope(nearest, z, q),
        bounds=[(1e-12, 1.0 - 1e-12)] * len(q),
        constraints={"type": "ineq", "fun": lambda z: capacity - matrix @ z, "jac": lambda z: -matrix},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return answer.x


def random_batch(seed: int, scale: float, pairs: int = 40, largest: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = rng.integers(1, largest, (pairs, 2))
    return rng.standard_normal(int(shapes.prod(axis=1).sum())) * scale, shapes


def split(flat: np.ndarray, shapes: np.ndarray) -> list[np.ndarray]:
    return np.split(flat, np.cumsum(shapes.prod(axis=1))[:-1])


def feasible_points(rng: np.random.Generator, shapes: np.ndarray) -> np.ndarray:
    """Random mixtures of matchings, with some weight on nothing at all."""
    size = int(shapes.prod(axis=1).sum())
    weights = rng.dirichlet(np.ones(4))
    point = np.zeros(size)
    for weight in weights[:3]:
        point[best_matchings(rng.standard_normal(size), Lists.of_all(shapes))] += weight
    return point


# The general solver of scipy 1.11 says so of rounding errors in its own steps.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize("capacity", [1.0, 2.0])
@pytest.mark.parametrize(
    "seed", [*range(0, 12, 3), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12) if n % 3)]
)
@every
def test_equals_a_general_solver(nearest: Project, seed: int, capacity: float) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 6, 2).tolist())
    q = rng.standard_normal(shape[0] * shape[1]) * rng.choice([0.3, 1.0, 4.0]) + rng.choice([0.0, 1.0])
    found = nearest(q, [shape], row_capacity=capacity, column_capacity=capacity)
    expected = by_general_solver(nearest, q, shape, capacity)
    assert found.converged.all()
    np.testing.assert_allclose(found.z, expected, atol=2e-5)
    assert distance(nearest, found.z, q) <= distance(nearest, expected, q) + 1e-6


def test_capacities_of_each_word() -> None:
    q = np.full(12, 0.9)
    found = nearest_euclidean(q, [(3, 4)], row_capacity=[1.0, 2.0, 3.0], column_capacity=[1.0, 1.0, 2.0, 3.0])
    matrix = sums((3, 4))
    assert (matrix @ found.z <= np.array([1, 2, 3, 1, 1, 2, 3]) + 1e-12).all()
    assert found.z.max() <= 1.0
    inner = (q - found.z) @ (np.zeros(12) - found.z)
    assert inner <= 1e-9


@every
@scales
def test_feasible_and_converged(nearest: Project, scale: float) -> None:
    q, shapes = random_batch(1, scale)
    found = nearest(q, shapes)
    assert found.converged.all()
    assert (found.z >= 0.0).all()
    for z, shape in zip(split(found.z, shapes), shapes, strict=True):
        assert (sums(tuple(shape)) @ z).max() <= 1.0 + 1e-12


@every
@scales
def test_variational_inequality(nearest: Project, scale: float) -> None:
    """<∇ at z, y − z> >= 0 for every feasible y, which defines the nearest point; Bregman's form for entropic."""
    q, shapes = random_batch(2, scale)
    z = nearest(q, shapes).z
    rng = np.random.default_rng(0)
    for _ in range(20):
        y = feasible_points(rng, shapes)
        products = split(slope(nearest, z, q) * (y - z), shapes)
        assert min(product.sum() for product in products) >= -1e-5 * max(1.0, scale)


@scales
def test_euclidean_is_idempotent_and_nonexpansive(scale: float) -> None:
    q, shapes = random_batch(3, scale)
    other = q + 0.3 * scale * np.random.default_rng(5).standard_normal(len(q))
    z, moved = nearest_euclidean(q, shapes).z, nearest_euclidean(other, shapes).z
    np.testing.assert_allclose(nearest_euclidean(z, shapes).z, z, atol=1e-9)
    for near, far, a, b in zip(*(split(x, shapes) for x in (z, moved, q, other)), strict=True):
        assert np.linalg.norm(near - far) <= np.linalg.norm(a - b) + 1e-9


@scales
def test_entropic_is_idempotent(scale: float) -> None:
    q, shapes = random_batch(4, scale)
    z = nearest_entropic(q, shapes).z
    with np.errstate(divide="ignore"):
        again = nearest_entropic(np.log(z), shapes).z
    np.testing.assert_allclose(again, z, atol=1e-5)


@every
@scales
def test_gaps_are_certificates(nearest: Project, scale: float) -> None:
    """A gap bounds how much worse the point is than the best; also where the search was cut short."""
    q, shapes = random_batch(6, scale)
    best = split(nearest(q, shapes).z, shapes)
    cut = nearest(q, shapes, max_iterations=1)
    assert not cut.converged.all()
    parts = zip(split(cut.z, shapes), best, split(q, shapes), cut.gaps, strict=True)
    for z, optimum, scores, gap in parts:
        worse = distance(nearest, z, scores) - distance(nearest, optimum, scores)
        assert worse <= gap + 1e-9 * max(1.0, scale)


@every
def test_a_warm_start_gives_the_same_answer_in_fewer_iterations(nearest: Project) -> None:
    q, shapes = random_batch(7, 3.0, largest=25)
    start = nearest(q, shapes)
    near = q + 1e-3 * np.random.default_rng(0).standard_normal(len(q))
    cold, warm = nearest(near, shapes), nearest(near, shapes, start=start)
    np.testing.assert_allclose(warm.z, cold.z, atol=1e-6)
    assert np.median(warm.iterations) < np.median(cold.iterations)  # a few go on at the limit of rounding
    far = nearest(-1000.0 * q, shapes, start=start)
    np.testing.assert_allclose(far.z, nearest(-1000.0 * q, shapes).z, atol=1e-6)


@every
def test_one_word_and_no_words(nearest: Project) -> None:
    """Of 1 x N the constraint that binds is a simplex: the largest scores share it."""
    found = nearest([0.9, 0.8, -5.0], [(1, 3)])
    if nearest is nearest_euclidean:
        np.testing.assert_allclose(found.z, [0.55, 0.45, 0.0], atol=1e-12)
    elif nearest is nearest_entropic:
        np.testing.assert_allclose(found.z, np.exp([0.9, 0.8, -5.0]) / np.exp([0.9, 0.8, -5.0]).sum(), rtol=1e-6)
    else:
        np.testing.assert_allclose(found.z, expit(np.array([0.9, 0.8, -5.0]) - found.u), rtol=1e-9)
        np.testing.assert_allclose(found.z.sum(), 1.0, rtol=1e-12)
    np.testing.assert_allclose(nearest([0.9, 0.8, -5.0], [(3, 1)]).z, found.z, atol=1e-12)
    assert nearest([], [(0, 3), (2, 0)]).z.shape == (0,)
    assert nearest([], np.zeros((0, 2), int)).gaps.shape == (0,)


@every
@pytest.mark.parametrize("value", [0.4, 7.0, 1e5])
def test_ties_are_shared(nearest: Project, value: float) -> None:
    z = nearest(np.full(20, value), [(4, 5)]).z
    np.testing.assert_allclose(z, 0.2, rtol=1e-6)


@every
def test_negative_and_forbidden_edges(nearest: Project) -> None:
    q = np.array([-3.0, -2.0, -np.inf, -1.5])
    z = nearest(q, [(2, 2)]).z
    expected = {nearest_euclidean: np.zeros(4), nearest_entropic: np.exp(q), nearest_fermi_dirac: expit(q)}
    np.testing.assert_allclose(z, expected[nearest], rtol=1e-12)
    forbidden = nearest([5.0, -np.inf, -np.inf, -np.inf], [(2, 2)])
    linked = expit(5.0) if nearest is nearest_fermi_dirac else 1.0
    np.testing.assert_allclose(forbidden.z, [linked, 0.0, 0.0, 0.0], atol=1e-12)


@every
def test_large_scores_come_near_the_best_matching(nearest: Project) -> None:
    q, shapes = random_batch(8, 1e6, largest=30)
    linked = best_matchings(q, Lists.of_all(shapes))
    np.testing.assert_allclose(nearest(q, shapes).z[linked], 1.0, atol=1e-5)


@every
def test_an_edge_that_is_not_listed_scores_minus_infinity(nearest: Project) -> None:
    q, shapes = random_batch(9, 3.0)
    rectangles, kept = Lists.of_all(shapes), np.random.default_rng(9).random(len(q)) < 0.4
    lists = Lists(
        rectangles.source[kept], rectangles.target[kept], shapes, np.append(0, np.cumsum(kept))[rectangles.offsets]
    )
    found = nearest_points(q[kept], lists, **nearest.keywords).z
    np.testing.assert_allclose(found, nearest(np.where(kept, q, -np.inf), shapes).z[kept], atol=1e-12)


@every
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_refused(nearest: Project, bad: float) -> None:
    with pytest.raises(ScoreError, match="pair 1 are not finite"):
        nearest([1.0, 0.0, bad], [(1, 1), (1, 2)])
    with pytest.raises(ValueError, match="scores for lists"):
        nearest([1.0, 0.0], [(1, 1), (1, 2)])
    with pytest.raises(ValueError, match="capacities must be"):
        nearest([1.0], [(1, 1)], row_capacity=0.5)
    with pytest.raises(ValueError, match="column capacities for 2 words"):
        nearest([1.0, 0.0], [(1, 2)], column_capacity=[1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="do not fit the shapes"):
        nearest([1.0, 0.0], [(1, 2)], start=nearest([1.0], [(1, 1)]))


def test_kernels_are_compiled_for_one_kind_of_arrays() -> None:
    """Whether capacities are of every word, of one, or of as many as there are words."""
    of_all(np.ones(6), [[2, 3]])
    compiled = len(kernels.project_block.signatures)
    for capacity in (2.0, np.full(2, 2.0)):
        of_all(np.ones(4), [[2, 2]], row_capacity=capacity, column_capacity=capacity)
    of_all(np.ones(1), [[1, 1]], row_capacity=np.ones(1))
    assert len(kernels.project_block.signatures) == compiled
