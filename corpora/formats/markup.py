"""XML of translators' and linguists' files, read unit by unit."""

from collections.abc import Callable, Iterator
from typing import Protocol
from xml.parsers import expat

from corpora.encodings import BUFFER_BYTES
from corpora.errors import CorpusError
from corpora.files import LONGEST_LINE, READ_ERRORS, StrPath, cannot_read, open_bytes

Unit = dict[str, bytes]
"""The texts of a unit, by the language or whatever else the file names it by, each on one line."""


class Reader(Protocol):
    """What is known at a place in a file.  done: units that have been read."""

    done: list[Unit]

    def start(self, element: str, values: dict[str, str]) -> None: ...
    def end(self, element: str) -> None: ...
    def read(self, text: str) -> None: ...


def read_units(path: StrPath, kind: str, make_reader: Callable[[], Reader]) -> Iterator[Unit]:
    """Read the units of a file.  kind: of the file, for errors.

    Raises CorpusError on a damaged file, on one that has entities of its own, which could be of any size, or of other
    files, and on a text of more than LONGEST_LINE characters.
    """
    reader, parser, size = make_reader(), expat.ParserCreate(), 0

    def refuse(what: str) -> None:
        raise CorpusError(path, parser.CurrentLineNumber, what, hint="is it what it seems to be?")

    def start(element: str, values: dict[str, str]) -> None:
        nonlocal size
        size = 0
        reader.start(element.rpartition(":")[2], values)

    def read(text: str) -> None:
        nonlocal size
        size += len(text)
        if size > LONGEST_LINE:
            refuse(f"has a text of more than {LONGEST_LINE >> 20} MiB")
        reader.read(text)

    def entity(*declared: object) -> None:
        refuse(f"has an entity of its own, '{declared[0]}', which no such file needs")

    parser.buffer_text = True
    parser.StartElementHandler, parser.CharacterDataHandler = start, read
    parser.EndElementHandler = lambda element: reader.end(element.rpartition(":")[2])
    parser.EntityDeclHandler = parser.SkippedEntityHandler = entity
    try:
        with open_bytes(path, text=False) as stream:
            ended = False
            while not ended:
                chunk = stream.read(BUFFER_BYTES)
                ended = not chunk
                parser.Parse(chunk, ended)
                done, reader.done = reader.done, []
                yield from done
    except READ_ERRORS as error:
        raise cannot_read(path, parser.CurrentLineNumber, error) from error
    except expat.ExpatError as error:
        what = f"is no whole {kind} file: {expat.ErrorString(error.code)}"
        raise CorpusError(path, error.lineno, what, hint="copy or make the file again") from None
    except (LookupError, ValueError) as error:  # of Python's codecs, by which the parser reads
        raise CorpusError(path, 1, f"cannot be read: {error}", hint="save it in UTF-8") from None


def one_line(*parts: str) -> bytes:
    """The parts as one text, with a blank in place of each stretch of white space."""
    return b" ".join("".join(parts).encode().split())
