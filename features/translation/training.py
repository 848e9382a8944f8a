"""Training of translation models: lexicons one after the other, from nothing or from what a model knows."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from corpora.bitext import Bitext, Text, Vocabulary
from corpora.ragged import I64
from features.cooccurrence import CooccurrenceTable
from features.translation.counting import THIS_MACHINE, Engine
from features.translation.expectation import MOST_EDGES, LexiconStart, LexiconTraining, Pass, Settings
from features.translation.expected_counts import Lexicon
from features.translation.lexicon import KINDS, variant_of, variants
from features.translation.model import TranslationModel
from features.translation.pieces import Units
from features.words import WordTable

UPDATE = Settings(iterations_1=0)
"""Of `update_translation`."""


def usual_settings(bitext: Bitext, priors: TranslationModel | None = None) -> Settings:
    """Settings that suit how much text there is.  priors: other text is as long as they have jumps; a dictionary: 0."""
    tokens: float = len(bitext.source.ids) + len(bitext.target.ids)
    if priors is not None and (words := priors.lexicons.get("words")):
        tokens += words.forward.jumps.sum() + words.reverse.jumps.sum()
    return Settings.of_text(tokens / 2)


def train_translation(
    bitext: Bitext,
    settings: Settings | None = None,
    *,
    lexicons: Sequence[str] = tuple(KINDS),
    priors: TranslationModel | None = None,
    take_table: Callable[[], CooccurrenceTable] | None = None,
    on_pass: Callable[[Pass], None] | None = None,
    engine: Engine = THIS_MACHINE,
) -> TranslationModel:
    """Estimate translation models of a bitext, on all cores.

    settings: by default `usual_settings`.  lexicons: of `translation.lexicon.KINDS`.
    priors: counts of other text, which are evidence as in `update_translation`; see `translation.priors`.
    take_table: gives the co-occurrences of the bitext by `count_cooccurrences`, if they are known: called at most once,
    so that nobody has to keep them.  on_pass: called after each pass.
    engine: who counts.

    Peak memory beyond the text of N pairs, with T pieces in the target of those that teach pieces, C pairs of words or
    pieces that are looked at, G of 10 occurrences or more on both sides and n cores, whichever takes more:

        16 N + max(135 MB + 4 T + 16 C, 64 C + 2200 G + 20 MB · n)  bytes.

    C grows with the distinct pairs of words that stand in the same sentence pair and whose Dice is large enough, at
    most 2 / minimum_dice mean sentence lengths a source word.

    The lexicon of pieces has the counts of at most `Kind.most_tokens` words a side.  The result is the same to the bit
    on any number of cores, unless seconds cut it short.  ValueError for unknown or repeated lexicons.
    """
    nothing, none = WordTable.from_words([]), np.zeros(0, np.int64)
    chosen = usual_settings(bitext, priors) if settings is None else settings
    start = TranslationModel(nothing, nothing, none, none, {}, chosen.p0, chosen.uniform, chosen.smoothing)
    if not lexicons or set(lexicons) - set(KINDS) or len(set(lexicons)) != len(lexicons):
        raise ValueError(f"lexicons {tuple(lexicons)} must be some of {', '.join(KINDS)}, each once")
    names = variants(lexicons) if chosen.varied else lexicons
    return _train(start if priors is None else priors, bitext, names, chosen, on_pass, engine, take_table, anew=True)


def update_translation(
    model: TranslationModel,
    bitext: Bitext,
    settings: Settings = UPDATE,
    *,
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

    p0, uniform, smoothing and agreement are the model's, whatever the settings; memory as in `train_translation`.  An
    empty bitext changes nothing. Counts of the old text are not revised by the new one, so the result is close to
    training on all text at once but not equal to it; counts of pieces are those of samples, see `train_translation`.
    """
    if len(bitext.source.ids) == 0 or len(bitext.target.ids) == 0:
        return model
    settings = replace(settings, p0=model.p0, uniform=model.uniform, smoothing=model.smoothing)
    return _train(model, bitext, tuple(model.lexicons), settings, on_pass, THIS_MACHINE, None, anew=False)


def _train(
    start: TranslationModel,
    bitext: Bitext,
    lexicons: Sequence[str],
    settings: Settings,
    on_pass: Callable[[Pass], None] | None,
    engine: Engine,
    take_table: Callable[[], CooccurrenceTable] | None,
    anew: bool,
) -> TranslationModel:
    """Train lexicons with the counts of the `start` model.  anew: from IBM Model 1 on, else from its parameters."""
    began = time.monotonic()
    pairs, bitext = len(bitext), _fitting(bitext)
    source, target = extend(bitext.source, start.source_words), extend(bitext.target, start.target_words)
    words = source.vocabulary.words, target.vocabulary.words
    found = {}
    begun: tuple[str, Lexicon | None, LexiconStart] | None = None

    def settings_of(name: str, known: Lexicon | None) -> Settings:
        kind, variant = variant_of(name)
        passes = variant.passes if settings.varied else KINDS[kind].passes
        return replace(
            settings,
            smoothing=settings.smoothing * variant.smoothing,
            p0=settings.p0 * variant.p0,
            iterations_1=max(settings.iterations_1 + (passes if anew else 0), int(settings.iterations_hmm == 0)),
            agreement=known.counts.shape[1] == 1 if known else settings.agreement and KINDS[kind].agreement,
        )

    priors = [start.lexicons.get(name, start.lexicons.get(variant_of(name)[0])) for name in lexicons]
    every = [*map(settings_of, lexicons, priors)]
    total = sum(one.iterations_1 + one.iterations_hmm for one in every)
    for number, (name, known, chosen) in enumerate(zip(lexicons, priors, every, strict=True), 1):
        kind = variant_of(name)[0]
        if begun is None or begun[:2] != (kind, known):
            units = Units.of(words[0], KINDS[kind].whole), Units.of(words[1], KINDS[kind].whole)
            seen = units[0].occurrences(start.source_counts), units[1].occurrences(start.target_counts)
            both = _sample(Bitext(source, target), KINDS[kind].most_tokens)
            text = _fitting(Bitext(units[0].text(both.source), units[1].text(both.target)))
            prior = None if known is None else known.parameters(seen)
            usual = KINDS[kind].whole and settings.minimum_dice is None and len(text) == pairs
            how = settings, prior, anew or known is None, engine
            begun = kind, known, LexiconStart(kind, text, *how, take_table() if usual and take_table else None)
        training = LexiconTraining(name, begun[2], chosen, on_pass, total)
        if number == len(lexicons) or variant_of(lexicons[number])[0] != kind:
            begun = None  # what is given up in training takes no memory
        deadline = began + number * settings.seconds / len(lexicons)
        found[name] = Lexicon.from_parameters(training.run(deadline))
        del training  # before the next one takes memory
    counts = (_add_occurrences(source, start.source_counts), _add_occurrences(target, start.target_counts))
    return TranslationModel(
        WordTable.from_words(words[0]),
        WordTable.from_words(words[1]),
        *counts,
        found,
        settings.p0,
        settings.uniform,
        settings.smoothing,
    )


def _sample(bitext: Bitext, tokens: float) -> Bitext:
    """Pairs of about so many words, the mean of both sides, from all over a longer text.

    Multiples of the golden ratio have fractions that are spread evenly and never repeat, so that a text of several
    kinds of lines in turn gives some of each.
    """
    share = 2 * tokens / max(len(bitext.source.ids) + len(bitext.target.ids), 1)
    if share >= 1.0:
        return bitext
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    return bitext.take(np.flatnonzero(np.arange(len(bitext)) * golden % 1.0 < share))


def _fitting(bitext: Bitext) -> Bitext:
    fitting = bitext.source.lengths * bitext.target.lengths <= MOST_EDGES
    return bitext if fitting.all() else bitext.take(np.flatnonzero(fitting))


def extend(text: Text, known: WordTable) -> Text:
    """The text with known words before its own in the vocabulary."""
    if len(known) == 0:
        return text
    index = {word: i for i, word in enumerate(known.words())}
    ids = np.fromiter((index.setdefault(word, len(index)) for word in text.vocabulary.words), np.int32)
    return Text(ids[text.ids], text.offsets, Vocabulary(list(index)), text.language)


def _add_occurrences(text: Text, before: I64) -> I64:
    counts = text.occurrences
    counts[: len(before)] += before
    return counts
