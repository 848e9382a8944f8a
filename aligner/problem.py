"""MatchingProblem: the structured SVM of word alignment, as the solvers see it: blocks, corners, an objective."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from aligner import _kernels
from aligner.errors import AlignerError, ScoreError, SettingError
from aligner.matching import Oracle, best_matchings, get_oracle
from corpora.alignment import Links
from features.extractor import DEFAULT_MEMORY, allocate
from features.parallel import map_threads
from features.table import EdgeTable, edge_offsets

F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]

_BLOCKS_AT_ONCE = 512
"""Blocks that a thread takes at once."""


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

    def take(self, pairs: I64, *, memory: int = DEFAULT_MEMORY) -> MatchingProblem:
        """The problem of these pairs alone, (m,) indices, in their order: a copy.  links_lost stays that of all.

        memory: bytes the features may take before they go to a temporary file.
        """
        shapes = self.edges.shapes[pairs]
        offsets = edge_offsets(shapes)
        features = allocate((int(offsets[-1]), self.n_features), memory)
        labels = np.empty(offsets[-1], np.uint8)
        for pair, first, last in zip(pairs.tolist(), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            rows = slice(self.edges.offsets[pair], self.edges.offsets[pair + 1])
            features[first:last] = self.edges.features[rows]
            labels[first:last] = self.labels[rows]
        edges = EdgeTable(features, shapes, offsets, self.edges.names)
        return replace(self, edges=edges, labels=labels, gold=self.gold[pairs], sure=self.sure[pairs])

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

    @property
    def blocks(self) -> _kernels.Blocks | None:
        """The arrays for compiled solvers, which use the assignment oracle; None where another was asked for."""
        if self.oracle.name != "assignment":
            return None
        edges = self.edges
        return _kernels.Blocks(
            edges.features, edges.shapes, edges.offsets, self.labels, self.costs, self.miss_cost, self.sure, self.gold
        )

    def corners(self, blocks: I64, w: F64) -> Corners:
        """argmax_z H_i(z; w) for each of these blocks, H_i(z; w) = L_i(z) − w·ψ_i(z)  [SPEC §3].

        Raises ScoreError where w is not finite, and AlignerError where an exact oracle answers worse than the target:
        the oracle or the features are wrong.
        """
        chosen = np.ascontiguousarray(blocks, np.int64)
        row_offsets = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(self.edges.shapes[chosen, 0], out=row_offsets[1:])
        found = Corners(
            np.empty((len(chosen), self.n_features)), np.empty(len(chosen)), np.empty(row_offsets[-1], np.int32)
        )
        fill = self._fill_compiled if self.oracle.name == "assignment" else self._fill
        parts = [slice(i, min(i + _BLOCKS_AT_ONCE, len(chosen))) for i in range(0, len(chosen), _BLOCKS_AT_ONCE)]

        def work(part: slice) -> None:
            rows = row_offsets[part.start : part.stop + 1]
            fill(chosen[part], w, rows, found.psi[part], found.losses[part], found.mates)

        if len(parts) == 1:
            work(parts[0])
        else:
            deque(map_threads(work, parts), maxlen=0)
        return found

    def exact_corners(self, blocks: I64, w: F64) -> Corners:
        """`corners`, but by the assignment oracle where the chosen one is approximate  [SPEC §5]."""
        exact = self if self.oracle.exact else replace(self, oracle=get_oracle("assignment"))
        return exact.corners(blocks, w)

    def _fill_compiled(self, chosen: I64, w: F64, row_offsets: I64, psi: F64, losses: F64, mates: I32) -> None:
        code, block = _kernels.block_corners(chosen, self.blocks, w, row_offsets, psi, losses, mates)
        check_code(code, block)

    def _fill(self, chosen: I64, w: F64, row_offsets: I64, psi: F64, losses: F64, mates: I32) -> None:
        edges, costs = self.edges, self.costs
        shapes = edges.shapes[chosen]
        starts = edge_offsets(shapes)
        scores = np.empty(starts[-1])
        _kernels.augmented_scores(
            chosen, edges.features, edges.shapes, edges.offsets, self.labels, costs, w, starts, scores
        )
        part = best_matchings(scores, shapes, oracle=self.oracle.name)
        mates[row_offsets[0] : row_offsets[-1]] = part
        _kernels.take_corners(
            chosen, part, row_offsets - row_offsets[0], edges.features, edges.shapes, edges.offsets, self.labels, costs,
            self.miss_cost, self.sure, self.gold, psi, losses,
        )  # fmt: skip
        if self.oracle.exact:
            hinges = losses - psi @ w
            worst = int(np.argmin(hinges / np.maximum(1.0, losses)))
            if hinges[worst] < -_kernels.HINGE_TOLERANCE * max(1.0, losses[worst]):
                check_code(_kernels.NEGATIVE_HINGE, int(chosen[worst]))


def check_code(code: int, block: int) -> None:
    """Raise what a kernel's code says of a block: AlignerError or ScoreError."""
    if code == _kernels.NEGATIVE_HINGE:
        raise AlignerError(
            f"labelled pair {block + 1}: the oracle's answer is worse than the target matching "
            "(its features or the oracle are wrong; please report this)"
        )
    if code == _kernels.NOT_FINITE:
        raise ScoreError("the weights are not finite")
