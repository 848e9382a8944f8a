"""Layers of matchings: derivatives against dense algebra and differences, losses by their laws, wrong uses refused."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.stats import norm

from aligner.errors import AlignerError
from aligner.layers import fenchel_young_loss, layer, matching_layer, perturbed_loss

each_geometry = pytest.mark.parametrize("geometry", ["euclidean", "entropic", "fermi-dirac"])
each_capacity = pytest.mark.parametrize("capacity", [1, 2, (1, 3), (1.5, 2.5)], ids=str)
seeds = pytest.mark.parametrize("seed", range(5))


def random_scores(seed: int, scale: float = 2.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=rng.integers(1, 9, 2)) + 0.5


def incidence(shape: tuple[int, ...]) -> np.ndarray:
    """Rows and columns of a flat matrix, summed: (J + K, J * K)."""
    J, K = shape
    return np.vstack([np.kron(np.eye(J), np.ones(K)), np.kron(np.ones(J), np.eye(K))])


def projected(scores: np.ndarray, capacity: float) -> np.ndarray:
    """The nearest point by a least-distance programme over a dense matrix  [Lawson and Hanson 1974, ch. 23]."""
    n = scores.size
    sides = np.vstack([np.eye(n), -np.eye(n), -incidence(scores.shape)])
    limits = np.concatenate([np.zeros(n), -np.ones(n), np.full(sum(scores.shape), -float(capacity))])
    system = np.vstack([sides.T, limits - sides @ scores.ravel()])
    wanted = np.append(np.zeros(n), 1.0)
    residual = system @ nnls(system, wanted, maxiter=100 * n)[0] - wanted
    return scores - (residual[:-1] / residual[-1]).reshape(scores.shape)


def derivative(z: np.ndarray, geometry: str, capacity: Any) -> np.ndarray:
    """dz/ds as a dense matrix, by pseudo-inverses: the tight words are those whose sums are their capacities."""
    of_rows, of_columns = capacity if isinstance(capacity, tuple) else (capacity, capacity)
    most = np.repeat([of_rows, of_columns], z.shape).astype(float)
    matrix, flat = incidence(z.shape), z.ravel()
    free = (flat > 1e-9) & (flat < 1.0 - 1e-9)
    slopes = {"euclidean": 1.0 * free, "entropic": flat * free, "fermi-dirac": flat * (1.0 - flat)}[geometry]
    root = np.sqrt(slopes)
    tight = matrix[matrix @ flat > most - 1e-9] * root
    inner: np.ndarray = np.eye(len(flat)) - np.linalg.pinv(tight, rcond=1e-10) @ tight
    return root[:, None] * inner * root


def differences(function: Callable[[np.ndarray], Any], scores: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """The gradient of a function by central differences."""
    found = [
        (function(scores + one.reshape(scores.shape)) - function(scores - one.reshape(scores.shape))) / (2 * step)
        for one in step * np.eye(scores.size)
    ]
    return np.reshape(found, scores.shape)


@seeds
@each_capacity
@each_geometry
def test_gradients_are_those_of_dense_algebra_and_of_differences(geometry: str, capacity: Any, seed: int) -> None:
    scores = random_scores(seed)
    cotangent, temperature = np.random.default_rng(seed).normal(size=scores.shape), (0.3, 1.0, 3.0)[seed % 3]

    def at(scores: np.ndarray) -> Any:
        return matching_layer(scores, capacity=capacity, geometry=geometry, temperature=temperature)

    found = at(scores)
    gradient = found.pull_back(cotangent)
    dense = derivative(found.z, geometry, capacity) @ cotangent.ravel() / temperature
    np.testing.assert_allclose(gradient.ravel(), dense, atol=1e-6)
    np.testing.assert_allclose(gradient, differences(lambda s: (at(s).z * cotangent).sum(), scores, 1e-5), atol=1e-6)


@seeds
@pytest.mark.parametrize("capacity", [1, 2])
def test_marginals_are_those_of_a_quadratic_programme(capacity: int, seed: int) -> None:
    scores = random_scores(seed)
    found = matching_layer(scores, capacity=capacity, temperature=0.5)
    exact = projected(scores / 0.5, capacity)
    assert found.error_bounds < 1e-5
    np.testing.assert_allclose(found.z, exact, atol=1e-7)
    gradient = found.pull_back(np.cos(scores))
    of_programme = differences(lambda s: (projected(s / 0.5, capacity) * np.cos(scores)).sum(), scores, 1e-5)
    np.testing.assert_allclose(gradient, of_programme, atol=1e-6)


@each_geometry
def test_error_bounds_hold_where_the_search_ends_early(geometry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(1).normal(size=(60, 6, 7)) * 2
    exact = matching_layer(scores, geometry=geometry)
    assert exact.error_bounds.max() < 1e-5
    monkeypatch.setattr(layer, "_TOLERANCE", 0.3)
    early = matching_layer(scores, geometry=geometry)
    distances = np.linalg.norm((early.z - exact.z).reshape(60, -1), axis=1)
    assert distances.max() > 1e-3
    assert (distances <= early.error_bounds + 1e-5).all()


@each_geometry
def test_a_batch_equals_its_matrices(geometry: str) -> None:
    """In a list, as an array of several dimensions, and padded with what a mask leaves out, NaN too."""
    matrices = [random_scores(seed) for seed in range(6)]
    padded, mask = np.full((2, 3, 8, 8), np.nan), np.zeros((2, 3, 8, 8), bool)
    places = [(i // 3, i % 3, slice(one.shape[0]), slice(one.shape[1])) for i, one in enumerate(matrices)]
    for place, one in zip(places, matrices, strict=True):
        padded[place], mask[place] = one, True
    listed = matching_layer(matrices, geometry=geometry, capacity=(1, 2))
    array = matching_layer(padded, mask, geometry=geometry, capacity=(1, 2))
    gradients, of_array = (
        listed.pull_back([np.sin(one) for one in matrices]),
        array.pull_back(np.sin(np.where(mask, padded, 9.0))),
    )
    assert (array.error_bounds.shape, listed.error_bounds.shape) == ((2, 3), (6,))
    assert not array.z[~mask].any()
    for i, one in enumerate(matrices):
        single = matching_layer(one, geometry=geometry, capacity=(1, 2))
        assert single.error_bounds.shape == ()
        np.testing.assert_array_equal(listed.z[i], single.z)
        np.testing.assert_array_equal(gradients[i], single.pull_back(np.sin(one)))
        np.testing.assert_allclose(array.z[places[i]], single.z, atol=1e-6)
        np.testing.assert_allclose(of_array[places[i]], gradients[i], atol=1e-6)


@seeds
@each_geometry
def test_the_fenchel_young_loss(geometry: str, seed: int) -> None:
    """It is at least T/2 ‖z − y‖², as Ω is curved by 1 or more; its gradient is z − y, that of differences too."""
    scores, T = random_scores(seed), 0.7
    options: Any = {"geometry": geometry, "temperature": T, "capacity": 2}
    y = matching_layer(random_scores(seed)[::-1, ::-1], **options).z
    loss = fenchel_young_loss(scores, y, **options)
    z = matching_layer(scores, **options).z
    assert loss.values >= 0.5 * T * ((z - y) ** 2).sum() - 1e-9
    np.testing.assert_allclose(loss.gradient, z - y, atol=1e-9)
    of_values = differences(lambda s: fenchel_young_loss(s, y, **options).values, scores, 1e-4)
    np.testing.assert_allclose(loss.gradient, of_values, atol=1e-6)
    assert fenchel_young_loss(scores, z, **options).values == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("noise", ["normal", "gumbel"])
def test_the_perturbed_loss(noise: str) -> None:
    scores, y = random_scores(3), np.zeros_like(random_scores(3))
    y[0, 0] = 1.0
    options: Any = {"noise": noise, "temperature": 0.5, "samples": 40, "capacity": (1, 2)}
    loss = perturbed_loss(scores, y, 7, **options)
    np.testing.assert_allclose(
        loss.gradient, differences(lambda s: perturbed_loss(s, y, 7, **options).values, scores), atol=1e-6
    )
    assert perturbed_loss(scores, y, 8, **options).values != loss.values == perturbed_loss(scores, y, 7, **options)[0]
    far = perturbed_loss(scores * 0 + 9.0, y, 1, noise=noise, samples=4000, capacity=9)  # all linked: the noise's mean
    assert far.values == pytest.approx(9.0 * (y.size - 1), abs=4 * 1.3 * np.sqrt(y.size / 4000))


@pytest.mark.parametrize("score", [-1.0, 0.2, 2.0])
def test_normal_noise_on_one_entry_is_known_in_closed_form(score: float) -> None:
    found = perturbed_loss(np.array([[score]]), np.ones((1, 1)), 3, samples=40_000, temperature=2.0)
    mean = score * norm.cdf(score / 2.0) + 2.0 * norm.pdf(score / 2.0)
    assert found.values == pytest.approx(mean - score, abs=4 * 2.0 / 200)
    assert found.gradient.item() == pytest.approx(norm.cdf(score / 2.0) - 1.0, abs=4 * 0.5 / 200)


GOOD: Any = np.ones((2, 3))
WRONG: dict[str, Callable[[], Any]] = {
    "pair 1 are not finite (no nearest point exists)": lambda: matching_layer([GOOD, GOOD * np.nan]),
    "pair 0 are not finite": lambda: perturbed_loss(GOOD * np.inf, 0 * GOOD, 0),
    "not shape (3,)": lambda: matching_layer(GOOD[0]),
    "a list has matrices, not shape (2,)": lambda: matching_layer([[1, 2], [3, 4]]),
    "the list has no matrices": lambda: matching_layer([]),
    "the mask has one": lambda: matching_layer(GOOD, GOOD.T),
    "choose from euclidean, entropic": lambda: matching_layer(GOOD, geometry="flat"),
    "temperature is 0": lambda: matching_layer(GOOD, temperature=0),
    "temperature is array([1., 1.])": lambda: matching_layer(GOOD, temperature=GOOD[0, :2]),
    "capacity is (1, 0.5)": lambda: matching_layer(GOOD, capacity=(1, 0.5)),
    "whole numbers only": lambda: perturbed_loss(GOOD, 0 * GOOD, 0, capacity=1.5),
    "the target has one number": lambda: fenchel_young_loss(GOOD, GOOD.T),
    "the target of matrix 1 is no": lambda: fenchel_young_loss([GOOD, GOOD], [0 * GOOD, GOOD]),
    "choose from normal, gumbel": lambda: perturbed_loss(GOOD, 0 * GOOD, 0, noise="loud"),
    "samples is 0": lambda: perturbed_loss(GOOD, 0 * GOOD, 0, samples=0),
    "unexpected keyword argument 'links'": lambda: matching_layer(GOOD, links=1),  # type: ignore[call-arg]
}


@pytest.mark.parametrize("told", WRONG)
def test_wrong_uses_are_refused_in_one_line(told: str) -> None:
    with pytest.raises((AlignerError, ValueError, TypeError)) as error:
        WRONG[told]()
    assert told in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("way", [lambda value: pickle.loads(pickle.dumps(value)), copy.copy, copy.deepcopy])
def test_what_a_caller_holds_can_be_copied(way: Callable[[Any], Any]) -> None:
    found = matching_layer(random_scores(1))
    expected = found.pull_back(random_scores(1))
    np.testing.assert_array_equal(way(found).pull_back(random_scores(1)), expected)
    loss = fenchel_young_loss(random_scores(1), found.z)
    assert way(loss).values == loss.values
