"""Expected counts of one lexicon as a translation model keeps them: of links, of NULL and of jumps.

They are computed in `counting`.
"""

from dataclasses import dataclass

import numpy as np

from corpora.ragged import F32, F64, I32, I64, Array, Arrays
from features.translation._lattice_kernels import CONTEXTS, N_JUMPS, WIDTHS, Jumps, JumpWeights
from features.translation._translation_kernels import DirectionCounts
from features.translation.cells import Cells
from features.translation.expectation import Parameters
from features.words import check_ids, check_offsets


@dataclass(frozen=True, eq=False)
class Direction:
    """Expected counts and jump weights of one direction.

    null: (V of the generated words,) float32, words without a link.  shared: (N_JUMPS,) float64, weights of jumps of
    all words.  jumps: (N_JUMPS,) float64, expected jumps, and contexts: CONTEXTS, where they were made.
    frequent: (G - 1,) int32, words of groups 1, 2, ... of the other language, that jump in their own way.
    weights: (2, G, WIDTHS) float32, their weights, and inside their expected jumps; see `_lattice_kernels`.
    """

    null: F32
    shared: F64
    jumps: F64
    contexts: F64
    frequent: I32
    weights: F32
    inside: F32

    @classmethod
    def from_counts(cls, counts: DirectionCounts, weights: JumpWeights) -> "Direction":
        jumps = counts.jumps
        frequent = np.flatnonzero(weights.groups)
        frequent = frequent[np.argsort(weights.groups[frequent])]
        return cls(
            counts.null.astype(np.float32),
            weights.shared,
            jumps.counts,
            jumps.contexts,
            frequent.astype(np.int32),
            weights.inside.astype(np.float32),
            jumps.inside.astype(np.float32),
        )

    def jump_weights(self, words: int) -> JumpWeights:
        """Weights of the jumps between this many words, the words of the model or more."""
        groups = np.zeros(words, np.int32)
        groups[self.frequent] = np.arange(1, len(self.frequent) + 1)
        return JumpWeights(self.shared, self.weights.astype(np.float64), groups)

    def counts(self, generated: int, weights: JumpWeights) -> DirectionCounts:
        """Counts of this many generated words; the last ones are new.

        The jumps are those that made these weights, to be added to others: alone, they would make the same again.
        """
        null = np.zeros(generated)
        null[: len(self.null)] = self.null
        inside = self.inside.astype(np.float64)
        return DirectionCounts(null, Jumps(self.jumps, self.contexts, inside, self.inside / weights.inside))

    def check(self, words: int, generated: int) -> None:
        """Raises ValueError where arrays do not fit together, or this many words."""
        check(self.null.shape == (generated,) and self.shared.shape == self.jumps.shape == (N_JUMPS,))
        check(self.contexts.shape == CONTEXTS)
        check_ids(self.frequent, words)
        check(self.weights.shape == self.inside.shape == (2, len(self.frequent) + 1, WIDTHS))


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Expected counts of one kind of classes.

    row_offsets: (V_source + 1,) int64.  targets: (C,) int32, ascending within a row.  counts: (C, 1) float32 of both
    directions, or (C, 2) of each.  forward: source words generate target words; reverse: the other way round.
    """

    row_offsets: I64
    targets: I32
    counts: F32
    forward: Direction
    reverse: Direction

    @classmethod
    def from_parameters(cls, found: Parameters) -> "Lexicon":
        return cls(
            found.cells.row_offsets,
            found.cells.targets,
            found.counts[:-1].astype(np.float32),
            Direction.from_counts(found.forward, found.weights[0]),
            Direction.from_counts(found.reverse, found.weights[1]),
        )

    def parameters(self, occurrences: tuple[F64, F64]) -> Parameters:
        """With more words, that have not been met.  occurrences: (V_source,), (V_target,) of all, 0 of the new ones."""
        n_source, n_target = map(len, occurrences)
        row_offsets = np.full(n_source + 1, len(self.targets), np.int64)
        row_offsets[: len(self.row_offsets)] = self.row_offsets
        counts = np.append(self.counts.astype(np.float64), np.zeros((1, self.counts.shape[1])), axis=0)
        weights = self.forward.jump_weights(n_source), self.reverse.jump_weights(n_target)
        return Parameters(
            Cells(row_offsets, self.targets, n_target),
            counts,
            self.forward.counts(n_target, weights[0]),
            self.reverse.counts(n_source, weights[1]),
            weights,
            occurrences,
        )

    def to_arrays(self) -> dict[str, Array]:
        """Everything by the names of a model file."""
        arrays = {name: getattr(self, name) for name in CELL_ARRAYS}
        for side, direction in enumerate((self.forward, self.reverse)):
            arrays.update({names[side]: getattr(direction, field) for field, names in _DIRECTION_ARRAYS.items()})
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays, prefix: str) -> "Lexicon":
        """The lexicon whose arrays' names begin with a prefix.  Raises KeyError where one is missing."""
        sides = [{key: arrays[prefix + names[side]] for key, names in _DIRECTION_ARRAYS.items()} for side in (0, 1)]
        forward, reverse = (Direction(**side) for side in sides)
        return cls(**{name: arrays[prefix + name] for name in CELL_ARRAYS}, forward=forward, reverse=reverse)

    def check(self, n_source: int, n_target: int) -> None:
        """Raises ValueError where arrays do not fit together: kernels trust them and read where the offsets say."""
        n = len(self.targets)
        check_offsets(self.row_offsets, n_source, self.targets)
        check_ids(self.targets, n_target)
        check(self.counts.shape in {(n, 1), (n, 2)})
        self.forward.check(n_source, n_target)
        self.reverse.check(n_target, n_source)


CELL_ARRAYS = "row_offsets", "targets", "counts"
_DIRECTION_ARRAYS = {
    "null": ("null_target", "null_source"),
    "shared": ("forward", "reverse"),
    "jumps": ("forward_jumps", "reverse_jumps"),
    "contexts": ("forward_contexts", "reverse_contexts"),
    "frequent": ("source_frequent", "target_frequent"),
    "weights": ("forward_weights", "reverse_weights"),
    "inside": ("forward_inside", "reverse_inside"),
}
"""Names in a model file of the arrays of the forward and of the reverse direction."""


def check(sound: bool) -> None:
    """Raises ValueError unless a condition of arrays holds."""
    if not sound:
        raise ValueError("the arrays of the translation model do not fit together")
