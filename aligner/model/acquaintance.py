"""Whether a model knows the words of a text to align: the wrong model answers as readily as the right one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from aligner.model.model import Model
from corpora.readers import TextLine

FEWEST_WORDS, MOST_WORDS = 50, 1000
"""Words of either side that are looked at."""


class Acquaintance:
    """Gives lines of text as they are, and tells once if most words of a side are unknown, or the sides swapped."""

    def __init__(self, model: Model, tell: Callable[[str], None]) -> None:
        ids = model.statistics.source_ids, model.statistics.target_ids
        self._sides = list(zip(model.normalizers, ids, strict=True))
        self._tell, self._judged = tell, False
        self._counts = np.zeros((3, 2))  # of either side: words, those known, those that the other side knows

    def __call__(self, texts: Iterable[TextLine]) -> Iterator[TextLine]:
        for text in texts:
            for side, line in enumerate(() if self._judged else text[1:]):
                own, other = self._sides[side], self._sides[1 - side]
                tokens = own[0].tokens(line.decode(errors="replace"))
                known = [sum(normalizer.word(t) in ids for t in tokens) for normalizer, ids in (own, other)]
                self._counts[:, side] += len(tokens), *known
            self._judge(MOST_WORDS)
            yield text
        self._judge(FEWEST_WORDS)

    def _judge(self, words: int) -> None:
        if self._judged or self._counts[0].min() < words:
            return
        self._judged = True
        known, swapped = self._counts[1:] / self._counts[0]
        if (swapped > known + 0.1).all():  # names, numbers and punctuation are known to both sides: less tells nothing
            shares = "{:.0%} of the source and {:.0%} of the target words, the other way round {:.0%} and {:.0%}"
            self._tell(f"the model knows {shares.format(*known, *swapped)} (are the sides swapped?)")
        elif known.min() < 0.5:
            what = f"{1 - known.min():.0%} of the {('source', 'target')[known.argmin()]} words are new to the model"
            self._tell(f"{what} (is it of these languages? update it with the text, if so)")
