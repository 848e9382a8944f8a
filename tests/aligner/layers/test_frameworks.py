"""The layers for JAX and torch: they are NumPy's, and so are their gradients, under jit, vmap and grad."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from aligner import layers
from aligner.errors import AlignerError, ScoreError

rng = np.random.default_rng(0)
SCORES, COTANGENTS = 2 * rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 5, 4))
TARGETS = np.zeros(SCORES.shape)
TARGETS[..., 1, 2] = TARGETS[..., 0, 0] = 1.0
WEIGHTS = np.arange(6.0).reshape(2, 3)
OPTIONS: Any = {"capacity": (1, 2), "temperature": 0.7}
LOSSES: dict[str, tuple[Any, ...]] = {"fenchel_young_loss": (), "perturbed_loss": (3,)}  # and seeds
near = np.testing.assert_allclose
each_geometry = pytest.mark.parametrize("geometry", ["euclidean", "entropic", "fermi-dirac"])


@pytest.fixture
def jax() -> Iterator[Any]:
    """With numbers of 64 bits."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", False)


def of_jax() -> tuple[Callable[[Any], Any], Any]:
    import jax

    return jax.numpy.asarray, lambda function, scores: jax.grad(function)(scores)


def of_torch() -> tuple[Callable[[Any], Any], Any]:
    import torch

    def gradient(function: Any, scores: Any) -> Any:
        function(scores.requires_grad_()).backward()
        return scores.grad

    return torch.tensor, gradient


@pytest.fixture(params=["jax", "torch"])
def framework(request: pytest.FixtureRequest) -> tuple[Any, Any, Any]:
    """Our layer, what makes arrays, and the gradient of a function."""
    pytest.importorskip(request.param, exc_type=ImportError)
    if request.param == "jax":
        request.getfixturevalue("jax")
    return import_module(f"aligner.layers.{request.param}"), *(of_jax if request.param == "jax" else of_torch)()


@each_geometry
def test_marginals_and_gradients_are_those_of_numpy(framework: Any, geometry: str) -> None:
    ours, array, gradient_of = framework
    found = layers.matching_layer(SCORES, geometry=geometry, **OPTIONS)
    z, bounds = ours.matching_layer(array(SCORES), geometry=geometry, **OPTIONS)
    near(z, found.z, atol=1e-12)
    near(bounds, found.error_bounds, atol=1e-12)
    for kind, exact in ((np.float64, 1e-12), (np.float32, 1e-5)):

        def total(scores: Any, kind: Any = kind) -> Any:
            z, _ = ours.matching_layer(scores, geometry=geometry, **OPTIONS)
            return (z * array(COTANGENTS.astype(kind))).sum()

        gradient = gradient_of(total, array(SCORES.astype(kind)))
        assert np.asarray(gradient).dtype == kind
        near(gradient, found.pull_back(COTANGENTS), atol=exact)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_those_of_numpy(framework: Any, name: str) -> None:
    ours, array, gradient_of = framework
    expected = getattr(layers, name)(SCORES, TARGETS, *LOSSES[name], **OPTIONS)

    def losses(scores: Any) -> Any:
        return getattr(ours, name)(scores, array(TARGETS), *LOSSES[name], **OPTIONS)

    near(losses(array(SCORES)), expected.values, atol=1e-12)
    gradient = gradient_of(lambda scores: (losses(scores) * array(WEIGHTS)).sum(), array(SCORES))
    near(gradient, expected.gradient * WEIGHTS[..., None, None], atol=1e-12)


def test_lists_masks_and_whole_numbers_are_taken(framework: Any) -> None:
    ours, array, gradient_of = framework
    mask = np.ones((2, 5, 4), bool)
    mask[1, 2:] = False
    padded = array(np.where(mask, SCORES[0, :2], np.nan))
    gradient = np.asarray(gradient_of(lambda s: (ours.matching_layer(s, array(mask))[0] ** 2).sum(), padded))
    one, two = layers.matching_layer(SCORES[0, 0]), layers.matching_layer(SCORES[0, 1, :2])
    near(gradient[0], one.pull_back(2 * one.z), atol=1e-6)
    near(gradient[1, :2], two.pull_back(2 * two.z), atol=1e-6)
    assert not gradient[1, 2:].any()
    found, bounds = ours.matching_layer([array(SCORES[0, 0]), array([[2, 0], [1, 1]])])
    near(found[0], one.z, atol=1e-6)
    near(found[1], np.eye(2), atol=1e-6)
    assert bounds.shape == (2,)


def test_scores_that_are_not_finite_are_refused(framework: Any) -> None:
    ours, array, gradient_of = framework
    for at in (lambda s: ours.matching_layer(s)[0].sum(), lambda s: ours.perturbed_loss(s, 0 * s, 0).sum()):
        with pytest.raises(ScoreError, match=r"^the scores of pair 0 are not finite"):
            gradient_of(at, array(SCORES * np.nan))


@each_geometry
def test_jit_and_vmap_of_jax_change_nothing(jax: Any, geometry: str) -> None:
    from aligner.layers import jax as ours

    def total(scores: Any, cotangent: Any) -> Any:
        return (ours.matching_layer(scores, geometry=geometry, **OPTIONS)[0] * cotangent).sum()

    expected = layers.matching_layer(SCORES, geometry=geometry, **OPTIONS).pull_back(COTANGENTS)
    one = jax.grad(total)
    two = jax.vmap(jax.vmap(one))
    for every in (jax.jit(one), two, jax.jit(two)):
        near(every(SCORES, COTANGENTS), expected, atol=1e-12)
    jacobian = jax.jacrev(lambda scores: ours.matching_layer(scores, geometry=geometry, **OPTIONS)[0])(SCORES[0, 0])
    near(np.tensordot(COTANGENTS[0, 0], jacobian), expected[0, 0], atol=1e-12)


def test_a_seed_of_jax_may_be_an_array(jax: Any) -> None:
    from aligner.layers import jax as ours

    def loss(scores: Any, seed: Any) -> Any:
        return ours.perturbed_loss(scores, TARGETS[0, 0], seed, **OPTIONS)

    values, gradients = jax.jit(jax.vmap(jax.value_and_grad(loss)))(SCORES[0], np.arange(3))
    for seed in range(3):
        expected = layers.perturbed_loss(SCORES[0, seed], TARGETS[0, 0], seed, **OPTIONS)
        near(values[seed], expected.values, atol=1e-12)
        near(gradients[seed], expected.gradient, atol=1e-12)


def test_what_jax_cannot_have_is_refused(jax: Any) -> None:
    from aligner.layers import jax as ours

    with pytest.raises(Exception, match="ScoreError: the scores of pair 0 are not finite"):
        jax.block_until_ready(jax.jit(lambda scores: ours.matching_layer(scores)[0])(SCORES * np.nan))
    with pytest.raises(AlignerError, match=r"^temperature is .* to learn one, divide the scores by it"):
        jax.grad(lambda T: ours.matching_layer(SCORES, temperature=T)[0].sum())(1.0)
    with pytest.raises(ValueError, match="callbacks do not support JVP"):  # rather than a wrong second derivative
        jax.hessian(lambda scores: ours.fenchel_young_loss(scores, TARGETS[0, 0]))(SCORES[0, 0])
