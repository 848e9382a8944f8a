"""Translators' files, XLIFF and TMX, whose targets get the tags of their sources; all else stays as it is."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import IO, NamedTuple
from xml.parsers import expat

from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.formats.markup import parse
from corpora.formats.memories import INHERIT, PARENTS, SIDES, UNITS, language_of
from corpora.formats.units import UnitFile, kind_of_units, side_of
from corpora.inline.carrying import Placed
from corpora.inline.documents import Piece, Segment, is_partly_tagged, write_pieces
from corpora.inline.kinds import Marked, read_marked, read_target
from corpora.left_out import warn_of_left_out
from corpora.reading import AS_IT_IS, Reading

_START = re.compile(r"<(?:[^<>\"']|\"[^\"]*+\"|'[^']*+')*+>")
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be", b"<\0": "utf-16-le", b"\0<": "utf-16-be"}

_PARTLY = "tags of targets that have others around words already: these stay as they are"

Place = tuple[int, int]
"""Bytes of a file: from the start tag of an element to its end tag."""


class _Unit(NamedTuple):
    """line, name: of the unit.  pairs: places of source and target."""

    line: int
    name: str
    pairs: list[tuple[Place, Place]]


class _Reader:
    """Finds the texts of each unit.  name: of the unit that is open.

    side: of a language of TMX, see `corpora.formats.units.side_of`.
    """

    def __init__(self, parser: expat.XMLParserType, side: Callable[[str], int | None]) -> None:
        self.parser, self.side = parser, side
        self.done, self.name, self.kind, self.encoding = list[_Unit](), "", "tmx", "utf-8"
        self.is_open = False
        self._around, self._translate = [""], [True]
        self._outer, self._language, self._line = "", "", 0
        self._texts = dict[str, Place]()  # by element, or the side of a language
        self._marks = dict[str, dict[str, Place]]()  # of segments, by the element that they are in, and number
        self._element, self._start, self._inside = "", 0, list[tuple[str, int]]()
        parser.XmlDeclHandler = self._declare

    def _declare(self, _version: str, encoding: str | None, _alone: int) -> None:
        self.encoding = encoding or self.encoding

    def start(self, name: str, values: dict[str, str]) -> None:
        place = self.parser.CurrentByteIndex
        if self._element:
            is_segment = name == "mrk" and values.get("mtype") == "seg" and "mid" in values
            self._inside.append((values["mid"] if is_segment else "", place))
            return
        around, identity = self._around[-1], values.get("id", values.get("tuid", ""))
        self._around.append(name)
        if name in INHERIT:
            self._translate.append({"yes": True, "no": False}.get(values.get("translate", ""), self._translate[-1]))
        if name == "xliff":
            self.kind = "xliff2" if values.get("version", "").startswith("2") else "xliff"
        elif name == "unit":
            self._outer = identity
        elif name == "tu" or name in UNITS:
            self.is_open, self._texts, self._marks = True, {}, {}
            self._line, self.name = self.parser.CurrentLineNumber, f"{self._outer} {identity}".strip()
        elif name == "tuv":
            self._language = language_of(values) or "?"
        elif around in PARENTS.get(name, ()):
            self._element, self._start = name, place

    def end(self, name: str) -> None:
        place = self.parser.CurrentByteIndex
        if self._inside:
            mark, start = self._inside.pop()
            if mark:
                self._marks.setdefault(self._element, {}).setdefault(mark, (start, place))
            return
        self._around.pop()
        if self._element:
            known = str(self.side(self._language)) if name == "seg" else name
            self._texts.setdefault(known, (self._start, place))
            self._element = ""
        elif name == "tu" or name in UNITS:
            self.done.append(_Unit(self._line, self.name, self._pairs() if self._translate[-1] else []))
            self.is_open = False
        if name in INHERIT:
            self._translate.pop()

    def _pairs(self) -> list[tuple[Place, Place]]:
        source, target = self._marks.get("seg-source", {}), self._marks.get("target", {})
        if source and target:
            return [(source[mark], target[mark]) for mark in target if mark in source]
        named = SIDES, ("0", "1"), ("2", "3"), ("4", "5")
        both = [next((self._texts[one[side]] for one in named if one[side] in self._texts), None) for side in (0, 1)]
        return [(both[0], both[1])] if both[0] and both[1] else []

    def read(self, buffer: bytes, base: int) -> Iterator[tuple[Segment, bytes, int, int]]:
        """The segments of the units that are done, each with its target as it is written, and where in a buffer.

        base: where in the file the buffer begins.
        """
        done, self.done = self.done, []
        for unit in done:
            for both in sorted(unit.pairs, key=lambda pair: pair[1]):
                source, target = (_content(buffer[a - base : b - base].decode(self.encoding)) for a, b in both)
                marked = read_marked(source, self.kind)
                segment = Segment(unit.line, unit.name, marked, read_target(target, self.kind, marked))
                if segment.target.tokens:
                    content, end = target.encode(self.encoding), both[1][1] - base
                    yield segment, content, end - len(content), end


@dataclass(frozen=True)
class Units:
    """A file of XLIFF or TMX.

    Targets that have tags around words, but not all that their source has, stay as they are, and so do empty ones.
    """

    path: StrPath
    reading: Reading = AS_IT_IS

    @property
    def files(self) -> tuple[StrPath, StrPath]:
        return self.path, self.path

    @cached_property
    def languages(self) -> tuple[str | None, str | None]:
        """Of source and target.  Raises CorpusError where those of TMX leave a choice."""
        if kind_of_units(self.path) != "TMX":
            return self.reading.source, self.reading.target
        file = UnitFile(self.path, "TMX")
        return file.columns(*(self.reading.columns or (self.reading.source, self.reading.target)))

    def segments(self) -> Iterator[Segment]:
        """Read all segments that are translated.  Raises CorpusError on a damaged file."""
        return (piece.segment for piece in self.pieces() if piece.segment is not None)

    def write(self, stream: IO[bytes], placed: Iterable[Sequence[Placed]]) -> None:
        write_pieces(stream, self.pieces(), placed)

    def gold(self, path: StrPath) -> Iterator[Marked]:
        return (segment.target for segment in Units(path, self.reading).segments())

    def pieces(self) -> Iterator[Piece]:
        """The file in pieces, each up to a target and with it.  Raises CorpusError on a damaged file."""
        source, target = self.languages
        names = UnitFile(self.path, "TMX").names if kind_of_units(self.path) == "TMX" else []
        side = partial(side_of, (source or "", target or ""), names)
        parser, counts = expat.ParserCreate(), Counter[str]()
        reader, buffer, base = _Reader(parser, side), b"", 0  # base: where in the file the buffer begins
        try:
            for chunk in parse(self.path, "translators'", reader.start, reader.end, parser=parser):
                if not base and not buffer:
                    reader.encoding = _WIDE.get(chunk[:2], reader.encoding)
                buffer, last = buffer + chunk, 0
                for segment, content, start, end in reader.read(buffer, base):
                    counts[_PARTLY] += is_partly_tagged(segment)
                    yield Piece(buffer[last:start], segment, content, reader.encoding)
                    last = end
                if not reader.is_open:
                    yield Piece(buffer[last:])
                    last = len(buffer)
                buffer, base = buffer[last:], base + last
        except CorpusError as error:
            what = f"{error.what}, in the unit '{reader.name}'" if reader.is_open else error.what
            raise CorpusError(error.path, error.line, what, hint=error.hint) from error
        yield Piece(buffer)
        warn_of_left_out(self.path, +counts)


def _content(element: str) -> str:
    """What is in an element, of which only the start tag is there."""
    tag = _START.match(element)
    return element[tag.end() :] if tag else ""
