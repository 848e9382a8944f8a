"""Interlinear text of linguists: FLEx, ELAN and Toolbox. A unit is a phrase; its words, and its free translation."""

import re
from collections import defaultdict
from collections.abc import Iterator

from corpora.errors import NO_UTF8, CorpusError
from corpora.files import StrPath, read_lines
from corpora.formats.markup import Unit, one_line

_FIELD = re.compile(r"\\(\S+)\s*(.*)")


class FlexReader:
    """What is known at a place in a flextext file: words by their language, free translations by theirs."""

    def __init__(self) -> None:
        self.done = list[Unit]()
        self._elements: list[str] = []
        self._parts: dict[str, list[str]] = {}  # of the phrase
        self._text: list[str] | None = None  # that is being read

    def start(self, name: str, values: dict[str, str]) -> None:
        within = self._elements[-1] if self._elements else ""
        kind, language = values.get("type"), values.get("lang", "?")
        if name == "phrase":
            self._parts = {}
        elif name == "item" and (within, kind) in (("word", "txt"), ("word", "punct"), ("phrase", "gls")):
            self._text = self._parts.setdefault(language, [])
            self._text.append(" ")
        self._elements.append(name)

    def read(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, name: str) -> None:
        self._elements.pop()
        self._text = None
        if name == "phrase":
            self.done.append({language: one_line(*parts) for language, parts in self._parts.items()})


class ElanReader:
    """What is known at a place in an ELAN file: annotations by their tier.

    Annotations of one time, and those that refer to one, are a unit.  The whole file is held.
    """

    def __init__(self) -> None:
        self.done = list[Unit]()
        self._times: dict[str, int] = {}
        self._of: dict[str, str] = {}  # the annotation that each refers to
        self._spans: dict[str, tuple[int, int]] = {}
        self._texts: list[tuple[str, str, list[str]]] = []  # tier, annotation, parts of its text
        self._tier = ""
        self._reads = False

    def start(self, name: str, values: dict[str, str]) -> None:
        if name == "TIME_SLOT" and values.get("TIME_VALUE", "").isdecimal():
            self._times[values.get("TIME_SLOT_ID", "")] = int(values["TIME_VALUE"])
        elif name == "TIER":
            self._tier = values.get("TIER_ID", "?")
        elif name in ("ALIGNABLE_ANNOTATION", "REF_ANNOTATION"):
            own = values.get("ANNOTATION_ID", "")
            self._texts.append((self._tier, own, []))
            if name == "REF_ANNOTATION":
                self._of[own] = values.get("ANNOTATION_REF", "")
            else:
                ends = values.get("TIME_SLOT_REF1", ""), values.get("TIME_SLOT_REF2", "")
                self._spans[own] = self._times.get(ends[0], -1), self._times.get(ends[1], -1)
        self._reads = name == "ANNOTATION_VALUE" and bool(self._texts)

    def read(self, text: str) -> None:
        if self._reads:
            self._texts[-1][2].append(text)

    def end(self, name: str) -> None:
        self._reads = False
        if name != "ANNOTATION_DOCUMENT":
            return
        units = defaultdict[tuple[int, int], dict[str, list[str]]](lambda: defaultdict(list))
        for tier, own, parts in self._texts:
            root, seen = own, {own}
            while root in self._of and self._of[root] not in seen:
                root = self._of[root]
                seen.add(root)
            units[self._spans.get(root, (-1, -1))][tier].append("".join(parts))
        for _, unit in sorted(units.items()):
            self.done.append({tier: one_line(" ".join(texts)) for tier, texts in unit.items()})


def toolbox_units(path: StrPath) -> Iterator[Unit]:
    r"""Yield the records of a Toolbox file by their fields, those of one name joined.

    A record begins at ``\ref``, or else at the first field of text after one of its translation.  Raises CorpusError on
    what is not UTF-8.
    """
    unit, name = dict[str, list[str]](), ""
    for number, line in enumerate(read_lines(path), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise CorpusError(path, number, "not valid UTF-8", hint=NO_UTF8) from error
        field = _FIELD.match(text)
        if field is not None:
            name, text = field[1], field[2]
            again = name in ("tx", "t") and not {"ft", "f"}.isdisjoint(unit)
            if name in ("ref", "id", "_sh") or again:
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
