"""Tags of a translation against those that a translator put there: exact spans, words in them, and sure ones."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from aligner.evaluation.counts import Interval, percentile_interval, resample
from corpora.inline.carrying import Placed
from corpora.inline.kinds import Marked
from corpora.ragged import F64, I64

CODES = "codes"
"""What stands for all tags without words."""


class Spans(NamedTuple):
    """How many tags there are, are exact, are sure and both; and words in tags, found, in gold and in both."""

    tags: int = 0
    exact: int = 0
    sure: int = 0
    sure_exact: int = 0
    found: int = 0
    gold: int = 0
    right: int = 0


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


def count_spans(placed: Sequence[Placed], target: Marked, gold: Marked) -> dict[str, Spans]:
    """Count the tags of a segment by name, those without words as CODES.

    Of equal tags any may be where any other is. Tags that the source and gold have in different numbers do not count:
    the translator left them out, or made more of them.
    """
    numbers = Counter(tag.key for tag in gold.tags)
    counted = [one for one in placed if one.tag.name != "placeholder"]
    numbers.subtract(one.tag.key for one in counted)
    places = Counter((tag.key, *_trimmed(gold.text, tag.start, tag.end)) for tag in gold.tags)
    words, names = (Counter[tuple[str, int]](), Counter[tuple[str, int]]()), dict[str, str]()
    counts = defaultdict[str, list[int]](lambda: [0] * len(Spans._fields))
    for one in (one for one in counted if not numbers[one.tag.key]):
        name = one.tag.name if one.tag.is_pair else CODES
        place = one.tag.key, *_trimmed(target.text, one.start, one.end)
        exact = places[place] > 0
        places[place] -= exact
        for field, value in enumerate((1, exact, one.sure, one.sure and exact)):
            counts[name][field] += value
        names[one.tag.key] = name
        words[0].update((one.tag.key, k) for k in _inside(target, one.start, one.end))
    for tag in (tag for tag in gold.tags if tag.key in names):
        words[1].update((tag.key, k) for k in _inside(target, tag.start, tag.end))
    for field, side in enumerate((*words, words[0] & words[1]), 4):
        for (key, _), number in side.items():
            counts[names[key]][field] += number
    return {name: Spans(*own) for name, own in counts.items()}


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    inside = text[start:end]
    begin = start + len(inside) - len(inside.lstrip())
    return begin, max(begin, start + len(inside.rstrip()))


def _inside(target: Marked, start: int, end: int) -> Iterable[int]:
    return (k for k, (a, b) in enumerate(target.tokens) if a < end and start < b)


def figures(
    segments: Iterable[dict[str, Spans]], resamples: int = 1000, confidence: float = 0.95, seed: int = 12345
) -> dict[str, SpanFigures]:
    """The figures by name of tag, the most frequent first, and of ``all`` but CODES.

    segments: counts of each.  resamples, seed: of the bootstrap over segments.  confidence: of intervals.
    """
    rows = [{**one, "all": _total(one)} for one in segments]
    total = Counter[str]()
    for row in rows:
        total.update({name: own.tags for name, own in row.items()})
    names = [name for name, number in total.most_common() if number and name != "all"]
    table = np.array([[row.get(name, Spans()) for name in (*names, "all")] for row in rows], np.int64)
    found = {}
    for place, name in enumerate((*names, "all") if total["all"] else names):
        own: I64 = table[:, place]
        drawn = resample(own, resamples, seed)
        sums = own.sum(axis=0).astype(np.float64)
        exact, f1 = (percentile_interval(rates, confidence) for rates in _rates(drawn)[:2])
        rates = [float(rate) for rate in _rates(sums)]
        found[name] = SpanFigures(int(sums[0]), rates[0], rates[1], rates[2], rates[3], (exact, f1))
    return found


def _total(counts: dict[str, Spans]) -> Spans:
    own = [spans for name, spans in counts.items() if name != CODES]
    return Spans(*map(sum, zip(*own, strict=True))) if own else Spans()


def _rates(counts: F64) -> list[F64]:
    tags, exact, sure, sure_exact, found, gold, right = np.moveaxis(counts, -1, 0)
    ratios = ((exact, tags), (2 * right, found + gold), (sure, tags), (sure_exact, sure))
    return [above / np.maximum(below, 1) for above, below in ratios]
