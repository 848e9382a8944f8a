#!/usr/bin/env bash
# python-calamine 0.9.1, openpyxl 3.1.5 (which writes the sheet).
# Behaviour: of a sheet whose first cell with content is C3, `iter_rows()` yields the two empty rows above it, but not
# the two empty columns before it: a cell's place in the row is no longer its column. `to_python()` leaves out both, and
# only `to_python(skip_empty_area=False)` keeps both.
# One expects otherwise, since two ways of reading one sheet, neither given an option, should give the same rows, and a
# reader that keeps the number of a row should keep the number of a column: whoever chooses columns by number gets
# others as soon as the first column of a sheet is empty, and row numbers in messages are wrong by `to_python()` alone.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check python-calamine==0.9.1 openpyxl==3.1.5
"$work/env/bin/python" - "$work/sheet.xlsx" << 'END'
import sys

import openpyxl
from python_calamine import CalamineWorkbook

book = openpyxl.Workbook()
sheet = book.active
for place, text in {"C3": "house", "D3": "Haus", "C4": "garden", "D4": "Garten"}.items():
    sheet[place] = text
book.save(sys.argv[1])
read = CalamineWorkbook.from_path(sys.argv[1]).get_sheet_by_index(0)
ways = {
    "iter_rows()": [*read.iter_rows()],
    "to_python()": read.to_python(),
    "to_python(skip_empty_area=False)": read.to_python(skip_empty_area=False),
}
for way, rows in ways.items():
    print(f"{way}: {len(rows)} rows of {len(rows[-1])} columns: {rows}")
shapes = [(len(rows), len(rows[-1])) for rows in ways.values()]
sys.exit(0 if shapes == [(4, 2), (2, 2), (4, 4)] else "this has changed")
END
