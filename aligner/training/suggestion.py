"""Which sentence pairs to align by hand next: those of whose links a model is least sure, or any."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from aligner.errors import SettingError
from aligner.model.decoding import Alignment
from aligner.model.model import Model
from aligner.model.streaming import LinksFile, align_lines
from aligner.progress import ignore
from corpora.corpus import Corpus

ORDERS = "probability", "random"

Text = tuple[str, str]
"""Source and target sentence, their tokens joined by single spaces."""


@dataclass(frozen=True)
class Suggestion:
    """A pair to align by hand.

    line: of the corpus, from 1 on.  text: see `Text`; links count its tokens.  alignment: the model's, to be corrected.
    rank: the mean probability of these links, or a random number; the lowest is suggested first.
    """

    line: int
    text: Text
    alignment: Alignment
    rank: float


def suggest(
    model: Model,
    corpus: Corpus,
    number: int,
    *,
    order: str = "probability",
    seed: int = 0,
    links: Sequence[LinksFile] = (),
    known: Collection[Text] = frozenset(),
    on_progress: Callable[[int], None] = ignore,
) -> list[Suggestion]:
    """Choose pairs of a corpus, in rising order of the mean probability of their links, or in random order.

    number: the most to choose.  links: of other aligners, a stream for each file the model was trained with.
    known: pairs to leave out, because they are labelled.  on_progress: told of the pairs seen.
    Of equal pairs the first is taken, and pairs with an empty side are not. Few pairs are held at a time.

    Raises CorpusError on bad data and SettingError on an unknown order, and unless a pair is asked for.
    """
    if number < 1:
        raise SettingError(f"there must be a pair to suggest, not {number}")
    if order not in ORDERS:
        raise SettingError(f"unknown order {order!r} (choose from {', '.join(ORDERS)})")

    rng = np.random.default_rng(seed)
    best: dict[Text, Suggestion] = {}
    highest, seen = inf, 0
    for lines, found in align_lines(model, corpus, corpus.texts(), links):
        for (line, *sides), alignment in zip(lines, found, strict=True):
            rank = rng.random() if order == "random" else alignment.score
            if rank < highest:
                source, target = (" ".join(n.tokens(side)) for n, side in zip(model.normalizers, sides, strict=True))
                if source and target and (source, target) not in known:
                    best.setdefault((source, target), Suggestion(line, (source, target), alignment, rank))
        first = heapq.nsmallest(number, best.values(), key=lambda suggestion: (suggestion.rank, suggestion.line))
        best = {suggestion.text: suggestion for suggestion in first}
        highest = first[-1].rank if len(first) == number else inf
        seen += len(found)
        on_progress(seen)
    return [*best.values()]
