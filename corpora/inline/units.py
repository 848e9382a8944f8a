"""Translators' files, XLIFF and TMX, whose targets get the tags of their sources; all else stays as it is."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.parsers import expat

from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.formats.joint import Columns
from corpora.formats.markup import Place, Texts, parse
from corpora.formats.memories import SIDES, MemoryReader
from corpora.formats.units import UnitFile, kind_of_units, side_of
from corpora.inline.documents import Piece, Segment, is_partly_tagged, segments_of
from corpora.inline.examples import Examples, collect_examples
from corpora.inline.kinds import Marked, read_marked, read_target
from corpora.left_out import warn_of_left_out
from corpora.reading import AS_IT_IS, Reading
from corpora.threads import shared_property

_START = re.compile(r"<(?:[^<>\"']|\"[^\"]*+\"|'[^']*+')*+>")
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be", b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
_PARTLY = "targets that have some of the tags around words of their source, which get no others"


def read_examples(path: StrPath | None, reading: Reading) -> Examples:
    """Read what words of tags become, of the segments of TMX or XLIFF that have tags on both sides; path None: none.

    Raises CorpusError on a damaged file, and on one without such segments.
    """
    if path is None:
        return {}
    if kind_of_units(path) not in ("TMX", "XLIFF"):
        raise CorpusError(path, 0, "is neither TMX nor XLIFF", hint="give a memory whose segments have tags")
    found = collect_examples((segment.source, segment.target) for segment in segments_of(Units(path, reading)))
    if not found:
        raise CorpusError(path, 0, "has no tags around words that both sides have", hint="give one with tags")
    return found


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

    @shared_property
    def _columns(self) -> Columns:
        """The languages of TMX, or the elements of XLIFF.  Raises CorpusError where languages leave a choice."""
        if kind_of_units(self.path) != "TMX":
            return SIDES
        return UnitFile(self.path, "TMX").columns(*(self.reading.columns or (self.reading.source, self.reading.target)))

    @property
    def languages(self) -> tuple[str | None, str | None]:
        return self._columns if self._columns != SIDES else (self.reading.source, self.reading.target)

    def gold(self, path: StrPath) -> Iterator[Marked]:
        return (segment.target for segment in segments_of(Units(path, self.reading)))

    def pieces(self) -> Iterator[Piece]:
        """The file in pieces, each up to a target and with it.  Raises CorpusError on a damaged file."""
        parser, counts = expat.ParserCreate(), Counter[str]()
        reader = MemoryReader(True, lambda: parser.CurrentByteIndex)
        names = [] if self._columns == SIDES else UnitFile(self.path, "TMX").names
        encoding, buffer, base, line = "utf-8", b"", 0, 1  # base: where in the file the buffer begins

        def declare(_version: str, name: str | None, _alone: int) -> None:
            nonlocal encoding
            encoding = name or encoding

        parser.XmlDeclHandler = declare
        try:
            for chunk in parse(self.path, "translators'", reader.start, reader.end, reader.read, parser=parser):
                encoding = encoding if base or buffer else _WIDE.get(chunk[:2], encoding)
                buffer, last = buffer + chunk, 0
                done, reader.done = reader.done, []
                kind = "tmx" if self._columns != SIDES else "xliff2" if reader.is_second else "xliff"
                for target, source, identity in sorted(filter(None, (self._places(unit, names) for unit in done))):
                    both = (buffer[start - base : end - base].decode(encoding) for start, end in (source, target))
                    texts = [_START.sub("", one, count=1) for one in both]
                    end = target[1] - base
                    start = end - len(texts[1].encode(encoding))
                    line += buffer.count(b"\n", last, start)
                    marked = read_marked(texts[0], kind)
                    segment = Segment(line, identity, marked, read_target(texts[1], kind, marked))
                    if segment.target.tokens:
                        counts[_PARTLY] += is_partly_tagged(segment)
                        yield Piece(buffer[last:start], segment, buffer[start:end], encoding)
                        line, last = line + buffer.count(b"\n", start, end), end
                if not reader.is_open:
                    line += buffer.count(b"\n", last)
                    yield Piece(buffer[last:])
                    last = len(buffer)
                buffer, base = buffer[last:], base + last
        except CorpusError as error:
            what = f"{error.what}, in the unit '{reader.identity}'" if reader.is_open else error.what
            raise CorpusError(error.path, error.line, what, hint=error.hint) from error
        yield Piece(buffer)
        warn_of_left_out(self.path, +counts)

    def _places(self, unit: Texts, names: Sequence[str]) -> tuple[Place, Place, str] | None:
        """Where the target and the source of a unit are, and what it is called; None without both."""
        found = dict[int | None, Place]()
        for number, ((name, _), place) in enumerate(zip(unit.named, unit.places, strict=True)):
            if place != (0, 0):
                found.setdefault(number if self._columns == SIDES else side_of(self._columns, names, name), place)
        source, target = (next((found[n] for n in (side, side + 2, side + 4) if n in found), None) for side in (0, 1))
        return (target, source, unit.identity) if source and target else None
