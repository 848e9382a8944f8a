"""CSV and XLSX: quotes, headers, encodings, and what is refused."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest

from corpora.errors import BrokenLine, CorpusError
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
