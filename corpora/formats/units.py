"""Files of units in several languages: of translators (TMX, XLIFF) and of linguists (FLEx, ELAN, Toolbox)."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, islice

from corpora.alignment import PairLinks
from corpora.errors import CorpusError
from corpora.files import READ_ERRORS, StrPath, open_bytes
from corpora.formats.interlinear import ElanReader, FlexReader, toolbox_units
from corpora.formats.joint import Columns, two_languages, with_names
from corpora.formats.markup import Reader, Unit, read_units
from corpora.formats.memories import LINKS, MemoryReader
from corpora.formats.pharaoh import parse_links

_ELEMENT = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z]\w*)")
_KINDS = {b"tmx": "TMX", b"xliff": "XLIFF", b"document": "FLEx", b"ANNOTATION_DOCUMENT": "ELAN"}
_READERS: dict[str, type[Reader]] = {"TMX": MemoryReader, "XLIFF": MemoryReader, "FLEx": FlexReader, "ELAN": ElanReader}
_TOOLBOX = re.compile(rb"\\(_sh|id|ref|tx|t) ")
_WHAT = {"ELAN": "tiers", "Toolbox": "fields"}
_USUAL: dict[str, tuple[Columns, ...]] = {"Toolbox": (("tx", "ft"), ("t", "f"))}
"""Fields that are taken where none are asked for."""

_HEAD_UNITS = 1000
"""Units among which languages are looked for."""


def kind_of_units(path: StrPath) -> str | None:
    """The kind of a file of units, by its first element, or by the first field of Toolbox; None for any other file."""
    head = b""
    with suppress(*READ_ERRORS), open_bytes(path, text=False) as stream:  # who reads it tells what is wrong
        head = stream.peek().replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")  # UTF-16 has every second one
    if _TOOLBOX.match(head):
        return "Toolbox"
    found = _ELEMENT.search(head) if head.startswith(b"<") else None
    kind = _KINDS.get(found[1]) if found else None
    return kind if kind != "FLEx" or b"interlinear-text" in head else None


class UnitFile:
    """A file of units with a text in several languages.  names: of these, in order of first appearance.

    They are languages of TMX, XLIFF and FLEx, tiers of ELAN, and fields of Toolbox, as the file names them. Inline
    elements are left out, and blanks are joined: a text is one line.  Raises CorpusError on a damaged file.
    """

    of_languages = True

    def __init__(self, path: StrPath, kind: str) -> None:
        self.path, self.kind = path, kind
        names = dict.fromkeys(name for unit in islice(self.units(), _HEAD_UNITS) for name in unit)
        self.names = [name for name in names if name != LINKS]

    def columns(self, source: str | None, target: str | None) -> Columns:
        """The languages asked for, or the usual or only two.  Raises CorpusError where that leaves a choice."""
        for usual in () if source or target else _USUAL.get(self.kind, ()):
            if {*usual} <= {*self.names}:
                return usual
        return two_languages(self.path, self.names, (source, target), _WHAT.get(self.kind, "languages"))

    def count(self, columns: Columns) -> int:
        return sum(1 for _ in self.units())

    def parse(self, columns: Columns, start: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """The number, source and target of each unit, from 1 on; a language that a unit lacks is empty.

        start: units to pass over.  columns: languages, or their numbers from 1 on.  Raises CorpusError for others.
        """
        source, target = two_languages(self.path, self.names, with_names(columns, self.names))
        for number, unit in zip(count(start + 1), islice(self.units(), start, None), strict=False):
            yield number, unit.get(source, b""), unit.get(target, b"")

    def links(self) -> Iterator[PairLinks]:
        """The links of each unit.  Raises CorpusError if it has none that were written as such, or a broken one."""
        for number, unit in enumerate(self.units(), 1):
            if LINKS not in unit:
                raise CorpusError(self.path, number, "has no links", hint="give what aligner convert writes as TMX")
            yield parse_links(unit[LINKS], self.path, number)

    def units(self) -> Iterator[Unit]:
        """Read all units."""
        if self.kind == "Toolbox":
            return toolbox_units(self.path)
        return read_units(self.path, self.kind, _READERS[self.kind])
