"""Aligning a bitext with no labels and no model: by its own statistics, with the default weights or without."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.model.decoding import Alignments, best_alignments
from aligner.model.default import default_model, with_links
from aligner.model.model import Model, check_offset
from aligner.progress import Progress, ignore, tell_passes
from aligner.svm.prices import LinkRewards
from corpora.alignment import Links
from corpora.bitext import Bitext, BitextBuilder, read_bitext
from corpora.files import StrPath
from corpora.link_files import kind_of_links, read_links
from corpora.normalize import Normalizer
from corpora.ragged import Lists
from corpora.readers import open_corpus, open_texts
from corpora.symmetrize import DIRECTIONS, METHODS
from corpora.threads import map_threads
from features.candidates import check_candidates
from features.statistics import CorpusStatistics
from features.translation.expectation import Settings
from features.translation.model import TranslationModel
from features.translation.posteriors import DEFAULT_THRESHOLD, Decoder, Posteriors
from features.translation.priors import read_priors
from features.translation.training import train_translation

THRESHOLDED = ("soft", "assignment")
DECODINGS = (*THRESHOLDED, *METHODS)
"""Ways from posteriors to links.

soft: the links whose soft posterior, the geometric mean of both directions', is above a threshold [LTK06].
assignment: the matching of greatest sum of soft posterior minus threshold; a word has at most one link.
The others: the likeliest link or NULL of each word in each direction, combined as `corpora.symmetrize` says; forward
has one for each target word, reverse for each source word.

[LTK06] Liang, Taskar and Klein 2006, Alignment by agreement.
"""

LEAST_SCORE = 1e-4
"""Least score of a link: what four decimals can show, for links that one direction alone believes in."""


@dataclass(frozen=True)
class Unsupervised:
    """How a bitext is aligned by its own statistics.  Raises SettingError on a setting that cannot be.

    decoding: one of DECODINGS, by translation models alone; None: by the default weights, unless there is a threshold.
    threshold: in [0, 1], of those in THRESHOLDED, 0.5 by default; the lower, the more links.
    offset: added to the score of every edge by the default weights.  candidates: the edges these look at, one of
    `features.candidates.CANDIDATES`.
    null: prior probability that a word translates nothing, between 0 and 1; the higher, the fewer links.
    iterations: passes of the HMM for each lexicon.  seconds: passes that would end later are left out, but for one of
    Model 1 and one of the HMM for each lexicon; the result then depends on the speed of the machine.
    priors: counts of other text, see `features.translation.priors.read_priors`.
    kinds: of other aligners whose links the default weights look at, of `corpora.link_files.KINDS`.
    What is None has the default of `features.translation.expectation.Settings`.
    """

    decoding: str | None = None
    threshold: float | None = None
    offset: float = 0.0
    candidates: str = "likely"
    null: float | None = None
    iterations: int | None = None
    seconds: float | None = None
    priors: TranslationModel | None = None
    kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.decoding is None and self.threshold is not None:
            object.__setattr__(self, "decoding", "soft")
        if self.decoding not in (None, *DECODINGS):
            raise SettingError(f"unknown decoding {self.decoding!r} (choose from {', '.join(DECODINGS)})")
        if self.threshold is not None and self.decoding not in THRESHOLDED:
            raise SettingError(f"decoding {self.decoding} has no threshold ({' and '.join(THRESHOLDED)} have)")
        if self.threshold is not None and not 0.0 <= self.threshold <= 1.0:
            raise SettingError(f"the threshold must be from 0 to 1, not {self.threshold}")
        check_offset(self.offset)
        check_candidates(self.candidates)
        if self.offset and self.decoding is not None:
            raise SettingError("an offset is of the default weights' scores, which are left out (leave `offset` out)")
        if self.kinds and self.decoding is not None:
            what = "links of other aligners are features of the default weights, which are left out"
            raise SettingError(f"{what} (leave `links` out, or `decoding`)")
        if self.candidates != "likely" and self.decoding is not None:
            raise SettingError("candidates are edges of the default weights, which are left out (leave both out)")
        if self.null is not None and not 0.0 < self.null < 1.0:
            raise SettingError(f"the prior of NULL must be between 0 and 1, not {self.null}")
        if self.iterations is not None and not 1 <= self.iterations <= 1000:
            raise SettingError(f"{self.iterations} iterations are not possible (give from 1 to 1000)")
        if self.seconds is not None and not self.seconds >= 0.0:
            raise SettingError(f"seconds must be 0 or more, not {self.seconds}")

    def estimate(self, bitext: Bitext, on_progress: Callable[[Progress], None] = ignore) -> TranslationModel:
        """Translation models of a bitext.  on_progress: told of each pass."""
        given = {"p0": self.null, "iterations_hmm": self.iterations, "seconds": self.seconds}
        settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return train_translation(bitext, Settings(**settings), priors=self.priors, on_pass=tell_passes(on_progress))

    def align(
        self, bitext: Bitext, on_progress: Callable[[Progress], None] = ignore, links: Sequence[Links] = ()
    ) -> Iterator[Alignments]:
        """Align a bitext: some pairs at a time, in order, on all cores; few are held.

        on_progress: told of each pass of the translation models, which are ready when this returns.
        links: of other aligners, one for each of `kinds`.
        """
        return self.align_directions(bitext, on_progress, links=links)[0]

    def read_links(self, files: Sequence[StrPath], bitext: Bitext) -> list[Links]:
        """Other aligners' links of the pairs of a bitext.  Raises CorpusError where they do not fit it."""
        sizes = list(zip(bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True)) if files else []
        return [read_links(file, lengths=sizes, probable=True) for file in files]

    def align_directions(
        self, bitext: Bitext, on_progress: Callable[[Progress], None] = ignore,
        on_model: Callable[[TranslationModel], None] = ignore, links: Sequence[Links] = (),
    ) -> tuple[Iterator[Alignments], ...]:  # fmt: skip
        """What `align` gives, and the same text decoded forward and in reverse, by the same translation models.

        on_model: told of these.  links: see `align`.
        """
        if self.decoding is not None:
            translation = self.estimate(bitext, on_progress)
            found = self.decode(translation, bitext)
        else:
            model, translation = self.weighted(bitext, on_progress)
            found = model.align_text(bitext, links)
        on_model(translation)
        return found, *(Unsupervised(way).decode(translation, bitext) for way in DIRECTIONS)

    def weighted(
        self, bitext: Bitext, on_progress: Callable[[Progress], None] = ignore
    ) -> tuple[Model, TranslationModel]:
        """The model by which a bitext is aligned without a decoding, and its translation models."""
        counted = CorpusStatistics.from_bitext(bitext, lexicons=(), priors=self.priors)
        translation = self.estimate(bitext, on_progress)
        model = default_model(replace(counted, translation=translation), candidates=self.candidates)
        return with_links(model.with_offset(self.offset), self.kinds), translation

    def decode(self, model: TranslationModel, bitext: Bitext) -> Iterator[Alignments]:
        """Align a bitext, known to the model or not, by translation models alone; the parts are those of `align`.

        A link's score is its soft posterior, in [LEAST_SCORE, 1].
        """
        decoder = Decoder(bitext, model)
        yield from map_threads(lambda run: self._alignments(decoder.posteriors(*run)), decoder.runs())

    def _alignments(self, found: Posteriors) -> Alignments:
        threshold = DEFAULT_THRESHOLD if self.threshold is None else self.threshold
        if self.decoding in (None, "soft"):
            links = found.soft_links(threshold)
        elif self.decoding == "assignment":
            gains = found.soft.astype(np.float64) - threshold
            links = best_alignments(gains, Lists.of_all(found.shapes), LinkRewards()).to_links()
        else:
            links = found.symmetrized_links(self.decoding)
        pair = np.repeat(np.arange(len(links)), np.diff(links.offsets))
        edges = found.offsets[pair] + links.source * found.shapes[pair, 1] + links.target
        products = found.forward[edges].astype(np.float64) * found.reverse[edges]  # float32 would underflow
        scores = np.clip(np.sqrt(products), LEAST_SCORE, 1.0)
        return replace(Alignments.of(links, scores, found.shapes), fit=found.fit)


def align(
    text: StrPath | Bitext | Iterable[tuple[Sequence[str], Sequence[str]]],
    target: StrPath | None = None,
    *,
    priors: StrPath | None = None,
    links: Sequence[StrPath] = (),
    on_progress: Callable[[Progress], None] = ignore,
    **settings: Any,
) -> Alignments:
    """Align text without a model, as the command ``aligner align`` does; an alignment for each pair, in order.

    text: pairs of (source tokens, target tokens), or the path of a corpus, or of a source text with its target.
    priors: a file of counts of other text, see `features.translation.priors`.
    links: files of other aligners' links of the pairs, each as FILE or KIND=FILE, see `corpora.link_files.KINDS`.
    settings: other fields of `Unsupervised`, such as ``offset=0.5`` or ``decoding="union"``.

    Raises AlignerError (CorpusError with the line) on bad data and bad settings; TypeError on strings for tokens.
    """
    normalizers = Normalizer(), Normalizer()
    others = [kind_of_links(os.fspath(file)) for file in links]
    kinds = tuple(kind for kind, _ in others)
    chosen = Unsupervised(**settings, priors=read_priors(priors, normalizers), kinds=kinds)  # complains before reading
    if isinstance(text, str | os.PathLike):
        corpus = open_corpus(text) if target is None else open_texts(text, target)
        text = read_bitext([corpus], *normalizers)
    elif not isinstance(text, Bitext):
        text = BitextBuilder(*normalizers).add_pairs(text).bitext()
    parts, done = [], 0
    read = chosen.read_links([file for _, file in others], text)
    for part in chosen.align(text, on_progress, read) if len(text) else ():
        parts.append(part)
        done += len(part)
        on_progress(Progress("aligning", done, len(text), "pairs"))
    return Alignments.join(parts)
