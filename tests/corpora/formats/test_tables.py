"""Parquet and Arrow tables give the texts that were put into them, from any row on."""

from __future__ import annotations

import random
import re
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from corpora import SettingError
from corpora.errors import BrokenLine, CorpusError
from corpora.formats.tables import ColumnTable, kind_of_table
from corpora.readers import open_corpus

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = [(number, f"house {number}".encode(), f"maison\u00e9 {number}".encode()) for number in range(1, 21)]
EN, FR = ([row[side].decode() for row in ROWS] for side in (1, 2))
KINDS = ["Parquet", "Arrow", "Arrow stream"]


def put(path: Path, kind: str, columns: dict[str, Any], rows: int = 3) -> Path:
    """Write a table, in groups of some rows."""
    table = pa.table(columns)
    if kind == "Parquet":
        pq.write_table(table, path, row_group_size=rows)
    else:
        new = pa.ipc.new_file if kind == "Arrow" else pa.ipc.new_stream
        with new(path, table.schema) as writer:
            writer.write_table(table, rows)
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [1, 3, 7, 20, 100])
def test_rows_from_any_on(tmp_path: Path, kind: str, rows: int) -> None:
    path = put(tmp_path / "t", kind, {"id": range(20), "fr": FR, "en": EN}, rows)
    assert kind_of_table(path) == kind
    table = ColumnTable(path, kind)
    assert (table.count(("fr", "en")), table.names) == (20, ["id", "fr", "en"])
    for start in range(22):
        assert list(table.parse(("en", "fr"), start)) == ROWS[start:]
        assert list(table.parse(("3", "2"), start)) == ROWS[start:]


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_other_types(tmp_path: Path, kind: str) -> None:
    both = [{"en": one, "fr": other} for one, other in zip(EN, FR, strict=True)]
    columns = {
        "translation": both,
        "tokens": [text.split() for text in EN],
        "large": pa.array(FR, pa.large_string()),
        "bytes": [text.encode() for text in EN],
        "dictionary": pa.array(FR).dictionary_encode(),
        "lines": [text.replace(" ", "\n") for text in EN],
    }
    table = ColumnTable(put(tmp_path / "t", kind, columns), kind)
    for names in (
        ("translation.en", "translation.fr"),
        ("tokens", "large"),
        ("bytes", "dictionary"),
        ("lines", "large"),
    ):
        assert list(table.parse(names)) == ROWS, names


@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_text_shift_no_others(tmp_path: Path, kind: str) -> None:
    table = ColumnTable(put(tmp_path / "t", kind, {"a": ["x", None, "y"], "b": ["u", "v", ""]}), kind)
    rows = table.parse(("a", "b"))
    assert next(rows) == (1, b"x", b"u")
    with pytest.raises(BrokenLine, match=r"t:2: has nothing in column 'a'"):
        next(rows)
    assert list(rows) == [(3, b"y", b"")]


@pytest.mark.parametrize("kind", KINDS)
def test_which_columns_are_taken(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path / "t", kind, {"source": EN, "target": FR, "de": FR, "en": EN})
    for chosen in ({}, {"columns": ("source", "target")}, {"source": "en", "target": "de"}, {"source": "xx"}):
        assert list(open_corpus(path, **chosen).texts()) == ROWS  # type: ignore[arg-type]
    path = put(tmp_path / "u", kind, {"a": EN, "n": range(20), "x.b": FR})
    assert list(open_corpus(path).texts()) == list(open_corpus(path, columns=("A", "b")).texts()) == ROWS
    both = [{"en": one, "fr": other} for one, other in zip(EN, FR, strict=True)]
    path = put(tmp_path / "u", kind, {"id": range(20), "translation": both})
    assert list(open_corpus(path).texts()) == list(open_corpus(path, source="en").texts()) == ROWS
    path = put(tmp_path / "u", kind, {"a": EN, "b": FR, "tokens": [text.split() for text in EN], "n": range(20)})
    with pytest.raises(CorpusError, match=r"u: has the columns a, b, tokens \(choose those of source"):
        list(open_corpus(path).texts())
    path = put(tmp_path / "u", kind, {"a": EN, "b": FR, "n": range(20)})
    for columns, what in (
        (("a", "c"), "no column 'c', but a, b, n"),
        (("a", "9"), "no column '9'"),
        (("a", "n"), "no text"),
    ):
        with pytest.raises(CorpusError, match=what):
            list(open_corpus(path, columns=columns).texts())


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_tables(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path / "t", kind, {"source": EN, "target": FR})
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2])
    with pytest.raises(CorpusError, match=rf"t: is no whole {kind} file: .* \(copy or make"):
        list(open_corpus(path).texts())


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "t", "Parquet", {"source": EN, "target": FR})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SettingError, match=r"t is a Parquet file, which needs pyarrow \(pip install pyarrow\)"):
        open_corpus(path)


@pytest.mark.parametrize("kind", ["Arrow", "Arrow stream"])
@pytest.mark.parametrize("end", [1, 2_000_000_000, -1])
def test_offsets_that_lead_out_of_the_file(tmp_path: Path, kind: str, end: int) -> None:
    path = put(tmp_path / "t", kind, {"en": ["a b c"] * 50, "fr": ["x y z"] * 50}, 50)
    content = bytearray(path.read_bytes())
    place = content.find(struct.pack("<3i", 0, 5, 10)) + 160
    content[place : place + 4] = struct.pack("<i", end)
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=f"{re.escape(str(path))}: is no whole {kind} file"):
        list(ColumnTable(path, kind).parse(("en", "fr")))


def test_a_changed_byte_blames_the_table(tmp_path: Path) -> None:
    rng, path = random.Random(7), tmp_path / "t"
    for kind in KINDS:
        whole = put(path, kind, {"en": EN, "fr": FR}).read_bytes()
        for place in rng.sample(range(8, len(whole)), 200):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << rng.randrange(8)]) + whole[place + 1 :])
            try:
                table = ColumnTable(path, kind)
                list(table.parse(("en", "fr")))
            except CorpusError as error:
                assert error.path == str(path)  # noqa: PT017 - or there is none, where the byte was of a word


@pytest.mark.slow
@pytest.mark.parametrize("change", [1, 0x80])
def test_a_footer_that_is_not_of_its_rows(tmp_path: Path, change: int) -> None:
    """Whatever byte of it is wrong: no row is missing, and shards are what is read at once, or it is refused."""
    whole = put(tmp_path / "a", "Parquet", {"source": EN[:9], "target": FR[:9]})
    content, path, read = whole.read_bytes(), tmp_path / "b.parquet", 0
    for at in range(len(content) - 8 - int.from_bytes(content[-8:-4], "little"), len(content) - 8):
        path.write_bytes(content[:at] + bytes([content[at] ^ change]) + content[at + 1 :])
        with suppress(CorpusError):
            corpus = open_corpus(path)
            texts = list(corpus.texts())
            assert len(texts) == 9
            assert [text for number in (1, 2, 3) for text in corpus.shard(number, 3).texts()] == texts
            read += 1
    assert read > 100
