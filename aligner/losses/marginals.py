"""Marginals of matchings, by the features of their edges, for methods on the saddle point."""

from dataclasses import dataclass

import numpy as np

from aligner.losses import _marginal_kernels as kernels
from aligner.losses._corner_kernels import Blocks
from aligner.matching.projection import GEOMETRIES
from aligner.templates import NOT_FINITE, CompiledMarginals, check_code
from corpora.ragged import F64, I64, Bools
from corpora.threads import shared_property

_ACCURACY = 1e-12
"""Duality gap of a projection, beyond its rounding error."""


@dataclass(frozen=True, eq=False)
class MatchingMarginals:
    """The marginals of matchings, as `aligner.problem.Marginals`; their parts: see `_marginal_kernels`."""

    arrays: Blocks

    geometries = ("euclidean", "entropic")
    counts = 1.0

    @shared_property
    def parts(self) -> I64:
        lists = self.arrays.lists
        further = lists.shapes @ np.array([self.arrays.source_capacity - 1, self.arrays.target_capacity - 1])
        return np.concatenate([[0], np.cumsum(np.diff(lists.offsets) + further)])

    @shared_property
    def target(self) -> F64:
        found = np.empty(self.parts[-1])
        kernels.target_parts(self.arrays, self.parts, found)
        return found

    def scores(self, blocks: I64, w: F64) -> F64:
        starts = self._starts(blocks)
        found = np.empty(starts[-1])
        kernels.part_scores(blocks, self.arrays, w, starts, found)
        return found

    def moments(self, blocks: I64, z: F64) -> F64:
        of_source, of_target = self.arrays.source_capacity - 1, self.arrays.target_capacity - 1
        found = np.zeros(self.arrays.features.shape[1] + of_source + of_target + 1)
        kernels.part_moments(blocks, self.arrays, z, self._starts(blocks), found)
        return found

    @shared_property
    def _dual_starts(self) -> I64:
        """Where each block's dual variables begin: one for each word, and each further link that a side allows."""
        further = self.arrays.source_capacity + self.arrays.target_capacity - 2
        return np.concatenate([[0], np.cumsum(self.arrays.lists.shapes.sum(axis=1) + further)])

    def duals(self, blocks: I64) -> F64 | None:
        return np.zeros(np.diff(self._dual_starts)[blocks].sum())

    def compiled_marginals(self) -> CompiledMarginals:
        return CompiledMarginals(
            arrays=self.arrays,
            score=kernels.score_block,
            add=kernels.add_block,
            nearest=kernels.nearest_block,
            squared_norm=kernels.squared_norm,
            dual_starts=self._dual_starts,
        )

    def nearest(self, blocks: I64, points: F64, geometry: str, duals: F64 | None = None) -> F64:
        if not np.isfinite(points).all():  # the projections must never see a NaN
            check_code(NOT_FINITE, -1)
        found = np.empty(len(points))
        begin = self.duals(blocks) if duals is None else duals
        kernels.nearest_parts(
            GEOMETRIES[geometry], blocks, self.arrays, points, _ACCURACY, self._starts(blocks), begin, found
        )
        return found

    def restricted(self, kept: Bools) -> "tuple[MatchingMarginals, Bools]":
        """The marginals of the kept edges; the parts for links that are not taken are always kept."""
        arrays, lists = self.arrays, self.arrays.lists
        of_edges = np.repeat(self.parts[:-1] - lists.offsets[:-1], np.diff(lists.offsets)) + np.arange(
            len(arrays.labels)
        )
        edges = np.flatnonzero(kept[of_edges])
        offsets = np.searchsorted(edges, lists.offsets)
        some = lists._replace(source=lists.source[edges], target=lists.target[edges], offsets=offsets)
        arrays = arrays._replace(
            features=arrays.features[edges], lists=some, labels=arrays.labels[edges], costs=arrays.costs[edges]
        )
        all_kept = np.ones(len(kept), np.bool_)
        all_kept[of_edges] = kept[of_edges]
        return MatchingMarginals(arrays), all_kept

    def _starts(self, blocks: I64) -> I64:
        return np.concatenate([[0], np.cumsum(np.diff(self.parts)[blocks])])
