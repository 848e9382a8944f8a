"""The layers of matchings for torch, computed on the processor by compiled kernels.

Functions are differentiated once. Their options: see `aligner.layers`.
"""

from typing import Any, Unpack

import numpy as np

from aligner.layers.forms import flatten, flatten_both
from aligner.layers.layer import Layer, LayerOptions, NoiseOptions, Perturbed

try:
    import torch
    from torch.autograd.function import once_differentiable
except ImportError as error:
    raise ImportError("the layer for torch needs torch: pip install torch") from error

__all__ = ["fenchel_young_loss", "matching_layer", "perturbed_loss"]


def matching_layer(scores: Any, mask: Any = None, **options: Unpack[LayerOptions]) -> tuple[Any, Any]:
    """The marginals z of scores, in their form, and for each matrix a bound of ‖z − z*‖₂, which has no gradient.

    See `aligner.layers.matching_layer`.
    """
    flat, form = flatten(scores, mask, torch, _convert)
    z, bounds = _Solve.apply(flat, Layer(form.matrices, **options))
    return form.restore(z), form.of_matrices(bounds)


def fenchel_young_loss(scores: Any, target: Any, mask: Any = None, **options: Unpack[LayerOptions]) -> Any:
    """The loss of each matrix, see `aligner.layers.fenchel_young_loss`; the target has no gradient."""
    return _loss_of(Layer, scores, target, 0, mask, options)


def perturbed_loss(scores: Any, target: Any, seed: int, mask: Any = None, **options: Unpack[NoiseOptions]) -> Any:
    """The loss of each matrix, see `aligner.layers.perturbed_loss`; the target has no gradient."""
    return _loss_of(Perturbed, scores, target, seed, mask, options)


def _convert(given: Any) -> Any:
    tensor = torch.as_tensor(given)
    return tensor if tensor.is_floating_point() else tensor.float()


def _loss_of(kind: Any, scores: Any, target: Any, seed: Any, mask: Any, options: Any) -> Any:
    flat, y, form = flatten_both(scores, target, mask, torch, _convert)
    layer = kind(form.matrices, **options)
    return form.of_matrices(_Loss.apply(flat, y, seed, layer))


def _row(tensor: Any) -> Any:
    return np.asarray(tensor.detach().cpu().double())[None]


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, flat: Any, layer: Layer) -> Any:
        z, bounds, *ctx.kept = layer.solve(_row(flat))
        ctx.layer, found = layer, (flat.new_tensor(z[0]), flat.new_tensor(bounds[0]))
        ctx.mark_non_differentiable(found[1])
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, cotangent: Any, _: Any) -> Any:
        return cotangent.new_tensor(ctx.layer.pull_back(*ctx.kept, _row(cotangent))[0][0]), None


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, flat: Any, target: Any, seed: int, layer: Layer | Perturbed) -> Any:
        values, gradient = layer.loss(_row(flat), _row(target), np.array([[seed]]))
        ctx.gradient, ctx.entries = gradient[0], [J * K for J, K in layer.shapes]
        return flat.new_tensor(values[0])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, cotangent: Any) -> Any:
        scaled = np.repeat(_row(cotangent)[0], ctx.entries) * ctx.gradient
        return cotangent.new_tensor(scaled), None, None, None
