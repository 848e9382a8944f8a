"""Cells: the word pairs (e, f) that a translation model has a number for, and the cell of every edge of a bitext.

Cells are found as co-occurrences are counted, and looked up by walking the occurrences of each source word with an
array that holds the cell of every target word: no hash and no search, and cheap enough to do in every pass.
"""

from dataclasses import dataclass

import numpy as np

from corpora.compiled import compiled
from corpora.ragged import F32, F64, I32, I64, Bools
from features.cooccurrence import CooccurrenceTable
from features.translation._translation_kernels import Emissions
from features.word_pairs import Pairs, U, list_occurrences, sort_row


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
    def from_table(cls, table: CooccurrenceTable) -> "Cells":
        """The words that were counted together."""
        return cls(table.row_offsets, table.targets, len(table.target_counts))

    def keep(self, chosen: Bools) -> "Cells":
        """Only these cells, (C,)."""
        before = np.zeros(len(chosen) + 1, np.int32)
        np.cumsum(chosen, out=before[1:])
        return Cells(before[self.row_offsets].astype(np.int64), self.targets[chosen], self.n_targets)

    def merge(self, other: "Cells") -> "tuple[Cells, I64]":
        """The cells of both, which have the same words, and the place of each of these among them, (C,)."""
        mine, others = (
            np.repeat(np.arange(cells.n_sources) * cells.n_targets, np.diff(cells.row_offsets)) + cells.targets
            for cells in (self, other)
        )
        both = np.sort(np.concatenate([mine, others]), kind="stable")  # merges what is sorted
        both = both[np.diff(both, prepend=-1) > 0]
        row_offsets = np.searchsorted(both, np.arange(self.n_sources + 1) * self.n_targets)
        targets = (both % max(self.n_targets, 1)).astype(np.int32)
        return Cells(row_offsets, targets, self.n_targets), np.searchsorted(both, mine)

    def coarsen(self, sources: I32, targets: I32, n_sources: int, n_targets: int) -> "tuple[Cells, I32]":
        """The cells between classes of words, and the coarse cell of each of these.

        sources, targets: class of each word, below n_sources and n_targets.
        """
        members = np.argsort(sources, kind="stable")
        bounds = np.searchsorted(sources[members], np.arange(n_sources + 1))
        row_offsets, coarse, parents = _coarsen(
            self.row_offsets, self.targets, members, bounds, targets, n_sources, n_targets
        )
        return Cells(row_offsets, coarse, n_targets), parents

    def emit(self, pairs: Pairs, emissions: Emissions) -> tuple[I32, F32]:
        """The cell of every edge of some pairs, and its emissions, (2, edges), forward and reverse.

        The cell is the number of cells where the two words have none.
        """
        edges = pairs.edge_offsets
        ids, values = np.empty(edges[-1], np.int32), np.empty((2, edges[-1]), np.float32)
        occurrences = list_occurrences(pairs.source, pairs.source_offsets, self.n_sources)
        cell_of = np.full(self.n_targets, -1, np.int32)
        targets = pairs.target, pairs.target_offsets
        _emit(*occurrences, *targets, edges, self.row_offsets, self.targets, cell_of, emissions, ids, values)
        return ids, values

    def add_evenly(self, pairs: Pairs, weights: F64, counts: F64) -> None:
        """Add the weights of sentence pairs, (n, columns), to the counts (C, columns) of the cells of their edges."""
        cell_of = np.full(self.n_targets, -1, np.int32)
        starts, pair_of, _ = list_occurrences(pairs.source, pairs.source_offsets, self.n_sources)
        targets = pairs.target, pairs.target_offsets
        _add_evenly(starts, pair_of, *targets, self.row_offsets, self.targets, cell_of, weights, counts)


@compiled
def _coarsen(row_offsets, targets, members, bounds, target_classes, n_sources, n_targets):
    parents = np.empty(len(targets), np.int32)
    coarse_offsets = np.empty(n_sources + 1, np.int64)
    coarse_offsets[0] = 0
    coarse = np.empty(len(targets), np.int32)
    cell_of = np.empty(n_targets, np.int64)
    cell_of[:] = -1
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
        if 8 * (used - start) < n_targets:
            sort_row(coarse[start:used])
        else:  # a frequent class: in order they are found sooner than sorted
            used = start
            for column in range(n_targets):
                if cell_of[column] >= start:
                    coarse[used] = column
                    used += 1
        for cell in range(start, used):
            cell_of[coarse[cell]] = cell
        for m in range(bounds[row], bounds[row + 1]):
            for cell in range(row_offsets[members[m]], row_offsets[members[m] + 1]):
                parents[cell] = cell_of[target_classes[targets[cell]]]
        coarse_offsets[row + 1] = used
    return coarse_offsets, coarse[:used].copy(), parents


@compiled
def _emit(starts, pair_of, place, tokens, offsets, edge_offsets, row_offsets, targets, cell_of, emissions, ids, values):
    """cell_of: (V_target,) -1.  By source words, for a row is in the cache then."""
    table, missing = emissions.cells, np.int32(row_offsets[-1])
    for e in range(len(starts) - 1):
        if starts[e] == starts[e + 1]:
            continue
        # What other rows have left in cell_of is below or above the cells of this row: there is nothing to clear.
        low, high = row_offsets[e], row_offsets[e + 1]
        scale, background = emissions.source_scale[e], emissions.source_background[e]
        for cell in range(U(low), U(high)):
            cell_of[U(targets[cell])] = cell
        for t in range(starts[e], starts[e + 1]):
            i = pair_of[t]
            edge = U(edge_offsets[i] + place[t] * (offsets[i + 1] - offsets[i]))
            for k in range(U(offsets[i]), U(offsets[i + 1])):
                f = U(tokens[k])
                cell = cell_of[f]
                if low <= cell < high:
                    ids[edge] = cell
                    values[U(0), edge] = table[U(cell), U(0)]
                    values[U(1), edge] = table[U(cell), U(1)]
                else:
                    ids[edge] = missing
                    values[U(0), edge] = emissions.target_background[f] * scale
                    values[U(1), edge] = background * emissions.target_scale[f]
                edge += U(1)


@compiled
def _add_evenly(starts, pair_of, tokens, offsets, row_offsets, targets, cell_of, weights, counts):
    """cell_of: as for `_emit`."""
    for e in range(len(starts) - 1):
        low, high = row_offsets[e], row_offsets[e + 1]
        if starts[e] == starts[e + 1] or low == high:
            continue
        for cell in range(U(low), U(high)):
            cell_of[U(targets[cell])] = cell
        for t in range(starts[e], starts[e + 1]):
            i = pair_of[t]
            for k in range(U(offsets[i]), U(offsets[i + 1])):
                cell = cell_of[U(tokens[k])]
                if low <= cell < high:
                    for column in range(U(weights.shape[1])):
                        counts[U(cell), column] += weights[i, column]
