"""Tags of a translation against those that a translator put there: exact spans, words in them, and sure ones."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from aligner.evaluation.counts import Interval, percentile_interval, resample
from corpora.inline.carrying import Placed
from corpora.inline.kinds import Marked, Tag
from corpora.ragged import F64

CODES = "codes"
"""What stands for all tags without words."""


class TagCount(NamedTuple):
    """A tag, by name: whether it is exact, and sure, and how many words it is around, found, in gold and in both."""

    name: str
    exact: bool
    sure: bool
    found: int
    gold: int
    right: int


class SpanFigures(NamedTuple):
    """Figures of tags, fractions.  tags: how many.  exact: share of tags whose text is that of gold.

    f1: of the words in tags.  sure: share of tags that are sure.  sure_exact: share of these that are exact.
    intervals: of exact and f1.
    """

    tags: int
    exact: float
    f1: float
    sure: float
    sure_exact: float
    intervals: tuple[Interval, Interval]


def count_tags(placed: Sequence[Placed], target: Marked, gold: Marked) -> list[TagCount]:
    """Count the tags of a segment.

    Equal tags belong together in the order of the target. Tags that the source and gold have in different numbers do
    not count: the translator left them out, or made more of them.
    """
    sides = defaultdict[str, list[Placed]](list), defaultdict[str, list[Tag]](list)
    for one in sorted(placed, key=lambda one: one.start):
        sides[0][one.tag.key].append(one)
    for tag in sorted(gold.tags, key=lambda tag: tag.start):
        sides[1][tag.key].append(tag)
    found = []
    for key, ours in sides[0].items():
        theirs = sides[1][key]
        for one, tag in zip(ours, theirs, strict=True) if len(ours) == len(theirs) else ():
            exact = _trimmed(target.text, one.start, one.end) == _trimmed(gold.text, tag.start, tag.end)
            words = _inside(target, one.start, one.end), _inside(target, tag.start, tag.end)
            counts = len(words[0]), len(words[1]), len(words[0] & words[1])
            found.append(TagCount(tag.name if tag.is_pair else CODES, exact, one.sure, *counts))
    return found


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    inside = text[start:end]
    begin = start + len(inside) - len(inside.lstrip())
    return begin, max(begin, start + len(inside.rstrip()))


def _inside(target: Marked, start: int, end: int) -> set[int]:
    return {k for k, (a, b) in enumerate(target.tokens) if a < end and start < b}


def figures(
    segments: Iterable[Sequence[TagCount]], resamples: int = 1000, confidence: float = 0.95, seed: int = 12345
) -> dict[str, SpanFigures]:
    """The figures by name of tag, the most frequent first, and of ``all`` but CODES.

    segments: the tags of each.  resamples, seed: of the bootstrap over segments.  confidence: of intervals.
    """
    every = [*segments]
    total = Counter(one.name for tags in every for one in tags)
    found = {}
    for name in (*(name for name, _ in total.most_common()), "all"):
        own = [[one for one in tags if one.name == name or (name == "all" and one.name != CODES)] for tags in every]
        rows = [[len(tags), *map(sum, zip(*(_numbers(one) for one in tags), strict=True))] for tags in own if tags]
        if rows:
            table = np.array(rows, np.int64)
            drawn = _rates(resample(table, resamples, seed))
            exact, f1 = (percentile_interval(rates, confidence) for rates in drawn[:2])
            rates = [float(rate) for rate in _rates(table.sum(axis=0).astype(np.float64))]
            found[name] = SpanFigures(int(table[:, 0].sum()), rates[0], rates[1], rates[2], rates[3], (exact, f1))
    return found


def _numbers(one: TagCount) -> tuple[int, ...]:
    return (one.exact, one.sure, one.sure and one.exact, *one[3:])


def _rates(counts: F64) -> list[F64]:
    tags, exact, sure, sure_exact, found, gold, right = np.moveaxis(counts, -1, 0)
    ratios = ((exact, tags), (2 * right, found + gold), (sure, tags), (sure_exact, sure))
    return [above / np.maximum(below, 1) for above, below in ratios]
