"""Tables of people: CSV with quotes, lines with tabs, and workbooks, read and written by rows."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from corpora import SettingError
from corpora.errors import NO_UTF8, BrokenLine, CorpusError
from corpora.files import LONGEST_LINE, READ_ERRORS, UTF8_BOM, StrPath, cannot_read, open_bytes, read_lines
from corpora.formats import Format
from corpora.formats.columns import are_names, find_column, named_columns, place_of
from corpora.formats.joint import Columns, are_numbers, listed, quoted_name
from corpora.formats.parts import Cell
from corpora.formats.workbooks import kind_of_workbook, rows_of_workbook
from corpora.left_out import warn_of_left_out
from corpora.links import WordPair
from corpora.paths import plain_name

_SEPARATORS = "\t;,|"
_USUAL = ["source", "target"], ["target", "source"]
_HEAD_ROWS = 30
"""Rows by which the separator of CSV is known, and how many columns there are."""

_STATED = re.compile(r"\"?sep=([^\r\n\"])\"?\r?(?:\n|\Z)")  # a first line of Excel's
_IRREGULAR = -2.0

_GUARD = "''"
"""Before a cell of CSV that a spreadsheet would run.  One apostrophe may be text: '+' is a sign."""
_RUN = re.compile(rf"(?!\s*-[0-9]+(\.[0-9]+)?\Z)\s*({_GUARD}\s*)*[-=+@\t\r]")
_GUARDED = re.compile(rf"({_GUARD}\s*)+[-=+@\t\r]")

_NO_VALUE = "formulas without a stored value (open the file in a spreadsheet, and save it)"

_MOST_ROWS, _LONGEST_CELL = 1 << 20, 32_767  # of XLSX
_NO_CELL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_LIKE_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
_WIDEST, _WIDTH_ROWS = 60, 200  # letters of a column of XLSX, and rows by which it is set
_MADE = datetime(1980, 1, 1)  # of XLSX, so that equal rows are equal bytes

LINK_COLUMNS = "line", "source position", "source word", "target position", "target word", "probability", "kind"


def kind_of_sheet(path: StrPath) -> str | None:
    """The kind of a table of people, by what is in a workbook, or by the name; None for any other file."""
    suffix = Path(plain_name(path)).suffix[1:].upper()
    return kind_of_workbook(path) or (suffix if suffix in ("CSV", "XLSX", "ODS") else None)


class Sheet:
    """A table of people.  kind: ``CSV``, ``TSV`` without quotes, or of a workbook.  names: what is in its first row.

    Where columns are chosen by name, the first row with text is no pair; by number, it is. Raises CorpusError on a
    damaged file.
    """

    of_languages = False

    def __init__(self, path: StrPath, kind: str) -> None:
        self.path, self.kind = path, kind
        self._rows: Callable[[dict[str, int]], Iterator[list[Cell]]] = partial(rows_of_workbook, path, kind)
        if kind in ("CSV", "TSV"):
            self._rows = partial(_rows_of_csv if kind == "CSV" else _rows_of_tsv, path)
        head = [*islice(self._rows({}), _HEAD_ROWS)]
        self._above = next((number for number, row in enumerate(head) if any(row)), 0)
        self.names = [" ".join((cell or "").split()) for cell in (head[self._above] if head else [])]
        self._width = max(map(len, head), default=0)
        self._left_out = dict[str, int]()

    def columns(self, source: str | None, target: str | None) -> Columns:
        """The columns of these languages, or the usual or only two; CorpusError where that leaves a choice.

        Of the only two the first row may be names or a pair.
        """
        found = [one is not None and find_column(self.names, one) is not None for one in (source, target)]
        usual = [*map(str.lower, self.names)] in _USUAL
        if self._width == 2 == len(self.names) and not usual and not all(found):
            named = are_names(self.names)
            if named is None and not any(found):
                what = f"has two columns, and {listed(self.names)} may be their names, or a pair"
                raise CorpusError(
                    self.path,
                    self._above + 1,
                    what,
                    hint=f"choose `columns` {','.join(map(quoted_name, self.names))}, or 1,2",
                )
            if named is False:
                return "1", "2"
            self._left_out[f"first row, taken as the names of columns, {listed(self.names)}"] = 1
        return named_columns(self.path, source, target, self.names)

    def count(self, columns: Columns) -> int:
        return sum(1 for _ in self._rows({})) - self._above_text(columns)

    def parse(self, columns: Columns, start: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """The number, source and target of each row that is a pair; an empty row is an empty pair.

        start: pairs to pass over.  Raises BrokenLine for a row without the columns, or with more cells than the first
        one, but goes on with the next; CorpusError for names that are not in the first row, or twice.
        """
        numbered, textual = are_numbers(columns), self.kind in ("CSV", "TSV")
        places = [int(one) - 1 if numbered else place_of(self.path, self.names, one) for one in columns]
        left_out = Counter(self._left_out)

        def parse(item: tuple[int, list[Cell]]) -> tuple[int, bytes, bytes]:
            number, row = item
            left_out[_NO_VALUE] += sum(place < len(row) and row[place] is None for place in places)
            if not any(row):
                return number, b"", b""
            width = len(row) if textual else self._width
            if not 0 <= min(places) <= max(places) < width:
                what = f"has no column {max(places) + 1}, only {width}"
                raise BrokenLine(self.path, number, what, hint="choose others with `columns`")
            if textual and any(row[len(self.names) :]):
                what = f"has {width} cells, but the first row has {len(self.names)}"
                raise BrokenLine(self.path, number, what, hint="is the text of a cell in quotes?")
            source, target = (self._text(row, place) for place in places)
            if number == self._above + 1 and are_names(
                [source.decode(errors="replace"), target.decode(errors="replace")]
            ):
                what = "has names of columns, not text"
                raise BrokenLine(self.path, number, what, hint="choose `columns` by these names")
            return number, source, target

        def told() -> Iterator[tuple[int, bytes, bytes]]:
            warn_of_left_out(self.path, +left_out)
            yield from ()

        rows = islice(enumerate(self._rows(left_out), 1), start + self._above_text(columns), None)
        return chain(map(parse, rows), told())

    def rows(self, names: Sequence[str], hint: str) -> Iterator[tuple[int, list[str]]]:
        """The number of each row below the names of columns, and its cells in columns of these names.

        Empty rows are passed over.  Raises CorpusError without such a column, with the hint.
        """
        missing = [name for name in names if name not in self.names]
        if missing:
            raise CorpusError(self.path, self._above + 1, f"has no column {listed(missing)}", hint=hint)
        places = [self.names.index(name) for name in names]
        for number, row in islice(enumerate(self._rows({}), 1), self._above + 1, None):
            if any(row):
                yield number, [self._text(row, place).decode(errors="replace") for place in places]

    def _above_text(self, columns: Columns) -> int:
        """How many rows come before the first pair."""
        return 0 if are_numbers(columns) else self._above + 1

    def _text(self, row: Sequence[Cell], place: int) -> bytes:
        cell = (row[place] if place < len(row) else None) or ""
        if self.kind in ("CSV", "TSV"):
            cell = unguarded(cell)
        return b" ".join(cell.encode(errors="surrogateescape").split())


def unguarded(cell: str) -> str:
    """What `write_rows` wrote as this cell of CSV or TSV."""
    return cell[len(_GUARD) :] if _GUARDED.match(cell) else cell


def _rows_of_tsv(path: StrPath, left_out: object) -> Iterator[list[Cell]]:
    return ([*line.decode(errors="surrogateescape").split("\t")] for line in read_lines(path))


def _rows_of_csv(path: StrPath, left_out: object) -> Iterator[list[Cell]]:
    row = 0
    csv.field_size_limit(LONGEST_LINE)
    try:
        with open_bytes(path) as stream:
            head = stream.peek().removeprefix(UTF8_BOM).decode(errors="replace")
            separator, stated = _separator(head), _STATED.match(head) is not None
            text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
            try:
                for cells in csv.reader(text, delimiter=separator, skipinitialspace=True, strict=True):
                    if row or not stated:
                        yield [*cells]
                    row += not stated
                    stated = False
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


def _separator(head: str) -> str:
    """What the first rows are divided by: into equally many cells, few of which begin with a blank, as text does.

    Columns `source` and `target` among the names in the first row decide.
    """
    if stated := _STATED.match(head):
        return stated[1]
    for separator in _SEPARATORS:
        names = next(csv.reader(head.splitlines()[:1], delimiter=separator), [])
        if {"source", "target"} <= {name.strip().lower() for name in names}:
            return separator
    scores = {separator: _regularity(head, separator) for separator in _SEPARATORS}
    best = max(_SEPARATORS, key=scores.__getitem__)
    return best if scores[best] > _IRREGULAR else ","


def _regularity(head: str, separator: str) -> float:
    """The share of rows with the usual number of cells, without that of cells that begin with a blank."""
    widths, cells = Counter[int](), list[str]()
    try:
        for row in islice(csv.reader(io.StringIO(head, newline=""), delimiter=separator, strict=True), _HEAD_ROWS):
            widths[len(row)] += any(row)
            cells += row[1:]
    except csv.Error as error:
        if "unexpected end" not in str(error):  # where the head ends
            return _IRREGULAR
    ((usual, count),) = widths.most_common(1) or [(0, 0)]
    if usual < 2:
        return _IRREGULAR
    return count / widths.total() - sum(cell[:1].isspace() for cell in cells) / len(cells)


def kind_of_rows(path: StrPath) -> str:
    """How `write_rows` writes a file of this name: ``csv``, ``xlsx``, ``tsv``.  SettingError without openpyxl."""
    suffix = Path(path).suffix.lower()
    if suffix == ".xlsx":
        _openpyxl()  # before the work is done
    return suffix[1:] if suffix in (".csv", ".xlsx") else "tsv"


def write_rows(stream: IO[bytes], kind: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a header and rows as ``tsv``, as ``csv``, in UTF-8 with the mark that spreadsheets know it by, or ``xlsx``.

    Texts stay texts: those that a spreadsheet would run have two apostrophes before them in CSV and TSV, see
    `unguarded`; XLSX has a mark in place of characters that it cannot have.  Equal rows give equal bytes.  Raises
    SettingError for XLSX without openpyxl, and with more rows or longer texts than it can have.
    """
    every = chain([header], rows)
    if kind == "tsv":
        stream.writelines("\t".join(_guarded(cell, "[\t\r\n]+") for cell in row).encode() + b"\n" for row in every)
    elif kind == "csv":
        stream.write(UTF8_BOM)
        writer = csv.writer(codecs.getwriter("utf-8")(stream), lineterminator="\n")
        writer.writerows([_guarded(cell, "\r\n?") for cell in row] for row in every)
    else:
        _write_xlsx(stream, every)


def _guarded(cell: object, no_cell: str) -> str:
    """The cell, with a blank in place of what none can have."""
    if cell is None or not isinstance(cell, str):
        return "" if cell is None else str(cell)
    text = re.sub(no_cell, " ", cell)
    return _GUARD * bool(_RUN.match(text)) + text


class _Archive(ZipFile):
    """An archive whose bytes depend on its content alone."""

    def writestr(self, name: Any, content: Any, *_: object) -> None:
        made = _MADE.isoformat().encode()
        if name == "docProps/core.xml":  # which openpyxl gives the time of writing
            content = re.sub(
                rb"(?<=W3CDTF\">)[^<]*", made + b"Z", content if isinstance(content, bytes) else content.encode()
            )
        super().writestr(ZipInfo(name), content, ZIP_DEFLATED)

    def write(self, file: Any, name: Any = None, *_: object) -> None:
        info = ZipInfo(name)
        info.compress_type = ZIP_DEFLATED
        with Path(file).open("rb") as source, self.open(info, "w") as target:
            copyfileobj(source, target)


def _write_xlsx(stream: IO[bytes], rows: Iterable[Sequence[object]]) -> None:
    openpyxl = _openpyxl()
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()

    def cell(value: object) -> object:
        if not isinstance(value, str):
            return value
        if len(value) > _LONGEST_CELL:
            raise SettingError(f"XLSX has at most {_LONGEST_CELL:,} letters in a cell (write CSV)")
        value = _LIKE_ESCAPE.sub("_x005F_", _NO_CELL.sub("\ufffd", value))
        if not value.startswith(("=", "#")):
            return value
        made = openpyxl.cell.WriteOnlyCell(sheet, value)
        made.data_type = "s"  # no formula, and no error
        return made

    every = iter(rows)
    first = [*islice(every, _WIDTH_ROWS)]
    for place, cells in enumerate(zip_longest(*first, fillvalue=""), 1):
        letters = openpyxl.utils.get_column_letter(place)
        sheet.column_dimensions[letters].width = min(max(len(str(one)) for one in cells) + 2, _WIDEST)
    sheet.freeze_panes = "A2"
    with closing(sheet):
        for number, row in enumerate(chain(first, every)):
            if number == _MOST_ROWS:
                raise SettingError(f"XLSX has at most {_MOST_ROWS:,} rows (write CSV)")
            sheet.append([*map(cell, row)])
    book.properties.created = _MADE
    with _Archive(stream, "w", ZIP_DEFLATED) as archive:
        openpyxl.writer.excel.ExcelWriter(book, archive).write_data()


def write_links(stream: IO[bytes], pairs: Iterable[WordPair], kind: str) -> None:
    """Write the LINK_COLUMNS of each link, with lines and positions from 1 on, see `write_rows`."""
    rows = (
        (number, j + 1, source[j], k + 1, target[k], links.scores.get((j, k)), name)
        for number, (source, target, links) in enumerate(pairs, 1)
        for j, k in sorted(links.sure | links.possible)
        for name in ["sure" if (j, k) in links.sure else "possible"]
    )
    write_rows(stream, kind, LINK_COLUMNS, rows)


def _openpyxl() -> Any:
    try:
        import openpyxl
        import openpyxl.writer.excel
    except ModuleNotFoundError as error:
        raise SettingError("XLSX needs openpyxl (pip install openpyxl, or use CSV)") from error
    return openpyxl


FORMATS = [
    Format("csv", None, partial(write_links, kind="csv")),
    Format(
        "xlsx",
        None,
        partial(write_links, kind="xlsx"),
        unwritable=(_NO_CELL, "a control character"),
    ),
]
