"""Fertility: what a word's second, third... link is worth, by features of the word  [LTKJ06 §3]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from corpora.threads import shared_property

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

CONSTANT = "constant"
"""The feature that is 1 for every word."""


@dataclass(frozen=True, eq=False)
class Fertility:
    """How many links words may have, and the features that decide on the reward of each after the first.

    A word with the features g, all in [0, 1], gets ρ_t = Σ_{u=2..t} v_u·g for its t-th link, with weights v_u <= 0 of
    its side: so ρ is at most 0 and does not rise with t, whatever the word, and the best alignment is a min-cost flow.
    Then Σ_{t=2..deg} ρ_t = Σ_u v_u·g max(0, deg − u + 1): linear in v, with a column for each side, u and feature.

    source: (ΣJ, f) features of the source words of n pairs, stacked.  target: (ΣK, h).  shapes: (n, 2).
    source_capacity, target_capacity: links that a word may have, at least 1.  source_names: (f,).  target_names: (h,).
    Raises ValueError where these do not fit together.
    """

    source: F64
    target: F64
    shapes: I64
    source_capacity: int
    target_capacity: int
    source_names: tuple[str, ...]
    target_names: tuple[str, ...]

    def __post_init__(self) -> None:
        words = self.shapes.sum(axis=0)
        for side, matrix, names, size, capacity in (
            ("source", self.source, self.source_names, words[0], self.source_capacity),
            ("target", self.target, self.target_names, words[1], self.target_capacity),
        ):
            if matrix.shape != (size, len(names)) or matrix.dtype != np.float64 or not matrix.flags.c_contiguous:
                raise ValueError(f"{side} features must be a C-contiguous float64 matrix of {(int(size), len(names))}")
            if not ((matrix >= 0) & (matrix <= 1)).all():
                raise ValueError(f"{side} features of fertility must be from 0 to 1")
            if capacity < 1:
                raise ValueError(f"a {side} word needs a capacity of at least 1, not {capacity}")

    @classmethod
    def constant(cls, shapes: I64, source_capacity: int, target_capacity: int) -> Fertility:
        """The same rewards for all words of a side."""
        rows, columns = shapes.sum(axis=0).tolist()
        names = (CONSTANT,)
        return cls(np.ones((rows, 1)), np.ones((columns, 1)), shapes, source_capacity, target_capacity, names, names)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns: side, which link, feature."""
        return fertility_names(self.source_capacity, self.target_capacity, self.source_names, self.target_names)

    @shared_property
    def word_offsets(self) -> I64:
        """(n + 1, 2) the first source word and the first target word of each pair, and their numbers at the end."""
        offsets = np.zeros((len(self.shapes) + 1, 2), np.int64)
        np.cumsum(self.shapes, axis=0, out=offsets[1:])
        return offsets

    def rewards(self, weights: F64) -> tuple[F64, F64]:
        """ρ_2, ρ_3... of every source word, (ΣJ, source_capacity - 1), and of every target word.

        weights: of the columns, at most 0.  Raises ValueError on others.
        """
        if weights.shape != (len(self.names),) or not (weights <= 0).all():
            raise ValueError(f"weights of fertility must be {len(self.names)} numbers that are at most 0")
        source_shape = (self.source_capacity - 1, self.source.shape[1])
        target_shape = (self.target_capacity - 1, self.target.shape[1])
        cut = source_shape[0] * source_shape[1]
        source = self.source @ weights[:cut].reshape(source_shape).T
        target = self.target @ weights[cut:].reshape(target_shape).T
        return np.cumsum(source, axis=1), np.cumsum(target, axis=1)

    def features(self, source_links: I64, target_links: I64) -> F64:
        """(n, columns) Σ_j g(j) max(0, deg(j) − u + 1) of alignments.

        source_links: (ΣJ,) deg(j), links of each source word.  target_links: (ΣK,).
        """
        sums = np.zeros((len(self.shapes), len(self.names)))
        first = 0
        for side, matrix, links, capacity in (
            (0, self.source, source_links, self.source_capacity),
            (1, self.target, target_links, self.target_capacity),
        ):
            pair = np.repeat(np.arange(len(self.shapes)), self.shapes[:, side])
            for link in range(2, capacity + 1):
                last = first + matrix.shape[1]
                np.add.at(sums[:, first:last], pair, np.maximum(0, links - link + 1)[:, None] * matrix)
                first = last
        return sums

    def take(self, pairs: I64) -> Fertility:
        """That of these pairs alone, (m,) indices, in their order: a copy."""
        offsets, shapes = self.word_offsets, self.shapes[pairs]
        rows, columns = (
            np.repeat(offsets[pairs, side] - np.cumsum(shapes[:, side]) + shapes[:, side], shapes[:, side])
            + np.arange(shapes[:, side].sum())
            for side in (0, 1)
        )
        return replace(self, source=self.source[rows], target=self.target[columns], shapes=shapes)


@dataclass(frozen=True)
class LinkRewards:
    """What a second, third... link of any word of a side is worth: ρ_2, ρ_3..., at most 0 and not rising.

    A side without any has one link a word.  Raises ValueError on others.
    """

    source: tuple[float, ...] = ()
    target: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for rewards in (self.source, self.target):
            if not (np.isfinite(rewards).all() and (np.diff(rewards, prepend=0.0) <= 0.0).all()):
                raise ValueError(f"rewards of further links must be at most 0 and not rise, not {rewards}")

    def of(self, shapes: I64) -> tuple[F64, F64]:
        """(ΣJ, B - 1) of every source word of pairs, and (ΣK, C - 1) of every target word."""
        rows, columns = shapes.sum(axis=0).tolist()
        return (
            np.broadcast_to(np.array(self.source), (rows, len(self.source))),
            np.broadcast_to(np.array(self.target), (columns, len(self.target))),
        )


def fertility_names(
    source_capacity: int, target_capacity: int, source_names: Sequence[str], target_names: Sequence[str]
) -> tuple[str, ...]:
    """Names of the columns of fertility.

    >>> fertility_names(3, 2, ["constant", "frequency"], ["constant"])[2:]
    ('source:3:constant', 'source:3:frequency', 'target:2:constant')
    """
    sides = (("source", source_capacity, source_names), ("target", target_capacity, target_names))
    return tuple(
        f"{side}:{link}:{name}" for side, capacity, names in sides for link in range(2, capacity + 1) for name in names
    )
