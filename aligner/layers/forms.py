"""The forms of scores, of any framework: a matrix, an array (…, J, K) of many, or a list of matrices of any shapes."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any


@dataclass(frozen=True)
class Form:
    """The shapes of arrays whose last two dimensions are matrices; listed: whether there is a list of them."""

    shapes: tuple[tuple[int, ...], ...]
    listed: bool

    @property
    def matrices(self) -> tuple[tuple[int, int], ...]:
        return tuple((shape[-2], shape[-1]) for shape in self.shapes for _ in range(prod(shape[:-2])))

    def restore(self, flat: Any) -> Any:
        """The entries (E,) of all matrices in this form again."""
        parts, first = [], 0
        for shape in self.shapes:
            parts.append(flat[first : first + prod(shape)].reshape(shape))
            first += prod(shape)
        return parts if self.listed else parts[0]

    def of_matrices(self, values: Any) -> Any:
        """Numbers (n,) of the matrices, as an array of as many dimensions as the matrices are in."""
        return values if self.listed else values.reshape(self.shapes[0][:-2])


def flatten(scores: Any, mask: Any, library: Any, convert: Callable[[Any], Any]) -> tuple[Any, Form]:
    """The entries (E,) of all matrices, -inf where the mask is False, and their form.

    library: numpy, jax.numpy or torch.  convert: makes an array of floating point numbers of what was given.
    """
    listed = isinstance(scores, list | tuple)
    parts = [convert(part) for part in (scores if listed else [scores])]
    for part in parts:
        if part.ndim < 2 or (listed and part.ndim > 2):
            needed = "a list has matrices" if listed else "scores are a matrix or an array of matrices"
            raise ValueError(f"{needed}, not shape {tuple(part.shape)}")
    if not parts:
        raise ValueError("the list has no matrices")
    form = Form(tuple(tuple(part.shape) for part in parts), listed)
    if mask is not None:
        masks = [library.asarray(one) != 0 for one in (mask if listed else [mask])]
        if tuple(tuple(one.shape) for one in masks) != form.shapes:
            raise ValueError("the mask has one truth value for each score, in the same form")
        parts = [library.where(one, part, -library.inf) for one, part in zip(masks, parts, strict=True)]
    return library.concatenate([part.reshape(-1) for part in parts]), form


def flatten_both(scores: Any, target: Any, mask: Any, library: Any, convert: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The entries of scores and of a target, which has their form, and this form."""
    (flat, form), (y, own) = flatten(scores, mask, library, convert), flatten(target, None, library, convert)
    if own != form:
        raise ValueError("the target has one number for each score, in the same form")
    return flat, y, form
