"""The layers of matchings for JAX: under grad, vmap and jit, computed on the processor by compiled kernels.

Functions are differentiated in reverse mode, once. Their options, which are no arrays: see `aligner.layers`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Unpack

import numpy as np

from aligner.layers.forms import flatten, flatten_both
from aligner.layers.layer import Layer, LayerOptions, NoiseOptions, Perturbed

try:
    import jax
    from jax import numpy as jnp
except ImportError as error:
    raise ImportError("the layer for JAX needs jax: pip install jax") from error

__all__ = ["fenchel_young_loss", "matching_layer", "perturbed_loss"]


def matching_layer(scores: Any, mask: Any = None, **options: Unpack[LayerOptions]) -> tuple[Any, Any]:
    """The marginals z of scores, in their form, and for each matrix a bound of ‖z − z*‖₂, which has no gradient.

    See `aligner.layers.matching_layer`.
    """
    flat, form = flatten(scores, mask, jnp, _convert)
    z, bounds = _solve(Layer(form.matrices, **options), flat)
    return form.restore(z), form.of_matrices(bounds)


def fenchel_young_loss(scores: Any, target: Any, mask: Any = None, **options: Unpack[LayerOptions]) -> Any:
    """The loss of each matrix, see `aligner.layers.fenchel_young_loss`; the target has no gradient."""
    return _loss_of(Layer, scores, target, 0, mask, options)


def perturbed_loss(scores: Any, target: Any, seed: Any, mask: Any = None, **options: Unpack[NoiseOptions]) -> Any:
    """The loss of each matrix, see `aligner.layers.perturbed_loss`; the target has no gradient.

    seed: a whole number, or an array of one, such as the number of the training step.
    """
    return _loss_of(Perturbed, scores, target, seed, mask, options)


def _convert(given: Any) -> Any:
    array = jnp.asarray(given)
    return array.astype(jnp.result_type(array, float))


def _loss_of(kind: Any, scores: Any, target: Any, seed: Any, mask: Any, options: Any) -> Any:
    flat, y, form = flatten_both(scores, target, mask, jnp, _convert)
    layer = kind(form.matrices, **options)
    return form.of_matrices(_loss(layer, flat, y, jnp.asarray(seed).reshape(1)))


def _call(function: Callable[..., tuple[Any, ...]], sizes: tuple[int, ...], *arrays: Any) -> Any:
    """A function of arrays (B, …) of NumPy, called with arrays (…) of JAX, or under vmap with several of each."""
    dtype = arrays[0].dtype

    def on_host(*given: Any) -> tuple[Any, ...]:
        around = np.broadcast_shapes(*(one.shape[:-1] for one in given))
        rows = [np.broadcast_to(np.asarray(one, np.float64), (*around, one.shape[-1])) for one in given]
        found = function(*(one.reshape(-1, one.shape[-1]) for one in rows))
        return tuple(one.reshape(*around, -1).astype(dtype) for one in found)

    if not any(isinstance(one, jax.core.Tracer) for one in arrays):
        return tuple(map(jnp.asarray, on_host(*arrays)))  # so that what is wrong is said without JAX's words around it
    shapes = tuple(jax.ShapeDtypeStruct((size,), dtype) for size in sizes)
    return jax.pure_callback(on_host, shapes, *arrays, vmap_method="expand_dims")


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _solve(layer: Layer, flat: Any) -> tuple[Any, Any]:
    return _solve_and_keep(layer, flat)[0]


def _solve_and_keep(layer: Layer, flat: Any) -> tuple[tuple[Any, Any], Any]:
    entries, n, rows, columns = layer.sizes
    z, bounds, *kept = _call(layer.solve, (entries, n, entries, rows, columns), flat)
    return (z, bounds), kept


def _pull_back(layer: Layer, kept: Any, cotangents: Any) -> Any:
    return tuple(_call(layer.pull_back, layer.sizes[:1], *kept, cotangents[0]))


_solve.defvjp(_solve_and_keep, _pull_back)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _loss(layer: Layer | Perturbed, flat: Any, target: Any, seed: Any) -> Any:
    return _loss_and_gradient(layer, flat, target, seed)[0]


def _loss_and_gradient(layer: Layer | Perturbed, flat: Any, target: Any, seed: Any) -> Any:
    return tuple(_call(layer.loss, layer.sizes[1::-1], flat, target, seed))


def _scale(layer: Layer | Perturbed, gradient: Any, cotangent: Any) -> Any:
    entries = np.array([J * K for J, K in layer.shapes])
    return jnp.repeat(cotangent, entries, total_repeat_length=layer.sizes[0]) * gradient, None, None


_loss.defvjp(_loss_and_gradient, _scale)
