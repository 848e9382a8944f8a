"""Translation memories and files of translators: TMX and XLIFF, read unit by unit, as tables of a column a language."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count, islice
from typing import BinaryIO
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from corpora.alignment import PairLinks, WordPair
from corpora.errors import CorpusError
from corpora.files import BUFFER_BYTES, LONGEST_LINE, READ_ERRORS, StrPath, cannot_read, open_bytes
from corpora.formats.joint import Columns, with_names
from corpora.formats.pharaoh import format_links, parse_links

_ELEMENT = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z]\w*)")
_KINDS = {b"tmx": "TMX", b"xliff": "XLIFF"}

_HEAD_UNITS = 1000
"""Units among which languages are looked for."""

_CODES = {"bpt", "ept", "it", "ph", "ut"}
"""Inline elements whose content is markup of the document, not text."""

_BLANKS = {"ph", "x"}
"""Inline elements that stand for a blank: what they are of, a picture or a number, parts words."""

_TEXTS = {"seg", "source", "seg-source", "target"}
"""Elements with text."""

_OTHERS = {"alt-trans", "match"}
"""Elements of XLIFF with other translations than that of the unit."""

LINKS = "x-links"
"""The type of the property of a unit of TMX that has its links, ``i-j``, from its first language to its second."""

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # in XML

Unit = dict[str, bytes]
"""The texts of a unit of translation, by language, as the file names it; and its links, under LINKS."""


def kind_of_memory(path: StrPath) -> str | None:
    """TMX or XLIFF, by the first element of a file; None for any other file."""
    head = b""
    with suppress(*READ_ERRORS), open_bytes(path, text=False) as stream:  # who reads it tells what is wrong
        head = stream.peek().replace(b"\0", b"")  # UTF-16 has every second one
    found = _ELEMENT.search(head) if head.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<") else None
    return _KINDS.get(found[1]) if found else None


class Memory:
    """A TMX or XLIFF file.  names: its languages, in order of first appearance, as it names them.

    Inline elements are left out, and blanks are joined: a text is one line. Raises CorpusError on a damaged file, and
    on one that has entities of its own, which could be of any size, or of other files.
    """

    def __init__(self, path: StrPath, kind: str) -> None:
        self.path, self.kind = path, kind
        names = dict.fromkeys(name for unit in islice(self.units(), _HEAD_UNITS) for name in unit)
        self.names = [name for name in names if name != LINKS]

    def columns(self, source: str | None, target: str | None) -> Columns:
        """The languages that are asked for, or the only two.  Raises CorpusError where that leaves a choice."""
        wanted = [self._name(language) if language else None for language in (source, target)]
        rest = [name for name in self.names if name not in wanted]
        if None in wanted and len(rest) > wanted.count(None):
            what = f"has {len(self.names)} languages, {', '.join(self.names)}"
            raise CorpusError(self.path, 0, what, hint="choose with `columns`, like en,fr")
        if len(rest) < wanted.count(None):
            what = f"has {'one language, ' if self.names else 'no text'}{', '.join(self.names)}"
            raise CorpusError(self.path, 0, what, hint="a corpus has two")
        first, second = (name or rest.pop(0) for name in wanted)
        return first, second

    def count(self, columns: Columns) -> int:
        return sum(1 for _ in self.units())

    def parse(self, columns: Columns, start: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """The number, source and target of each unit, from 1 on; a language that a unit lacks is empty.

        start: units to pass over.  columns: languages, or their numbers from 1 on.  Raises CorpusError for others.
        """
        source, target = map(self._name, with_names(columns, self.names))
        if source == target:
            raise CorpusError(self.path, 0, f"source and target are both {source}", hint="name two languages")
        for number, unit in zip(count(start + 1), islice(self.units(), start, None), strict=False):
            yield number, unit.get(source, b""), unit.get(target, b"")

    def links(self) -> Iterator[PairLinks]:
        """The links of each unit.  Raises CorpusError if it has none that were written as such, or a broken one."""
        for number, unit in enumerate(self.units(), 1):
            if LINKS not in unit:
                raise CorpusError(self.path, number, "has no links", hint="give what aligner convert writes as TMX")
            yield parse_links(unit[LINKS], self.path, number)

    def _name(self, language: str) -> str:
        """The language as the file names it: en is en-US where there is no en, and no other such language."""
        for part in (language.lower(), language.lower().replace("_", "-").partition("-")[0]):
            found = [name for name in self.names if name.lower() == part]
            found = found or [name for name in self.names if re.split("[-_]", name.lower())[0] == part]
            if len(found) == 1:
                return found[0]
        hint = "choose others with `columns`"
        raise CorpusError(self.path, 0, f"has no '{language}', but {', '.join(self.names) or 'no text'}", hint=hint)

    def units(self) -> Iterator[Unit]:
        """Read all units."""
        reader = _Reader(self.path)
        try:
            with open_bytes(self.path, text=False) as stream:
                while chunk := stream.read(BUFFER_BYTES):
                    reader.parser.Parse(chunk, False)
                    yield from reader.take()
                reader.parser.Parse(b"", True)
                yield from reader.take()  # what the parser had put off
        except READ_ERRORS as error:
            raise cannot_read(self.path, reader.parser.CurrentLineNumber, error) from error
        except expat.ExpatError as error:
            what = f"is no whole {self.kind} file: {expat.ErrorString(error.code)}"
            raise CorpusError(self.path, error.lineno, what, hint="copy or make the file again") from None
        except (LookupError, ValueError) as error:  # of Python's codecs, by which the parser reads
            raise CorpusError(self.path, 1, f"cannot be read: {error}", hint="save it in UTF-8") from None


class _Reader:
    """What is known at a place in a file."""

    def __init__(self, path: StrPath) -> None:
        self.path, self.done = path, list[Unit]()
        self.languages = "source", "target"  # of XLIFF
        self.language = ""  # of a text of TMX
        self.texts: Unit = {}  # of the unit, by language in TMX, by element in XLIFF
        self.segments: dict[str, dict[str, bytes]] = {}  # the same of segments of XLIFF, by element and name
        self.element, self.parts = "", list[str]()  # the element whose text is being read, and what was read
        self.marks: list[tuple[str | None, int]] = []  # that are open in it: their names, and where they began
        self.size = self.codes = self.others = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.end
        self.parser.CharacterDataHandler = self.read
        self.parser.EntityDeclHandler = self.parser.SkippedEntityHandler = self.refuse

    def take(self) -> list[Unit]:
        done, self.done = self.done, []
        return done

    def refuse(self, *declared: object) -> None:
        what = f"has an entity of its own, '{declared[0]}', which no such file needs"
        raise CorpusError(self.path, self.parser.CurrentLineNumber, what, hint="is it what it seems to be?")

    def start(self, element: str, values: dict[str, str]) -> None:
        name = element.rpartition(":")[2]
        if self.element:
            self.codes += name in _CODES
            self.parts += [" "] if name in _BLANKS else []
            if name == "mrk":
                self.marks.append((values.get("mid") if values.get("mtype") == "seg" else None, len(self.parts)))
        elif name in ("xliff", "file"):
            source = values.get("source-language") or values.get("srcLang") or self.languages[0]
            target = values.get("target-language") or values.get("trgLang") or self.languages[1]
            self.languages = (source, target) if source != target else ("source", "target")
        elif name in ("tu", "trans-unit", "segment"):
            self.texts, self.segments = {}, {}
        elif name == "tuv":
            self.language = values.get("xml:lang") or values.get("lang") or "?"
        elif name in _OTHERS:
            self.others += 1
        elif name == "prop" and values.get("type") == LINKS:
            self.element, self.language, self.parts, self.marks, self.size, self.codes = name, LINKS, [], [], 0, 0
        elif name in _TEXTS and not self.others:
            self.element, self.parts, self.marks, self.size, self.codes = name, [], [], 0, 0

    def read(self, text: str) -> None:
        if self.element and not self.codes:
            self.parts.append(text)
            self.size += len(text)
            if self.size > LONGEST_LINE:
                what = f"has a text of more than {LONGEST_LINE >> 20} MiB"
                raise CorpusError(self.path, self.parser.CurrentLineNumber, what, hint="is it a translation memory?")

    def end(self, element: str) -> None:
        name = element.rpartition(":")[2]
        if self.element:
            self.codes -= name in _CODES
            if name == "mrk":
                mark, first = self.marks.pop()
                if mark is not None:
                    self.segments.setdefault(self.element, {})[mark] = _one_line(self.parts[first:])
            elif name == self.element:
                self.texts.setdefault(self.language if name in ("seg", "prop") else name, _one_line(self.parts))
                self.element = ""
        elif name in _OTHERS:
            self.others -= 1
        elif name == "tu":
            self.done.append(self.texts)
        elif name in ("trans-unit", "segment"):
            source, target = self.segments.get("seg-source"), self.segments.get("target")
            pairs = [(self.texts.get("source", b""), self.texts.get("target", b""))]
            if source and target:
                pairs = [(source.get(mark, b""), target.get(mark, b"")) for mark in {**source, **target}]
            self.done += [dict(zip(self.languages, pair, strict=True)) for pair in pairs]


def _one_line(parts: list[str]) -> bytes:
    return b" ".join("".join(parts).encode().split())


def write_tmx(stream: BinaryIO, pairs: Iterable[WordPair], languages: tuple[str, str]) -> None:
    """Write pairs as units of TMX 1.4, with their links as a property LINKS.  Words have no FORBIDDEN characters."""
    header = f"""<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4">
<header creationtool="aligner" creationtoolversion="1" segtype="sentence" o-tmf="text" adminlang="en"
 srclang={quoteattr(languages[0])} datatype="plaintext"/>
<body>
"""
    stream.write(header.encode())
    for number, (*sides, links) in enumerate(pairs, 1):
        texts = "".join(
            f"<tuv xml:lang={quoteattr(language)}><seg>{escape(' '.join(words))}</seg></tuv>"
            for language, words in zip(languages, sides, strict=True)
        )
        unit = f'<tu tuid="{number}"><prop type="{LINKS}">{format_links(links)}</prop>{texts}</tu>\n'
        stream.write(unit.encode())
    stream.write(b"</body>\n</tmx>\n")
