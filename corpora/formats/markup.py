"""XML of translators' and linguists' files, read unit by unit."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar
from xml.parsers import expat

from corpora.encodings import BUFFER_BYTES
from corpora.errors import CorpusError
from corpora.files import LONGEST_LINE, READ_ERRORS, StrPath, cannot_read, open_bytes

Unit = dict[str, bytes]
"""The texts of a unit, by the language or whatever else the file names it by, each on one line."""

_LONGEST_ENTITY = 200  # characters: one reference to it is not much shorter

_TOKENS = {4, 14}
"""Expat's codes of an invalid token and of a reference to a character that XML forbids."""

StartCallback = Callable[[str, dict[str, str]], None]
End = Callable[[str], None]


Place = tuple[int, int]
"""Bytes of a file: from the start tag of an element to its end tag."""


class Texts(NamedTuple):
    """The texts of a unit, each with its name, and in a memory perhaps the links.  left_out: reasons, one a text.

    places: of the texts, if they are known.  identity: what the file calls the unit.
    """

    named: list[tuple[str, bytes]]
    left_out: list[str] = []  # noqa: RUF012 - nobody changes it
    links: bytes | None = None
    places: Sequence[Place] = ()
    identity: str = ""


Read = TypeVar("Read", Unit, Texts)


class Reader(Protocol[Read]):
    """What is known at a place in a file.  done: units that have been read."""

    done: list[Read]

    def start(self, element: str, values: dict[str, str]) -> None: ...
    def end(self, element: str) -> None: ...
    def read(self, text: str) -> None: ...


def read_units(path: StrPath, kind: str, make_reader: Callable[[], Reader[Read]]) -> Iterator[Read]:
    """Read the units of a file.  kind: of the file, for errors.  Raises CorpusError as `parse` does."""
    reader = make_reader()
    for _ in parse(path, kind, reader.start, reader.end, reader.read):
        done, reader.done = reader.done, []
        yield from done


def parse(
    path: StrPath,
    kind: str,
    start: StartCallback,
    end: End | None = None,
    read: Callable[[str], None] | None = None,
    *,
    entities: bool = False,
    parser: expat.XMLParserType | None = None,
) -> Iterator[bytes]:
    """Parse a file, and yield each part of it afterwards.  Elements are without the prefixes of their namespaces.

    Raises CorpusError on a damaged file, on one that has entities of its own, which could be of any size, or of other
    files, and on a text of more than LONGEST_LINE characters.  entities: whether short texts without others in them are
    allowed as entities.  parser: a new one, for who asks it where an element is.
    """
    parser, size = parser or expat.ParserCreate(), 0

    def refuse(what: str) -> None:
        raise CorpusError(path, parser.CurrentLineNumber, what, hint="is it what it seems to be?")

    def started(element: str, values: dict[str, str]) -> None:
        nonlocal size
        size = 0
        start(element.rpartition(":")[2], values)

    def text(of: str) -> None:
        nonlocal size
        size += len(of)
        if size > LONGEST_LINE:
            refuse(f"has a text of more than {LONGEST_LINE >> 20} MiB")
        if read is not None:
            read(of)

    def entity(*declared: Any) -> None:
        is_parameter, value = declared[1:3] if len(declared) > 2 else (True, None)
        if entities and not is_parameter and value is not None and "&" not in value and len(value) <= _LONGEST_ENTITY:
            return
        refuse(f"has an entity of its own, '{declared[0]}', which no such file needs")

    parser.buffer_text = True
    parser.StartElementHandler = started
    parser.CharacterDataHandler = text if read else None
    parser.EndElementHandler = (lambda element: end(element.rpartition(":")[2])) if end else None
    parser.EntityDeclHandler = parser.SkippedEntityHandler = entity
    window, begin = b"", 0  # the last two chunks, and where they begin
    try:
        with open_bytes(path, text=False) as stream:
            ended = False
            while not ended:
                chunk = stream.read(BUFFER_BYTES)
                begin += len(window[:-BUFFER_BYTES])
                window = window[-BUFFER_BYTES:] + chunk
                ended = not chunk
                parser.Parse(chunk, ended)
                yield chunk
    except READ_ERRORS as error:
        raise cannot_read(path, parser.CurrentLineNumber, error) from error
    except expat.ExpatError as error:
        place = parser.ErrorByteIndex - begin
        known = _damage(window[max(0, place - 2) : max(0, place)], window[max(0, place) :])
        unknown = f"is no whole {kind} file: {expat.ErrorString(error.code)}", "copy or make the file again"
        what, hint = known if known and error.code in _TOKENS else unknown
        raise CorpusError(path, error.lineno, what, hint=hint) from None
    except (LookupError, ValueError) as error:  # of Python's codecs, by which the parser reads
        raise CorpusError(path, 1, f"cannot be read: {error}", hint="save it in UTF-8") from None


def _damage(before: bytes, after: bytes) -> tuple[str, str] | None:
    """What is wrong between these bytes of a file, if it is known, and what to do."""
    reference = re.match(rb"&#\w+;", after[:99].replace(b"\0", b""))
    narrow = next((byte for byte in after[:2] if byte), 0)  # of UTF-16 either byte, whose other one is 0
    last = before.replace(b"\0", b"")[-1:].decode(errors="replace")
    if written := {"&": "&amp;", "<": "&lt;"}.get(last):
        return f"has '{last}' as a letter, which XML writes as {written}", "write it so, or make the file again"
    if reference or (narrow < 32 and narrow not in b"\t\n\r") or after[:3] in (b"\xef\xbf\xbe", b"\xef\xbf\xbf"):
        name = reference[0].decode() if reference else f"U+{narrow if narrow < 32 else 0xFF00 + after[2] + 64:04X}"
        return f"has the character {name}, which XML forbids", "delete it there, or write a blank for it"
    if after[:1] >= b"\x80":
        return "is not valid UTF-8", "save it in UTF-8, or name its encoding in its first line"
    return None


def one_line(*parts: str) -> bytes:
    """The parts as one text, with a blank in place of each stretch of white space."""
    return b" ".join("".join(parts).encode().split())
