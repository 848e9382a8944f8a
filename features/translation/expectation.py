"""Expectation-maximisation of one lexicon and its jumps over a bitext, on all cores."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from corpora.bitext import Bitext, Text
from corpora.ragged import F32, F64, I32, I64
from corpora.threads import cores, map_threads
from features.translation import _translation_kernels as kernels
from features.translation import jumps
from features.translation._lattice_kernels import JumpWeights, Moves
from features.translation._translation_kernels import Counts, DirectionCounts, Emissions, infer_both, make_moves
from features.translation.cells import CellIds, Cells
from features.translation.lexicon import TINY, Side, build_levels, estimate
from features.word_pairs import Pairs

CHUNK_BYTES = 1 << 24
"""Bytes that are held for a chunk of pairs; there are two chunks more than cores at once."""

_CHUNKS = 32
"""A text has about as many chunks, or more if it is long."""

MOST_EDGES = 1 << 18
"""Sentence pairs of more word pairs than this (512 words on both sides) are left out of training; they are aligned."""

NULL_SMOOTHING = 0.01


DEFAULT_MEMORY = 1 << 30


@dataclass(frozen=True)
class Settings:
    """How lexicons are trained.

    iterations_1, iterations_hmm: passes of IBM Model 1 and of the HMM.  agreement: False trains both directions apart
    in every lexicon.  p0: prior probability of NULL, in (0, 1); the higher, the fewer links.  uniform: share of jumps
    that go anywhere, in (0, 1).  smoothing: factor of all pseudo-counts; 0 is maximum likelihood.  minimum_dice: word
    pairs with a smaller Dice are never looked at.  minimum_count: those with a smaller expected count are given up
    after the last pass of Model 1, and of the HMM.  memory: bytes for the cell of every edge of the text, 4 for each;
    more go to a temporary file, which is read once a pass.  seconds: passes that would end later are left out, but for
    one of each kind and lexicon; the first lexicon has its share of the time.
    Raises ValueError for settings out of range.
    """

    iterations_1: int = 2
    iterations_hmm: int = 5
    agreement: bool = True
    p0: float = 0.2
    uniform: float = 0.1
    smoothing: float = 1.0
    minimum_dice: float = 0.0005
    minimum_count: float = 1e-3
    memory: int = DEFAULT_MEMORY
    seconds: float = math.inf

    def __post_init__(self) -> None:
        if self.iterations_1 < 0 or self.iterations_hmm < 0 or self.iterations_1 + self.iterations_hmm == 0:
            raise ValueError(f"there must be an iteration, not {self.iterations_1} and {self.iterations_hmm}")
        if not (0.0 < self.p0 < 1.0 and 0.0 < self.uniform < 1.0 and self.smoothing >= 0.0):
            numbers = f"{self.p0}, uniform {self.uniform} and smoothing {self.smoothing}"
            raise ValueError(f"p0 {numbers} must be in (0, 1), (0, 1) and >= 0")


class Pass(NamedTuple):
    """What one pass over the text found.

    log_likelihoods: (2,) of the text under the parameters before the pass, target given source and the reverse.
    cells: word pairs with a probability.  pruned: share of the expected links of pairs that were given up after it.
    """

    lexicon: str
    hmm: bool
    iteration: int
    log_likelihoods: tuple[float, float]
    cells: int
    pruned: float


class Parameters(NamedTuple):
    """Expected counts, from which all probabilities follow, and the jump weights of both directions.

    counts: (C + 1, 1 or 2), see `_translation_kernels.Counts`.  weights: forward and reverse.
    occurrences: (V_source,), (V_target,) of the words in the text that was counted.
    """

    cells: Cells
    counts: F64
    forward: DirectionCounts
    reverse: DirectionCounts
    weights: tuple[JumpWeights, JumpWeights]
    occurrences: tuple[F64, F64]


def null_emissions(counts: F64, occurrences: F64, smoothing: float) -> F32:
    """(V,) probabilities of words given NULL, from expected counts, leaning on frequencies."""
    frequencies = occurrences / max(occurrences.sum(), 1.0)
    total = counts + smoothing * NULL_SMOOTHING * frequencies
    return np.asarray(np.maximum(total / max(total.sum(), TINY), TINY), np.float32)


class Training:
    """The state of training one lexicon.

    prior: what was counted in other text, of the same words; it is added to what is counted in this one.
    """

    def __init__(
        self, name: str, bitext: Bitext, widths: Sequence[int | None], settings: Settings,
        on_pass: Callable[[Pass], None] | None, prior: Parameters | None = None,
    ) -> None:  # fmt: skip
        self.name, self.widths, self.settings, self.on_pass = name, widths, settings, on_pass
        self.bitext, self.prior = bitext, prior
        self.pairs = Pairs.cut(bitext, 0, len(bitext))
        self.shapes, self.offsets = self.pairs.shapes, self.pairs.edge_offsets
        occurrences = _occurrences(bitext.source), _occurrences(bitext.target)
        self.chunks, self.chunk_bytes = _cut(bitext, self.offsets)
        self.ids = CellIds(in_memory=True)
        cells = Cells.from_bitext(bitext, settings.minimum_dice)
        self.long_steps = jumps.LONG_STEPS if prior is None else 0
        if prior is None:
            groups = jumps.group_words(occurrences[0]), jumps.group_words(occurrences[1])
            self.jumps = jumps.even_jumps(groups[0]), jumps.even_jumps(groups[1])
        else:
            occurrences = occurrences[0] + prior.occurrences[0], occurrences[1] + prior.occurrences[1]
            forward, forward_jumps = _extend(prior.forward, prior.weights[0], occurrences[0])
            reverse, reverse_jumps = _extend(prior.reverse, prior.weights[1], occurrences[1])
            self.jumps = forward_jumps, reverse_jumps
            cells, places = prior.cells.merge(cells)
            counts = np.zeros((len(cells) + 1, prior.counts.shape[1]))
            counts[places] = prior.counts[:-1]
            self.prior = prior._replace(cells=cells, counts=counts, forward=forward, reverse=reverse)
        self.occurrences = occurrences
        self.use(cells)

    def use(self, cells: Cells) -> None:
        names = self.bitext.source.vocabulary.words, self.bitext.target.vocabulary.words
        self.cells = cells
        self.levels = build_levels(cells, *names, *self.occurrences, self.widths, self.settings.smoothing)
        self.ids.close()
        at_once = (cores() + 2) * self.chunk_bytes
        self.ids = CellIds(in_memory=4 * int(self.offsets[-1]) + at_once <= self.settings.memory)

    def run(self, deadline: float) -> Parameters:
        """All passes, or those until the deadline, of `time.monotonic`, one of Model 1 and of the HMM at least."""
        settings = self.settings
        emissions = _uniform(self.cells) if self.prior is None else self.emissions(self.prior)
        found: Parameters | None = None
        iteration = 0
        for hmm, passes in ((False, settings.iterations_1), (True, settings.iterations_hmm)):
            for number in range(passes):
                start = time.monotonic()
                if found is not None:
                    emissions = self.emissions(found)
                    found = None  # lets go of its counts
                counts = self.count(emissions, hmm)
                found = self.maximize(counts, hmm)
                now = time.monotonic()
                last = number + 1 == passes or now + (now - start) > deadline
                before = found.counts.sum()
                if last:
                    found = self.prune(found, again=not hmm and settings.iterations_hmm > 0)
                pruned = 1.0 - float(found.counts.sum() / before) if before > 0.0 else 0.0
                if self.on_pass is not None:
                    likelihoods = counts.log_likelihoods.tolist()
                    self.on_pass(Pass(self.name, hmm, iteration, tuple(likelihoods), len(found.cells), pruned))
                iteration += 1
                if last:
                    break
        assert found is not None
        return found

    def emissions(self, found: Parameters) -> Emissions:
        """Probabilities that follow from expected counts."""
        tables, smoothing = estimate(self.levels, found.counts), self.settings.smoothing
        sides: list[tuple[F32, F32]] = []
        for side in ("source", "target"):
            scale = background = np.ones(1)
            for level, table in zip(self.levels[::-1], tables[::-1], strict=True):
                classes: Side = getattr(level, side)
                scale = scale[classes.parents] * getattr(table, f"{side}_scale")[:-1] * level.weight
                background = background[classes.parents] * classes.shares
            sides.append((scale.astype(np.float32), background.astype(np.float32)))
        return Emissions(
            tables[0].cells, sides[0][0], sides[1][0], sides[0][1], sides[1][1],
            null_emissions(found.reverse.null, self.occurrences[0], smoothing),
            null_emissions(found.forward.null, self.occurrences[1], smoothing),
        )  # fmt: skip

    def maximize(self, counts: Counts, hmm: bool) -> Parameters:
        """The parameters that make what was counted likelier."""
        if hmm:
            how = self.settings.smoothing, jumps.LONG_STEP if self.long_steps > 0 else jumps.SURE_STEP
            self.long_steps -= 1
            forward = jumps.fit_jumps(counts.forward.jumps, self.jumps[0], *how)
            self.jumps = forward, jumps.fit_jumps(counts.reverse.jumps, self.jumps[1], *how)
        return Parameters(self.cells, counts.cells, counts.forward, counts.reverse, self.jumps, self.occurrences)

    def prune(self, found: Parameters, again: bool) -> Parameters:
        """Give up the cells whose expected count is small.  again: other passes will follow."""
        chosen = found.counts[:-1].max(axis=1) >= self.settings.minimum_count
        if chosen.all():
            return found
        kept = np.append(chosen, True)
        cells = self.cells.keep(chosen)
        if again:
            if self.prior is not None:
                self.prior = self.prior._replace(cells=cells, counts=self.prior.counts[kept])
            self.use(cells)
        return found._replace(cells=cells, counts=found.counts[kept])

    def count(self, emissions: Emissions, hmm: bool) -> Counts:
        """Expected counts of the whole text, and of the other text.

        Chunks are looked at on all cores and added up one after the other, so sums do not depend on the threads.
        """
        chain = kernels.Chain(*self.jumps, self.settings.uniform, self.settings.p0)
        if (prior := self.prior) is not None:
            counts = deepcopy(Counts(prior.counts, prior.forward, prior.reverse, np.zeros(2)))
        else:
            forward, reverse = (jumps.new_jumps(weights.groups) for weights in self.jumps)
            counts = Counts(
                np.zeros((len(self.cells) + 1, 1 if self.settings.agreement else 2)),
                DirectionCounts(np.zeros(self.cells.n_targets), forward),
                DirectionCounts(np.zeros(self.cells.n_sources), reverse), np.zeros(2),
            )  # fmt: skip
        stored: Iterable[I32 | None] = self.ids if len(self.ids) else [None] * len(self.chunks)

        def look(task: tuple[tuple[int, int], I32 | None]) -> tuple[tuple[int, int], I32, F32, list[Moves], F64]:
            (first, last), ids = task
            if ids is None:
                ids = self.cells.label(self.bitext, self.offsets, first, last)
            J, K = self.shapes[first:last].sum(axis=0).tolist()
            links = np.empty((2, len(ids)), np.float32)
            kernels.emit(first, last, self.pairs, ids, emissions, links)
            moves, null = [make_moves(K, J, hmm), make_moves(J, K, hmm)], (emissions.null_target, emissions.null_source)
            likelihoods = infer_both(first, last, self.pairs, null, chain, hmm, links, moves)
            if counts.cells.shape[1] == 1:  # under agreement a link counts as often as both make it  [LTK06, eq. 4]
                links = links[:1] * links[1:]
            return (first, last), ids, links, moves, likelihoods

        for chunk, ids, links, moves, likelihoods in map_threads(look, zip(self.chunks, stored, strict=True)):
            if len(self.ids) < len(self.chunks):
                self.ids.append(ids)
            kernels.add_links(ids, links, counts.cells)
            np.add(counts.log_likelihoods, likelihoods, out=counts.log_likelihoods)
            totals = counts.forward, counts.reverse
            for text, weights, its_moves, total in zip(self.pairs.directions, self.jumps, moves, totals, strict=True):
                kernels.add_moves(*chunk, text, weights, chain.uniform, chain.p0, hmm, its_moves, total)
                np.add(total.jumps.counts, its_moves.counts, out=total.jumps.counts)
                np.add(total.jumps.contexts, its_moves.contexts, out=total.jumps.contexts)
        counts.cells[-1] = 0.0
        return counts


def _cut(bitext: Bitext, offsets: I64) -> tuple[list[tuple[int, int]], int]:
    """Chunks of pairs that are looked at at once, by the text alone, and about how many bytes are held for each."""
    bytes_before = 16 * offsets + 80 * (bitext.source.offsets + bitext.target.offsets)
    total = int(bytes_before[-1])
    size = min(max(total // _CHUNKS, CHUNK_BYTES >> 4), CHUNK_BYTES)
    ends = np.searchsorted(bytes_before, np.arange(size, total, size)).tolist()
    return [(a, b) for a, b in pairwise([0, *ends, len(bitext)]) if a < b], size + 16 * MOST_EDGES


def _occurrences(text: Text) -> F64:
    return np.bincount(text.ids, minlength=len(text.vocabulary)).astype(np.float64)


def _extend(counts: DirectionCounts, weights: JumpWeights, occurrences: F64) -> tuple[DirectionCounts, JumpWeights]:
    """Counts and weights of a direction with groups for words that have become frequent."""
    groups = jumps.group_words(occurrences, weights.groups)
    extended, weights = jumps.with_groups(counts.jumps, weights, groups)
    return counts._replace(jumps=extended), weights


def _uniform(cells: Cells) -> Emissions:
    """All words are as likely, whatever they translate."""
    source, target = (1.0 / max(n, 1) for n in (cells.n_sources, cells.n_targets))
    table = np.empty((len(cells) + 1, 2), np.float32)
    table[:] = target, source
    table.flags.writeable = False  # as later ones
    ones = np.ones(cells.n_sources, np.float32), np.ones(cells.n_targets, np.float32)
    given_null = ones[0] * np.float32(source), ones[1] * np.float32(target)
    return Emissions(table, *ones, *given_null, *given_null)
