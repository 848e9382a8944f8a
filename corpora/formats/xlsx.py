"""XLSX: what is seen in the cells of a workbook; numbers of rows and sizes that it states are not believed."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from zipfile import ZipFile

from corpora.formats.parts import MOST_COLUMNS, Cell, PartReader, Row, read_part

_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")  # of a character that XML cannot have
_DATES, _PERCENTS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}, {9, 10}
"""Formats of numbers that XLSX has by number alone."""
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\[(?!h+\]|m+\]|s+\])[^\]]*\]')  # in other formats
_FIRST_DAY, _DAYS_TO_1904 = datetime(1899, 12, 30), 1462


class _Texts(PartReader):
    """Texts of XLSX that cells share, without how they are pronounced."""

    def __init__(self) -> None:
        super().__init__()
        self.parts, self.reading, self.spoken = list[str](), False, False

    def start(self, name: str, values: dict[str, str]) -> None:
        if name == "t":
            self.reading = not self.spoken
        elif name == "rPh":
            self.spoken = True

    def end(self, name: str) -> None:
        if name == "t":
            self.reading = False
        elif name == "rPh":
            self.spoken = False
        elif name == "si":
            self.done.append(self.text())

    def read(self, text: str) -> None:
        if self.reading:
            self.parts.append(text)

    def text(self) -> str:
        """The text that was read, which is then forgotten."""
        text, self.parts = "".join(self.parts), []
        if "_x" not in text:
            return text
        text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Sheet(_Texts):
    """Rows of a sheet of XLSX.  shown: what makes of a number what is seen, by the number of a style."""

    def __init__(self, texts: list[str], shown: dict[int, Callable[[float], str]]) -> None:
        super().__init__()
        self.texts, self.shown, self.columns = texts, shown, _Columns()
        self.row, self.cells, self.column, self.kind, self.style = 0, dict[int, Cell](), -1, "n", 0
        self.formula, self.valued, self.inside = False, False, False

    def start(self, name: str, values: dict[str, str]) -> None:
        if name == "sheetData":
            self.inside = True
        elif not self.inside:
            return
        elif name == "c":
            place = values.get("r")
            self.column = self.columns[place.rstrip("0123456789")] if place else self.column + 1
            self.kind, self.style = values.get("t", "n"), int(values.get("s", 0))
            self.formula = self.valued = False
        elif name in ("v", "t"):
            self.reading, self.valued = not self.spoken, True
        elif name == "f":
            self.formula = True
        elif name == "row":
            self.row, self.cells, self.column = int(values.get("r", self.row + 1)), {}, -1
        elif name == "rPh":
            self.spoken = True

    def end(self, name: str) -> None:
        if not self.inside:
            return
        if name == "c":
            cell = self.cell(self.text())
            if (cell or self.formula) and self.column < MOST_COLUMNS:
                self.cells[self.column] = cell
        elif name == "row":
            self.done.append((self.row, 1, self.cells))
        elif name == "sheetData":
            self.inside = False
        elif name == "v":
            self.reading = False
        else:
            super().end(name)

    def cell(self, text: str) -> Cell:
        """What is seen in a cell with this text."""
        match self.kind:
            case "s":
                return self.texts[int(text)] if text else ""
            case "n" if text:
                return text if text.isdigit() and not self.style else self.shown.get(self.style, _number)(float(text))
            case "b" if text:
                return "FALSE" if text.strip() in ("0", "false") else "TRUE"
            case "str" if self.valued:
                return text
        return None if self.formula and not text else text


class _Columns(dict[str, int]):
    """The number of a column, from 0 on, by its letters."""

    def __missing__(self, letters: str) -> int:
        number = 0
        for letter in letters:
            number = 26 * number + "ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(letter.upper()) + 1
        self[letters] = number - 1
        return number - 1


def _number(value: float) -> str:
    """As a spreadsheet shows it: of at most 15 digits."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"


def _percent(value: float) -> str:
    return f"{_number(float(f'{100 * value:.15g}'))}%"


def _date(first_day: datetime, value: float) -> str:
    """A date, a time, or both, in ISO 8601."""
    try:
        found = first_day + timedelta(seconds=round(86400 * (value + (first_day == _FIRST_DAY and 1 <= value < 60))))
    except OverflowError:
        return _number(value)
    if 0 <= value < 1:
        return found.strftime("%H:%M:%S")
    return found.isoformat(" ").removesuffix(" 00:00:00")


def sheets_of_xlsx(archive: ZipFile) -> Iterator[Iterator[Row]]:
    (main,) = (part for kind, part in _related(archive, "").values() if kind == "officeDocument")
    related = _related(archive, main)
    parts = dict(related.values())
    sheets, first_day = list[tuple[bool, str]](), _FIRST_DAY
    for name, values in read_part(archive, main, PartReader()):
        if name == "sheet" and related[values["id"]][0] == "worksheet":
            sheets.append((values.get("state", "visible") != "visible", related[values["id"]][1]))
        elif name == "workbookPr" and values.get("date1904", "0") in ("1", "true"):
            first_day += timedelta(days=_DAYS_TO_1904)
    texts = [*read_part(archive, parts.get("sharedStrings", ""), _Texts())]
    shown = _styles(read_part(archive, parts.get("styles", ""), PartReader()), partial(_date, first_day))
    for _, part in sorted(sheets, key=lambda sheet: sheet[0]):
        yield read_part(archive, part, _Sheet(texts, shown))


def _related(archive: ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """By its identifier, the kind and the name of each part that a part, or with no name the whole file, refers to."""
    folder, name = posixpath.split(part)
    return {
        values["Id"]: (
            posixpath.basename(values["Type"]),
            posixpath.normpath(posixpath.join("/", folder, values["Target"].replace("\\", "/"))).lstrip("/"),
        )
        for element, values in read_part(archive, posixpath.join(folder, "_rels", f"{name}.rels"), PartReader())
        if element == "Relationship" and values.get("TargetMode") != "External"
    }


def _styles(
    elements: Iterable[tuple[str, dict[str, str]]], date: Callable[[float], str]
) -> dict[int, Callable[[float], str]]:
    """What makes of a number what is seen, by the number of its style, where that is more than the number."""
    codes, shown, within, style = dict[int, str](), dict[int, Callable[[float], str]](), "", 0
    for name, values in elements:
        if name in ("cellStyleXfs", "cellXfs", "cellStyles", "dxfs"):
            within = name
        elif name == "numFmt" and not within:
            codes[int(values["numFmtId"])] = _LITERAL.sub("", values["formatCode"].lower()).partition(";")[0]
        elif name == "xf" and within == "cellXfs":
            number = int(values.get("numFmtId", 0))
            code = codes.get(number, "")
            if number in _DATES or re.search("[dmyhs]", code):
                shown[style] = date
            elif number in _PERCENTS or "%" in code:
                shown[style] = _percent
            style += 1
    return shown
