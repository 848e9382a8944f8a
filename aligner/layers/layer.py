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
"""Both of mean 0, so that a perturbed loss is at least 0."""

Shapes = tuple[tuple[int, int], ...]


class PolytopeOptions(TypedDict):
    """The most links of a word, of all words or of (rows, columns); how smooth the layer is."""

    capacity: NotRequired[float | tuple[float, float]]
    temperature: NotRequired[float]


class Options(PolytopeOptions):
    """geometry: euclidean, entropic or fermi-dirac."""

    geometry: NotRequired[str]


class NoiseOptions(PolytopeOptions):
    """noise: normal or gumbel.  samples: matchings to average over."""

    noise: NotRequired[str]
    samples: NotRequired[int]


@dataclass(frozen=True)
class Polytope:
    """The (b-)matchings of matrices of these shapes; arrays have rows (B, E) of all their entries, B times over."""

    shapes: Shapes
    capacity: float | tuple[float, float]

    def __post_init__(self) -> None:
        given = self.capacities
        if not (len(given) == 2 and all(_is_number(one) and 1.0 <= one < np.inf for one in given)):
            raise SettingError(f"capacity is {self.capacity!r} (a number of at least 1, or two: of rows, of columns)")

    @property
    def capacities(self) -> tuple[float, float]:
        """Of rows, of columns."""
        return self.capacity if isinstance(self.capacity, tuple) else (self.capacity, self.capacity)

    @property
    def entries(self) -> int:
        return sum(J * K for J, K in self.shapes)

    def lists(self, times: int) -> Lists:
        return Lists.of_all(self.shapes * times)

    def sums(self, terms: F64) -> F64:
        """The sum (B, n) over each matrix of terms (B, E)."""
        lists = self.lists(len(terms))
        sums = np.bincount(lists.pairs, terms.ravel(), len(lists.shapes))
        return np.asarray(sums, np.float64).reshape(len(terms), -1)

    def check(self, target: F64) -> None:
        """Raise ValueError unless these (B, E) are marginals of matchings, up to rounding."""
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


def _is_number(value: object) -> bool:
    return isinstance(value, float | int | np.number)


def check_temperature(temperature: float) -> None:
    """Raise SettingError unless it is a number above 0."""
    if not (_is_number(temperature) and 0.0 < temperature < np.inf):
        raise SettingError(f"temperature is {temperature!r} (a number above 0; to learn one, divide the scores by it)")


@dataclass(frozen=True)
class Layer:
    """z = argmax ⟨s, z⟩ − temperature · Ω(z) over the polytope; Ω: see `matching.projection`.

    Its derivative by the scores is V / temperature, V as in `_layer_kernels`: at the prices of its active set.
    """

    polytope: Polytope
    temperature: float = 1.0
    geometry: str = "euclidean"

    def __post_init__(self) -> None:
        check_temperature(self.temperature)
        if self.geometry not in GEOMETRIES:
            raise SettingError(f"geometry is {self.geometry!r} (choose from {', '.join(GEOMETRIES)})")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of columns of what `solve` returns."""
        entries, n = self.polytope.entries, len(self.polytope.shapes)
        return entries, n, entries, sum(J for J, _ in self.polytope.shapes), sum(K for _, K in self.polytope.shapes)

    def solve(self, scores: F64) -> tuple[F64, ...]:
        """Return z (B, E) at scores (B, E), bounds (B, n) of ‖z − z*‖₂, and what `pull_back` needs.

        No geometry curves Ω by less than 1 on [0, 1], so a duality gap bounds ½ ‖z − z*‖².
        """
        lists, scaled = self.polytope.lists(len(scores)), scores.ravel() / self.temperature
        of_rows, of_columns = self.polytope.capacities
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
        if (
            min(self.polytope.capacities) > 1.0 and self.geometry != "fermi-dirac"
        ):  # else no edge is held at 1 by itself
            starts, pairs = word_offsets(lists.shapes), lists.pairs
            prices = found.u[starts[pairs, 0] + lists.source] + found.v[starts[pairs, 1] + lists.target]
            slopes = slopes * (scaled - prices < (1.0 if self.geometry == "euclidean" else 0.0))
        parts = z, np.sqrt(2.0 * found.gaps), slopes, found.u, found.v
        return tuple(part.reshape(len(scores), -1) for part in parts)

    def pull_back(self, slopes: F64, u: F64, v: F64, cotangent: F64) -> tuple[F64]:
        """Return the gradient (B, E) by the scores of ⟨cotangent, z⟩, from what `solve` returned last."""
        lists = self.polytope.lists(len(slopes))
        arrays = (np.ascontiguousarray(array).ravel() for array in (slopes, u, v, cotangent / self.temperature))
        gradient, n = np.empty(slopes.size), len(lists.shapes)
        fixed = lists.shapes, lists.offsets, word_offsets(lists.shapes), *arrays, gradient

        def work(first: int) -> None:
            pull_back(first, min(first + _MATRICES_AT_ONCE, n), *fixed)

        deque(map_threads(work, range(0, n, _MATRICES_AT_ONCE)), maxlen=0)
        return (gradient.reshape(slopes.shape),)

    def loss(self, scores: F64, target: F64, seeds: F64) -> tuple[F64, F64]:
        """The Fenchel-Young losses (B, n) of targets (B, E), and their gradient z − y by the scores  [BMN20]."""
        self.polytope.check(target)
        z = self.solve(scores)[0]
        entropies = self.temperature * (self._omega(target) - self._omega(z))
        return self.polytope.sums(entropies + _products(scores, z - target)), z - target

    def _omega(self, z: F64) -> F64:
        if self.geometry == "euclidean":
            return 0.5 * z * z
        z = np.clip(z, 0.0, 1.0)
        omega: F64 = -entr(z) - z if self.geometry == "entropic" else -entr(z) - entr(1.0 - z)
        return omega


@dataclass(frozen=True)
class Perturbed:
    """Best matchings of scores with noise of this temperature, on average  [Berthet et al. 2020]."""

    polytope: Polytope
    temperature: float = 1.0
    noise: str = "normal"
    samples: int = 10

    def __post_init__(self) -> None:
        check_temperature(self.temperature)
        if self.noise not in NOISES:
            raise SettingError(f"noise is {self.noise!r} (choose from {', '.join(NOISES)})")
        if not (isinstance(self.samples, int) and self.samples >= 1):
            raise SettingError(f"samples is {self.samples!r} (a whole number from 1 on)")
        if any(one % 1 for one in self.polytope.capacities):
            raise SettingError(f"capacity is {self.polytope.capacity!r} (whole numbers only, for perturbed losses)")

    def loss(self, scores: F64, target: F64, seeds: F64) -> tuple[F64, F64]:
        """The losses (B, n) mean max_z ⟨s + temperature · noise, z⟩ − ⟨s, y⟩, and their gradient, mean z − y.

        seeds: (B, 1).  The loss of [Berthet et al. 2020] but for Ω(y), which does not depend on the scores.
        """
        self.polytope.check(target)
        rewards = [np.zeros(int(one) - 1) for one in self.polytope.capacities]
        lists, values, means = self.polytope.lists(self.samples), [], []
        for own, seed in zip(scores, seeds[:, 0], strict=True):
            noise = NOISES[self.noise](np.random.default_rng(int(seed)), (self.samples, len(own)))
            noisy = own + self.temperature * noise
            z = best_matchings(noisy.ravel(), lists, *rewards).reshape(noisy.shape).astype(np.float64)
            values.append(_products(noisy, z).mean(axis=0))
            means.append(z.mean(axis=0))
        mean = np.array(means).reshape(target.shape)
        best = np.array(values).reshape(target.shape)
        return self.polytope.sums(best - _products(scores, target)), mean - target


def _products(scores: F64, z: F64) -> F64:
    """Scores times z, where forbidden edges without a link count 0."""
    return np.multiply(scores, z, out=np.zeros_like(z), where=z != 0.0)
