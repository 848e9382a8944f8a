"""Pairs whose sides may not translate each other: how well their links support them, and what plainly differs."""

import re
from collections.abc import Mapping, Sequence
from math import log

import numpy as np
import numpy.typing as npt

from corpora.links import Link
from corpora.ragged import I64

FAULTS = "no translation", "no links", "same text", "numbers", "length"
"""What may be wrong with a pair; see `faults`."""

_DIGIT = re.compile(r"\d")

_LEAST_RATIO, _DEVIATIONS = log(1.5), 4.0
"""Lengths are odd beyond both: this ratio, as a logarithm, to the usual one, and so many standard deviations."""


def support(source_words: int, target_words: int, links: Mapping[Link, float]) -> float:
    """The share of the words of both sides whose likeliest link is right, as expected; 0 without words.

    links: with their probabilities.
    """
    best: dict[int, float] = {}
    for (j, k), probability in links.items():
        for word in (j, ~k):
            best[word] = max(best.get(word, 0.0), probability)
    return sum(best.values()) / max(source_words + target_words, 1)


def faults(source: Sequence[str], target: Sequence[str], links: int, odd_length: bool = False) -> list[str]:
    """Which of FAULTS the words of a pair with so many links have; [] for a pair without words.

    no translation: one side is empty.  same text: all words with letters are the same.  numbers: the digits of both
    sides are not the same, whatever separates them.  length: by `odd_lengths`.
    """
    texts = [*map(" ".join, (source, target))]
    if not all(texts):
        return [FAULTS[0]] if any(texts) else []
    words = [[word.casefold() for word in side if any(map(str.isalpha, word))] for side in (source, target)]
    digits = [sorted(map(int, _DIGIT.findall(text))) for text in texts]
    found = links == 0, words[0] != [] and words[0] == words[1], digits[0] != digits[1], odd_length
    return [fault for fault, there in zip(FAULTS[1:], found, strict=True) if there]


def odd_lengths(lengths: I64) -> npt.NDArray[np.bool_]:
    """Which pairs have one side much longer, or shorter, than is usual in the text, (n,).  lengths: (n, 2) of words.

    The logarithm of the ratio of both lengths varies less in long sentences [Gale and Church 1993, section 3.1].
    """
    ratios = np.log(lengths[:, 1] + 1.0) - np.log(lengths[:, 0] + 1.0)
    full = lengths.min(axis=1, initial=1) > 0
    distances = np.abs(ratios - (np.median(ratios[full]) if full.any() else 0.0))
    scaled = distances * np.sqrt(lengths.sum(axis=1))
    deviation = 1.4826 * np.median(scaled[full]) if full.any() else 0.0  # of a normal distribution, by the median
    return np.asarray(full & (distances > _LEAST_RATIO) & (scaled > _DEVIATIONS * deviation))
