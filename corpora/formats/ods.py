"""ODS: what is seen in the cells of a workbook of OpenDocument."""

import re
from collections.abc import Iterator
from itertools import groupby
from zipfile import ZipFile

from corpora.formats.parts import MOST_COLUMNS, Cell, PartReader, Row, read_part

_CELLS, _NO_TEXT = {"table-cell", "covered-table-cell"}, {"annotation", "ruby-text", "shapes", "frame", "custom-shape"}
"""Elements of ODS."""


class _Tables(PartReader):
    """Rows of all sheets of ODS, each with the number of its sheet."""

    def __init__(self) -> None:
        super().__init__()
        self.sheet = self.depth = self.row = self.times = self.column = self.skipped = self.paragraphs = 0
        self.cells, self.repeated, self.parts = dict[int, Cell](), 1, list[str]()
        self.value: Cell = ""

    def start(self, name: str, values: dict[str, str]) -> None:
        if name == "table":
            self.depth += 1
            if self.depth == 1:
                self.sheet, self.row = self.sheet + 1, 1
        elif name in _NO_TEXT:
            self.skipped += 1
        elif self.depth != 1 or self.skipped:
            return
        elif name == "table-row":
            self.times, self.cells, self.column = int(values.get("table:number-rows-repeated", 1)), {}, 0
        elif name in _CELLS:
            self.repeated = int(values.get("table:number-columns-repeated", 1))
            stored = (value for key, value in values.items() if re.fullmatch("office:([a-z]+-)?value", key))
            self.value = next(stored, None if "table:formula" in values and "office:value-type" not in values else "")
            self.parts, self.paragraphs = [], 0
        elif name in ("p", "h"):
            self.parts += ["\n"] * (self.paragraphs > 0)
            self.paragraphs += 1
        elif name in ("s", "tab", "line-break"):
            self.parts.append(" ")

    def end(self, name: str) -> None:
        if name == "table":
            self.depth -= 1
        elif name in _NO_TEXT:
            self.skipped -= 1
        elif self.depth != 1 or self.skipped:
            return
        elif name in _CELLS:
            cell = "".join(self.parts) or self.value
            if cell != "":
                columns = range(self.column, min(self.column + self.repeated, MOST_COLUMNS))
                self.cells.update(dict.fromkeys(columns, cell))
            self.column, self.paragraphs = self.column + self.repeated, 0
        elif name == "table-row":
            self.done.append((self.sheet, (self.row, self.times, self.cells)))
            self.row += self.times

    def read(self, text: str) -> None:
        if self.paragraphs and not self.skipped:
            self.parts.append(text)


def sheets_of_ods(archive: ZipFile) -> Iterator[Iterator[Row]]:
    for _, rows in groupby(read_part(archive, "content.xml", _Tables()), key=lambda found: found[0]):
        yield (row for _, row in rows)
