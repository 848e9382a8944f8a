"""Counting a text: on all cores of this machine, or wherever an `Engine` counts it.

All that training needs of the text are sums over its sentence pairs. What is added to them is on a grid, see
`_lattice_kernels`, so that they are the same whoever adds up which pairs, in whatever order.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from corpora.bitext import Bitext
from corpora.ragged import F64
from corpora.threads import map_threads
from features.cooccurrence import CooccurrenceTable, count_cooccurrences
from features.translation import _translation_kernels as kernels
from features.translation._lattice_kernels import JUMPS
from features.translation._translation_kernels import Chain, Counts, Emissions, infer_both, make_moves
from features.translation.cells import Cells
from features.word_pairs import Pairs

_CHUNK_BYTES = 1 << 24
"""Bytes that are held for a chunk of pairs; each core has one."""

_CHUNKS = 32  # of a text, or more if it is long
_WORDS_WORTH_A_THREAD = 600  # of a chunk, of both sides: with fewer, handing chunks over takes longer than the work

Chunk = tuple[int, int]  # the first of its pairs, and the one after the last


class Expectation(Protocol):
    """The expectation step over one text.  batches: how many the text is divided into, at most as many as asked for."""

    batches: int

    def use(self, cells: Cells) -> None:
        """Compute expected counts of these cells from now on."""

    def add(self, emissions: Emissions, chain: Chain, hmm: bool, batch: int | None, counts: Counts) -> None:
        """Add the expected counts of one of the batches, or of the whole text if None, to `counts`.

        hmm: whether jumps are counted, too.  `Jumps.needs` are added times the weights of their groups.
        The last row of `counts.cells` collects the links of cells that are not listed; ignore it.
        """


class Chunks:
    """The expectation step over a text on all cores, some pairs at once."""

    def __init__(self, bitext: Bitext, chunks: Sequence[Chunk], batches: int) -> None:
        self.bitext, self.chunks, self.batches = bitext, chunks, min(batches, len(chunks))
        words = bitext.source.offsets[-1] + bitext.target.offsets[-1]
        self._map = map if words < _WORDS_WORTH_A_THREAD * len(chunks) else map_threads

    def use(self, cells: Cells) -> None:
        self.cells = cells

    def add(self, emissions: Emissions, chain: Chain, hmm: bool, batch: int | None, counts: Counts) -> None:
        agreement = counts.cells.shape[1] == 1
        totals, jumps = (counts.forward, counts.reverse), (chain.forward, chain.reverse)
        adding = threading.Lock()

        def count(chunk: Chunk) -> None:
            pairs = Pairs.cut(self.bitext, *chunk)
            ids, links = self.cells.emit(pairs, emissions)
            J, K = len(pairs.source), len(pairs.target)
            moves = [make_moves(K, J, hmm), make_moves(J, K, hmm)]
            likelihoods = infer_both(pairs, (emissions.null_target, emissions.null_source), chain, hmm, links, moves)
            if agreement:  # a link counts as often as both directions make it  [LTK06, eq. 4]
                links = links[:1] * links[1:]
            with adding:  # here, as chunks that wait to be added take memory
                kernels.add_links(ids, links, counts.cells)
                np.add(counts.log_likelihoods, rounded(likelihoods.sum(axis=1), JUMPS), out=counts.log_likelihoods)
                for text, weights, its_moves, total in zip(pairs.directions, jumps, moves, totals, strict=True):
                    kernels.add_moves(text, weights.groups, hmm, its_moves, total)
                    np.add(total.jumps.counts, rounded(its_moves.counts, JUMPS), out=total.jumps.counts)
                    np.add(total.jumps.contexts, rounded(its_moves.contexts, JUMPS), out=total.jumps.contexts)

        deque(self._map(count, chunks_of(self.chunks, batch, self.batches)), maxlen=0)


class Engine:
    """Counts texts on all cores of this machine; what derives from it, elsewhere."""

    def cooccurrences(
        self, bitext: Bitext, minimum_dice: float, on_progress: Callable[[float], None] | None
    ) -> CooccurrenceTable:
        """Return what `count_cooccurrences` returns."""
        return count_cooccurrences(bitext, minimum_dice=minimum_dice, on_progress=on_progress)

    def expectation(self, bitext: Bitext, batches: int) -> Expectation:
        """Return the expectation step over a text, in at most so many batches."""
        return Chunks(bitext, cut_chunks(bitext), batches)


THIS_MACHINE = Engine()


def cut_chunks(bitext: Bitext) -> list[Chunk]:
    """Chunks of pairs that are worked on at once, by the text alone."""
    J, K = bitext.source.lengths, bitext.target.lengths
    bytes_before = np.append(0, np.cumsum(16 * J * K + 80 * (J + K)))
    total = int(bytes_before[-1])
    size = max(min(total // _CHUNKS, _CHUNK_BYTES), 1)
    ends = np.searchsorted(bytes_before, np.arange(size, total, size)).tolist()
    return [(a, b) for a, b in pairwise([0, *ends, len(bytes_before) - 1]) if a < b]


def chunks_of(chunks: Sequence[Chunk], batch: int | None, batches: int) -> Sequence[Chunk]:
    """The chunks of a batch, which are from all over the text; None: all."""
    return chunks if batch is None else chunks[batch::batches]


def rounded(counts: F64, grid: float) -> F64:
    """Round counts as `_lattice_kernels.on_grid` does."""
    return (counts + grid) - grid
