"""Aligning text without a model: by its own statistics and the default weights, or by its translation models alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aligner.errors import SettingError
from aligner.model.decoding import Alignments
from aligner.model.default import default_model
from aligner.model.unsupervised import Unsupervised
from aligner.progress import Progress, ignore
from corpora.bitext import Bitext, BitextBuilder, read_bitext
from corpora.files import StrPath
from corpora.normalize import Normalizer
from corpora.readers import open_corpus, open_texts
from features.statistics import CorpusStatistics
from features.translation.lexicon import AGREEING, KINDS

Pair = tuple[Sequence[str], Sequence[str]]
Tell = Callable[[Progress], None]


@dataclass(frozen=True)
class Alone:
    """How text is aligned without a model.  Raises SettingError on a setting that cannot be.

    translation: of its translation models, and of what links they find by themselves.
    weighted: whether the default weights find the links.  offset: added to the score of every edge then.
    """

    translation: Unsupervised
    weighted: bool = True
    offset: float = 0.0

    @classmethod
    def of(cls, *, unsupervised: bool = False, offset: float = 0.0, **settings: Any) -> Alone:
        """What these settings mean: a decoding or a threshold are of translation models by themselves.

        unsupervised: whether to leave the default weights out.  settings: fields of `Unsupervised`.
        """
        weighted = not unsupervised and settings.keys().isdisjoint({"decoding", "threshold"})
        if offset and not weighted:
            raise SettingError("an offset is of the default weights' scores, which are left out (give `threshold`)")
        return cls(Unsupervised(**settings), weighted, offset)

    def align(self, bitext: Bitext, on_progress: Tell = ignore) -> Iterator[Alignments]:
        """Align a bitext: some pairs at a time, in order, on all cores; few are held.

        on_progress: told of each pass of the translation models, which are ready when this returns.
        """
        translation = self.translation.estimate(bitext, tuple(KINDS) if self.weighted else AGREEING, on_progress)
        if not self.weighted:
            return self.translation.decode(translation, bitext)
        counted = CorpusStatistics.from_bitext(bitext, lexicons=())
        return default_model(replace(counted, translation=translation)).with_offset(self.offset).align_text(bitext)


def align(
    text: StrPath | Bitext | Iterable[Pair],
    target: StrPath | None = None,
    *,
    on_progress: Tell = ignore,
    **settings: Any,
) -> Alignments:
    """Align text without a model, as the command ``aligner align`` does; an alignment for each pair, in order.

    text: pairs of (source tokens, target tokens), or the path of a corpus, or of a source text with its target.
    settings: see `Alone.of`, such as ``offset=0.5`` or ``decoding="union"``.
    on_progress: told how far reading, the translation models and aligning are.

    Raises AlignerError (CorpusError with the line) on bad data and bad settings; TypeError on strings for tokens.

    >>> pairs = [("the house".split(), "la maison".split()), ("the flower".split(), "la fleur".split())]
    >>> print(*align(pairs), sep=" | ")
    0-0 1-1 | 0-0 1-1
    """
    alone = Alone.of(**settings)  # complains now, not after the reading
    bitext = _bitext(text, target, on_progress)
    parts: list[Alignments] = []
    done = 0
    for part in alone.align(bitext, on_progress) if len(bitext) else ():
        parts.append(part)
        done += len(part)
        on_progress(Progress("aligning", done, len(bitext), "pairs"))
    return Alignments.join(parts)


def _bitext(text: StrPath | Bitext | Iterable[Pair], target: StrPath | None, on_progress: Tell) -> Bitext:
    if isinstance(text, Bitext):
        return text
    normalizers = Normalizer(), Normalizer()
    if isinstance(text, str | os.PathLike):  # not tokens
        corpus = open_corpus(text) if target is None else open_texts(text, target)
        return read_bitext([corpus], *normalizers, lambda pairs: on_progress(Progress("reading", pairs, None, "pairs")))
    return BitextBuilder(*normalizers).add_pairs(text).bitext()
