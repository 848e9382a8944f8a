"""ELAN: annotations on tiers. They have times, refer to others, or are within those of the tier that theirs depends on.

Of two tiers that depend on one tier, what refers to, or is within, one annotation of that tier is a pair. Of two other
tiers it is a pair by its times: the middle of the shorter annotation is within the longer one.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf

from corpora.formats.joint import Columns
from corpora.formats.markup import Unit, one_line

_MOST_DIGITS = 15  # of a time in milliseconds, so that a float holds it

Span = tuple[float, float]


@dataclass(eq=False)
class _Annotation:
    tier: str
    of: str | None  # the annotation that it refers to, if it has no time
    before: str = ""
    slots: tuple[str, str] = ("", "")
    parts: list[str] = field(default_factory=list)  # of its text
    span: Span | None = None


@dataclass(eq=False)
class _Group:
    """Annotations of one or both tiers that belong together; into: the group that this one has been joined to."""

    span: Span | None
    is_common: bool  # of an annotation of the tier that both depend on
    joins: bool  # with groups of the other tier, by time
    texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    into: "_Group | None" = None

    @property
    def length(self) -> float:
        return self.span[1] - self.span[0] if self.span else 0.0

    def whole(self) -> "_Group":
        found = self
        while found.into is not None:
            found.into = found.into.into or found.into  # so that a long way is gone once
            found = found.into
        return found


class ElanReader:
    """What is known at a place in an ELAN file.  The whole file is held.

    columns: two tiers whose pairs are wanted, in order of time.  tiers: that have annotations, and what they depend on.
    left_out: by reason, see `corpora.left_out`.
    """

    def __init__(self, columns: Columns | None = None) -> None:
        self.done = list[Unit]()
        self.tiers: dict[str, str] = {}
        self.left_out = Counter[str]()
        self._columns = columns
        self._parents: dict[str, str] = {}
        self._slots: list[tuple[str, str]] = []  # with their times, or ""
        self._annotations: list[_Annotation] = []
        self._by_name: dict[str, int] = {}
        self._tier, self._reads = "", False

    def start(self, name: str, values: dict[str, str]) -> None:
        if name == "TIME_SLOT":
            self._slots.append((values.get("TIME_SLOT_ID", ""), values.get("TIME_VALUE", "")))
        elif name == "TIER":
            self._tier = values.get("TIER_ID", "?")
            self._parents[self._tier] = values.get("PARENT_REF", "")
        elif name in ("ALIGNABLE_ANNOTATION", "REF_ANNOTATION"):
            self.tiers[self._tier] = self._parents.get(self._tier, "")
            self._by_name.setdefault(values.get("ANNOTATION_ID", ""), len(self._annotations))
            of = values.get("ANNOTATION_REF", "") if name == "REF_ANNOTATION" else None
            slots = values.get("TIME_SLOT_REF1", ""), values.get("TIME_SLOT_REF2", "")
            self._annotations.append(_Annotation(self._tier, of, values.get("PREVIOUS_ANNOTATION", ""), slots))
        self._reads = name == "ANNOTATION_VALUE" and bool(self._annotations)

    def read(self, text: str) -> None:
        if self._reads:
            self._annotations[-1].parts.append(text)

    def end(self, name: str) -> None:
        self._reads = False
        if name == "ANNOTATION_DOCUMENT" and self._columns is not None:
            self.done = list(self._units(*self._columns))

    def _units(self, source: str, target: str) -> Iterator[Unit]:
        """Yield the pairs in order of time, and count what lacks a partner."""
        groups = self._groups(source, target)
        _join_by_time(
            *([one for one in groups if one.joins and list(one.texts) == [tier]] for tier in (source, target))
        )
        units = defaultdict[_Group, dict[str, list[str]]](lambda: defaultdict(list))
        for group in groups:
            for tier, texts in group.texts.items():
                units[group.whole()][tier] += texts
        for texts_of in units.values():
            unit = {tier: one_line(" ".join(texts)) for tier, texts in texts_of.items()}
            for one, other in ((source, target), (target, source)):
                if unit.get(one) and not unit.get(other):
                    self.left_out[f"sides of pairs, as {one} has text where {other} has none"] += 1
            yield unit

    def _groups(self, source: str, target: str) -> list[_Group]:
        """The groups with text in order of time, those without one last.

        A group is what refers to, or is within, one annotation of the tier that both depend on, or else of one that has
        a time.
        """
        self._find_times()
        parents = self._parents_of_each()
        ways = [*self._way_up(source)], {*self._way_up(target)}
        common = next((tier for tier in ways[0] if tier in ways[1]), None)
        groups: dict[int | str, _Group] = {}
        found: dict[int, _Group] = {}
        lost = list[_Group]()  # of references to nothing
        for own, parent in self._in_order(parents):
            annotation = self._annotations[own]
            above = found.get(parent) if isinstance(parent, int) else None
            if annotation.tier != common and above and (above.is_common or annotation.span is None):
                group = above
            else:
                key = parent if annotation.tier != common and isinstance(parent, str) else own
                span = annotation.span or (above.span if above else None)
                joins = annotation.span is not None and annotation.tier != common
                group = groups.setdefault(key, _Group(span, annotation.tier == common, joins))
            found[own] = group
            if annotation.tier in (source, target):
                group.texts[annotation.tier].append("".join(annotation.parts))
            if isinstance(parent, str) or parent != parents[own]:
                lost.append(group)
        if n_lost := sum(1 for group in lost if group.texts):
            self.left_out["references to annotations that are not there"] = n_lost
        with_text = [group for group in groups.values() if group.texts]
        return sorted(with_text, key=lambda group: group.span[0] if group.span else inf)

    def _find_times(self) -> None:
        """Give annotations their times; a stretch of slots without times is divided evenly, as ELAN does."""
        times, last, without = dict[str, float](), 0.0, list[str]()
        for slot, time in [*self._slots, ("", "")]:
            ended = (slot, time) == ("", "")
            if not ended and not (time.isdecimal() and len(time) <= _MOST_DIGITS):
                without.append(slot)
                continue
            now = last if ended else float(time)
            step = max(0.0, now - last) / (len(without) + 1)
            times |= {name: last + place * step for place, name in enumerate(without, 1)}
            times[slot], last, without = now, now, []
        for annotation in self._annotations:
            if annotation.of is None and all(slot and slot in times for slot in annotation.slots):
                begin, end = sorted(times[slot] for slot in annotation.slots)
                annotation.span = begin, end

    def _parents_of_each(self) -> list[int | str | None]:
        """What each annotation refers to, or else is within on the tier that its own depends on: its place, or None.

        What is not there stays a name.
        """
        spans = defaultdict[str, list[tuple[float, float, int]]](list)
        for own, annotation in enumerate(self._annotations):
            if annotation.span is not None:
                spans[annotation.tier].append((*annotation.span, own))
        for each in spans.values():
            each.sort()
        parents = list[int | str | None]()
        for annotation in self._annotations:
            above = self.tiers[annotation.tier]
            if annotation.of is not None:
                parents.append(parent := self._by_name.get(annotation.of, annotation.of))
                if isinstance(parent, int) and not above:
                    self.tiers[annotation.tier] = self._annotations[parent].tier
            else:
                span = annotation.span if above != annotation.tier else None
                parents.append(_around(spans[above], span) if span else None)
        return parents

    def _way_up(self, tier: str) -> Iterator[str]:
        passed = set[str]()
        while tier and tier not in passed:
            yield tier
            passed.add(tier)
            tier = self.tiers.get(tier, "") or self._parents.get(tier, "")

    def _in_order(self, parents: Sequence[int | str | None]) -> Iterator[tuple[int, int | str | None]]:
        """Each annotation after its parent and those before it, with the parent; the first of a circle has none."""
        children = defaultdict[int | str | None, list[int]](list)
        for own, parent in enumerate(parents):
            children[parent].append(own)
        reached = [False] * len(parents)
        tops = [None, *(parent for parent in children if isinstance(parent, str))]
        starts = [*chain.from_iterable(self._in_turn(children.pop(top, [])) for top in tops)]
        for start in chain(starts, range(len(parents))):
            above = parents[start] if not isinstance(parents[start], int) else None
            stack = [(start, above)]
            while stack:
                own, parent = stack.pop()
                if not reached[own]:
                    reached[own] = True
                    yield own, parent
                    stack += ((child, own) for child in reversed(self._in_turn(children.pop(own, []))))

    def _in_turn(self, siblings: list[int]) -> list[int]:
        """Annotations of one parent by their times, or else each after its PREVIOUS_ANNOTATION."""
        if len(siblings) < 2:
            return siblings
        first, after, among = list[int](), defaultdict[int, list[int]](list), {*siblings}
        for own in sorted(siblings, key=lambda own: self._annotations[own].span or (0.0, 0.0)):
            before = self._by_name.get(self._annotations[own].before)
            (first if before is None or before not in among else after[before]).append(own)
        found, stack = list[int](), first[::-1]
        while stack:
            found.append(stack.pop())
            stack += reversed(after.pop(found[-1], []))
        return found + [own for circle in after.values() for own in circle]


def _around(spans: Sequence[tuple[float, float, int]], span: Span) -> int | None:
    """The third of the last of these sorted spans that begins before the middle of this one, if it ends after it."""
    middle = sum(span) / 2
    place = bisect_right(spans, (middle, inf, 0)) - 1
    return spans[place][2] if place >= 0 and middle <= spans[place][1] else None


def _join_by_time(*sides: list[_Group]) -> None:
    """Join groups of two sides where the middle of the shorter is within the longer."""
    spans = [sorted((*one.span, place) for place, one in enumerate(side) if one.span) for side in sides]
    for side, others, around in zip(sides, sides[::-1], spans[::-1], strict=True):
        for one in side:
            place = _around(around, one.span) if one.span else None
            if place is not None and others[place].length >= one.length:
                ends = one.whole(), others[place].whole()
                if ends[0] is not ends[1]:
                    ends[0].into = ends[1]
