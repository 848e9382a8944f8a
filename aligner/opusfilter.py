"""A filter for OpusFilter that keeps pairs whose sides translate each other, by a trained model."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, tee
from typing import Any

import numpy as np
from opusfilter import CLEAN_HIGH, FilterABC

from aligner.model.aligning import PAIRS_AT_ONCE, Part, align
from aligner.model.model import load
from corpora.skipping import MAX_LENGTH

Pair = Sequence[str]


class AlignerFilter(FilterABC):  # type: ignore[misc]  # OpusFilter has no types
    """A filter by three scores of a pair, the higher the better, and a least value for each.

    model: a file.  fit: log probability per word of both sides.  linked: share of the words that have a link.
    confidence: mean probability of the links.  Pairs with an empty side, or one of more than MAX_LENGTH words, have
    -inf, 0 and 0.
    """

    score_direction = CLEAN_HIGH

    def __init__(
        self, model: str, fit: float = -np.inf, linked: float = 0.0, confidence: float = 0.0, **settings: Any
    ) -> None:
        super().__init__(**settings)
        self.model = load(os.path.join(self.workdir, model))  # noqa: PTH118 - as other filters do
        self.least = fit, linked, confidence

    def score(self, pairs: Iterable[Pair]) -> Iterator[list[float]]:
        for _, found in align(self._parts(iter(pairs)), self.model):
            confidence = [alignment.score for alignment in found]
            yield from np.column_stack([found.fit[:, 2], 1.0 - found.unlinked, confidence]).tolist()

    def _parts(self, stream: Iterator[Pair]) -> Iterator[Part]:
        while pairs := list(islice(stream, PAIRS_AT_ONCE)):
            builder = self.model.builder()
            short = [pair if max(len(side.split()) for side in pair) <= MAX_LENGTH else ("", "") for pair in pairs]
            builder.add_lines([source.encode() for source, _ in short], [target.encode() for _, target in short])
            yield Part(builder.bitext())

    def accept(self, score: Sequence[float]) -> bool:
        return all(value >= least for value, least in zip(score, self.least, strict=True))

    def filter(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        one, two = tee(pairs)
        return (pair for pair, good in zip(two, self.decisions(one), strict=False) if good)

    def filterfalse(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        one, two = tee(pairs)
        return (pair for pair, good in zip(two, self.decisions(one), strict=False) if not good)
