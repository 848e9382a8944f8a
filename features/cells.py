"""Cells: the word pairs (e, f) that a translation model has a number for, and the cell of every edge of a bitext.

Cells are found as co-occurrences are counted, and looked up by walking the occurrences of each source word with an
array that holds the cell of every target word: no hash and no search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np
import numpy.typing as npt

from corpora.bitext import Bitext
from features.cooccurrence import count_cooccurrences

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cells:
    """Word pairs compressed by source word; the cell of a word pair is its place in `targets`.

    row_offsets: (V_source + 1,) int64.  targets: (C,) int32, ascending within a row.  n_targets: V_target.
    """

    row_offsets: I64
    targets: I32
    n_targets: int

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def n_sources(self) -> int:
        return len(self.row_offsets) - 1

    @classmethod
    def from_bitext(cls, bitext: Bitext, minimum_dice: float) -> Cells:
        """The words that stand in the same pair, but for those with a smaller Dice."""
        table = count_cooccurrences(bitext, minimum_dice=minimum_dice)
        return cls(table.row_offsets, table.targets, len(bitext.target.vocabulary))

    def keep(self, chosen: npt.NDArray[np.bool_]) -> Cells:
        """Only these cells, (C,)."""
        before = np.concatenate([[0], np.cumsum(chosen)])
        return Cells(before[self.row_offsets], self.targets[chosen], self.n_targets)

    def coarsen(self, sources: I32, targets: I32, n_sources: int, n_targets: int) -> tuple[Cells, I32]:
        """The cells between classes of words, and the coarse cell of each of these.

        sources, targets: class of each word, below n_sources and n_targets.
        """
        members = np.argsort(sources, kind="stable")
        bounds = np.searchsorted(sources[members], np.arange(n_sources + 1))
        row_offsets, coarse, parents = _coarsen(
            self.row_offsets, self.targets, members, bounds, targets, n_sources, n_targets
        )
        return Cells(row_offsets, coarse, n_targets), parents

    def label(self, bitext: Bitext, edge_offsets: I64, first: int, last: int) -> I32:
        """The cell of every edge of pairs first .. last, or the number of cells where the two words have none."""
        ids = np.empty(edge_offsets[last] - edge_offsets[first], np.int32)
        source, target = bitext.source, bitext.target
        _label(
            first, last, source.ids, target.ids, source.offsets, target.offsets, edge_offsets, self.n_sources,
            self.n_targets, self.row_offsets, self.targets, ids,
        )  # fmt: skip
        return ids


@nb.njit(cache=True, nogil=True)
def _coarsen(row_offsets, targets, members, bounds, target_classes, n_sources, n_targets):
    parents = np.empty(len(targets), np.int32)
    coarse_offsets = np.zeros(n_sources + 1, np.int64)
    coarse = np.empty(len(targets), np.int32)
    cell_of = np.full(n_targets, -1, np.int64)
    used = 0
    for row in range(n_sources):
        start = used
        for m in range(bounds[row], bounds[row + 1]):
            for cell in range(row_offsets[members[m]], row_offsets[members[m] + 1]):
                column = target_classes[targets[cell]]
                if cell_of[column] < start:
                    cell_of[column] = used
                    coarse[used] = column
                    used += 1
        coarse[start:used] = np.sort(coarse[start:used])
        for cell in range(start, used):
            cell_of[coarse[cell]] = cell
        for m in range(bounds[row], bounds[row + 1]):
            for cell in range(row_offsets[members[m]], row_offsets[members[m] + 1]):
                parents[cell] = cell_of[target_classes[targets[cell]]]
        coarse_offsets[row + 1] = used
    return coarse_offsets, coarse[:used].copy(), parents


@nb.njit(cache=True, nogil=True)
def _label(
    first, last, source_tokens, target_tokens, source_offsets, target_offsets, edge_offsets, n_source, n_target,
    row_offsets, targets, ids,
):  # fmt: skip
    missing = row_offsets[-1]
    start = source_offsets[first]
    n = source_offsets[last] - start
    starts = np.zeros(n_source + 1, np.int64)
    for t in range(start, start + n):
        starts[source_tokens[t] + 1] += 1
    for e in range(n_source):
        starts[e + 1] += starts[e]
    pair_of = np.empty(n, np.int32)
    place = np.empty(n, np.int32)
    free = starts[:-1].copy()
    for i in range(first, last):
        for t in range(source_offsets[i], source_offsets[i + 1]):
            e = source_tokens[t]
            pair_of[free[e]] = i
            place[free[e]] = t - source_offsets[i]
            free[e] += 1
    # What other rows have left here is below or above the cells of this row: there is nothing to clear.
    cell_of = np.full(n_target, -1, np.int32)
    base = edge_offsets[first]
    for e in range(n_source):
        if starts[e] == starts[e + 1]:
            continue
        low = row_offsets[e]
        high = row_offsets[e + 1]
        for cell in range(low, high):
            cell_of[targets[cell]] = cell
        for t in range(starts[e], starts[e + 1]):
            i = pair_of[t]
            K = target_offsets[i + 1] - target_offsets[i]
            edge = edge_offsets[i] - base + place[t] * K
            words = target_tokens[target_offsets[i] : target_offsets[i + 1]]
            row = ids[edge : edge + K]
            for k in range(K):
                cell = cell_of[words[k]]
                row[k] = cell if low <= cell < high else missing
