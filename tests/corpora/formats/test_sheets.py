"""CSV and XLSX, read and written: quotes, headers, encodings, and what is refused."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora import SettingError
from corpora.errors import BrokenLine, CorpusError
from corpora.formats.sheets import write_rows
from corpora.readers import group_corpora, open_corpus

ROWS = [
    ["id", "en", "fr", "note"],
    ["1", 'He said "yes", twice', "Il a dit « oui »\u00a0; deux fois", "a;b"],
    ["2", "Two\nlines", "Deux\r\nlignes", ""],
    [],
    ["4", "", "sans source", ""],
]
PAIRS = [
    ('He said "yes", twice', "Il a dit « oui »\u00a0; deux fois"), ("Two lines", "Deux lignes"), ("", ""),
    ("", "sans source"),
]  # fmt: skip


def write(
    folder: Path, rows: list[list[str]], name: str = "a.csv", encoding: str = "utf-8", separator: str = ","
) -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows(rows)
    path = folder / name
    content = text.getvalue().encode(encoding)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def pairs(
    path: Path, columns: tuple[str, str] | None = ("en", "fr"), source: str | None = None, target: str | None = None
) -> list[tuple[str, str]]:
    texts = list((corpus := open_corpus(path, columns=columns, source=source, target=target)).texts())
    assert [text for number in (1, 2, 3) for text in corpus.shard(number, 3).texts()] == texts
    return [(one.decode(), other.decode()) for _, one, other in texts]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("form", ["utf-8 a.csv", "utf-8-sig A.CSV", "utf-16 a.csv", "utf-8 a.csv.gz"])
def test_rows_of_csv(tmp_path: Path, form: str, separator: str) -> None:
    encoding, name = form.split()
    path = write(tmp_path, ROWS, name, encoding, separator)
    assert pairs(path) == pairs(path, None, source="en", target="fr") == PAIRS
    assert pairs(path, ("fr", "en")) == [pair[::-1] for pair in PAIRS]
    assert pairs(write(tmp_path, ROWS[1:], name, encoding, separator), ("2", "3")) == PAIRS
    assert group_corpora([str(path), str(path)]) == [[str(path)], [str(path)]]


def test_columns_named_source_and_target_need_no_choice(tmp_path: Path) -> None:
    path = write(tmp_path, [["target", "source"], ["b", "a"]])
    assert pairs(path, None) == pairs(path, None, source="en", target="fr") == [("a", "b")]


def test_what_is_wrong_with_rows_and_names(tmp_path: Path) -> None:
    path = write(tmp_path, [*ROWS, ["5", "too short"], ["6", "good", "bon"]])
    corpus = open_corpus(path, columns=("en", "fr")).texts()
    for _ in PAIRS:
        next(corpus)
    with pytest.raises(BrokenLine, match=r"a.csv:6: has no column 3, only 2"):
        next(corpus)
    assert next(corpus) == (7, b"good", b"bon")
    for columns, message in (
        (("en", "de"), "has no column 'de' in its first row"), (None, "has no column 'source' in its first row"),
        (("2", "3"), "a.csv:1: has names of columns, not text"), (("0", "3"), "has no column 3"),
    ):  # fmt: skip
        with pytest.raises(CorpusError, match=message):
            pairs(path, columns)
    with pytest.raises(CorpusError, match="has more than one column 'en'"):
        pairs(write(tmp_path, [["en", "en", "fr"], ["a", "b", "c"]]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'en,fr\na,"b\nc,d\n', "a.csv:2: is no CSV: unexpected end of data"),
        (b'en,fr\na,"b"c\n', "a.csv:2: is no CSV: "),
        (b"en,fr\na,\xe9t\xe9\n", "not valid UTF-8"),
        (b"", "has no column 'en'"),
    ],
)
def test_broken_files_are_refused_in_a_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        pairs(path)


def test_rows_of_xlsx(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [*ROWS[:4], ["4", None, "sans source"], [5, 6.5, "six et demi"]]:
        book.active.append(row)
    book.create_sheet("another").append(["not", "this"])
    path = tmp_path / "a.xlsx"
    book.save(path)
    assert pairs(path) == [*PAIRS, ("6.5", "six et demi")]
    with pytest.raises(BrokenLine, match=r"a.xlsx:1: has names of columns, not text"):
        pairs(path, ("2", "3"))
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(CorpusError, match=r"a.xlsx: is no whole XLSX file"):
        pairs(path)


CELLS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), max_size=8) | st.sampled_from(
    ["=1+1", "#N/A", "TRUE", "007", '"', "a,b", "\n", " a ", "'=x", "-1", "@a"]
)


def written(kind: str, rows: list[list[str]]) -> bytes:
    stream = io.BytesIO()
    write_rows(stream, kind, ["source", "target"], rows)
    return stream.getvalue()


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=5), st.sampled_from(["csv", "xlsx"]))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], kind: str) -> None:
    path = tmp_path_factory.mktemp("t") / f"a.{kind}"
    path.write_bytes(written(kind, rows))
    assert pairs(path, None) == [tuple(b" ".join(cell.encode().split()).decode() for cell in row) for row in rows]


def test_other_readers_see_the_same(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    rows = [["=1+1", "#N/A"], ['a "b"', "été"]]
    text = written("csv", rows)
    assert text.startswith("\ufeff".encode())
    assert list(csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""))) == [["source", "target"], *rows]
    content = written("xlsx", rows)
    book = openpyxl.load_workbook(io.BytesIO(content))
    assert [[cell.value for cell in row] for row in book.active.iter_rows()] == [["source", "target"], *rows]
    assert {cell.data_type for row in book.active.iter_rows() for cell in row} == {"s"}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_an_error_among_the_rows_is_theirs(kind: str) -> None:
    def rows() -> Iterator[list[str]]:
        yield ["a", "b"]
        raise CorpusError("t", 2, "is wrong", hint="mend it")

    stream = io.BytesIO()
    with pytest.raises(CorpusError, match="t:2: is wrong"):
        write_rows(stream, kind, ["source", "target"], rows())
    assert not stream.closed


@pytest.mark.slow
def test_no_row_of_xlsx_is_lost() -> None:
    with pytest.raises(SettingError, match="XLSX has at most 1,048,576 rows"):
        write_rows(io.BytesIO(), "xlsx", [], ([] for _ in range(1 << 20)))


def test_what_no_cell_of_xlsx_can_have() -> None:
    with pytest.raises(SettingError, match="XLSX has at most 32,767 letters"):
        write_rows(io.BytesIO(), "xlsx", ["a"], [["x" * 32_768]])
    stream = io.BytesIO()
    write_rows(stream, "xlsx", ["a"], [["x\x00y\x0b", 0.5], ["x" * 32_767, None]])
    (_, first, second) = openpyxl.load_workbook(stream).active.values
    assert (first, second) == (("x\ufffdy\ufffd", 0.5), ("x" * 32_767, None))


def test_without_openpyxl_only_xlsx_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert written("csv", [["a", "b"]])
    with pytest.raises(SettingError, match=r"XLSX needs openpyxl \(pip install openpyxl, or use CSV\)"):
        written("xlsx", [])
