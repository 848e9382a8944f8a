"""Expectation-maximisation of one lexicon and its jumps over a bitext, on all cores.

Passes of IBM Model 1 see the whole text before the parameters change. The HMM's are estimated anew after each of a few
batches, from a mean of the expected counts of all batches so far in which later ones count more: stepwise EM, which
needs fewer passes and overfits less  [Liang and Klein 2009, Online EM for unsupervised models, section 3].
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corpora.bitext import Bitext
from corpora.ragged import F32, F64
from features.cooccurrence import CooccurrenceTable
from features.translation import jumps
from features.translation._lattice_kernels import JUMPS, LINKS, Jumps, JumpWeights
from features.translation._lexicon_kernels import TINY
from features.translation._translation_kernels import Chain, Counts, DirectionCounts, Emissions
from features.translation.cells import Cells
from features.translation.counting import THIS_MACHINE, Engine
from features.translation.lexicon import KINDS, Classes, Level, build_levels, estimate
from features.word_pairs import WORDS_AT_ONCE, Pairs, runs

_FORGETTING = 0.6
"""Batch k = 0, 1, ... counts (k + 2) to minus this power, those before it the rest; α of Liang and Klein."""

_BLOCK = 1 << 15

MOST_EDGES = 1 << 18
"""Sentence pairs of more word pairs than this (512 words on both sides) are left out of training; they are aligned."""

NULL_SMOOTHING = 0.01


@dataclass(frozen=True)
class Settings:
    """Settings of training lexicons.

    iterations_1, iterations_hmm: passes of IBM Model 1, beside the even one that it begins with, and of the HMM.
    batches: parts of the text after each of which the HMM is estimated anew; 1 is batch EM.  agreement: False trains
    both directions apart in every lexicon.
    p0: prior probability of NULL, in (0, 1); the higher, the fewer links.  uniform: share of jumps that go anywhere, in
    (0, 1).  smoothing: factor of all pseudo-counts; 0 is maximum likelihood.  minimum_dice: word pairs with a smaller
    Dice have no cell; by default the lexicon's.  minimum_count: cells with a smaller expected count, or its square
    where directions agree, are given up after the last pass of Model 1, and of the HMM.  seconds: passes
    that would end later are left out, but for one of Model 1 and one of the HMM for each lexicon, of which each has its
    share of the time.  varied: lexicons of each kind by all `translation.lexicon.VARIANTS` of these settings.
    Raises ValueError for settings out of range.
    """

    iterations_1: int = 1
    iterations_hmm: int = 1
    batches: int = 16
    agreement: bool = True
    p0: float = 0.2
    uniform: float = 0.1
    smoothing: float = 1.0
    minimum_dice: float | None = None
    minimum_count: float = 0.01
    seconds: float = math.inf
    varied: bool = False

    def __post_init__(self) -> None:
        if self.iterations_1 < 0 or self.iterations_hmm < 0 or self.iterations_1 + self.iterations_hmm == 0:
            raise ValueError(f"there must be an iteration, not {self.iterations_1} and {self.iterations_hmm}")
        if self.batches < 1:
            raise ValueError(f"there must be a batch, not {self.batches}")
        if not (0.0 < self.p0 < 1.0 and 0.0 < self.uniform < 1.0 and self.smoothing >= 0.0):
            numbers = f"{self.p0}, uniform {self.uniform} and smoothing {self.smoothing}"
            raise ValueError(f"p0 {numbers} must be in (0, 1), (0, 1) and >= 0")

    @classmethod
    def of_text(cls, tokens: float) -> "Settings":
        """Settings for a text of so many tokens, the mean of both sides.

        Little text needs more passes of Model 1, and counts in it are so small that pseudo-counts must be, too. These
        rules were chosen on 20 gold sets cut to several sizes, see ``docs/decisions.md``.
        """
        passes = 1 + (tokens < 150_000) + (tokens < 30_000)
        smoothing = min(max(math.sqrt(tokens / 50_000), 0.3), 1.0)
        return cls(iterations_1=passes, smoothing=smoothing, varied=tokens < 100_000)


class Pass(NamedTuple):
    """The result of one pass over the text.

    log_likelihoods: (2,) of the text under the parameters before the pass, or before each batch of it, target given
    source and the reverse.
    cells: word pairs with a probability.  pruned: share of the expected links of pairs that were given up after it.
    total: passes of all lexicons, unless seconds end them sooner.
    """

    lexicon: str
    hmm: bool
    iteration: int
    log_likelihoods: tuple[float, float]
    cells: int
    pruned: float
    total: int


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


class LexiconStart:
    """What training lexicons of one kind begins with, whatever their variant.

    prior: counts of other text, of the same words; they are added to the counts of this one.
    anew: whether training begins with an even pass of IBM Model 1; else with the prior.  table: co-occurrences of the
    words that get cells; by default they are counted here.
    """

    def __init__(
        self,
        kind: str,
        bitext: Bitext,
        settings: Settings,
        prior: Parameters | None = None,
        anew: bool = True,
        engine: Engine = THIS_MACHINE,
        table: CooccurrenceTable | None = None,
    ) -> None:
        self.prior, self.anew = prior, anew
        self.text = engine.expectation(bitext, settings.batches)
        least = KINDS[kind].minimum_dice if settings.minimum_dice is None else settings.minimum_dice
        table = engine.cooccurrences(bitext, least, None) if table is None else table
        cells, self.bitext = Cells.from_table(table), bitext
        del table  # its counts take as much memory as the cells
        occurrences = bitext.source.occurrences.astype(np.float64), bitext.target.occurrences.astype(np.float64)
        alone = bitext.take(np.flatnonzero(np.diff(bitext.source.offsets) * np.diff(bitext.target.offsets) == 0))
        self.linkable = occurrences[0] - alone.source.occurrences, occurrences[1] - alone.target.occurrences
        if prior is None:
            groups = jumps.group_words(occurrences[0]), jumps.group_words(occurrences[1])
            self.jumps = jumps.first_jumps(groups[0]), jumps.first_jumps(groups[1])
        else:
            occurrences = occurrences[0] + prior.occurrences[0], occurrences[1] + prior.occurrences[1]
            forward, forward_jumps = _extend(prior.forward, prior.weights[0], occurrences[0])
            reverse, reverse_jumps = _extend(prior.reverse, prior.weights[1], occurrences[1])
            self.jumps = forward_jumps, reverse_jumps
            cells, places = prior.cells.merge(cells)
            counts = np.zeros((len(cells) + 1, prior.counts.shape[1]))
            counts[places] = prior.counts[:-1]
            self.prior = prior._replace(cells=cells, counts=counts, forward=forward, reverse=reverse)
        self.cells, self.occurrences = cells, occurrences
        names = bitext.source.vocabulary.words, bitext.target.vocabulary.words
        self.classes = Classes.of(names, occurrences, KINDS[kind].widths)


class LexiconTraining:
    """The state of training one lexicon."""

    def __init__(
        self,
        name: str,
        start: LexiconStart,
        settings: Settings,
        on_pass: Callable[[Pass], None] | None = None,
        total: int = 0,
    ) -> None:
        self.name, self.settings, self.on_pass, self.total = name, settings, on_pass, total
        self.text, self.classes, self.occurrences = start.text, start.classes, start.occurrences
        self.prior, self.jumps = start.prior, start.jumps
        self.long_steps = jumps.LONG_STEPS if start.anew else 0
        self.steps = 0
        self.use(start.cells)
        forward, reverse = (
            DirectionCounts(np.zeros(words), jumps.new_jumps(weights.groups))
            for words, weights in zip((self.cells.n_targets, self.cells.n_sources), self.jumps, strict=True)
        )
        counts = np.zeros((len(self.cells) + 1, 1 if settings.agreement else 2))
        self.counts = Counts(counts, forward, reverse, np.zeros(2))
        if start.anew:
            self.count_evenly(start.bitext, start.linkable)

    def count_evenly(self, bitext: Bitext, linkable: tuple[F64, F64]) -> None:
        """Count as a pass of Model 1 does to which all words are as likely, whatever they translate.

        linkable: (V_source,), (V_target,) occurrences in pairs with words on both sides.
        """
        counts, p0 = self.counts, self.settings.p0
        for first, last in runs(bitext.source.offsets, WORDS_AT_ONCE):
            pairs = Pairs.cut(bitext, first, last)
            links = (1.0 - p0) / np.maximum(pairs.shapes, 1)
            links = links.prod(axis=1, keepdims=True) if self.settings.agreement else links
            self.cells.add_evenly(pairs, links, counts.cells)
        for null, occurrences in zip((counts.reverse.null, counts.forward.null), linkable, strict=True):
            null += p0 * occurrences

    def use(self, cells: Cells) -> None:
        self.cells = cells
        self.text.use(cells)
        self.levels = list[Level]()  # let go before others are made
        self.levels = build_levels(cells, self.classes, self.settings.smoothing)

    def run(self, deadline: float) -> Parameters:
        """Make all passes, or those before the deadline of `time.monotonic`, at least one of Model 1 and of the HMM."""
        settings = self.settings
        iteration = 0
        for hmm, passes in ((False, settings.iterations_1), (True, settings.iterations_hmm)):
            for number in range(passes):
                start = time.monotonic()
                self.counts.log_likelihoods[:] = 0.0
                for batch in range(self.text.batches) if hmm else (None,):
                    self.count(self.emissions(self.parameters()), hmm, batch)
                    if hmm:
                        self.fit_jumps()
                now = time.monotonic()
                last = number + 1 == passes or now + (now - start) > deadline
                pruned = self.prune(again=not hmm and settings.iterations_hmm > 0) if last else 0.0
                if self.on_pass is not None:
                    likelihoods, cells = tuple(self.counts.log_likelihoods.tolist()), len(self.cells)
                    self.on_pass(Pass(self.name, hmm, iteration, likelihoods, cells, pruned, self.total))
                iteration += 1
                if last:
                    break
        return self.parameters()

    def emissions(self, found: Parameters) -> Emissions:
        """Probabilities that follow from expected counts."""
        scales, backgrounds, smoothing = [np.ones(1)] * 2, [np.ones(1)] * 2, self.settings.smoothing
        for level, table in zip(self.levels[::-1], estimate(self.levels, found.counts), strict=True):
            of_level = (level.source, table.source_scale), (level.target, table.target_scale)
            for side, (classes, scale) in enumerate(of_level):
                scales[side] = scales[side][classes.parents] * scale[:-1] * level.weight
                backgrounds[side] = backgrounds[side][classes.parents] * classes.shares
        return Emissions(
            table.cells,
            scales[0].astype(np.float32),
            scales[1].astype(np.float32),
            backgrounds[0].astype(np.float32),
            backgrounds[1].astype(np.float32),
            null_emissions(found.reverse.null, self.occurrences[0], smoothing),
            null_emissions(found.forward.null, self.occurrences[1], smoothing),
        )

    def parameters(self) -> Parameters:
        """The counts of this text and of the prior."""
        counts = self.counts
        found = Parameters(self.cells, counts.cells, counts.forward, counts.reverse, self.jumps, self.occurrences)
        if (prior := self.prior) is None:
            return found
        forward, reverse = _sum(found.forward, prior.forward), _sum(found.reverse, prior.reverse)
        return found._replace(counts=found.counts + prior.counts, forward=forward, reverse=reverse)

    def fit_jumps(self) -> None:
        """Find jump weights that make what was counted likelier."""
        found = self.parameters()
        how = self.settings.smoothing, jumps.LONG_STEP if self.long_steps > 0 else jumps.SURE_STEP
        self.long_steps -= 1
        forward = jumps.fit_jumps(found.forward.jumps, self.jumps[0], *how)
        self.jumps = forward, jumps.fit_jumps(found.reverse.jumps, self.jumps[1], *how)

    def prune(self, again: bool) -> float:
        """Give up the cells whose expected count is small; returns their share.  again: other passes will follow."""
        counts = self.parameters().counts
        # A count of both directions is one times the other.
        least = self.settings.minimum_count ** (3 - counts.shape[1])
        chosen = (counts[:, 0] >= least) | (counts[:, -1] >= least)
        given_up = max(0.0, float(1.0 - counts[chosen].sum() / max(counts.sum(), TINY)))
        del counts
        chosen[-1] = True
        if not chosen.all():
            self.counts = self.counts._replace(cells=self.counts.cells[chosen])
            self.cells = self.cells.keep(chosen[:-1])
            if self.prior is not None:
                self.prior = self.prior._replace(cells=self.cells, counts=self.prior.counts[chosen])
            if again:
                self.use(self.cells)
        return given_up

    def count(self, emissions: Emissions, hmm: bool, batch: int | None) -> None:
        """Take the expected counts of a batch of the text into the mean, or of the whole text, with None."""
        counts, weights = self.counts, [weights.inside for weights in self.jumps]
        share, batches = 1.0, 1 if batch is None else self.text.batches
        if batches > 1:
            share = (self.steps + 2.0) ** -_FORGETTING
            self.steps += 1
        weight = share * batches  # of one batch, which stands for the whole text
        for direction, inside in zip((counts.forward, counts.reverse), weights, strict=True):
            direction.jumps.needs[:] *= inside  # expected jumps, as they are added up
        for block, grid in _blocks(counts):
            block *= (1.0 - share) / weight
            block += grid  # and back: what is left is on the grid
            block -= grid
        self.text.add(emissions, Chain(*self.jumps, self.settings.uniform, self.settings.p0), hmm, batch, counts)
        counts.cells[-1] = 0.0
        for block, _ in _blocks(counts):
            block *= weight
        for direction, inside in zip((counts.forward, counts.reverse), weights, strict=True):
            direction.jumps.needs[:] /= inside


def _blocks(counts: Counts) -> Iterator[tuple[F64, float]]:
    """Blocks of all counts, small enough for the cache, each with the grid of what is added to it."""
    directions = counts.forward, counts.reverse
    of_links = counts.cells, *(direction.null for direction in directions)
    of_jumps = (array for direction in directions for array in direction.jumps)
    for arrays, grid in ((of_links, LINKS), (of_jumps, JUMPS)):
        for flat in (array.reshape(-1) for array in arrays):
            yield from ((flat[first : first + _BLOCK], grid) for first in range(0, len(flat), _BLOCK))


def _sum(one: DirectionCounts, other: DirectionCounts) -> DirectionCounts:
    return DirectionCounts(one.null + other.null, Jumps(*map(np.add, one.jumps, other.jumps)))


def _extend(counts: DirectionCounts, weights: JumpWeights, occurrences: F64) -> tuple[DirectionCounts, JumpWeights]:
    """Counts and weights of a direction with groups for words that have become frequent."""
    groups = jumps.group_words(occurrences, weights.groups)
    extended, weights = jumps.with_groups(counts.jumps, weights, groups)
    return counts._replace(jumps=extended), weights
