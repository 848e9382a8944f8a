"""MatchingProblem: the structured SVM of word alignment, as blocks and corners for solvers."""

from collections import deque
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from aligner.errors import SettingError
from aligner.losses import _corner_kernels as _kernels
from aligner.losses.capacity import Fertility, LinkRewards
from aligner.losses.edges import Edges, GoldLinks
from aligner.losses.marginals import MatchingMarginals
from aligner.matching import Oracle, answer, best_matchings, get_oracle, make_task
from aligner.problem import Corners, Regularized
from aligner.templates import NEGATIVE_HINGE, NOT_FINITE, Compiled, check_code, compiled_corners
from corpora.ragged import F64, I64, U8
from corpora.threads import map_threads, shared_property

Value = TypeVar("Value", bound=np.generic)

_BLOCKS_AT_ONCE = 512  # by a thread
_EDGES_AT_ONCE = 1 << 17


class Costs(NamedTuple):
    """Costs of a loss.  miss: c⁺, of a sure link left out.  false: c⁻, of a link outside gold.

    possible: c°, by which a possible link lowers the hinge loss.
    """

    miss: float = 3.0
    false: float = 1.0
    possible: float = 10.0

    def check(self, regularization: float) -> None:
        """Raise SettingError if a cost is not >= 0, or λ not > 0, or one is not finite."""
        if not (np.isfinite(regularization) and regularization > 0):
            raise SettingError(f"regularization must be a number above 0, not {regularization}")
        for name, value in self._asdict().items():
            if not (np.isfinite(value) and value >= 0):
                raise SettingError(f"{name} cost must be a number from 0 on, not {value}")


HINGE_COSTS = Costs()


class Prior(NamedTuple):
    """Known weights w₀ (d,) of edges' features, and their name."""

    weights: F64
    name: str = "given"

    @classmethod
    def of(cls, edges: Edges, prior: "Prior | None") -> "Prior":
        """The prior, or weights of 0 for None.  Raises ValueError if it does not fit the edges."""
        if prior is None:
            return cls(np.zeros(len(edges.names)), "none")
        if prior.weights.shape != (len(edges.names),):
            raise ValueError(f"a prior of shape {prior.weights.shape} for {len(edges.names)} features")
        return prior._replace(weights=prior.weights.astype(np.float64))


def score_all(edges: Edges, w: F64) -> F64:
    """The scores w·φ (E,) of all edges, computed on all cores."""
    scores = np.empty(len(edges.features))

    def work(first: int) -> None:
        part = slice(first, first + _EDGES_AT_ONCE)
        _kernels.score_edges(edges.features[part], w, scores[part])

    deque(map_threads(work, range(0, len(scores), _EDGES_AT_ONCE)), maxlen=0)
    return scores


def label_edges(edges: Edges, links: GoldLinks) -> U8:
    """Return the labels (E,) of edges, OTHER, POSSIBLE or SURE.  Links that are no listed edges are left out.

    Listing edges so unlikely only if they are links would teach that unlikely edges are links.
    Raises SettingError without pairs, ValueError if edges and links do not fit or features are not finite.
    """
    if len(links) != len(edges):
        raise ValueError(f"{len(links)} pairs of links for {len(edges)} pairs of edges")
    if not len(edges):
        raise SettingError("there are no labelled pairs to train on")
    for first in range(0, len(edges.features), _EDGES_AT_ONCE):  # not at once: they may be on disk
        if not np.isfinite(edges.features[first : first + _EDGES_AT_ONCE]).all():
            raise ValueError("features must be finite")
    pair = links.pairs
    inside = (links.source >= 0) & (links.source < edges.lists.shapes[pair, 0])
    inside &= (links.target >= 0) & (links.target < edges.lists.shapes[pair, 1])
    if not inside.all():
        raise ValueError(f"a link of pair {pair[~inside][0]} is out of range")
    found = edges.lists.find(pair, links.source, links.target)
    labels = np.zeros(len(edges.features), np.uint8)
    listed = found >= 0
    labels[found[listed]] = np.where(links.sure[listed], _kernels.SURE, _kernels.POSSIBLE)
    return labels


@dataclass(frozen=True, eq=False)
class MatchingProblem(Regularized):
    """A structured SVM over matchings with the S/P-aware weighted Hamming loss  [TLK05].

    edges: features of n pairs.  labels: (E,) uint8, OTHER, POSSIBLE or SURE, where SURE marks the target matching.
    gold: (n, d) summed features of the target matchings.
    prior: (d,) = w₀, towards which weights are drawn, λ/2 ‖w − w₀‖²: solvers see v = w − w₀, which `weights` turns into
    w, and each edge's cost has w₀·φ added.  prior_name: the name of w₀, for the signature.
    regularization: λ > 0.  miss_cost: c⁺, of a sure link left out.  false_cost: c⁻, of a link outside gold.
    possible_cost: c°, by which a possible link lowers the loss:

        L(z) = Σ_{jk ∈ S} c⁺ (1 − z(j,k)) + Σ_{jk ∉ P} c⁻ z(j,k) − Σ_{jk ∈ P∖S} c° z(j,k),    L(y) = 0.

    With c° = 0 a possible link is free, as in [TLK05]; but the target y has none, so each that scores above 0
    adds to the hinge, and what looks like a sure link is taught to be none. With a large c° the oracle never takes one:
    it is as if gold said nothing of them, which is what it does.
    links_lost: sure links beyond the capacities of the target matching; they count as possible.
    fertility: the links a word may have, and columns of their rewards, which follow the edges' columns and have weights
    of at most 0.
    """

    edges: Edges
    labels: U8
    gold: F64
    prior: F64
    regularization: float
    miss_cost: float
    false_cost: float
    possible_cost: float
    oracle: Oracle
    links_lost: int
    prior_name: str
    fertility: Fertility = Fertility()  # noqa: RUF009 - frozen

    sparse = False

    @classmethod
    def from_links(
        cls,
        edges: Edges,
        links: GoldLinks,
        *,
        regularization: float,
        prior: Prior | None = None,
        costs: Costs = HINGE_COSTS,
        oracle: str = "assignment",
        preference: npt.NDArray[np.floating] | None = None,
        fertility: Fertility = Fertility(),  # noqa: B008 - frozen
    ) -> "MatchingProblem":
        """Project gold on the matchings: as many sure links as possible, ties by higher preference.

        preference: (E,) in [0, 1], for instance Dice; 0 everywhere by default.
        Raises SettingError for costs, λ or an oracle that cannot work, ValueError where the arguments do not fit.
        """
        costs.check(regularization)
        found = get_oracle(oracle)
        capacities = fertility.source_capacity, fertility.target_capacity
        if max(capacities) > 1:
            found.check_several()
        labels = label_edges(edges, links)
        sure_edges = np.flatnonzero(labels == _kernels.SURE)

        # Any sure link more outweighs all preferences: they add up to less than 1.
        weights = np.zeros(len(labels))
        weights[sure_edges] = 1.0
        if preference is not None:
            largest = float((edges.lists.shapes * capacities).min(axis=1).max(initial=1)) + 1.0
            weights[sure_edges] += np.clip(preference[sure_edges], 0.0, 1.0) / largest
        linked = best_matchings(weights, edges.lists, *(np.zeros(capacity - 1) for capacity in capacities))
        target_edges = np.flatnonzero(linked)
        labels[sure_edges] = _kernels.POSSIBLE
        labels[target_edges] = _kernels.SURE
        start = Prior.of(edges, prior)
        problem = cls(
            edges=edges,
            labels=labels,
            gold=np.zeros((len(edges), 0)),
            prior=start.weights,
            regularization=float(regularization),
            miss_cost=float(costs.miss),
            false_cost=float(costs.false),
            possible_cost=float(costs.possible),
            oracle=found,
            links_lost=len(sure_edges) - len(target_edges),
            prior_name=start.name,
            fertility=fertility,
        )
        return problem._with_gold()

    def _with_gold(self) -> "MatchingProblem":
        """Sum up the features of the target matchings anew."""
        bare = replace(self, gold=np.zeros((self.n_blocks, self.n_features)))
        psi = np.empty_like(bare.gold)  # of the targets, whose features are still to be added
        targets = self.labels == _kernels.SURE
        _kernels.fill_corners(np.arange(self.n_blocks), targets, bare.arrays, psi, np.empty(self.n_blocks))
        return replace(bare, gold=0.0 - psi)

    def with_features(self, features: F64) -> "MatchingProblem":
        """The same matchings where edges have these features (E, r), as float32, and there are no prior weights."""
        table, width = np.ascontiguousarray(features, np.float32), features.shape[1]
        names = tuple(f"x{c}" for c in range(width))
        edges: Edges = replace(self.edges, features=table, names=names)  # type: ignore[type-var]
        return replace(self, edges=edges, prior=np.zeros(width), prior_name="none")._with_gold()

    def take(self, pairs: I64, *, memory: int | None = None) -> "MatchingProblem":
        """The problem of these pairs alone, (m,) indices, in their order: a copy.  links_lost stays the number of all.

        memory: see `Edges.take`.
        """
        labels = take_values(self.labels, self.edges.lists.offsets, pairs)
        edges = self.edges.take(pairs, memory=memory)
        return replace(self, edges=edges, labels=labels, gold=self.gold[pairs])

    @property
    def n_blocks(self) -> int:
        return len(self.edges)

    def weights(self, v: F64) -> F64:
        """The weights w of a solver's v: d of edges' features, then those of fertility, if any."""
        return v + np.append(self.prior, np.zeros(self.n_nonpositive))

    def link_rewards(self, w: F64) -> LinkRewards:
        """The rewards of a word's further links by these weights, the last of which are fertility's."""
        return self.fertility.rewards(w[len(w) - self.n_nonpositive :])

    @property
    def n_features(self) -> int:
        return len(self.edges.names) + self.n_nonpositive

    @property
    def capacity(self) -> int:
        """The links that a word may have, on the side that allows more."""
        return max(self.fertility.source_capacity, self.fertility.target_capacity)

    @property
    def n_nonpositive(self) -> int:
        return len(self.fertility.names)

    @property
    def signature(self) -> str:
        costs = f"miss:{self.miss_cost:g}|false:{self.false_cost:g}|possible:{self.possible_cost:g}"
        parts = f"lambda:{self.regularization:g}|{costs}|prior:{self.prior_name}|oracle:{self.oracle.name}"
        if self.capacity == 1:
            return parts
        return f"{parts}|fertility:{self.fertility.source_capacity}-{self.fertility.target_capacity}"

    @property
    def notes(self) -> tuple[str, ...]:
        if self.oracle.exact:
            return ()
        return (f"the {self.oracle.name} oracle is approximate; the gap was certified with exact matchings",)

    @shared_property
    def costs(self) -> F64:
        """What linking each edge, (E,), adds to the loss, plus its score by the prior."""
        by_label = np.array([self.false_cost, -self.possible_cost, -self.miss_cost])[self.labels]
        return by_label if not self.prior.any() else by_label + score_all(self.edges, self.prior)

    @shared_property
    def target_costs(self) -> F64:
        """The sums (n,) of costs over the target matchings."""
        of_target = self.costs * (self.labels == _kernels.SURE)
        return np.bincount(self.edges.lists.pairs, of_target, self.n_blocks).astype(np.float64)

    @property
    def arrays(self) -> _kernels.Blocks:
        """The arrays for kernels."""
        return _kernels.Blocks(
            features=self.edges.features,
            lists=self.edges.lists,
            labels=self.labels,
            costs=self.costs,
            target_costs=self.target_costs,
            gold=self.gold,
            source_capacity=self.fertility.source_capacity,
            target_capacity=self.fertility.target_capacity,
        )

    @shared_property
    def _marginals(self) -> MatchingMarginals:
        return MatchingMarginals(self.arrays)

    def marginals(self) -> MatchingMarginals:
        return self._marginals

    def compiled(self) -> Compiled | None:
        if self.oracle.name != "assignment":
            return None
        return Compiled(self.arrays, _kernels.matching_scratch, _kernels.matching_corner)

    def rehearsal(self) -> "MatchingProblem | None":
        """The problem of the smallest pair that has edges."""
        sizes = np.diff(self.edges.lists.offsets)
        return self.take(np.array([np.argmin(np.where(sizes > 0, sizes, sizes.max() + 1))]))

    def corners(self, blocks: I64, w: F64) -> Corners:
        """For each block, the corner argmax_z H_i(z; w), H_i(z; w) = L_i(z) − w·ψ_i(z)  [LJSP13].

        Raises ScoreError if w is not finite, ValueError if a weight of fertility is above 0, and AlignerError if an
        exact oracle's corner is worse than the target: the oracle or the features are wrong.
        """
        compiled = self.compiled()
        if compiled is not None:
            return Corners(*compiled_corners(compiled, blocks, w))
        chosen = np.ascontiguousarray(blocks, np.int64)
        found = Corners(np.empty((len(chosen), self.n_features)), np.empty(len(chosen)))

        def work(first: int) -> None:
            part = slice(first, first + _BLOCKS_AT_ONCE)
            self._fill(chosen[part], w, found.psi[part], found.losses[part])

        deque(map_threads(work, range(0, len(chosen), _BLOCKS_AT_ONCE)), maxlen=0)
        return found

    def exact_corners(self, blocks: I64, w: F64) -> Corners:
        """`corners`, but by the assignment oracle if the chosen one is approximate  [LJSP13]."""
        exact = self if self.oracle.exact else replace(self, oracle=get_oracle("assignment"))
        return exact.corners(blocks, w)

    def _fill(self, chosen: I64, w: F64, psi: F64, losses: F64) -> None:
        """Compute the corners of these blocks by any oracle."""
        if not np.isfinite(w).all():
            check_code(NOT_FINITE, -1)
        arrays, lists, rewards = self.arrays, self.edges.lists.take(chosen), self.link_rewards(w)
        scores = np.empty(lists.offsets[-1])
        for i, block in enumerate(chosen.tolist()):
            _kernels.augmented_scores(block, arrays, w, scores[lists.offsets[i] : lists.offsets[i + 1]])
        linked = answer(make_task(scores, lists, rewards.source, rewards.target), self.oracle)
        _kernels.fill_corners(chosen, linked, arrays, psi, losses)
        if self.oracle.exact:
            hinges, size = losses - psi @ w, np.maximum(1.0, np.abs(losses))
            worst = int(np.argmin(hinges / size))
            if hinges[worst] < -_kernels.HINGE_TOLERANCE * size[worst]:
                check_code(NEGATIVE_HINGE, int(chosen[worst]))


def take_values(values: npt.NDArray[Value], offsets: I64, pairs: I64) -> npt.NDArray[Value]:
    """Of values (E,), take those of the edges of these pairs, (m,) indices, in their order."""
    parts = [values[offsets[pair] : offsets[pair + 1]] for pair in pairs.tolist()]
    return np.concatenate([values[:0], *parts])
