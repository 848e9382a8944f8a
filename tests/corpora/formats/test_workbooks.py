"""Workbooks as many programs write them: XLSX and ODS, their odd ones, and bounds of what a small file may cost."""

import gzip
import io
import zipfile
from datetime import date, datetime, time
from pathlib import Path
from xml.sax.saxutils import escape

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import cases, leaves_out, pairs, refuses

from corpora.formats import workbooks
from corpora.formats.sheets import kind_of_sheet
from corpora.formats.workbooks import rows_of_workbook
from corpora.readers import open_corpus

MAIN, STRICT = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
NAMES = '<row r="1"><c r="A1" t="str"><v>source</v></c><c r="B1" t="str"><v>target</v></c></row>'
PAIR = '<row><c t="str"><v>a</v></c><c t="inlineStr"><is><t>b</t></is></c></row>'


def xlsx(path: Path, *sheets: str, texts: str = "", styles: str = "", book: str = "", prefix: str = "") -> Path:
    """A workbook of these rows; prefix: of elements."""
    p, main = prefix, f'xmlns{":" + prefix[:-1] if prefix else ""}="{STRICT if prefix else MAIN}"'
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r" Type="{OFFICE}/officeDocument" '
        'Target="/xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<{p}workbook {main} xmlns:q="{OFFICE}">{book}<{p}sheets>'
        + "".join(
            f'<{p}sheet name="S{n}" sheetId="{n}" q:id="R{n}" state="{"hidden" if sheet[:1] == "!" else "visible"}"/>'
            for n, sheet in enumerate(sheets)
        )
        + f"</{p}sheets></{p}workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}">'
        + "".join(
            f'<Relationship Id="R{n}" Type="{OFFICE}/worksheet" Target="sheets\\S{n}.xml"/>' for n in range(len(sheets))
        )
        + f'<Relationship Id="t" Type="{OFFICE}/sharedStrings" Target="Texts.xml"/>'
        f'<Relationship Id="s" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/texts.xml": f"<sst {main}>{texts}</sst>",
        "xl/styles.xml": f"<styleSheet {main}>{styles}</styleSheet>",
    }
    for n, sheet in enumerate(sheets):
        rows = sheet.removeprefix("!")
        data = rows if "sheetData" in rows else f"<sheetData>{rows}</sheetData>"
        parts[f"xl/sheets/S{n}.xml"] = f'<{p}worksheet {main}><{p}dimension ref="A1:B2"/>{data}</{p}worksheet>'
    return packed(path, parts)


def packed(path: Path, parts: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def ods(path: Path, tables: str) -> Path:
    spaces = "".join(f' xmlns:{one}="urn:{one}"' for one in ("office", "table", "text", "draw"))
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    content = f"<office:document-content{spaces}>{body}</office:document-content>"
    return packed(path, {"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content})


def rows(path: Path) -> list[list[str | None]]:
    kind, others = kind_of_sheet(path), dict[str, int]()
    assert kind is not None
    found = list(rows_of_workbook(path, kind, others))
    assert not others
    return found


def test_workbooks_are_known_by_content(tmp_path: Path) -> None:
    """Whatever their names, or packed; a size that is stated is not believed."""
    path = xlsx(tmp_path / "a.zip", NAMES + PAIR * 10)
    assert pairs(path) == ["a|b"] * 10
    (tmp_path / "a.xlsx.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert pairs(tmp_path / "a.xlsx.gz") == ["a|b"] * 10
    assert pairs(ods(tmp_path / "b", table("S", cell("source") + cell("target"), cell("a") + cell("b")))) == ["a|b"]


def test_strict_files_with_prefixes(tmp_path: Path) -> None:
    row = '<x:row r="2"><x:c r="B2" t="s"><x:v>0</x:v></x:c></x:row>'
    path = xlsx(tmp_path / "a.xlsx", f"<x:sheetData>{row}</x:sheetData>", texts="<si><t>a</t></si>", prefix="x:")
    assert rows(path) == [[], ["", "a"]]


def test_what_cells_have(tmp_path: Path) -> None:
    """Rich texts, readings that are no text, escapes, carriage returns, and kinds of values."""
    shared = (
        "<si><r><t>two </t></r><r><t>parts</t></r></si><si><t>東京</t><rPh sb='0' eb='2'><t>とうきょう</t></rPh></si>"
        "<si><t>a_x000D_\nb</t></si><si><t>_x005F_x000D_</t></si><si/>"
    )
    cells = "".join(f'<c t="s"><v>{n}</v></c>' for n in range(5))
    cells += '<c t="b"><v>1</v></c><c t="b"><v>0</v></c><c t="e"><v>#N/A</v></c><c t="d"><v>2024-01-05</v></c>'
    cells += (
        '<c t="str"><f>X</f><v>seen</v></c><c t="str"><f>X</f><v></v></c><c><f>X</f><v/></c><c><f>X</f></c><c/><c/>'
    )
    expected = "two parts|東京|a\r\nb|_x000D_||TRUE|FALSE|#N/A|2024-01-05|seen|".split("|")
    assert rows(xlsx(tmp_path / "a.xlsx", f"<row>{cells}</row>", texts=shared)) == [[*expected, None, None]]


SHOWN = st.one_of(
    st.integers(-(10**14), 10**14),
    st.floats(-1e9, 1e9),
    st.booleans(),
    st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), min_size=1, max_size=8).filter(
        lambda text: text[0] not in "=#" and "_x" not in text
    ),
    st.dates(date(1901, 1, 1), date(9000, 1, 1)),
    st.datetimes(datetime(1901, 1, 1), datetime(9000, 1, 1)),
    st.times(),
)


@settings(max_examples=60)
@given(st.lists(st.lists(SHOWN, min_size=1, max_size=4), min_size=1, max_size=4), st.booleans())
def test_cells_are_what_is_seen(
    tmp_path_factory: pytest.TempPathFactory, given: list[list[object]], later: bool
) -> None:
    """As openpyxl writes it: whole numbers without a point, others of 15 digits, dates and times in ISO 8601."""
    book = openpyxl.Workbook()
    if later:
        book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    for row in given:
        book.active.append(row)
    path = tmp_path_factory.mktemp("t") / "a.xlsx"
    book.save(path)
    for found, row in zip(rows(path), given, strict=True):
        for cell, value in zip(found, row, strict=True):
            assert cell is not None
            match value:
                case bool():
                    assert cell == str(value).upper()
                case str():
                    assert cell == value.replace("\r", "\n")
                case datetime():
                    assert abs((datetime.fromisoformat(cell) - value).total_seconds()) <= 1
                case date() | time():
                    seen = value.isoformat() if isinstance(value, date) else cell
                    assert cell == seen
                case int():
                    assert cell == str(value)
                case float():
                    assert float(cell) == pytest.approx(value, rel=1e-14)
                    assert not cell.endswith(".0")


@pytest.mark.parametrize(
    ("code", "value", "seen"),
    cases(
        r"""
        0% ¦ 0.5 ¦ 50%
        0.00% ¦ 0.125 ¦ 12.5%
        General ¦ 0.30000000000000004 ¦ 0.3
        "d" 0 ¦ 3 ¦ 3
        [Red]0 ¦ 3 ¦ 3
        yyyy\-mm\-dd ¦ 45296 ¦ 2024-01-05
        [h]:mm ¦ 0.5 ¦ 12:00:00
        General ¦ 1E3 ¦ 1000
        0 ¦ 1e-7 ¦ 1e-07
        """
    ),
)
def test_formats_of_numbers(tmp_path: Path, code: str, value: str, seen: str) -> None:
    styles = f"<numFmts><numFmt numFmtId='200' formatCode='{escape(code)}'/></numFmts>"
    styles += "<cellStyleXfs><xf numFmtId='14'/></cellStyleXfs><cellXfs><xf/><xf numFmtId='200'/></cellXfs>"
    path = xlsx(tmp_path / "a.xlsx", f'<row><c s="1"><v>{value}</v></c></row>', styles=styles)
    assert rows(path) == [[seen]]


def test_rows_are_ragged_and_have_gaps(tmp_path: Path) -> None:
    """Rows that are left out are empty pairs between others, none at the end; a cell that is missing is empty."""
    blank = '<row r="{0}"><c r="A{0}" s="0"/></row>'
    path = xlsx(
        tmp_path / "a.xlsx",
        NAMES
        + '<row r="2"><c r="A2" t="str"><v>a</v></c></row><row r="5"><c r="B5" t="str"><v>b</v></c></row>'
        + blank.format(6)
        + blank.format(1 << 20),
    )
    assert pairs(path) == ["a|", "|", "|", "|b", "|"]
    wide = xlsx(tmp_path / "a.xlsx", '<row><c r="C1" t="str"><v>a</v></c><c r="XFD1" t="str"><v>far</v></c></row>')
    assert rows(wide) == [["", "", "a"]]


def test_formulas_without_values_are_told(tmp_path: Path) -> None:
    row = '<row><c t="str"><v>a</v></c><c><f>A1</f></c><c><f>A1</f></c></row>'
    with leaves_out(r"a.xlsx: left out: 2 formulas without a stored value \(open the file in a"):
        assert pairs(xlsx(tmp_path / "a.xlsx", NAMES + row * 2)) == ["a|"] * 2


def test_other_sheets_are_told_and_hidden_ones_come_last(tmp_path: Path) -> None:
    path = xlsx(tmp_path / "a.xlsx", "!" + PAIR, NAMES + PAIR, " ", PAIR)
    with leaves_out(r"a.xlsx: left out: 2 sheets with text besides the first"):
        assert pairs(path) == ["a|b"]
    assert rows(xlsx(tmp_path / "a.xlsx", NAMES + PAIR, " ", "<row/>")) == [["source", "target"], ["a", "b"]]


def table(name: str, *lines: str) -> str:
    rows = "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
    return f'<table:table table:name="{name}">{rows}</table:table>'


def cell(text: str, more: str = "") -> str:
    return f'<table:table-cell office:value-type="string"{more}><text:p>{text}</text:p></table:table-cell>'


def test_rows_of_ods(tmp_path: Path) -> None:
    note = "<office:annotation><text:p>a note</text:p></office:annotation>"
    lines = (
        cell("source") + cell("target"),
        f"<table:table-cell>{note}<text:p>a<text:s/>b<text:line-break/>c</text:p><text:p>d</text:p></table:table-cell>"
        + cell("<text:span>x</text:span> <text:a>y</text:a>"),
        '<table:table-cell table:number-columns-repeated="2"/>',
        '<table:table-cell table:formula="of:=A1"/>' + cell("z", ' table:number-columns-repeated="2"'),
        '<table:table-cell table:formula="x" office:value-type="float" office:value="5"/>' + cell("w"),
        '<table:table-cell table:number-columns-repeated="16384"/>',
    )
    far = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table>'
    path = ods(tmp_path / "a.ods", table("S", *lines).replace("</table:table>", far))
    with leaves_out("1 formulas without a stored value"):
        assert pairs(path) == ["a b c d|x y", "|", "|z", "5|w", "|"]
    with leaves_out("1 sheets with text besides the first"):
        assert len(pairs(ods(path, table("S", *lines[:2]) + table("T") + table("U", cell("x"))))) == 1


@pytest.mark.parametrize("number", [10**9, 1 << 20, 20_000])
def test_numbers_of_rows_are_bounded(tmp_path: Path, number: int) -> None:
    """A small file is no large text, whatever it says of rows between."""
    path = xlsx(tmp_path / "a.xlsx", NAMES + f'<row r="{number}"><c t="str"><v>a</v></c></row>')
    with refuses(rf"a.xlsx:1: has text in row {number}, after [0-9,]+ empty rows \(delete"):
        pairs(path)
    line = f'<table:table-row table:number-rows-repeated="{number}">{cell("a") * 2}</table:table-row>'
    path = ods(path, f"<table:table>{line * 3}</table:table>")
    with refuses(r"a.xlsx: has row 1 [0-9,]+ times"):
        pairs(path, "1,2")
    with refuses("is no whole XLSX file: row 2 comes after row 2"):
        pairs(xlsx(path, NAMES + PAIR + '<row r="2"/>'))


def test_unpacked_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "_UNPACKED", 1 << 16)
    assert len(pairs(xlsx(tmp_path / "a.xlsx", NAMES + PAIR * 800))) == 800
    path = xlsx(tmp_path / "a.xlsx", NAMES + PAIR + " " * (1 << 20))
    with refuses(r"a.xlsx: would have 1 MiB, [0-9]+ times its size \(save its text as CSV"):
        pairs(path)


@pytest.mark.parametrize("kind", ["xlsx", "ods"])
def test_what_is_damaged(tmp_path: Path, kind: str) -> None:
    whole = xlsx(tmp_path / "w", NAMES + PAIR) if kind == "xlsx" else ods(tmp_path / "w", table("S", cell("a") * 2))
    content, path = whole.read_bytes(), tmp_path / f"a.{kind}"
    path.write_bytes(content[:-200])
    with refuses(rf"a.{kind}: is no whole {kind.upper()} file: "):
        open_corpus(path, columns=("1", "2"))


@pytest.mark.parametrize(
    ("rows", "what"),
    cases(
        """
        <row><c t="s"><v>7</v></c></row> ¦ is no whole XLSX file
        <row><c><v>x</v></c></row> ¦ could not convert
        <row r="x"/> ¦ invalid literal
        <row> ¦ mismatched tag
        &e; ¦ undefined entity
        """
    ),
)
def test_what_no_sheet_has(tmp_path: Path, rows: str, what: str) -> None:
    with refuses(what):
        open_corpus(xlsx(tmp_path / "a.xlsx", rows))
    with refuses("has no sheet"):
        open_corpus(xlsx(tmp_path / "a.xlsx"))
    path = tmp_path / "a.xlsx"
    part = '<!DOCTYPE a [<!ENTITY e "x">]><worksheet><sheetData/></worksheet>'
    stream = io.BytesIO(xlsx(path, NAMES).read_bytes())
    with zipfile.ZipFile(stream) as archive:
        packed(path, {name: archive.read(name).decode() for name in archive.namelist()} | {"xl/sheets/S0.xml": part})
    with refuses("an entity of its own, e"):
        open_corpus(path)


def test_binary_workbooks_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    packed(tmp_path / "a.xlsb", {"[Content_Types].xml": "", "xl/workbook.bin": ""})
    for name in ("a.xls", "a.xlsb"):
        with refuses(r"is a binary workbook, or has a password \(save it as XLSX"):
            open_corpus(tmp_path / name)
