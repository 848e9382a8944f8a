"""Tables of people, written: what is read again, in a spreadsheet and by others, and the same bytes each time."""

import csv
import io
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import refuses

from corpora import SettingError
from corpora.errors import CorpusError
from corpora.formats import sheets
from corpora.formats.sheets import Sheet, write_rows

CELLS = st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=8) | st.sampled_from(
    [
        *"=1+1 #N/A TRUE 007 \" a,b '=x -1 -1.5 -1-2 @a + ''- '''= x;y _x000D_".split(),
        "\n",
        " a ",
        "\t=1",
        "\r=1",
        " =1",
        "'' =",
        "a\rb",
        "a\r\nb",
        "a\tb",
        "'+' is a sign",
        "- said",
        "-" * 3000,
    ]
)


def written(kind: str, rows: list[list[str]]) -> bytes:
    stream = io.BytesIO()
    write_rows(stream, kind, ["source", "target"], rows)
    return stream.getvalue()


def cleaned(cell: str) -> str:
    """As in XLSX, which has no control characters, and with blanks as in any text."""
    return re.sub("[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]", "\ufffd", cell)


@settings(max_examples=200)
@given(
    st.lists(st.lists(CELLS.map(cleaned), min_size=2, max_size=2), max_size=5), st.sampled_from(["csv", "tsv", "xlsx"])
)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], kind: str) -> None:
    """The names in the first row say what divides cells, whatever is in them."""
    path = tmp_path_factory.mktemp("t") / f"a.{kind}"
    path.write_bytes(written(kind, rows))
    expected = [tuple(b" ".join(re.sub("[\x0b\x0c]", "\ufffd", cell).encode().split()) for cell in row) for row in rows]
    if kind != "xlsx":
        expected = [tuple(b" ".join(cell.encode().split()) for cell in row) for row in rows]
    found = [pair[1:] for pair in Sheet(path, kind.upper()).parse(("source", "target"))]
    assert found == expected


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@given(st.lists(CELLS, min_size=1, max_size=3), st.floats(allow_nan=False, allow_infinity=False) | st.none())
def test_nothing_runs(kind: str, texts: list[str], number: float | None) -> None:
    """No text begins as a formula; numbers stay as they are."""
    stream = io.BytesIO()
    write_rows(stream, kind, [], [[*texts, number]])
    content = stream.getvalue().decode("utf-8-sig")
    separator, quoting = ("\t", csv.QUOTE_NONE) if kind == "tsv" else (",", csv.QUOTE_MINIMAL)
    (*cells, last) = [*csv.reader(io.StringIO(content, newline=""), delimiter=separator, quoting=quoting)][-1]
    assert len(cells) == len(texts)
    assert all(re.fullmatch(r"-[0-9]+(\.[0-9]+)?", cell) for cell in cells if cell[:1] in {*"=+-@\t\r"} - {""})
    assert last == ("" if number is None else str(number))


def test_other_readers_see_the_same(tmp_path: Path) -> None:
    rows = [["=1+1", "#N/A"], ['a "b"', "été"], ["_x000D_", "+1"]]
    text = written("csv", rows)
    assert text.startswith("\ufeff".encode())
    found = list(csv.reader(io.StringIO(text.decode("utf-8-sig"), newline="")))
    assert found == [["source", "target"], ["''=1+1", "#N/A"], rows[1], ["_x000D_", "''+1"]]
    content = written("xlsx", rows)
    book = openpyxl.load_workbook(io.BytesIO(content))
    cells = [[cell.value for cell in row] for row in book.active.iter_rows()]
    assert cells == [["source", "target"], *rows[:2], ["_x005F_x000D_", "+1"]]  # which openpyxl leaves as it is
    assert {cell.data_type for row in book.active.iter_rows() for cell in row} == {"s"}
    assert book.active.freeze_panes == "A2"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


def test_columns_of_xlsx_are_as_wide_as_their_text() -> None:
    book = openpyxl.load_workbook(io.BytesIO(written("xlsx", [["x" * 20, "y" * 500], ["", "z"]])))
    widths = [book.active.column_dimensions[letter].width for letter in "AB"]
    assert 20 < widths[0] < 30 < widths[1] < 100


def test_equal_rows_are_equal_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """At whatever time, in whatever folder for temporary files."""
    first = written("xlsx", [["a", "b"]])
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert {part.date_time for part in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert re.findall(rb"[0-9-]{10}T[0-9:.]+Z", archive.read("docProps/core.xml")) == [b"1980-01-01T00:00:00Z"] * 2
    assert written("xlsx", [["a", "b"]]) == first


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_an_error_among_the_rows_is_theirs(kind: str) -> None:
    def rows() -> Iterator[list[str]]:
        yield ["a", "b"]
        raise CorpusError("t", 2, "is wrong", hint="mend it")

    stream = io.BytesIO()
    with refuses("t:2: is wrong"):
        write_rows(stream, kind, ["source", "target"], rows())
    assert not stream.closed


def test_what_no_cell_of_xlsx_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sheets._MOST_ROWS == 1_048_576
    monkeypatch.setattr(sheets, "_MOST_ROWS", 1000)
    with refuses("XLSX has at most 1,000 rows", SettingError):
        write_rows(io.BytesIO(), "xlsx", [], ([] for _ in range(1000)))
    with refuses("XLSX has at most 32,767 letters", SettingError):
        write_rows(io.BytesIO(), "xlsx", ["a"], [["x" * 32_768]])
    stream = io.BytesIO()
    write_rows(stream, "xlsx", ["a"], [["x\x00y\x0b", 0.5], ["x" * 32_767, None]])
    (_, first, second) = openpyxl.load_workbook(stream).active.values
    assert (first, second) == (("x\ufffdy\ufffd", 0.5), ("x" * 32_767, None))


def test_without_openpyxl_only_writing_xlsx_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(written("xlsx", [["a", "b"]]))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert written("csv", [["a", "b"]])
    assert list(Sheet(tmp_path / "a.xlsx", "XLSX").parse(("source", "target"))) == [(2, b"a", b"b")]
    with refuses(r"XLSX needs openpyxl \(pip install openpyxl, or use CSV\)", SettingError):
        written("xlsx", [])
