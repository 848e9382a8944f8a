"""MatchingProblem: the structured SVM of word alignment, as the solvers see it: blocks, corners, an objective."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from aligner import _kernels
from aligner.errors import AlignerError, SettingError
from aligner.matching import Oracle, best_matchings, get_oracle
from corpora.alignment import Links
from features.table import EdgeTable

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]

_BLOCKS_AT_ONCE = 512
"""Blocks whose loss-augmented scores are held at once."""


_EDGES_AT_ONCE = 1 << 20


def check_costs(regularization: float, miss_cost: float, false_cost: float) -> None:
    """Raise SettingError for a λ or costs that cannot work."""
    for name, value in (("regularization", regularization), ("miss cost", miss_cost), ("false cost", false_cost)):
        if not (np.isfinite(value) and value > 0):
            raise SettingError(f"{name} must be a number above 0, not {value}")


@dataclass(frozen=True, eq=False)
class Corners:
    """Corners of m blocks.  psi: (m, d) = ψ_i(z_i).  losses: (m,) = L_i(z_i).  mates: (sum J,) packed matchings."""

    psi: F64
    losses: F64
    mates: I32


class BlockProblem(Protocol):
    """All that Frank-Wolfe, cutting-plane and subgradient solvers know of a problem.

    min_w  λ/2 ‖w‖² + 1/n Σ_i max_z [L_i(z) − w·ψ_i(z)]   [SPEC §3], with a block for each i.
    """

    @property
    def n_blocks(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def regularization(self) -> float: ...

    @property
    def signature(self) -> str: ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of how it is solved."""
        ...

    def corners(self, blocks: I64, w: F64) -> Corners:
        """argmax_z L_i(z) − w·ψ_i(z) for each of these blocks, as well as the oracle can."""
        ...

    def exact_corners(self, blocks: I64, w: F64) -> Corners:
        """The same, exactly, for audits: with an approximate oracle a gap would be no certificate."""
        ...


@dataclass(frozen=True, eq=False)
class MatchingProblem:
    """A structured SVM over matchings with the S/P-aware weighted Hamming loss  [SPEC §2-3].

    edges: features of n pairs.  labels: (E,) uint8, OTHER, POSSIBLE or SURE, where SURE marks the target matching.
    gold: (n, d) summed features of the target matchings.  sure: (n,) their sizes.
    regularization: λ > 0.  miss_cost: c⁺, of a sure link left out.  false_cost: c⁻, of a link outside gold.
    links_lost: sure links that break 1-1; they count as possible.
    """

    edges: EdgeTable
    labels: U8
    gold: F64
    sure: I64
    regularization: float
    miss_cost: float
    false_cost: float
    oracle: Oracle
    links_lost: int

    @classmethod
    def from_links(
        cls,
        edges: EdgeTable,
        links: Links,
        *,
        regularization: float,
        miss_cost: float = 3.0,
        false_cost: float = 1.0,
        oracle: str = "assignment",
        preference: npt.NDArray[np.floating] | None = None,
    ) -> MatchingProblem:
        """Project gold on the 1-1 matchings: as many sure links as possible, ties by higher preference.

        preference: (E,) in [0, 1], for instance Dice; 0 everywhere by default.
        Raises SettingError for costs or λ that cannot work, ValueError where edges and links do not fit.
        """
        check_costs(regularization, miss_cost, false_cost)
        if len(links) != len(edges):
            raise ValueError(f"{len(links)} pairs of links for {len(edges)} pairs of edges")
        if len(edges) == 0:
            raise SettingError("there are no labelled pairs to train on")
        for first in range(0, len(edges.features), _EDGES_AT_ONCE):  # not at once: they may be on disk
            if not np.isfinite(edges.features[first : first + _EDGES_AT_ONCE]).all():
                raise ValueError("features must be finite")
        pair = np.repeat(np.arange(len(links)), np.diff(links.offsets))
        inside = (links.source >= 0) & (links.source < edges.shapes[pair, 0])
        inside &= (links.target >= 0) & (links.target < edges.shapes[pair, 1])
        if not inside.all():
            raise ValueError(f"a link of pair {pair[~inside][0]} is out of range")
        link_edges = edges.offsets[pair] + links.source * edges.shapes[pair, 1] + links.target
        labels = np.zeros(edges.offsets[-1], np.uint8)
        labels[link_edges] = np.where(links.sure, _kernels.SURE, _kernels.POSSIBLE)
        sure_edges = link_edges[links.sure]

        # Any sure link more outweighs all preferences: they add up to less than 1.
        weights = np.zeros(edges.offsets[-1])
        weights[sure_edges] = 1.0
        if preference is not None:
            largest = float(edges.shapes.min(axis=1).max(initial=1)) + 1.0
            weights[sure_edges] += np.clip(preference[sure_edges], 0.0, 1.0) / largest
        mates = best_matchings(weights, edges.shapes)
        row_pair = np.repeat(np.arange(len(edges)), edges.shapes[:, 0])
        rows = np.arange(len(mates)) - np.repeat(np.cumsum(edges.shapes[:, 0]) - edges.shapes[:, 0], edges.shapes[:, 0])
        matched = mates >= 0
        target_edges = (edges.offsets[row_pair] + rows * edges.shapes[row_pair, 1] + mates)[matched]
        labels[sure_edges] = _kernels.POSSIBLE
        labels[target_edges] = _kernels.SURE
        gold = np.zeros((len(edges), len(edges.names)))
        np.add.at(gold, row_pair[matched], edges.features[target_edges])
        sure = np.bincount(row_pair[matched], minlength=len(edges)).astype(np.int64)
        lost = len(sure_edges) - len(target_edges)
        return cls(
            edges, labels, gold, sure, float(regularization), float(miss_cost), float(false_cost),
            get_oracle(oracle), lost,
        )  # fmt: skip

    @property
    def n_blocks(self) -> int:
        return len(self.edges)

    @property
    def n_features(self) -> int:
        return len(self.edges.names)

    @property
    def signature(self) -> str:
        costs = f"miss:{self.miss_cost:g}|false:{self.false_cost:g}"
        return f"lambda:{self.regularization:g}|{costs}|oracle:{self.oracle.name}"

    @property
    def notes(self) -> tuple[str, ...]:
        if self.oracle.exact:
            return ()
        return (f"the {self.oracle.name} oracle is approximate; the gap was certified with exact matchings",)

    @property
    def costs(self) -> F64:
        """What linking an edge adds to the loss, by its label."""
        costs = np.zeros(3)
        costs[_kernels.OTHER] = self.false_cost
        costs[_kernels.SURE] = -self.miss_cost
        return costs

    def corners(self, blocks: I64, w: F64) -> Corners:
        """argmax_z H_i(z; w) for each of these blocks, H_i(z; w) = L_i(z) − w·ψ_i(z)  [SPEC §3].

        Raises AlignerError where an exact oracle answers worse than the target: the oracle or the features are wrong.
        """
        parts = list(self._corners_in_chunks(np.ascontiguousarray(blocks, np.int64), w))
        if len(parts) == 1:
            return parts[0]
        empty = Corners(np.zeros((0, self.n_features)), np.zeros(0), np.zeros(0, np.int32))
        return Corners(*(np.concatenate([getattr(p, f) for p in [empty, *parts]]) for f in ("psi", "losses", "mates")))

    def exact_corners(self, blocks: I64, w: F64) -> Corners:
        """`corners`, but by the assignment oracle where the chosen one is approximate  [SPEC §5]."""
        exact = self if self.oracle.exact else replace(self, oracle=get_oracle("assignment"))
        return exact.corners(blocks, w)

    def _corners_in_chunks(self, blocks: I64, w: F64) -> Iterator[Corners]:
        edges, costs = self.edges, self.costs
        for start in range(0, len(blocks), _BLOCKS_AT_ONCE):
            chunk = blocks[start : start + _BLOCKS_AT_ONCE]
            shapes = edges.shapes[chunk]
            starts = np.concatenate([[0], np.cumsum(shapes[:, 0] * shapes[:, 1])])
            scores = np.empty(starts[-1])
            _kernels.augmented_scores(
                chunk, edges.features, edges.shapes, edges.offsets, self.labels, costs, w, starts, scores
            )
            mates = best_matchings(scores, shapes, oracle=self.oracle.name)
            psi, losses = np.empty((len(chunk), len(w))), np.empty(len(chunk))
            row_offsets = np.concatenate([[0], np.cumsum(shapes[:, 0])])
            _kernels.take_corners(
                chunk, mates, row_offsets, edges.features, edges.shapes, edges.offsets, self.labels, costs,
                self.miss_cost, self.sure, self.gold, psi, losses,
            )  # fmt: skip
            if self.oracle.exact:
                hinges = losses - psi @ w
                worst = int(np.argmin(hinges / np.maximum(1.0, losses)))
                if hinges[worst] < -_kernels.HINGE_TOLERANCE * max(1.0, losses[worst]):
                    raise negative_hinge(int(chunk[worst]))
            yield Corners(psi, losses, mates)

    def forward_steps(
        self, order: I64, steps_done: int, line_search: bool, average: int,
        w: F64, loss: F64, block_w: F64, block_loss: F64, mean_w: F64, mean_loss: F64,
    ) -> None:  # fmt: skip
        """BCFW over the blocks in this order, compiled, with the assignment oracle; updates all arrays in place."""
        edges = self.edges
        code, block = _kernels.forward_steps(
            order, steps_done, line_search, average,
            edges.features, edges.shapes, edges.offsets, self.labels, self.costs, self.miss_cost, self.sure, self.gold,
            self.regularization, w, loss, block_w, block_loss, mean_w, mean_loss,
        )  # fmt: skip
        if code == _kernels.NEGATIVE_HINGE:
            raise negative_hinge(int(block))

    @property
    def has_compiled_steps(self) -> bool:
        """Whether `forward_steps` uses the oracle that was asked for."""
        return self.oracle.name == "assignment"


def negative_hinge(block: int) -> AlignerError:
    return AlignerError(
        f"labelled pair {block + 1}: the oracle's answer is worse than the target matching "
        "(its features or the oracle are wrong; please report this)"
    )
