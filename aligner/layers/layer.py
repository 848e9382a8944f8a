"""What the matching layers of all frameworks compute, on flat arrays of NumPy: nearest points, derivatives, losses."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NotRequired, TypedDict

import numpy as np
from scipy.special import entr

from aligner.errors import SettingError
from aligner.layers._layer_kernels import pull_back
from aligner.matching import best_matchings
from aligner.matching.projection import GEOMETRIES, nearest_points
from corpora.ragged import F64, Lists, word_offsets
from corpora.threads import map_threads

_MATRICES_AT_ONCE = 32  # by a thread

_TOLERANCE = 1e-12
"""Duality gap of nearest points, beyond its rounding error."""

_MOST_ITERATIONS = 20_000
"""More than 1,000 are needed by one in 250 euclidean matrices of 25 × 25 normal scores of deviation 4."""

_OUTSIDE = 1e-5
"""By so much a target may leave the polytope: the rounding of float32."""

NOISES: Final[dict[str, Callable[[np.random.Generator, tuple[int, int]], F64]]] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "gumbel": lambda rng, size: rng.gumbel(-np.euler_gamma, size=size),
}
"""Both of mean 0, so that a perturbed loss is at least 0 on average."""


class PolytopeOptions(TypedDict):
    """The fields of `Polytope`."""

    capacity: NotRequired[float | tuple[float, float]]
    temperature: NotRequired[float]


class LayerOptions(PolytopeOptions):
    """The fields of `Layer`."""

    geometry: NotRequired[str]


class NoiseOptions(PolytopeOptions):
    """The fields of `Perturbed`."""

    noise: NotRequired[str]
    samples: NotRequired[int]


@dataclass(frozen=True)
class Polytope:
    """The (b-)matchings of matrices of these shapes; arrays have rows (B, E) of all their entries, B times over.

    capacity: the most links of a word, of all words or (of rows, of columns).  temperature: how much is smoothed.
    """

    shapes: tuple[tuple[int, int], ...]
    capacity: float | tuple[float, float] = 1.0
    temperature: float = 1.0

    def __post_init__(self) -> None:
        capacities = self.capacities
        if not (len(capacities) == 2 and all(_is_number(one) and 1.0 <= one < np.inf for one in capacities)):
            raise SettingError(
                f"capacity is {_shown(self.capacity)} (a number of at least 1, or two: of rows, of columns)"
            )
        if not (_is_number(self.temperature) and 0.0 < self.temperature < np.inf):
            told = "a number above 0; to learn one, divide the scores by it"
            raise SettingError(f"temperature is {_shown(self.temperature)} ({told})")

    @property
    def capacities(self) -> tuple[float, float]:
        """Of rows, of columns."""
        return self.capacity if isinstance(self.capacity, tuple) else (self.capacity, self.capacity)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many entries, matrices, rows and columns there are."""
        rows, columns = (sum(shape[side] for shape in self.shapes) for side in (0, 1))
        return sum(J * K for J, K in self.shapes), len(self.shapes), rows, columns

    def lists(self, times: int) -> Lists:
        return Lists.of_all(self.shapes * times)

    def sums(self, terms: F64) -> F64:
        """The sum (B, n) over each matrix of terms (B, E)."""
        lists = self.lists(len(terms))
        sums = np.bincount(lists.pairs, terms.ravel(), len(lists.shapes))
        return np.asarray(sums, np.float64).reshape(len(terms), -1)

    def check(self, target: F64) -> None:
        """Raise ValueError unless a target (B, E) is of the polytope, but for rounding."""
        lists, flat = self.lists(len(target)), target.ravel()
        pairs, starts = lists.pairs, word_offsets(lists.shapes)
        wrong = ~((flat >= -_OUTSIDE) & (flat <= 1.0 + _OUTSIDE))
        for side, (own, most) in enumerate(zip(lists[:2], self.capacities, strict=True)):
            words = starts[pairs, side] + own
            wrong |= (np.bincount(words, flat) > most + _OUTSIDE)[words]
        if wrong.any():
            raise ValueError(
                f"the target of matrix {pairs[wrong.argmax()] % len(self.shapes)} is no matching, nor a mean of some, "
                f"with at most {self.capacities[0]:g} and {self.capacities[1]:g} links a row and column"
            )


@dataclass(frozen=True)
class Layer(Polytope):
    """z = argmax ⟨s, z⟩ − temperature · Ω(z) over the polytope; Ω of a geometry: see `matching.projection`.

    Its derivative by the scores is V / temperature, V as in `_layer_kernels`, at the prices of its active set.
    """

    geometry: str = "euclidean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.geometry not in GEOMETRIES:
            raise SettingError(f"geometry is {self.geometry!r} (choose from {', '.join(GEOMETRIES)})")

    def solve(self, scores: F64) -> tuple[F64, ...]:
        """Return z (B, E) at scores (B, E), bounds (B, n) of ‖z − z*‖₂, and the arrays that `pull_back` needs.

        No geometry curves Ω by less than 1 on [0, 1], so a duality gap bounds ½ ‖z − z*‖².
        """
        lists, scaled = self.lists(len(scores)), scores.ravel() / self.temperature
        of_rows, of_columns = self.capacities
        found = nearest_points(
            scaled,
            lists,
            geometry=self.geometry,
            row_capacity=of_rows,
            column_capacity=of_columns,
            tolerance=_TOLERANCE,
            max_iterations=_MOST_ITERATIONS,
        )
        z, slopes = found.z, np.asarray(found.z > 0.0, np.float64)
        if self.geometry != "euclidean":
            slopes = z * (1.0 - z) if self.geometry == "fermi-dirac" else z
        if min(of_rows, of_columns) > 1.0 and self.geometry != "fermi-dirac":  # else nothing but a price ends at 1
            starts, pairs = word_offsets(lists.shapes), lists.pairs
            prices = found.u[starts[pairs, 0] + lists.source] + found.v[starts[pairs, 1] + lists.target]
            slopes = slopes * (scaled - prices < (1.0 if self.geometry == "euclidean" else 0.0))
        parts = z, np.sqrt(2.0 * found.gaps), slopes, found.u, found.v
        return tuple(part.reshape(len(scores), -1) for part in parts)

    def pull_back(self, slopes: F64, u: F64, v: F64, cotangent: F64) -> tuple[F64]:
        """Return the gradient (B, E) by the scores of ⟨cotangent, z⟩, from what `solve` returned last."""
        lists = self.lists(len(slopes))
        arrays = (np.ascontiguousarray(array).ravel() for array in (slopes, u, v, cotangent / self.temperature))
        gradient, n = np.empty(slopes.size), len(lists.shapes)
        fixed = lists.shapes, lists.offsets, word_offsets(lists.shapes), *arrays, gradient

        def work(first: int) -> None:
            pull_back(first, min(first + _MATRICES_AT_ONCE, n), *fixed)

        deque(map_threads(work, range(0, n, _MATRICES_AT_ONCE)), maxlen=0)
        return (gradient.reshape(slopes.shape),)

    def loss(self, scores: F64, target: F64, seeds: F64) -> tuple[F64, F64]:
        """Return Fenchel-Young losses (B, n) of targets (B, E), and their gradient z − y by the scores  [BMN20]."""
        z = self.solve(scores)[0]
        self.check(target)
        entropies = self.temperature * (self._omega(target) - self._omega(z))
        return self.sums(entropies + _products(scores, z - target)), z - target

    def _omega(self, z: F64) -> F64:
        if self.geometry == "euclidean":
            return 0.5 * z * z
        z = np.clip(z, 0.0, 1.0)
        return np.asarray(-entr(z) - (z if self.geometry == "entropic" else entr(1.0 - z)))


@dataclass(frozen=True)
class Perturbed(Polytope):
    """Best matchings of scores with noise times the temperature, on average of samples  [Berthet et al. 2020]."""

    noise: str = "normal"
    samples: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise not in NOISES:
            raise SettingError(f"noise is {self.noise!r} (choose from {', '.join(NOISES)})")
        if not (isinstance(self.samples, int) and self.samples >= 1):
            raise SettingError(f"samples is {self.samples!r} (a whole number from 1 on)")
        if any(one % 1 for one in self.capacities):
            raise SettingError(f"capacity is {self.capacity!r} (whole numbers only, for perturbed losses)")

    def loss(self, scores: F64, target: F64, seeds: F64) -> tuple[F64, F64]:
        """Return the losses (B, n) mean max_z ⟨s + temperature · noise, z⟩ − ⟨s, y⟩, and their gradient, mean z − y.

        seeds: (B, 1).
        """
        rewards = [np.zeros(int(one) - 1) for one in self.capacities]
        lists, best, mean = self.lists(self.samples), np.empty(target.shape), np.empty(target.shape)
        for row, seed in enumerate(seeds[:, 0]):
            draw = NOISES[self.noise](np.random.default_rng(int(seed)), (self.samples, scores.shape[1]))
            noisy = scores[row] + self.temperature * draw
            z = best_matchings(noisy.ravel(), lists, *rewards).reshape(noisy.shape).astype(np.float64)
            best[row], mean[row] = _products(noisy, z).mean(axis=0), z.mean(axis=0)
        self.check(target)
        return self.sums(best - _products(scores, target)), mean - target


def _is_number(value: object) -> bool:
    return isinstance(value, float | int | np.number)


def _shown(value: object) -> str:
    """Return the value on one line; arrays have several."""
    return " ".join(repr(value).split())


def _products(scores: F64, z: F64) -> F64:
    """Return scores times z, and 0 for forbidden entries without a link."""
    return np.multiply(scores, z, out=np.zeros_like(z), where=z != 0.0)
