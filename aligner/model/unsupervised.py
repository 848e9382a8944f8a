"""Aligning text with no labels and no model: by its own statistics, with the default weights or without."""

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from aligner.errors import SettingError
from aligner.losses.capacity import LinkRewards
from aligner.model.aligning import Aligner, LinksFile, Part, Task, parts_of_text, read_others
from aligner.model.aligning import align as align_parts
from aligner.model.decoding import Alignments, best_alignments
from aligner.model.default import default_model, with_links
from aligner.model.model import Model
from aligner.model.operating_point import fitting_offset
from aligner.model.settings import THRESHOLD, AlignSettings
from aligner.progress import Progress, ignore, tell_passes
from corpora.apostrophes import tokenizing
from corpora.bitext import Bitext, BitextBuilder, read_bitext
from corpora.corpus import Corpus, sample
from corpora.files import StrPath
from corpora.link_files import kind_of_links
from corpora.links import Links
from corpora.normalize import Normalizer, Normalizers, refuse_links
from corpora.ragged import Lists
from corpora.readers import open_text
from corpora.rereading import check_corpus, read_again, rereadable
from corpora.settings import changed
from corpora.stemming import stemming
from features.statistics import CorpusStatistics
from features.translation.dictionary import Fit
from features.translation.expectation import Settings
from features.translation.model import TranslationModel
from features.translation.posteriors import Decoder, Posteriors
from features.translation.priors import read_priors
from features.translation.training import train_translation, usual_settings

LEAST_SCORE = 1e-4
"""Least score of a link: what four decimals can show, for links that one direction alone believes in."""

MOST_JUDGED = 3000
"""Pairs of text up to which the offset beside a dictionary is that of the text alone; more need none, or nearly."""


def estimate(
    bitext: Bitext,
    settings: AlignSettings = AlignSettings(),
    *,
    priors: TranslationModel | None = None,
    on_progress: Callable[[Progress], None] = ignore,
) -> TranslationModel:
    """Train translation models of a bitext.  on_progress: called after each pass."""
    chosen = _settings(bitext, settings, priors)
    return train_translation(bitext, chosen, priors=priors, on_pass=tell_passes(on_progress))


def _settings(bitext: Bitext, settings: AlignSettings, priors: TranslationModel | None) -> Settings:
    usual = usual_settings(bitext, priors)
    return replace(usual, p0=settings.null, iterations_hmm=settings.iterations, seconds=settings.seconds)


@dataclass(frozen=True)
class ByPosteriors:
    """Aligns bitexts, known to the translation models or not, by these alone, as an `aligning.Aligner`.

    decoding, threshold: see `AlignSettings`.  A link's score is its soft posterior, in [LEAST_SCORE, 1].
    """

    translation: TranslationModel
    decoding: str | None = None
    threshold: float = THRESHOLD

    def tasks(self, bitext: Bitext, links: Sequence[Links] = ()) -> dict[tuple[int, int], Task]:
        decoder = Decoder(bitext, self.translation)
        return {run: partial(self._align_batch, decoder, run) for run in decoder.runs()}

    def _align_batch(self, decoder: Decoder, run: tuple[int, int]) -> Alignments:
        return _links(decoder.posteriors(*run), self.decoding, self.threshold)


def _links(found: Posteriors, decoding: str | None, threshold: float) -> Alignments:
    if decoding is None:
        links = found.soft_links(threshold)
    elif decoding == "assignment":
        gains = found.soft.astype(np.float64) - threshold
        links = best_alignments(gains, Lists.of_all(found.shapes), LinkRewards()).links
    else:
        links = found.symmetrized_links(decoding)
    pair = links.pairs
    edges = found.offsets[pair] + links.source * found.shapes[pair, 1] + links.target
    products = found.forward[edges].astype(np.float64) * found.reverse[edges]  # float32 would underflow
    scores = np.clip(np.sqrt(products), LEAST_SCORE, 1.0)
    return replace(Alignments.of(links, scores, found.shapes), fit=found.fit)


@dataclass(frozen=True, eq=False)
class OwnText:
    """Text to be aligned by its own statistics, which is read, and found to be good.

    bitext: what is counted: all pairs, or a sample.  corpus: what is aligned, if it was kept to be read again.
    pairs: how many that are.  links: other aligners' of them; of a sample they are read anew.
    """

    settings: AlignSettings
    normalizers: Normalizers
    bitext: Bitext
    pairs: int
    corpus: Corpus | None
    priors: TranslationModel | None
    links: Sequence[Links]

    @classmethod
    def of(
        cls,
        text: Corpus | Bitext,
        settings: AlignSettings,
        *,
        keep: bool = False,
        on_progress: Callable[[Progress], None] = ignore,
        on_dictionary: Callable[[Fit], None] = ignore,
    ) -> "OwnText":
        """Read a corpus, and what else the settings name.  keep: its lines are needed with their alignments.

        on_dictionary: called with how each dictionary fits the text.
        Raises CorpusError on bad data.
        """
        keep |= settings.sample is not None
        pairs, corpus = None, None
        if isinstance(text, Corpus):
            corpus = rereadable(text) if keep or settings.tokenize else text
        normalizers = tokenizing(settings.tokenize, settings.keep, [] if corpus is None else [corpus])
        refuse_links(settings.links, normalizers)
        if isinstance(text, Corpus):
            assert corpus is not None
            if settings.stem:
                normalizers = stemming(normalizers, corpus)
            counted = [corpus]
            if settings.sample is not None:
                pairs = check_corpus(corpus)
                counted = sample(counted, [pairs], settings.sample, settings.seed)
            text = read_bitext(counted, *normalizers, lambda n: on_progress(Progress("reading", n, None, "pairs")))
        links = read_others(settings.links, text) if settings.links and pairs is None else ()
        priors = read_priors(settings.priors, settings.dictionary, normalizers, text, on_fit=on_dictionary)
        pairs = len(text) if pairs is None else pairs
        return cls(settings, normalizers, text, pairs, corpus if keep else None, priors, links)

    def estimate(self, on_progress: Callable[[Progress], None] = ignore) -> CorpusStatistics:
        """Count `bitext`, all pairs or the sample, and train translation models of it."""
        chosen, told = _settings(self.bitext, self.settings, self.priors), tell_passes(on_progress)
        return CorpusStatistics.from_bitext(self.bitext, chosen, priors=self.priors, on_pass=told)

    def aligner(self, statistics: CorpusStatistics, decoding: str | None = None) -> Aligner:
        """What aligns the text as the settings say, or as a decoding does, by statistics of it."""
        threshold, decoding = self.settings.unsupervised, decoding or self.settings.decoding
        if threshold is None and decoding is None:
            return self.model(statistics)
        assert statistics.translation is not None
        return ByPosteriors(statistics.translation, decoding, THRESHOLD if threshold is None else threshold)

    def parts(self) -> Iterable[Part]:
        """The text, which is read again where its lines were kept, and other aligners' links of it."""
        if self.corpus is None:
            return [Part(self.bitext, links=self.links)]
        lines = read_again(self.corpus, self.pairs)
        if self.settings.sample is None:
            return [Part(self.bitext, lines, self.links)]
        files = [kind_of_links(one)[1] for one in self.settings.links]
        streams = [LinksFile.open(file, self.corpus.lengths()) for file in files]
        languages = self.bitext.source.language, self.bitext.target.language
        return parts_of_text(self.corpus, partial(BitextBuilder, *self.normalizers, *languages), lines, streams)

    def model(self, statistics: CorpusStatistics) -> Model:
        """The model that aligns the text: statistics of it, and the default weights at the offset that it needs."""
        languages = self.bitext.source.language, self.bitext.target.language
        candidates = self.settings.candidates or "fewer"
        alone = default_model(statistics, self.normalizers, languages, candidates=candidates)
        model = with_links(alone, [kind_of_links(one)[0] for one in self.settings.links])
        judged = model if self.links else alone
        if self.settings.dictionary and len(self.bitext) <= MOST_JUDGED:
            judged = replace(judged, statistics=self._without_dictionary())
        fitting = fitting_offset(judged, self.bitext, self.links)
        return model.with_offset(fitting, of_text=True).with_offset(self.settings.offset)

    def _without_dictionary(self) -> CorpusStatistics:
        """The statistics that show how far the languages are: with entries the model is surer, at the same distance."""
        priors = read_priors(self.settings.priors, (), self.normalizers, self.bitext)
        return replace(self, priors=priors).estimate()


def align(
    text: StrPath | Bitext | Iterable[tuple[Sequence[str], Sequence[str]]],
    target: StrPath | None = None,
    settings: AlignSettings = AlignSettings(),
    *,
    on_progress: Callable[[Progress], None] = ignore,
) -> Alignments:
    """Align text without a model, as the command ``aligner align`` does; an alignment for each pair, in order.

    text: pairs of (source tokens, target tokens), or the path of a corpus, or of a source text with its target.
    settings: such as ``AlignSettings(offset=0.5)``.

    Raises AlignerError (CorpusError with the line) on bad data and bad settings; TypeError unless tokens are strings.
    """
    if settings.model is not None:
        raise SettingError("`model` is not for this function (use aligner.load and its align_many)")
    skipping = settings.skipping()
    if isinstance(text, str | os.PathLike):
        read = OwnText.of(skipping(open_text(text, target, settings.reading)), settings, on_progress=on_progress)
    else:
        of_files = "tokenize", "keep", "stem", *vars(settings.reading), "max_length", "long_pairs", "skip_bad", "sample"
        for name in (name for name in of_files if name in changed(settings)):
            raise SettingError(f"`{name}` is for text in files (leave it out)")
        bitext = (
            text if isinstance(text, Bitext) else BitextBuilder(Normalizer(), Normalizer()).add_pairs(text).bitext()
        )
        read = OwnText.of(bitext, settings)
    parts, done = [], 0
    found = align_parts(read.parts(), read.aligner(read.estimate(on_progress))) if read.pairs else ()
    for _, part in found:
        parts.append(part)
        done += len(part)
        on_progress(Progress("aligning", done, read.pairs, "pairs"))
    if told := skipping.summary():
        warnings.warn(told, stacklevel=2)
    return Alignments.join(parts)
