"""Interlinear text of linguists: FLEx, ELAN and Toolbox. A unit is a phrase; its words, and its free translation."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator

from corpora.errors import NO_UTF8, CorpusError
from corpora.files import StrPath, read_lines
from corpora.formats.markup import Unit, one_line

_FIELD = re.compile(r"\\(\S+)\s*(.*)")
_RECORDS = {"ref", "id", "_sh"}
"""Fields of Toolbox that begin a record."""

Time = tuple[int, int]  # milliseconds, and a number after them


class FlexReader:
    """What is known at a place in a flextext file: words by their language, free translations by theirs.

    The text of a phrase counts where it has no words.
    """

    def __init__(self) -> None:
        self.done = list[Unit]()
        self._elements: list[str] = []
        self._parts: dict[str, list[str]] = {}  # of the phrase
        self._whole: dict[str, list[str]] = {}  # its text, where that is not in words alone
        self._text: list[str] | None = None  # that is being read

    def start(self, name: str, values: dict[str, str]) -> None:
        within = self._elements[-1] if self._elements else ""
        kind, language = values.get("type"), values.get("lang", "?")
        if name == "phrase":
            self._parts, self._whole = {}, {}
        elif name == "item" and (within, kind) in (("word", "txt"), ("word", "punct"), ("phrase", "gls")):
            self._text = self._parts.setdefault(language, [])
            self._text.append(" ")
        elif name == "item" and (within, kind) == ("phrase", "txt"):
            self._text = self._whole.setdefault(language, [])
        self._elements.append(name)

    def read(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, name: str) -> None:
        self._elements.pop()
        self._text = None
        if name == "phrase":
            texts = {**self._whole, **self._parts}
            self.done.append({language: one_line(*parts) for language, parts in texts.items()})


class ElanReader:
    """What is known at a place in an ELAN file: annotations by their tier.

    Annotations of one time are a unit, with those that refer to one of them, and those of a time within one on the tier
    that theirs depends on.  The whole file is held.
    """

    def __init__(self) -> None:
        self.done = list[Unit]()
        self._times: dict[str, Time] = {}
        self._last: Time = 0, 0
        self._parents: dict[str, str] = {}  # of tiers
        self._of: dict[str, str] = {}  # the annotation that each refers to, or is within
        self._spans: dict[str, tuple[Time, Time]] = {}
        self._texts: list[tuple[str, str, list[str]]] = []  # tier, annotation, parts of its text
        self._tier = ""
        self._reads = False

    def start(self, name: str, values: dict[str, str]) -> None:
        if name == "TIME_SLOT":  # in order, and without a time where a word is one of several in a stretch of time
            time = values.get("TIME_VALUE", "")
            self._last = (int(time), 0) if time.isdecimal() else (self._last[0], self._last[1] + 1)
            self._times[values.get("TIME_SLOT_ID", "")] = self._last
        elif name == "TIER":
            self._tier = values.get("TIER_ID", "?")
            self._parents[self._tier] = values.get("PARENT_REF", "")
        elif name in ("ALIGNABLE_ANNOTATION", "REF_ANNOTATION"):
            own = values.get("ANNOTATION_ID", "")
            self._texts.append((self._tier, own, []))
            if name == "REF_ANNOTATION":
                self._of[own] = values.get("ANNOTATION_REF", "")
            else:
                ends = values.get("TIME_SLOT_REF1", ""), values.get("TIME_SLOT_REF2", "")
                if ends[0] in self._times and ends[1] in self._times:
                    self._spans[own] = self._times[ends[0]], self._times[ends[1]]
        self._reads = name == "ANNOTATION_VALUE" and bool(self._texts)

    def read(self, text: str) -> None:
        if self._reads:
            self._texts[-1][2].append(text)

    def end(self, name: str) -> None:
        self._reads = False
        if name != "ANNOTATION_DOCUMENT":
            return
        self._refer_by_time()
        units = defaultdict[tuple[Time, Time], dict[str, list[str]]](lambda: defaultdict(list))
        for tier, own, parts in self._texts:
            root, way = own, list[str]()
            while root in self._of:
                way.append(root)
                root = self._of.pop(root)  # so that a circle ends
            self._of.update(dict.fromkeys(way, root))  # so that a long way is gone once
            without = -1, len(self._spans)
            units[self._spans.setdefault(root, (without, without))][tier].append("".join(parts))
        for _, unit in sorted(units.items()):
            self.done.append({tier: one_line(" ".join(texts)) for tier, texts in unit.items()})

    def _refer_by_time(self) -> None:
        """Let each annotation refer to the one that it is within, on the tier that its tier depends on."""
        spans = defaultdict[str, list[tuple[Time, Time, str]]](list)
        for tier, own, _ in self._texts:
            if own in self._spans:
                spans[tier].append((*self._spans[own], own))
        for own_spans in spans.values():
            own_spans.sort()
        for tier, own_spans in spans.items():
            around = spans.get(self._parents.get(tier, ""), [])
            for begin, end, own in own_spans:
                place = bisect_right(around, begin, key=lambda span: span[0]) - 1
                if place >= 0 and end <= around[place][1]:
                    self._of.setdefault(own, around[place][2])


def toolbox_units(path: StrPath) -> Iterator[Unit]:
    r"""Yield the records of a Toolbox file by their fields, those of one name joined.

    A record begins at ``\ref``, or else at the field that the file begins with, or at the first field of text after one
    of its translation.  Raises CorpusError on what is not UTF-8.
    """
    unit, name, begins = dict[str, list[str]](), "", set[str]()
    for number, line in enumerate(read_lines(path), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise CorpusError(path, number, "not valid UTF-8", hint=NO_UTF8) from error
        field = _FIELD.match(text)
        if field is not None:
            name, text = field[1], field[2]
            again = name in ("tx", "t") and not {"ft", "f"}.isdisjoint(unit)
            if name == "ref" or not (begins or name.startswith("_")):
                begins = _RECORDS | {name} - {"tx", "t"}
            if name in begins or again:
                yield from _record(unit)
                unit = {"ref": []} if again else {}
        if name and not name.startswith("_"):
            unit.setdefault(name, []).append(text)
    yield from _record(unit)


def _record(unit: dict[str, list[str]]) -> Iterator[Unit]:
    """The texts of a record, if it has any."""
    texts = {name: one_line(" ".join(parts)) for name, parts in unit.items() if name not in ("id", "ref")}
    if any(texts.values()):
        yield texts
