"""Translation models of a bitext, learnt without labels: who translates whom, and how positions follow each other.

A hidden Markov model of each direction [VNT96], whose jumps depend on the words that are left [He07] and reached,
trained after a few iterations of IBM Model 1 [BDDM93] so that both directions agree [LTK06]: a link counts in the
expectation step as often as both make it, the product of their posteriors. There are two such lexicons, of words and of
their first five letters, each smoothed by coarser classes (`lexicon`); their posteriors are averaged. A third
one, of words, has its directions trained apart: links of one word with several others survive there, and its errors
are others.

[BDDM93] Brown, Della Pietra, Della Pietra and Mercer 1993, The mathematics of statistical machine translation.
[VNT96] Vogel, Ney and Tillmann 1996, HMM-based word alignment in statistical translation.
[ON03] Och and Ney 2003, A systematic comparison of various statistical alignment models.
[LTK06] Liang, Taskar and Klein 2006, Alignment by agreement.
[He07] He 2007, Using word-dependent transition models in HMM based word alignment for statistical machine translation.
[DLR77] Dempster, Laird and Rubin 1977, Maximum likelihood from incomplete data via the EM algorithm, section 2.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from corpora.bitext import Bitext, Text, Vocabulary
from corpora.threads import shared_property
from features.translation._lattice_kernels import N_JUMPS, WIDTHS, WINDOW, JumpWeights
from features.translation._translation_kernels import Chain
from features.translation.cells import Cells
from features.translation.expectation import MOST_EDGES, Parameters, Pass, Settings, Training, null_emissions
from features.translation.jumps import grouped_words, make_weights, remember
from features.translation.lexicon import KINDS, UNSEEN, Level, Table, build_levels, class_name, estimate
from features.words import WordTable

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

DEFAULT_MEMORY = 1 << 30


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Expected counts of one kind of classes.

    row_offsets: (V_source + 1,) int64.  targets: (C,) int32, ascending within a row.  counts: (C, 1) float32 of both
    directions, or (C, 2) of each.  null_source: (V_source,), null_target: (V_target,) float32, words without a link.
    forward, reverse: (N_JUMPS,) float64, shared weights of jumps.  forward_jumps, reverse_jumps: (N_JUMPS,) float64
    expected jumps, and forward_contexts, reverse_contexts: (3, WINDOW + 1, WINDOW + 1), where they were made.
    source_frequent: (G_source - 1,), target_frequent: (G_target - 1,) int32, words that jump in their own way.
    forward_weights: (2, G_source, WIDTHS), reverse_weights: (2, G_target, WIDTHS) float32, their weights, and
    forward_inside, reverse_inside their expected jumps, see `translation._lattice_kernels`.
    """

    row_offsets: I64
    targets: I32
    counts: F32
    null_source: F32
    null_target: F32
    forward: F64
    reverse: F64
    forward_jumps: F64
    reverse_jumps: F64
    forward_contexts: F64
    reverse_contexts: F64
    source_frequent: I32
    target_frequent: I32
    forward_weights: F32
    reverse_weights: F32
    forward_inside: F32
    reverse_inside: F32

    @classmethod
    def from_parameters(cls, found: Parameters) -> Lexicon:
        (forward, reverse), jumps = found.weights, (found.forward_jumps, found.reverse_jumps)
        return cls(
            found.cells.row_offsets, found.cells.targets, found.counts[:-1].astype(np.float32),
            found.null_source.astype(np.float32), found.null_target.astype(np.float32), forward.shared, reverse.shared,
            jumps[0].counts, jumps[1].counts, jumps[0].contexts, jumps[1].contexts, grouped_words(forward.groups),
            grouped_words(reverse.groups), forward.inside.astype(np.float32), reverse.inside.astype(np.float32),
            jumps[0].inside.astype(np.float32), jumps[1].inside.astype(np.float32),
        )  # fmt: skip

    def weights(self, words: tuple[int, int]) -> tuple[JumpWeights, JumpWeights]:
        """Weights of the jumps in each direction.  words: how many each language has, or more."""
        return (
            make_weights(self.forward, self.forward_weights, self.source_frequent, words[0]),
            make_weights(self.reverse, self.reverse_weights, self.target_frequent, words[1]),
        )

    def parameters(self, occurrences: tuple[F64, F64]) -> Parameters:
        """With more words, that have not been met.  occurrences: (V_source,), (V_target,) of all, 0 of the new ones."""
        n_source, n_target = map(len, occurrences)
        row_offsets = np.full(n_source + 1, len(self.targets), np.int64)
        row_offsets[: len(self.row_offsets)] = self.row_offsets
        counts = np.zeros((len(self.targets) + 1, self.counts.shape[1]))
        counts[:-1] = self.counts
        null_source, null_target = np.zeros(n_source), np.zeros(n_target)
        null_source[: len(self.null_source)] = self.null_source
        null_target[: len(self.null_target)] = self.null_target
        weights = self.weights((n_source, n_target))
        return Parameters(
            Cells(row_offsets, self.targets, n_target), counts, null_source, null_target,
            remember(self.forward_jumps, self.forward_contexts, self.forward_inside, weights[0]),
            remember(self.reverse_jumps, self.reverse_contexts, self.reverse_inside, weights[1]), weights, occurrences,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Tables:
    """What follows from a lexicon: probabilities of all its levels, from fine to coarse, and of words given NULL.

    null_source: (V_source + 1,), null_target: (V_target + 1,), the last of a word never seen: its frequency.
    chain: with groups of as many words.
    """

    widths: tuple[int | None, ...]
    levels: list[Level]
    tables: list[Table]
    null_source: F32
    null_target: F32
    chain: Chain


@dataclass(frozen=True, eq=False)
class TranslationModel:
    """All that is kept of training, as arrays.

    source_words, target_words: spelling of each word.  source_counts: (V_source,), target_counts: (V_target,) int64,
    occurrences in the training text.  lexicons: by name, of `translation.lexicon.KINDS`.
    p0: probability of NULL.  uniform: share of jumps to anywhere.  smoothing: factor of pseudo-counts.
    """

    source_words: WordTable
    target_words: WordTable
    source_counts: I64
    target_counts: I64
    lexicons: Mapping[str, Lexicon]
    p0: float
    uniform: float
    smoothing: float

    @shared_property
    def tables(self) -> Mapping[str, Tables]:
        """Probabilities of each lexicon, computed when first asked for."""
        return {name: self._tables(name) for name in self.lexicons}

    def _tables(self, name: str) -> Tables:
        lexicon, widths = self.lexicons[name], KINDS[name].widths
        source_names, source_classes = classify(self.source_words.words(), widths[0])
        target_names, target_classes = classify(self.target_words.words(), widths[0])
        source_counts = np.bincount(source_classes, self.source_counts, len(source_names)).astype(np.float64)
        target_counts = np.bincount(target_classes, self.target_counts, len(target_names)).astype(np.float64)
        cells = Cells(lexicon.row_offsets, lexicon.targets, len(target_names))
        levels = build_levels(cells, source_names, target_names, source_counts, target_counts, widths, self.smoothing)
        counts = np.zeros((len(cells) + 1, lexicon.counts.shape[1]))
        counts[:-1] = lexicon.counts
        words = len(source_names) + 1, len(target_names) + 1
        return Tables(
            widths, levels, estimate(levels, counts),
            _with_unseen(lexicon.null_source, source_counts, self.smoothing),
            _with_unseen(lexicon.null_target, target_counts, self.smoothing),
            Chain(*lexicon.weights(words), self.uniform, self.p0),
        )  # fmt: skip

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything as named arrays, for a model file; `from_arrays` is the inverse."""
        arrays = {
            "source_counts": self.source_counts,
            "target_counts": self.target_counts,
            "settings": np.array([self.p0, self.uniform, self.smoothing]),
        }
        for name in ("source_words", "target_words"):
            table = getattr(self, name)
            arrays.update({f"{name}.{f.name}": getattr(table, f.name) for f in fields(table)})
        for name, lexicon in self.lexicons.items():
            arrays.update({f"lexicons.{name}.{f.name}": getattr(lexicon, f.name) for f in fields(lexicon)})
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> TranslationModel:
        """Raises KeyError where an array is missing, ValueError where they do not fit together."""
        words = [
            WordTable(**{f.name: arrays[f"{name}.{f.name}"] for f in fields(WordTable)})
            for name in ("source_words", "target_words")
        ]
        counts = arrays["source_counts"], arrays["target_counts"]
        known = {key.split(".")[1] for key in arrays if key.startswith("lexicons.")}
        _check(known <= set(KINDS))
        names = [name for name in KINDS if name in known]
        lexicons = {  # copies: for arrays that cannot be written, as those of files, kernels would be compiled anew
            name: Lexicon(**{f.name: np.array(arrays[f"lexicons.{name}.{f.name}"]) for f in fields(Lexicon)})
            for name in names
        }
        for table, count in zip(words, counts, strict=True):
            _check(len(table.offsets) == len(table.plain_offsets) == len(table) + 1 and len(count) == len(table))
            _check_offsets(table.offsets, len(table.letters))
            _check_offsets(table.plain_offsets, len(table.plain_letters))
        for name, lexicon in lexicons.items():
            sizes = [len(classify(table.words(), KINDS[name].widths[0])[0]) for table in words]
            _check_lexicon(lexicon, *sizes)
        _check(arrays["settings"].shape == (3,))
        return cls(words[0], words[1], *counts, lexicons, *arrays["settings"].tolist())


def _with_unseen(null: F32, occurrences: F64, smoothing: float) -> F32:
    unseen = UNSEEN / (occurrences.sum() + UNSEEN * (len(occurrences) + 1))
    return np.append(null_emissions(null.astype(np.float64), occurrences, smoothing), np.float32(unseen))


def _check(sound: bool) -> None:
    if not sound:
        raise ValueError("the arrays of the translation model do not fit together")


def _check_offsets(offsets: I64, size: int) -> None:
    _check(len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == size and bool((np.diff(offsets) >= 0).all()))


def _check_lexicon(lexicon: Lexicon, n_source: int, n_target: int) -> None:
    """Kernels trust these numbers: they read where the offsets say."""
    n = len(lexicon.targets)
    _check(len(lexicon.row_offsets) == n_source + 1)
    _check_offsets(lexicon.row_offsets, n)
    _check(n == 0 or bool(lexicon.targets.min() >= 0 and lexicon.targets.max() < n_target))
    _check(lexicon.counts.shape in {(n, 1), (n, 2)})
    _check(len(lexicon.null_source) == n_source and len(lexicon.null_target) == n_target)
    for jumps in (lexicon.forward, lexicon.reverse, lexicon.forward_jumps, lexicon.reverse_jumps):
        _check(jumps.shape == (N_JUMPS,))
    _check(lexicon.forward_contexts.shape == lexicon.reverse_contexts.shape == (3, WINDOW + 1, WINDOW + 1))
    for frequent, words, weights, inside in (
        (lexicon.source_frequent, n_source, lexicon.forward_weights, lexicon.forward_inside),
        (lexicon.target_frequent, n_target, lexicon.reverse_weights, lexicon.reverse_inside),
    ):
        _check(len(frequent) == 0 or bool(frequent.min() >= 0 and frequent.max() < words))
        _check(weights.shape == inside.shape == (2, len(frequent) + 1, WIDTHS))


def classify(words: Sequence[str], width: int | None) -> tuple[list[str], I32]:
    """The classes of words in order of first appearance, and the class of each word."""
    index: dict[str, int] = {}
    classes = np.fromiter((index.setdefault(class_name(w, width), len(index)) for w in words), np.int32, len(words))
    return list(index), classes


def _classified(text: Text, names: list[str], classes: I32) -> Text:
    if names == text.vocabulary.words:
        return text
    return Text(classes[text.ids], text.offsets, Vocabulary(names), text.language)


def train_translation(
    bitext: Bitext,
    *,
    lexicons: Sequence[str] = tuple(KINDS),
    iterations_1: int = 2,
    iterations_hmm: int = 5,
    agreement: bool = True,
    p0: float = 0.2,
    uniform: float = 0.1,
    smoothing: float = 1.0,
    minimum_dice: float = 0.0005,
    minimum_count: float = 1e-3,
    memory: int = DEFAULT_MEMORY,
    seconds: float = math.inf,
    on_pass: Callable[[Pass], None] | None = None,
) -> TranslationModel:
    """Estimate translation models of a bitext, on all cores.

    lexicons: of `translation.lexicon.KINDS`.  iterations_1, iterations_hmm: passes of IBM Model 1 and of the HMM.
    agreement: False trains both directions apart in every lexicon.  p0: prior probability of NULL, in
    (0, 1); the higher, the fewer links.  uniform: share of jumps that go anywhere, in (0, 1).  smoothing: factor of all
    pseudo-counts; 0 is maximum likelihood.  minimum_dice: word pairs with a smaller Dice are never looked at.
    minimum_count: those with a smaller expected count are given up after the last pass of Model 1, and of the HMM.
    memory: bytes for the cell of every edge of the text, 4 for each; more go to a temporary file, which is read once a
    pass.  seconds: passes that would end later are left out, but for one of each kind and lexicon; the first lexicon
    has its share of the time.  on_pass: called after each pass of each lexicon.

    Peak memory, with T words of text on both sides together, C word pairs that are looked at, G words of 10 occurrences
    or more on both sides and n cores:

        8 T + max(4 T + 16 C, (48 + 16 n) C + 544 (n + 3) G + memory)  bytes,

    and on disk 4 Σ_i J_i K_i bytes where those exceed `memory`. C grows with the distinct pairs of words that stand in
    the same sentence pair and whose Dice is large enough, at most 2 / minimum_dice mean sentence lengths a source word.

    The order of the pairs matters by rounding only, and the result is the same to the bit on as many cores, unless
    seconds cut it short.  ValueError for settings out of range, OSError where the temporary file finds no room.
    """
    settings = Settings(
        iterations_1, iterations_hmm, agreement, p0, uniform, smoothing, minimum_dice, minimum_count, memory
    )
    nothing = WordTable.from_words([])
    none = np.zeros(0, np.int64)
    start = TranslationModel(nothing, nothing, none, none, {}, p0, uniform, smoothing)
    return _train(start, bitext, lexicons, settings, seconds, on_pass)


def update_translation(
    model: TranslationModel,
    bitext: Bitext,
    *,
    iterations_1: int = 0,
    iterations_hmm: int = 3,
    minimum_dice: float = 0.0005,
    minimum_count: float = 1e-3,
    memory: int = DEFAULT_MEMORY,
    seconds: float = math.inf,
    on_pass: Callable[[Pass], None] | None = None,
) -> TranslationModel:
    """Add a bitext to the text that a model has learnt from, without reading the latter again.

    Expectation-maximisation on the new text, in which the counts c of the old one are evidence that stays as it is: the
    expectation step is of the new text x alone, under the current parameters θ, and the maximisation step takes the
    expected counts of the new text plus c, of word pairs, words given NULL and jumps. Without agreement and smoothing
    that climbs

        log p(x | θ) + Σ_e,f c(e, f) log p(f | e) + Σ_f c(f, NULL) log p(f | NULL) + Σ c(jump) log p(jump),

    the likelihood of the new text and, as a prior, the expected complete-data likelihood of the old one  [DLR77]; all
    pseudo-counts come on top as in training. It starts at the parameters of c alone, from which passes of IBM Model 1
    lead away: by default there are none. New words are appended to the vocabulary; new word pairs are looked at where
    their Dice in the new text alone is large enough.

    Settings not named here are the model's; the others as in `train_translation`, as are memory and errors.  An empty
    bitext changes nothing. Counts of the old text are not revised by the new one, so the result is close to training on
    all text at once but not equal to it.
    """
    if len(bitext.source.ids) == 0 or len(bitext.target.ids) == 0:
        return model
    settings = Settings(
        iterations_1=iterations_1, iterations_hmm=iterations_hmm,
        agreement=True,  # of lexicons without counts: those of a model go on as they were trained
        p0=model.p0, uniform=model.uniform, smoothing=model.smoothing, minimum_dice=minimum_dice,
        minimum_count=minimum_count, memory=memory,
    )  # fmt: skip
    return _train(model, bitext, tuple(model.lexicons), settings, seconds, on_pass)


def _train(
    start: TranslationModel, bitext: Bitext, lexicons: Sequence[str], settings: Settings, seconds: float,
    on_pass: Callable[[Pass], None] | None,
) -> TranslationModel:  # fmt: skip
    """Train lexicons, from what the model that is started with knows of them."""
    if not lexicons or set(lexicons) - set(KINDS) or len(set(lexicons)) != len(lexicons):
        raise ValueError(f"lexicons {tuple(lexicons)} must be some of {', '.join(KINDS)}, each once")
    began = time.monotonic()
    fitting = bitext.source.lengths * bitext.target.lengths <= MOST_EDGES
    if not fitting.all():
        bitext = bitext.take(np.flatnonzero(fitting))
    source, target = _extend(bitext.source, start.source_words), _extend(bitext.target, start.target_words)
    found = {}
    for number, name in enumerate(lexicons, 1):
        widths = KINDS[name].widths
        classes = [classify(text.vocabulary.words, widths[0]) for text in (source, target)]
        classified = Bitext(_classified(source, *classes[0]), _classified(target, *classes[1]))
        prior = None
        if name in start.lexicons:
            seen = (
                np.bincount(ids[: len(counts)], counts, len(names)).astype(np.float64)
                for (names, ids), counts in zip(classes, (start.source_counts, start.target_counts), strict=True)
            )
            prior = start.lexicons[name].parameters((next(seen), next(seen)))
        agreement = prior.agreement if prior is not None else settings.agreement and KINDS[name].agreement
        share = replace(settings, agreement=agreement, deadline=began + seconds * number / len(lexicons))
        training = Training(name, classified, widths, share, on_pass, prior)
        try:
            found[name] = Lexicon.from_parameters(training.run())
        finally:
            training.close()
    counts = (_add_occurrences(source, start.source_counts), _add_occurrences(target, start.target_counts))
    return TranslationModel(
        WordTable.from_words(source.vocabulary.words), WordTable.from_words(target.vocabulary.words), *counts, found,
        settings.p0, settings.uniform, settings.smoothing,
    )  # fmt: skip


def _extend(text: Text, known: WordTable) -> Text:
    """The text with known words before its own in the vocabulary."""
    if len(known) == 0:
        return text
    index = {word: i for i, word in enumerate(known.words())}
    ids = np.fromiter((index.setdefault(word, len(index)) for word in text.vocabulary.words), np.int32)
    return Text(ids[text.ids], text.offsets, Vocabulary(list(index)), text.language)


def _add_occurrences(text: Text, before: I64) -> I64:
    counts = np.bincount(text.ids, minlength=len(text.vocabulary))
    counts[: len(before)] += before
    return counts
