"""Parts of documents that are archives of XML, as workbooks are, read element by element."""

from collections.abc import Iterator
from typing import Any
from xml.parsers import expat
from zipfile import ZipFile

from corpora.encodings import BUFFER_BYTES

Cell = str | None
"""What is seen in a cell; None for a formula whose value the file does not have."""

Row = tuple[int, int, dict[int, Cell]]
"""The number of a row, from 1 on, how often it is there, and cells by column, from 0 on; empty ones may be missing."""

MOST_COLUMNS = 1024
"""Cells beyond are not looked at: one far to the right would make each row long."""


class PartReader:
    """Reads elements of XML.  done: what has been read.  A name has no prefix, nor have those of values."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def start(self, name: str, values: dict[str, str]) -> None:
        self.done.append((name, {key.rpartition(":")[2]: value for key, value in values.items()}))

    def end(self, name: str) -> None:
        pass

    def read(self, text: str) -> None:
        pass


def read_part(archive: ZipFile, part: str, reader: PartReader) -> Iterator[Any]:
    """What a reader finds in a part, whose name may be spelt otherwise; nothing where there is none."""
    name = next((name for name in archive.namelist() if name.lower() == part.lower()), None)
    if name is None:
        return

    def entity(*declared: object) -> None:
        raise ValueError(f"it has an entity of its own, {declared[0]}")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda element, values: reader.start(element.rpartition(":")[2], values)
    parser.EndElementHandler = lambda element: reader.end(element.rpartition(":")[2])
    parser.CharacterDataHandler, parser.EntityDeclHandler = reader.read, entity
    with archive.open(name) as stream:
        ended = False
        while not ended:
            chunk = stream.read(BUFFER_BYTES)
            ended = not chunk
            parser.Parse(chunk, ended)
            done, reader.done = reader.done, []
            yield from done
