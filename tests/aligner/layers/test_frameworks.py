"""The layers for JAX and torch: they are NumPy's, and so are their gradients, under jit, vmap and grad."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aligner import layers
from aligner.errors import AlignerError, ScoreError

ROOT = Path(__file__).resolve().parents[3]
GEOMETRIES = "euclidean", "entropic", "fermi-dirac"
rng = np.random.default_rng(0)
SCORES, COTANGENTS = 2 * rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 5, 4))
TARGETS = np.zeros(SCORES.shape)
TARGETS[..., 1, 2] = TARGETS[..., 0, 0] = 1.0
OPTIONS: Any = {"capacity": (1, 2), "temperature": 0.7}


@pytest.fixture
def jax() -> Iterator[Any]:
    """With numbers of 64 bits."""
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def ours(jax: Any) -> Any:
    from aligner.layers import jax as ours

    return ours


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", exc_type=ImportError)


def expected(geometry: str) -> tuple[Any, Any]:
    found = layers.matching_layer(SCORES, geometry=geometry, **OPTIONS)
    return found, found.pull_back(COTANGENTS)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_jax_has_the_marginals_and_gradients_of_numpy(jax: Any, ours: Any, geometry: str) -> None:
    found, gradient = expected(geometry)

    def total(scores: Any, cotangent: Any) -> Any:
        return (ours.matching_layer(scores, geometry=geometry, **OPTIONS)[0] * cotangent).sum()

    z, bounds = jax.jit(lambda scores: ours.matching_layer(scores, geometry=geometry, **OPTIONS))(SCORES)
    np.testing.assert_allclose(z, found.z, atol=1e-12)
    np.testing.assert_allclose(bounds, found.error_bounds, atol=1e-12)
    one = jax.grad(total)
    two = jax.vmap(jax.vmap(one))
    for every in (one, jax.jit(one), two, jax.jit(two)):
        np.testing.assert_allclose(every(SCORES, COTANGENTS), gradient, atol=1e-12)
    jacobian = jax.jacrev(lambda scores: ours.matching_layer(scores, geometry=geometry, **OPTIONS)[0])(SCORES[0, 0])
    np.testing.assert_allclose(np.tensordot(COTANGENTS[0, 0], jacobian), gradient[0, 0], atol=1e-12)
    half = jax.grad(total)(SCORES.astype(np.float32), COTANGENTS.astype(np.float32))
    assert half.dtype == np.float32
    np.testing.assert_allclose(half, gradient, atol=1e-5)


def test_jax_has_the_losses_of_numpy(jax: Any, ours: Any) -> None:
    losses = layers.fenchel_young_loss(SCORES, TARGETS, **OPTIONS)
    noisy = [[layers.perturbed_loss(SCORES[i, j], TARGETS[i, j], i, **OPTIONS) for j in range(3)] for i in range(2)]

    def smooth(scores: Any, target: Any) -> Any:
        return ours.fenchel_young_loss(scores, target, **OPTIONS)

    def perturbed(scores: Any, target: Any, seed: Any) -> Any:
        return ours.perturbed_loss(scores, target, seed, **OPTIONS)

    values, gradient = jax.jit(jax.vmap(jax.vmap(jax.value_and_grad(smooth))))(SCORES, TARGETS)
    np.testing.assert_allclose(values, losses.values, atol=1e-12)
    np.testing.assert_allclose(gradient, losses.gradient, atol=1e-12)
    scaled = jax.grad(lambda scores: (smooth(scores, TARGETS) * np.arange(6).reshape(2, 3)).sum())(SCORES)
    np.testing.assert_allclose(scaled, losses.gradient * np.arange(6).reshape(2, 3, 1, 1), atol=1e-12)
    inner = jax.vmap(jax.value_and_grad(perturbed), (0, 0, None))
    values, gradient = jax.jit(jax.vmap(inner))(SCORES, TARGETS, np.arange(2))
    np.testing.assert_allclose(values, [[one.values for one in row] for row in noisy], atol=1e-12)
    np.testing.assert_allclose(gradient, [[one.gradient for one in row] for row in noisy], atol=1e-12)


def test_jax_takes_lists_and_masks(jax: Any, ours: Any) -> None:
    matrices, mask = [SCORES[0, 0], SCORES[0, 1, :2]], np.ones((2, 5, 4), bool)
    mask[1, 2:] = False
    padded = np.where(mask, SCORES[0, :2], np.nan)
    listed = jax.jit(jax.grad(lambda s: sum((one**2).sum() for one in ours.matching_layer(s)[0])))(matrices)
    array = jax.jit(jax.grad(lambda s: (ours.matching_layer(s, mask)[0] ** 2).sum()))(padded)
    assert not np.asarray(array)[~mask].any()
    for i, own in enumerate((mask[0], mask[1])):
        np.testing.assert_allclose(np.asarray(array[i])[own], np.ravel(listed[i]), atol=1e-6)
        assert np.abs(listed[i]).max() > 0.0


def test_jax_refuses_scores_that_are_not_finite_and_options_that_are_arrays(jax: Any, ours: Any) -> None:
    for function in (lambda s: ours.matching_layer(s)[0].sum(), jax.grad(lambda s: ours.matching_layer(s)[0].sum())):
        with pytest.raises(ScoreError, match=r"^the scores of pair 0 are not finite \(no nearest point exists\)"):
            function(SCORES * np.nan)
        with pytest.raises(Exception, match="ScoreError: the scores of pair 0 are not finite"):
            jax.block_until_ready(jax.jit(function)(SCORES * np.nan))
    with pytest.raises(AlignerError, match=r"^temperature is .* to learn one, divide the scores by it"):
        jax.grad(lambda T: ours.matching_layer(SCORES, temperature=T)[0].sum())(1.0)
    with pytest.raises(ValueError, match="callbacks do not support JVP"):  # rather than a wrong second derivative
        jax.hessian(lambda s: ours.fenchel_young_loss(s, TARGETS[0, 0]))(SCORES[0, 0])


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_torch_has_the_marginals_and_gradients_of_numpy(torch: Any, geometry: str) -> None:
    from aligner.layers import torch as ours

    found, gradient = expected(geometry)
    scores = torch.tensor(SCORES, requires_grad=True)
    z, bounds = ours.matching_layer(scores, geometry=geometry, **OPTIONS)
    (z * torch.tensor(COTANGENTS)).sum().backward()
    np.testing.assert_allclose(z.detach(), found.z, atol=1e-12)
    np.testing.assert_allclose(scores.grad, gradient, atol=1e-12)
    assert not bounds.requires_grad
    assert torch.autograd.gradcheck(lambda s: ours.matching_layer(s, geometry=geometry, **OPTIONS)[0], scores[0, 0])
    half = scores.detach().float()
    assert ours.matching_layer(half, geometry=geometry)[0].dtype == torch.float32


def test_torch_has_the_losses_of_numpy(torch: Any) -> None:
    from aligner.layers import torch as ours

    weights = torch.arange(6.0).reshape(2, 3)
    for name, seed in (("fenchel_young_loss", ()), ("perturbed_loss", (3,))):
        losses = getattr(layers, name)(SCORES, TARGETS, *seed, **OPTIONS)
        scores = torch.tensor(SCORES, requires_grad=True)
        values = getattr(ours, name)(scores, torch.tensor(TARGETS), *seed, **OPTIONS)
        (values * weights).sum().backward()
        np.testing.assert_allclose(values.detach(), losses.values, atol=1e-12)
        np.testing.assert_allclose(scores.grad, losses.gradient * weights.numpy()[..., None, None], atol=1e-12)


def test_torch_takes_lists_masks_and_whole_numbers(torch: Any) -> None:
    from aligner.layers import torch as ours

    found, _ = ours.matching_layer([torch.tensor([[2, 0], [1, 1]]), torch.ones(1, 3)])
    np.testing.assert_allclose(found[0], layers.matching_layer(np.array([[2, 0], [1, 1]])).z, atol=1e-6)
    mask = torch.tensor([[True, False]])
    np.testing.assert_array_equal(ours.matching_layer(torch.tensor([[0.5, np.nan]]), mask)[0], [[0.5, 0.0]])
    with pytest.raises(ScoreError, match="pair 0"):
        ours.matching_layer(torch.tensor([[0.5, np.nan]]))


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_without_the_framework_the_layer_is_for_numpy(name: str) -> None:
    code = f"""if True:
        import sys
        sys.modules.update({{"jax": None, "torch": None}})  # as if they were not installed
        import aligner.layers
        try:
            import aligner.layers.{name}
        except ImportError as error:
            print(error)
    """
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == f"the layer for {run.stdout.split()[3]} needs {name}: pip install {name}\n"
