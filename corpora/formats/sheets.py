"""Spreadsheets: CSV with quotes, in UTF-8 or UTF-16, and the first sheet of XLSX files, read and written by rows."""

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

from corpora import SettingError
from corpora.alignment import WordPair
from corpora.errors import NO_UTF8, BrokenLine, CorpusError
from corpora.files import READ_ERRORS, UTF8_BOM, StrPath, cannot_read, open_bytes
from corpora.formats.joint import NAME, Columns, are_numbers, named_columns

_SEPARATORS = ",;\t"

_MOST_ROWS, _LONGEST_CELL = 1 << 20, 32_767  # of XLSX
_NO_CELL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")

_DAMAGES = AttributeError, BadZipFile, LookupError, RuntimeError, SyntaxError, TypeError, ValueError
"""Raised by zipfile, by the parser of XML and by openpyxl, where a file is not what they take it for."""

LINK_COLUMNS = "line", "source position", "source word", "target position", "target word", "probability", "kind"


class Sheet:
    """A CSV or XLSX file.  names: what is in its first row.

    Where columns are chosen by name, the first row is no pair; by number, it is. Raises CorpusError on a damaged file,
    SettingError for XLSX without openpyxl.
    """

    of_languages = False

    def __init__(self, path: StrPath, kind: str) -> None:
        self.path, self.kind = path, kind
        self.names = next(self._rows(), [])

    def columns(self, source: str | None, target: str | None) -> Columns:
        return named_columns(source, target, self.names)

    def count(self, columns: Columns) -> int:
        return sum(1 for _ in self._rows()) - (not are_numbers(columns))

    def parse(self, columns: Columns, start: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """The number, source and target of each row that is a pair; an empty row is an empty pair.

        start: pairs to pass over.  Raises BrokenLine for a row without the columns, but goes on with the next;
        CorpusError for names that are not in the first row, or twice.
        """
        places = [int(column) - 1 for column in columns] if are_numbers(columns) else [*map(self._place, columns)]
        header = not are_numbers(columns)

        def parse(numbered: tuple[int, list[str]]) -> tuple[int, bytes, bytes]:
            number, row = numbered
            if not any(row):
                return number, b"", b""
            if not 0 <= min(places) <= max(places) < len(row):
                what = f"has no column {max(places) + 1}, only {len(row)}"
                raise BrokenLine(self.path, number, what, hint="choose others with `columns`")
            source, target = (b" ".join(row[place].encode().split()) for place in places)
            if number == 1 and source != target and NAME.fullmatch(source) and NAME.fullmatch(target):
                what = "has names of columns, not text"
                raise BrokenLine(self.path, number, what, hint="choose `columns` by these names")
            return number, source, target

        return map(parse, islice(enumerate(self._rows(), 1), start + header, None))

    def _place(self, column: str) -> int:
        if self.names.count(column) != 1:
            what = f"has {'no' if column not in self.names else 'more than one'} column '{column}' in its first row"
            hint = "choose `columns` by what is there, or by number, 1,2, if that row is text"
            raise CorpusError(self.path, 0, what, hint=hint)
        return self.names.index(column)

    def _rows(self) -> Iterator[list[str]]:
        return _rows_of_csv(self.path) if self.kind == "CSV" else _rows_of_xlsx(self.path)


def _rows_of_csv(path: StrPath) -> Iterator[list[str]]:
    row = 0
    try:
        with open_bytes(path) as stream:
            first = stream.peek().decode(errors="replace").partition("\n")[0]
            text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
            try:
                for cells in csv.reader(text, delimiter=max(_SEPARATORS, key=first.count), strict=True):
                    row += 1
                    yield cells
            finally:
                text.detach()  # the stream is not its own
    except READ_ERRORS as error:
        raise cannot_read(path, row, error) from error
    except UnicodeDecodeError as error:
        raise CorpusError(path, row + 1, "not valid UTF-8", hint=NO_UTF8) from error
    except csv.Error as error:
        raise CorpusError(
            path, row + 1, f"is no CSV: {error}", hint="close each quote, and double it inside"
        ) from error


def _rows_of_xlsx(path: StrPath) -> Iterator[list[str]]:
    openpyxl = _openpyxl(f"{path} is an XLSX file, which")
    try:
        with (
            open_bytes(path, text=False) as stream,  # openpyxl leaves what it opens open where a file is damaged
            closing(openpyxl.load_workbook(stream, read_only=True, data_only=True)) as book,
        ):
            for cells in book.worksheets[0].iter_rows(values_only=True):
                yield ["" if cell is None else str(cell) for cell in cells]
    except (*READ_ERRORS, *_DAMAGES, openpyxl.utils.exceptions.InvalidFileException) as error:
        what = f"is no whole XLSX file: {(str(error).splitlines() or ['damaged'])[0]}"
        raise CorpusError(path, 0, what, hint="save it again, or as CSV") from error


def kind_of_rows(path: StrPath) -> str:
    """How `write_rows` writes a file of this name: ``csv``, ``xlsx``, ``tsv``.  SettingError without openpyxl."""
    suffix = Path(path).suffix.lower()
    if suffix == ".xlsx":
        _openpyxl("XLSX")  # before the work is done
    return suffix[1:] if suffix in (".csv", ".xlsx") else "tsv"


def write_rows(stream: IO[bytes], kind: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a header and rows as ``tsv``, as ``csv``, in UTF-8 with the mark that spreadsheets know it by, or ``xlsx``.

    Texts stay texts, also those that look like formulas of XLSX, which has a mark in place of characters that it cannot
    have.  Raises SettingError for XLSX without openpyxl, and with more rows or longer texts than it can have.
    """
    if kind == "tsv":
        stream.writelines("\t".join(map(str, row)).encode() + b"\n" for row in chain([header], rows))
        return
    if kind == "csv":
        stream.write(UTF8_BOM)
        csv.writer(codecs.getwriter("utf-8")(stream), lineterminator="\n").writerows(chain([header], rows))
        return
    openpyxl = _openpyxl("XLSX")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()

    def cell(value: object) -> object:
        if not isinstance(value, str):
            return value
        if len(value) > _LONGEST_CELL:
            raise SettingError(f"XLSX has at most {_LONGEST_CELL:,} letters in a cell (write CSV)")
        value = _NO_CELL.sub("\ufffd", value)
        if not value.startswith(("=", "#")):
            return value
        made = openpyxl.cell.WriteOnlyCell(sheet, value)
        made.data_type = "s"  # no formula, and no error
        return made

    with closing(sheet):
        for number, row in enumerate(chain([header], rows)):
            if number == _MOST_ROWS:
                raise SettingError(f"XLSX has at most {_MOST_ROWS:,} rows (write CSV)")
            sheet.append([*map(cell, row)])
    book.save(stream)


def write_links(stream: IO[bytes], pairs: Iterable[WordPair], kind: str) -> None:
    """Write the LINK_COLUMNS of each link, with lines and positions from 1 on, see `write_rows`."""
    rows = (
        (number, j + 1, source[j], k + 1, target[k], links.probabilities.get((j, k)), name)
        for number, (source, target, links) in enumerate(pairs, 1)
        for j, k in sorted(links.sure | links.possible)
        for name in ["sure" if (j, k) in links.sure else "possible"]
    )
    write_rows(stream, kind, LINK_COLUMNS, rows)


def _openpyxl(what: str) -> Any:
    try:
        import openpyxl
    except ModuleNotFoundError as error:
        raise SettingError(f"{what} needs openpyxl (pip install openpyxl, or use CSV)") from error
    return openpyxl
