"""FenchelYoungProblem: link probabilities on the matching polytope, by weights near known ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Final, NamedTuple

import numpy as np
from scipy.special import entr, expit

from aligner.losses import _corner_kernels as _kernels
from aligner.losses._curvature_kernels import add_pairs
from aligner.losses.capacity import LinkRewards
from aligner.losses.edges import Edges, GoldLinks
from aligner.losses.hinge import Costs, Prior, label_edges, score_all, take_values
from aligner.matching.projection import Nearest, nearest_points
from aligner.problem import Regularized, Sums
from corpora.ragged import F64, I64, U8, word_offsets
from corpora.threads import map_threads, shared_property

FENCHEL_YOUNG_COSTS = Costs(miss=0.6, false=0.0)

_EDGES_AT_ONCE = 1 << 14
"""Edges of the pairs that a thread takes at once; their sums are added up in order, whatever the number of threads."""

_ACCURACY = 1e-10
"""Duality gap of nearest points, which the certificate takes into account."""


class Regularizer(NamedTuple):
    """A convex Ω(z), the sum of temperature · omega(z) − offset · z of each edge's z in [0, 1].

    At a score of 0 z is ½ and rises by ¼, like the logistic function: so weights that are log-odds mean the same for
    every regularizer.

    geometry: of `matching.projection`, which finds the maximisers of ⟨x, z⟩ − omega(z).  omega: a function of z.
    conjugate: max_z z x − omega(z), a function of x.  slope: how fast its maximiser rises with x.
    """

    geometry: str
    temperature: float
    offset: float
    omega: Callable[[F64], F64]
    conjugate: Callable[[F64], F64]
    slope: Callable[[F64], F64]


REGULARIZERS: Final = {
    "fermi-dirac": Regularizer(
        geometry="fermi-dirac",
        temperature=1.0,
        offset=0.0,
        omega=lambda z: -entr(z) - entr(1.0 - z),
        conjugate=lambda x: np.logaddexp(0.0, x),
        slope=lambda x: expit(x) * expit(-x),
    ),
    "euclidean": Regularizer(
        geometry="euclidean",
        temperature=4.0,
        offset=2.0,
        omega=lambda z: 0.5 * z * z,
        conjugate=lambda x: np.where(x < 1.0, 0.5 * np.maximum(x, 0.0) ** 2, x - 0.5),
        slope=lambda x: np.where((x > 0.0) & (x < 1.0), 1.0, 0.0),
    ),
}


@dataclass(frozen=True, eq=False)
class FenchelYoungProblem(Regularized):
    """A Fenchel-Young loss of labelled pairs on the matching polytope, with weights drawn towards known ones  [BMN20].

        min_w  λ/2 ‖w − w₀‖² + 1/n Σ_i FY(F_iᵀw + c_i; y_i),     FY(s; y) = max_{z ∈ Z} ⟨s, z⟩ − Ω(z) + Ω(y) − ⟨s, y⟩

    Z is the hull of matchings in which a word has at most `links` links, or as many as in gold. The loss is convex and
    smooth, with the gradient F_i (z*_i − y_i): z* are link probabilities that respect capacities. Regularizers Ω:
    fermi-dirac, z* = σ(s − prices), logistic regression of each link except that a word's links compete; euclidean,
    SparseMAP [NMBC18], where z* of most edges is 0 or 1.
    Without `links` nothing limits a word: with fermi-dirac this is logistic regression of each edge.

    From few labels this learns more than maximum margin, as every edge counts, not only the edges of the worst
    matching; and w₀, learnt from other languages' gold, needs no data.

    edges: features of n pairs.  labels: (E,) uint8, OTHER, POSSIBLE or SURE; possible ones are left out.
    prior: (d,) = w₀.  regularization: λ > 0.  miss_cost: −c of sure links, false_cost: c of edges outside gold.
    capacity: links that a word may have when the weights are used, with rewards of 0.  prior_name: for the signature.
    """

    edges: Edges
    labels: U8
    prior: F64
    regularization: float
    miss_cost: float
    false_cost: float
    links: int | None
    capacity: int
    regularizer: str
    prior_name: str
    links_lost = 0  # capacities are at least those of gold
    notes: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_links(
        cls,
        edges: Edges,
        links: GoldLinks,
        *,
        regularization: float,
        prior: Prior | None = None,
        costs: Costs = FENCHEL_YOUNG_COSTS,
        training_links: int | None = 1,
        capacity: int = 1,
        regularizer: str = "fermi-dirac",
    ) -> "FenchelYoungProblem":
        """Make the problem of gold links; training_links is `links`.

        Raises SettingError for costs or λ that cannot work, ValueError if the arguments do not fit.
        """
        costs.check(regularization)
        start = Prior.of(edges, prior)
        return cls(
            edges,
            label_edges(edges, links),
            start.weights,
            float(regularization),
            float(costs.miss),
            float(costs.false),
            training_links,
            capacity,
            regularizer,
            start.name,
        )

    def take(self, pairs: I64, *, memory: int | None = None) -> "FenchelYoungProblem":
        """The problem of these pairs alone, (m,) indices, in their order: a copy.  memory: see `Edges.take`."""
        labels = take_values(self.labels, self.edges.lists.offsets, pairs)
        return replace(self, edges=self.edges.take(pairs, memory=memory), labels=labels)

    @property
    def n_blocks(self) -> int:
        return len(self.edges)

    @property
    def n_features(self) -> int:
        return len(self.edges.names)

    @property
    def signature(self) -> str:
        links = "any" if self.links is None else self.links
        costs = f"miss:{self.miss_cost:g}|false:{self.false_cost:g}"
        parts = f"{self.regularizer}|lambda:{self.regularization:g}|{costs}|links:{links}"
        return f"{parts}|prior:{self.prior_name}|links-when-aligning:{self.capacity}"

    def rehearsal(self) -> "FenchelYoungProblem | None":
        """None: its kernels are compiled by the sums at the start, before the clock starts."""
        return None

    def weights(self, w: F64) -> F64:
        """The weights of a solver's w: w itself."""
        return w

    def link_rewards(self, w: F64) -> LinkRewards:
        """Further links of a word cost nothing: their own scores decide."""
        free = (0.0,) * (self.capacity - 1)
        return LinkRewards(free, free)

    @shared_property
    def gold(self) -> F64:
        """y (E,): 1 for sure links, else 0."""
        return np.asarray(self.labels == _kernels.SURE, np.float64)

    @shared_property
    def costs(self) -> F64:
        """c (E,): −∞ for possible links, which are no part of the polytope."""
        return np.array([self.false_cost, -np.inf, -self.miss_cost])[self.labels]

    @shared_property
    def _words(self) -> tuple[I64, I64, I64]:
        """The source and target word of each edge, (E,), numbered through all pairs; where each pair's words begin."""
        lists = self.edges.lists
        starts, pair = word_offsets(lists.shapes), lists.pairs
        return starts[pair, 0] + lists.source, starts[pair, 1] + lists.target, starts

    @shared_property
    def _capacities(self) -> tuple[F64, F64]:
        """The capacities (ΣJ,) and (ΣK,) of source and target words."""

        def of_side(words: I64, number: int) -> F64:
            free = np.bincount(words, minlength=number) if self.links is None else self.links
            return np.asarray(np.maximum(np.maximum(np.bincount(words, self.gold, number), free), 1.0))

        rows, columns, starts = self._words
        return of_side(rows, starts[-1, 0]), of_side(columns, starts[-1, 1])

    def sums(self, w: F64, start: Nearest | None = None) -> Sums:
        """The loss at w, and its derivatives.  start: nearest points of weights nearby."""
        regularizer = REGULARIZERS[self.regularizer]
        features, lists, y = self.edges.features, self.edges.lists, self.gold
        rows, columns, starts = self._words
        scores = score_all(self.edges, w) + self.costs
        ends = np.searchsorted(lists.offsets, np.arange(_EDGES_AT_ONCE, len(features), _EDGES_AT_ONCE)).tolist()
        parts = [*zip([0, *ends], [*ends, len(lists.shapes)], strict=True)]

        of_row, of_column = self._capacities
        scaled = (scores + regularizer.offset) / regularizer.temperature
        nearest = nearest_points(
            scaled,
            lists,
            geometry=regularizer.geometry,
            row_capacity=of_row,
            column_capacity=of_column,
            start=start,
            tolerance=_ACCURACY,
        )
        z, x, sure = nearest.z, scaled - nearest.u[rows] - nearest.v[columns], y > 0.0

        def omega(point: F64) -> float:
            return float((regularizer.temperature * regularizer.omega(point) - regularizer.offset * point).sum())

        target = omega(y[sure])
        value = float(regularizer.conjugate(x).sum() + of_row @ nearest.u + of_column @ nearest.v)
        value = regularizer.temperature * value + target - float(scores[sure].sum())
        costs = np.where(np.isfinite(self.costs), self.costs, 0.0)
        entropy = target - omega(z) + float(costs @ (z - y))
        pull, slopes = z - y, regularizer.slope(x) / regularizer.temperature

        def work(part: tuple[int, int]) -> tuple[F64, F64]:
            gradient, curvature = np.zeros(len(w)), np.zeros((len(w), len(w)))
            add_pairs(*part, features, lists, starts, pull, slopes, nearest.u, nearest.v, gradient, curvature)
            return gradient, curvature

        gradient, curvature = np.zeros(len(w)), np.zeros((len(w), len(w)))
        for its_gradient, its_curvature in map_threads(work, parts):
            gradient += its_gradient
            curvature += its_curvature
        n = self.n_blocks
        return Sums(value / n, entropy / n, gradient / n, curvature / n, nearest)
