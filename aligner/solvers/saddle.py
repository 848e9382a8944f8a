"""Steps in z on the saddle function of a structured SVM, in the marginals of many blocks at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from aligner.problem import Marginals
from corpora.ragged import F64, I64, Bools
from corpora.threads import map_threads

_PARTS_AT_ONCE = 1 << 13
"""Parts that a thread takes at once; their sums are added in order, so that results are the same on all machines."""

_LARGE_SPAN = 1 << 18
"""Parts that a thread takes at once if only sums over them are kept."""

_SPREAD = 0.01
"""Weight of all parts together, beside the target, in the entropic start, so that no part is 0."""

_LEAST = 1e-300
"""Least z of which the logarithm is taken."""

_ZERO = 1e-9
"""Entropic z that counts as 0."""

_ENOUGH_LESS = 0.8
"""If no part comes back, parts are left out only when fewer than this share remain."""

_LARGE = 10.0
"""Points of this times a block's number of parts are nearest to z with nearly the largest sum."""

Span = tuple[int, int]

Sum = TypeVar("Sum", float, F64)


class Projection(Enum):
    """The geometry of z: which point of the polytope is nearest."""

    EUCLIDEAN = "euclidean"
    ENTROPIC = "entropic"


class Step(NamedTuple):
    """The weights of an iteration, for its steps in z.

    sum_w, total: Σ η u_w and Σ η before it, which stand for s_z.  ahead_w: v_w.  point_w: u_w.  size: η.
    z_step: the factor of scores.
    """

    sum_w: F64
    total: float
    ahead_w: F64
    point_w: F64
    size: float
    z_step: float


class Look(NamedTuple):
    """The result of a step.  of_point, of_ahead: (d + 1,) Σ_i (F_i z_i, c_i·z_i) of u_z and of the next v_z.

    moved: 1/n Σ_i [d(u_i, v_i) + d(next v_i, u_i)].
    """

    of_point: F64
    of_ahead: F64
    moved: float


@dataclass(frozen=True, eq=False)
class Start:
    """The start û_z and the target y, each as (d + 1,) Σ_i (F_i z_i, c_i·z_i).

    span, loss: upper bounds on 1/n Σ_i max d(z_i, û_i) and 1/n Σ_i max L_i.
    """

    of_target: F64
    of_center: F64
    span: float
    loss: float


@dataclass(eq=False)
class Stored:
    """The numbers that the stored form keeps for every part (P,).

    begun: û_z.  center: its points.  total: Σ η u_z since.  z: the last u_z.  ahead: v_z.
    pull: Σ η (F_iᵀ u_w + c_i) since.  next_pull, next_ahead: pull and v_z after the step that is tried.
    duals: dual variables of each span's v_z.  kept: which parts are not left out.
    """

    center: F64
    begun: F64
    duals: dict[int, F64 | None]
    kept: Bools
    total: F64 = field(init=False)
    pull: F64 = field(init=False)
    z: F64 = field(init=False)
    ahead: F64 = field(init=False)
    next_pull: F64 = field(init=False)
    next_ahead: F64 = field(init=False)

    def __post_init__(self) -> None:
        self.begin(self.center, self.begun)

    def begin(self, center: F64, z: F64) -> None:
        """Begin anew at û_z = z, whose points are center."""
        self.center, self.begun, self.ahead, self.z = center, z, z.copy(), z.copy()
        self.total, self.pull, self.next_pull, self.next_ahead = np.zeros((4, len(z)))

    def accept(self, size: float) -> None:
        """Accept the step that was tried."""
        self.total += size * self.z
        self.pull, self.next_pull = self.next_pull, self.pull
        self.ahead, self.next_ahead = self.next_ahead, self.ahead


def spans_of(parts: I64, at_once: int = _PARTS_AT_ONCE) -> list[Span]:
    """Divide blocks into spans (first, last + 1) that are worked on at once, with about `at_once` parts each."""
    cuts = np.searchsorted(parts, np.arange(0, int(parts[-1]), at_once)).tolist()
    cuts = sorted({0, *cuts, len(parts) - 1})
    return [*pairwise(cuts)]


def sum_blocks(marginals: Marginals, work: Callable[[I64, slice], Sum]) -> Sum:
    """Sum work(blocks, slice of their parts) over all blocks.

    It is called for many blocks at a time, in threads; results are added in order.
    """
    spans = spans_of(marginals.parts, _LARGE_SPAN)
    return total_of(map_threads(lambda span: work(np.arange(*span), slice(*marginals.parts[list(span)])), spans))


class Spans(NamedTuple):
    """Marginals in a geometry, in spans of blocks."""

    marginals: Marginals
    geometry: str
    spans: list[Span]

    @classmethod
    def of(cls, marginals: Marginals, geometry: str) -> "Spans":
        return cls(marginals, geometry, spans_of(marginals.parts))

    def rows(self, span: Span) -> slice:
        return slice(int(self.marginals.parts[span[0]]), int(self.marginals.parts[span[1]]))

    def size(self, span: Span) -> int:
        return int(self.marginals.parts[span[1]] - self.marginals.parts[span[0]])

    def nearest(self, span: Span, points: F64, duals: F64 | None = None) -> F64:
        own = {} if duals is None else {"duals": duals}  # marginals that have none need not take any
        return self.marginals.nearest(np.arange(*span), points, self.geometry, **own)

    def counts(self, rows: slice) -> float | F64:
        counts = self.marginals.counts
        return counts[rows] if isinstance(counts, np.ndarray) else counts

    def points(self, z: F64, rows: slice, least: float = _LEAST) -> F64:
        """The points ∇Ω(z), whose nearest is z; entropic z are raised to `least` at least."""
        if self.geometry == "euclidean":
            return z
        return self.counts(rows) * np.log(np.maximum(z, least))

    def distance(self, z: F64, points: F64, other: F64, other_points: F64, rows: slice) -> float:
        """The distance d(z, other): ½ ‖z − other‖², or the Kullback-Leibler divergence."""
        if self.geometry == "euclidean":
            return 0.5 * float((z - other) @ (z - other))
        return float(z @ (points - other_points) + (self.counts(rows) * (other - z)).sum())

    def start(self, span: Span) -> F64:
        """The points of the first û_z: the target, for entropic mixed with a little of every part."""
        rows = self.rows(span)
        target = self.marginals.target[rows]
        if self.geometry == "euclidean":
            return target
        sizes = np.diff(self.marginals.parts[span[0] : span[1] + 1])
        return self.points((1.0 - _SPREAD) * target + _SPREAD / np.repeat(sizes, sizes), rows)

    def pull(self, span: Span, sum_w: F64, total: float) -> F64:
        """Σ η (F_iᵀ u_w + c_i), from Σ η u_w and Σ η."""
        if total == 0.0:
            return np.zeros(self.size(span))
        return total * self.marginals.scores(np.arange(*span), sum_w / total)

    def gather(self, work: Callable[[Span], F64]) -> F64:
        """The results of `work` for every span, one after the other."""
        return np.concatenate([np.zeros(0), *map_threads(work, self.spans)])


def total_of(terms: Iterator[Sum]) -> Sum:
    """The sum of the terms, in their order."""
    total = next(terms)
    for term in terms:
        total += term
    return total


def feature_norm(spans: Spans, d: int) -> float:
    """‖F‖₂, the largest singular value of all features, by Lanczos' method on FFᵀ."""
    marginals, nothing = spans.marginals, np.zeros(d)

    def times(x: F64) -> F64:
        def work(span: Span) -> F64:
            blocks = np.arange(*span)
            return marginals.moments(blocks, marginals.scores(blocks, x.ravel()) - marginals.scores(blocks, nothing))

        return total_of(map_threads(work, spans.spans))[:-1]

    if d == 1:
        return float(np.sqrt(times(np.ones(1))[0]))
    start = np.random.default_rng(0).standard_normal(d)
    if not times(start).any():
        return 0.0
    operator = LinearOperator((d, d), matvec=times, dtype=np.float64)
    largest = eigsh(operator, 1, which="LA", v0=start, tol=1e-6, return_eigenvectors=False)
    return float(np.sqrt(max(0.0, largest[0])))


def measure_start(spans: Spans, d: int) -> Start:
    """Compute where the steps begin and how far they may lead."""
    marginals = spans.marginals

    def work(span: Span) -> F64:
        blocks, rows = np.arange(*span), spans.rows(span)
        sizes = np.diff(marginals.parts[span[0] : span[1] + 1])
        owner = np.repeat(np.arange(len(sizes)), sizes)

        def of_block(values: F64) -> F64:
            return np.bincount(owner, values, len(sizes)).astype(np.float64)

        def largest(values: F64) -> F64:
            found = np.zeros(len(sizes))
            np.maximum.at(found, owner, values)
            return found

        z, target = spans.nearest(span, spans.start(span)), marginals.target[rows]
        most = of_block(spans.nearest(span, _LARGE * sizes[owner])) + 1.0 / _LARGE
        if spans.geometry == "euclidean":
            reach = 0.5 * (of_block(target) + most)
        else:
            reach = most * largest(-np.log(np.maximum(z, _LEAST))) + of_block(z)
        costs = marginals.scores(blocks, np.zeros(d))
        losses = most * largest(costs) - of_block(costs * target)
        sums = [reach.sum()], [losses.sum()]
        return np.concatenate([marginals.moments(blocks, target), marginals.moments(blocks, z), *sums])

    n = max(1, len(marginals.parts) - 1)
    found = total_of(map_threads(work, spans.spans))
    return Start(found[: d + 1], found[d + 1 : -2], float(found[-2]) / n, float(found[-1]) / n)


def look_ahead(spans: Spans, stored: Stored | None, step: Step) -> Look:
    """Compute u_z = T(v_z, −F(v)) and the next v_z = T(û_z, s), on all cores  [TLJ06 Fig. 2].

    If stored is None, v_z is computed anew, too.  Raises ScoreError if weights are not finite.
    """
    marginals, z_step = spans.marginals, step.z_step

    def work(span: Span) -> F64:
        blocks, rows = np.arange(*span), spans.rows(span)
        now = step.size * marginals.scores(blocks, step.ahead_w)
        then = step.size * marginals.scores(blocks, step.point_w)
        if stored is None:
            center, pull = spans.start(span), spans.pull(span, step.sum_w, step.total)
            duals = marginals.duals(blocks)
            v = spans.nearest(span, center + z_step * pull, duals)
        else:
            center, pull, v, duals = stored.center[rows], stored.pull[rows], stored.ahead[rows], stored.duals[span[0]]
        then += pull
        v_points = spans.points(v, rows)
        u = spans.nearest(span, v_points + z_step * now)
        ahead = spans.nearest(span, center + z_step * then, duals)  # much like v, so are the duals
        u_points = spans.points(u, rows)
        moved = spans.distance(u, u_points, v, v_points, rows)
        moved += spans.distance(ahead, spans.points(ahead, rows), u, u_points, rows)
        if stored is not None:
            stored.z[rows], stored.next_pull[rows], stored.next_ahead[rows] = u, then, ahead
        return np.concatenate([marginals.moments(blocks, u), marginals.moments(blocks, ahead), [moved]])

    found = total_of(map_threads(work, spans.spans))
    half = len(found) // 2
    return Look(found[:half], found[half:-1], float(found[-1]) / max(1, len(marginals.parts) - 1))


def restrict(
    everything: Spans, present: Spans, stored: Stored, weights: Sequence[F64], sum_w: F64, total: float
) -> Spans:
    """Leave out parts that have no share of û_z, of the mean u_z or of the last u_z, and that lower the dual at each of
    these weights; take back parts that were left out but do not lower it.

    A part that is wrongly left out comes back, as s_z is linear in w and so known; its center is `_ZERO`. The gap
    includes the loss by its absence, as the oracle uses all parts and z is in the hull.
    """

    def wanted(span: Span) -> F64:
        found: F64 = np.max([everything.marginals.scores(np.arange(*span), w) for w in weights], axis=0)
        return found

    little = 0.0 if everything.geometry == "euclidean" else _ZERO
    found = everything.gather(wanted) > 0.0
    shared = (stored.begun > little) | (stored.total > little * total) | (stored.z > little)
    found[np.flatnonzero(stored.kept)[shared]] = True
    if (stored.kept | ~found).all() and found.sum() > _ENOUGH_LESS * stored.kept.sum():
        return present
    restricted = everything.marginals.restricted(found)
    if restricted is None:
        return present
    marginals, kept = restricted
    places = np.full(len(kept), -1)
    places[stored.kept] = np.arange(len(stored.z))
    places = places[kept]

    def moved(values: F64, others: float) -> F64:
        return np.where(places < 0, others, values[places])

    some = Spans(marginals, everything.geometry, everything.spans)
    stored.begun = moved(stored.begun, little)
    stored.center = some.points(stored.begun, slice(None))
    stored.total, stored.z, stored.ahead = (moved(x, 0.0) for x in (stored.total, stored.z, stored.ahead))
    stored.pull = some.gather(lambda span: some.pull(span, sum_w, total))
    stored.next_pull, stored.next_ahead = np.zeros((2, len(stored.z)))
    stored.kept = kept
    return some
