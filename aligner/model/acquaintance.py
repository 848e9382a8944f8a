"""Whether the words of a text are in a model: a model of other languages would align it without an error."""

import warnings
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from aligner.model.model import Model
from corpora.bitext import FEWEST_LINES, Bitext, Text, oddities
from corpora.corpus import TextLine
from corpora.ragged import F64

FEWEST_WORDS, MOST_WORDS = 50, 1000
"""Fewest words of a side that are judged, and most that are looked up."""


class Acquaintance:
    """Passes lines of text on unchanged, and warns once of unknown words, swapped sides and other oddities."""

    def __init__(self, model: Model) -> None:
        self._model, self._judged = model, False
        self._text, self._seen = model.builder(), np.zeros(3)  # source words, target words, lines

    def __call__(self, texts: Iterable[TextLine]) -> Iterator[TextLine]:
        for text in texts:
            if not self._judged:
                sides = zip(self._model.normalizers, text[1:], strict=True)
                source, target = (side.tokens(line.decode(errors="replace")) for side, line in sides)
                self._text.add_tokens(source, target)
                self._seen += len(source), len(target), 1
                self._judge(MOST_WORDS, MOST_WORDS)
            yield text
        self._judge(FEWEST_WORDS, FEWEST_LINES)

    def _judge(self, words: int, lines: int) -> None:
        if self._judged or (self._seen[:2].min() < words and self._seen[2] < lines):
            return
        self._judged = True
        bitext, ids = self._text.bitext(), (self._model.statistics.source_ids, self._model.statistics.target_ids)
        for message in oddities(bitext):
            warnings.warn(message, stacklevel=2)
        if self._seen[:2].min() < FEWEST_WORDS:
            return
        known, told = known_words(bitext, ids)
        if told:
            warnings.warn(f"the model {told} (are the sides swapped?)", stacklevel=2)
        elif known.min() < 0.7:
            what = f"{1 - known.min():.0%} of the {('source', 'target')[known.argmin()]} words are new to the model"
            warnings.warn(f"{what} (is it of these languages? update it with the text, if so)", stacklevel=2)


def known_words(bitext: Bitext, ids: tuple[Mapping[str, int], Mapping[str, int]]) -> tuple[F64, str]:
    """The shares (2,) of a text's words, of either side, that have ids; and what says that the sides are swapped."""
    known, swapped = (np.array([_known(bitext.source, s), _known(bitext.target, t)]) for s, t in (ids, ids[::-1]))
    shares = "knows {:.0%} of the source and {:.0%} of the target words, the other way round {:.0%} and {:.0%}"
    # Names, numbers and punctuation are known to both sides: less tells nothing.
    return known, shares.format(*known, *swapped) if (swapped > known + 0.1).all() else ""


def _known(text: Text, ids: Mapping[str, int]) -> float:
    """The share of the words of a text that have an id."""
    return float(np.array([word in ids for word in text.vocabulary.words])[text.ids].mean())
