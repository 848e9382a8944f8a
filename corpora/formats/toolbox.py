r"""Toolbox: records of fields, ``\tx`` and its text, of which each may be there again.

A record begins at ``\ref``, or else at the field that the file begins with, or at the first field of text after one of
its translation.
"""

import re
from collections.abc import Iterator

from corpora.errors import NO_UTF8, BrokenLine
from corpora.files import StrPath, read_lines
from corpora.formats.joint import Columns
from corpora.formats.markup import one_line

_FIELD = re.compile("\\\\([^\\s\udc80-\udcff]+)\\s*(.*)", re.ASCII)  # bytes that are not UTF-8 belong to the text
_RECORDS = {"ref", "id", "_sh"}
"""Fields that begin a record."""

_NO_TEXT = {"ref", "id"}

Record = dict[str, list[tuple[int, str]]]
"""The lines and texts of the fields of a name."""


def field_names(path: StrPath) -> dict[str, None]:
    """The names of the fields with text."""
    return {name: None for _, record in _records(path) for name in record if name not in _NO_TEXT}


def records(path: StrPath, columns: Columns) -> Iterator[tuple[int, bytes, bytes, bool] | BrokenLine]:
    """The first line of each record, its texts in two fields, those of one name joined, and whether it has others.

    A BrokenLine is in place of a record with one of these texts not in UTF-8.
    """
    for first, record in _records(path):
        try:
            source, target = (b" ".join(_text(path, *part) for part in record.get(name, ())) for name in columns)
        except BrokenLine as error:
            yield error
            continue
        others = any(text.strip() for name, parts in record.items() if name not in _NO_TEXT for _, text in parts)
        yield first, source.strip(), target.strip(), others


def _text(path: StrPath, line: int, text: str) -> bytes:
    try:
        return one_line(text)
    except UnicodeEncodeError as error:
        raise BrokenLine(path, line, "not valid UTF-8", hint=NO_UTF8) from error


def _records(path: StrPath) -> Iterator[tuple[int, Record]]:
    record, first, name, begins = Record(), 0, "", set[str]()
    lines = (line for packed in read_lines(path) for line in packed.split(b"\r"))  # which ends lines of old systems
    for number, line in enumerate(lines, 1):
        text = line.decode(errors="surrogateescape")
        field = _FIELD.match(text)
        if field is not None:
            name, text = field[1], field[2]
            again = name in ("tx", "t") and not {"ft", "f"}.isdisjoint(record)
            if name == "ref" or not (begins or name.startswith("_")):
                begins = _RECORDS | {name} - {"tx", "t"}
            if name in begins or again:
                if record:
                    yield first, record
                record, first = {"ref": []} if again else {}, number
        if name and not name.startswith("_"):
            first = first or number
            record.setdefault(name, []).append((number, text))
    if record:
        yield first, record
