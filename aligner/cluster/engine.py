"""An engine whose workers count a text, shard by shard; it adds up their counts."""

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from weakref import ref

import numpy as np

from aligner.cluster import tasks
from aligner.cluster.connection import Connection
from aligner.cluster.shards import Shard, save, write_shards
from corpora.bitext import Bitext, Text
from corpora.ragged import I32
from features.cooccurrence import CooccurrenceTable
from features.translation._translation_kernels import Chain, Counts, Emissions
from features.translation.cells import Cells
from features.translation.counting import Engine
from features.translation.expectation import Settings
from features.word_pairs import runs

_CELLS_AT_ONCE = 1 << 22
"""Cells of shards that one task merges at most, unless a single word has more."""

_SHARDS_AT_ONCE = 8
"""Shards that one task counts: most of their word pairs are the same, and one is merged."""


class ClusterEngine(Engine):
    """Counts texts on a cluster.  folder: for shards and their counts; all workers see it."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self.connection, self.folder = connection, folder
        self.names = (f"{number}.npz" for number in count())
        self._texts: list[tuple[ref[Text], ref[Text], int, list[Shard]]] = []

    def shards(self, bitext: Bitext, batches: int) -> list[Shard]:
        """The shards of a text, written once for all `Bitext` objects of the same two texts."""
        for source, target, parts, shards in self._texts:
            if parts == batches and source() is bitext.source and target() is bitext.target:
                return shards
        folder = self.folder / f"text{len(self._texts)}"
        folder.mkdir()
        shards = write_shards(folder, bitext, batches, self.connection.at_once)
        self._texts.append((ref(bitext.source), ref(bitext.target), batches, shards))
        return shards

    def cooccurrences(
        self, bitext: Bitext, minimum_dice: float, on_progress: Callable[[float], None] | None
    ) -> CooccurrenceTable:
        """Count as `features.cooccurrence.count_cooccurrences` does; ranges of source words are merged one by one."""
        sizes = len(bitext.source.vocabulary), len(bitext.target.vocabulary)
        shards = self.shards(bitext, Settings.batches)
        source, target, cells = np.zeros(sizes[0], np.int32), np.zeros(sizes[1], np.int32), np.zeros(sizes[0], np.int64)
        together = max(1, min(_SHARDS_AT_ONCE, len(shards) // self.connection.at_once))
        groups = [shards[first : first + together] for first in range(0, len(shards), together)]
        for _, (of_source, of_target, of_rows) in self.connection.run(tasks.count_words, [(part,) for part in groups]):
            source[of_source.words] += of_source.counts
            target[of_target.words] += of_target.counts
            cells[of_rows.words] += of_rows.counts
        totals = str(self.folder / next(self.names))
        save(totals, {"source": source, "target": target})
        ranges = list(runs(np.append(0, np.cumsum(cells)), _CELLS_AT_ONCE))
        parts: list[tuple[I32, I32]] = [(np.empty(0, np.int32),) * 2] * len(ranges)
        heads = [group[0] for group in groups]
        calls = [(heads, totals, *rows, minimum_dice) for rows in ranges]
        for done, (number, (row_sizes, *part)) in enumerate(self.connection.run(tasks.merge_words, calls), 1):
            cells[slice(*ranges[number])] = row_sizes
            parts[number] = part[0], part[1]
            if on_progress is not None:
                on_progress(done / len(ranges))
        for shard in heads:
            _remove(*(f"{shard.path}.{name}" for name in ("targets", "counts", "rows.npz")))
        targets, counts = (np.concatenate([np.empty(0, np.int32), *(part[i] for part in parts)]) for i in (0, 1))
        return CooccurrenceTable(source, target, np.append(0, np.cumsum(cells)), targets, counts, len(bitext))

    def expectation(self, bitext: Bitext, batches: int) -> "_Shards":
        return _Shards(self, self.shards(bitext, batches))


class _Shards:
    """Runs the expectation step over the shards of a text."""

    def __init__(self, engine: ClusterEngine, shards: list[Shard]) -> None:
        self.engine, self.shards = engine, shards
        self.batches = 1 + max((shard.batch for shard in shards), default=-1)
        self.cells: str | None = None

    def use(self, cells: Cells) -> None:
        if self.cells is not None:
            _remove(self.cells, f"{self.cells}.targets")
        self.cells = str(self.engine.folder / next(self.engine.names))
        save(self.cells, {"row_offsets": cells.row_offsets})
        save(f"{self.cells}.targets", cells.targets)

    def add(self, emissions: Emissions, chain: Chain, hmm: bool, batch: int | None, counts: Counts) -> None:
        """Add the sums of shards as they come; their order does not change a bit."""
        assert self.cells is not None
        state = str(self.engine.folder / next(self.engine.names))
        weights = {"forward": chain.forward, "reverse": chain.reverse}
        save(
            state,
            {name: array for name, array in emissions._asdict().items() if name != "cells"}
            | {f"{side}.{name}": array for side, of in weights.items() for name, array in of._asdict().items()},
        )
        save(f"{state}.cells", emissions.cells)
        shards = [shard for shard in self.shards if batch is None or shard.batch == batch]
        how = self.cells, state, (chain.uniform, chain.p0), hmm, counts.cells.shape[1]
        every = counts.cells.reshape(-1)
        for number, found in self.engine.connection.run(tasks.expect, [(shard, *how) for shard in shards]):
            places, of_cells = tasks.read_counts(shards[number], state)
            every[places] += of_cells
            _remove(tasks.beside(shards[number], state))
            for total, part in ((counts.forward, found.forward), (counts.reverse, found.reverse)):
                total.null[part.null.words] += part.null.counts
                np.add(total.jumps.counts, part.counts, out=total.jumps.counts)
                np.add(total.jumps.contexts, part.contexts, out=total.jumps.contexts)
                total.jumps.inside[:, part.groups] += part.inside
                total.jumps.needs[:, part.groups] += part.needs
            np.add(counts.log_likelihoods, found.log_likelihoods, out=counts.log_likelihoods)
        _remove(state, f"{state}.cells")


def _remove(*paths: str) -> None:
    for path in paths:
        with suppress(OSError):  # the whole folder goes at the end
            Path(path).unlink()
