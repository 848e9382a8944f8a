"""Workbooks of spreadsheets, XLSX and ODS: the rows of the first sheet, read as they are iterated over.

Memory is by the texts that cells share, not by the size of a sheet; what a file says of its size is not believed.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

from corpora.errors import CorpusError
from corpora.files import READ_ERRORS, StrPath, open_bytes
from corpora.formats.ods import sheets_of_ods
from corpora.formats.parts import Cell, Row
from corpora.formats.xlsx import sheets_of_xlsx

OTHER_SHEETS = "sheets with text besides the first, which alone is read (save each as a file)"

_BINARY, _OLD = "binary workbook", b"\xd0\xcf\x11\xe0"

_MOST_MISSING, _MISSING_EACH = 10_000, 10
"""Rows that stand in no file, but in numbers of rows: at most so many, and so many for each row that does."""

_UNPACKED, _RATIO = 1 << 22, 200
"""Bytes that a file may have unpacked, and how many times its own size beyond them; sheets have 10 to 50."""

_DAMAGES = (*READ_ERRORS, AttributeError, BadZipFile, LookupError, NotImplementedError, RuntimeError, TypeError,
            ValueError, expat.ExpatError)  # fmt: skip
"""Raised by zipfile, by expat and here, where a file is not what it is taken for."""


def kind_of_workbook(path: StrPath) -> str | None:
    """The kind of a workbook, by what is in the archive; None for any other file."""
    with suppress(CorpusError, *_DAMAGES), open_bytes(path, text=False) as stream:
        head = stream.peek()
        if head.startswith(_OLD) and Path(path).suffix.lower() in (".xls", ".xlsx", ".xlsm", ".xlsb", ".ods"):
            return _BINARY
        if head.startswith(b"PK"):
            with ZipFile(stream) as archive:
                names = {name.lower() for name in archive.namelist()}
                if "mimetype" in names and archive.read("mimetype").endswith(b"opendocument.spreadsheet"):
                    return "ODS"
                if "[content_types].xml" in names and any(name.startswith("xl/") for name in names):
                    return _BINARY if "xl/workbook.bin" in names else "XLSX"
    return None


def rows_of_workbook(path: StrPath, kind: str, left_out: dict[str, int]) -> Iterator[list[Cell]]:
    """The rows of the first sheet that is not hidden, to its last one with text, each to its last cell.

    Merged cells are the first of them, with empty ones beside it; rows and columns that are hidden are there, too.
    left_out: gets the number of OTHER_SHEETS at the end.  Raises CorpusError on a damaged file, and on one that would
    be much larger than it is.
    """
    if kind == _BINARY:
        raise CorpusError(
            path, 0, "is a binary workbook, or has a password", hint="save it as XLSX without one, or CSV"
        )
    row = 0
    try:
        with open_bytes(path, text=False) as stream, ZipFile(stream) as archive:
            packed, unpacked = stream.seek(0, 2), sum(part.file_size for part in archive.infolist())
            if unpacked > max(_UNPACKED, _RATIO * packed):
                what = f"would have {unpacked >> 20:,} MiB, {unpacked // packed:,} times its size"
                raise CorpusError(path, 0, what, hint="save its text as CSV")
            sheets = (sheets_of_ods if kind == "ODS" else sheets_of_xlsx)(archive)
            for cells in _filled(path, next(sheets)):
                row += 1
                yield cells
            others = sum(any(any(cells.values()) for _, _, cells in rows) for rows in sheets)
            if others:
                left_out[OTHER_SHEETS] = others
    except StopIteration:
        raise CorpusError(path, 0, f"has no sheet, as an {kind} file has", hint="save it again, or as CSV") from None
    except _DAMAGES as error:
        what = f"is no whole {kind} file: {(str(error).splitlines() or ['damaged'])[0]}"
        raise CorpusError(path, row, what, hint="save it again, or as CSV") from error


def _filled(path: StrPath, rows: Iterable[Row]) -> Iterator[list[Cell]]:
    """All rows in their places; an empty one that comes after a gap waits for one with text."""
    last = missing = 0
    for contained, (number, times, cells) in enumerate(rows):
        if number <= last:
            raise ValueError(f"row {number} comes after row {last}")
        gap = number - last - 1
        if not cells and (gap or times > 1):
            continue
        missing += gap + times - 1
        if missing > _MOST_MISSING + _MISSING_EACH * contained:
            what = f"has text in row {number}, after {gap:,} empty rows" if gap else f"has row {number} {times:,} times"
            raise CorpusError(path, last, what, hint="delete rows that are not needed, or save it as CSV")
        yield from repeat([], gap)
        yield from repeat([cells.get(column, "") for column in range(max(cells, default=-1) + 1)], times)
        last = number + times - 1
