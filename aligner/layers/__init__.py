"""Layers of matchings for networks: marginals of scores, their gradients, and losses; here for NumPy.

`aligner.layers.jax` and `aligner.layers.torch` have the same functions for arrays of JAX and torch, to be
differentiated there. Scores are a matrix, an array (…, J, K) of many, where a mask says which entries are no padding,
or a list of matrices of any shapes. See docs/layer.md.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from aligner.layers.forms import Form, flatten, flatten_both
from aligner.layers.layer import Layer, LayerOptions, NoiseOptions, Perturbed
from corpora.ragged import F64

__all__ = ["LayerMarginals", "Loss", "fenchel_young_loss", "matching_layer", "perturbed_loss"]

_of_numpy = partial(np.asarray, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class LayerMarginals:
    """The marginals z of scores, in their form.

    error_bounds: of ‖z − z*‖₂ for each matrix, by the duality gap, where z* are the exact marginals.
    """

    z: Any
    error_bounds: F64
    form: Form
    layer: Layer
    kept: tuple[F64, F64, F64]

    def pull_back(self, cotangent: Any) -> Any:
        """Return the gradient by the scores of ⟨cotangent, z⟩: a vector-Jacobian product, in the form of z."""
        _, flat, form = flatten_both(self.z, cotangent, None, np, _of_numpy)
        return form.restore(self.layer.pull_back(*self.kept, flat[None])[0][0])


class Loss(NamedTuple):
    """values: a number for each matrix.  gradient: of each by its own scores, in their form."""

    values: F64
    gradient: Any


def matching_layer(scores: Any, mask: Any = None, **options: Unpack[LayerOptions]) -> LayerMarginals:
    """The marginals of (b-)matchings nearest to scores: argmax_z ⟨s, z⟩ − temperature · Ω(z)  [NMBC18, BMN20].

    Z = { 0 <= z <= 1, row and column sums <= capacity };  Ω: ½ ‖z‖² (euclidean), Σ z log z − z (entropic), or
    Σ z log z + (1 − z) log(1 − z) (fermi-dirac).

    scores: a matrix, an array (…, J, K), or a list of matrices; -inf forbids an entry.  mask: in the same form, False
    where an entry is padding.  options: capacity (1), of all words or (of rows, of columns); geometry ("euclidean");
    temperature (1).
    Raises ScoreError on NaN or +inf, SettingError for impossible options, ValueError if arrays do not fit.
    """
    flat, form = flatten(scores, mask, np, _of_numpy)
    layer = Layer(form.matrices, **options)
    z, bounds, slopes, u, v = layer.solve(flat[None])
    return LayerMarginals(form.restore(z[0]), form.of_matrices(bounds[0]), form, layer, (slopes, u, v))


def fenchel_young_loss(scores: Any, target: Any, mask: Any = None, **options: Unpack[LayerOptions]) -> Loss:
    """FY(s; y) = max_z ⟨s, z⟩ − Ω(z) + Ω(y) − ⟨s, y⟩ >= 0, for the Ω of `matching_layer` times temperature  [BMN20].

    It is 0 where the layer's marginals are the target, and its gradient is z − y.  target: y, in the form of the
    scores: a (b-)matching, or a mean of some.  Else see `matching_layer`.
    """
    flat, y, form = flatten_both(scores, target, mask, np, _of_numpy)
    return _loss(Layer(form.matrices, **options), form, flat, y, 0)


def perturbed_loss(scores: Any, target: Any, seed: int, mask: Any = None, **options: Unpack[NoiseOptions]) -> Loss:
    """E max_z ⟨s + temperature · noise, z⟩ − ⟨s, y⟩ >= 0, by exact matchings of samples  [Berthet et al. 2020].

    Its gradient is the mean matching minus y. It is a Fenchel-Young loss but for Ω(y), which is constant; with few
    samples it may be below 0.  seed: of the noise; the same noise comes again.  options: capacity; temperature; noise
    ("normal" or "gumbel", of mean 0); samples (10).
    """
    flat, y, form = flatten_both(scores, target, mask, np, _of_numpy)
    return _loss(Perturbed(form.matrices, **options), form, flat, y, seed)


def _loss(layer: Layer | Perturbed, form: Form, flat: F64, y: F64, seed: int) -> Loss:
    values, gradient = layer.loss(flat[None], y[None], np.array([[seed]]))
    return Loss(form.of_matrices(values[0]), form.restore(gradient[0]))
