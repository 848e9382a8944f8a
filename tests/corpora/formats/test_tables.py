"""Parquet and Arrow tables give the texts that were put into them, from any row on."""

import random
import re
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from readings import pairs, refuses

from corpora import SettingError
from corpora.errors import BrokenLine, CorpusError
from corpora.formats.tables import ColumnTable, kind_of_table
from corpora.readers import open_corpus

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

EN, FR = [f"house {number}" for number in range(1, 21)], [f"maisoné {number}" for number in range(1, 21)]
PAIRS = [f"{one}|{other}" for one, other in zip(EN, FR, strict=True)]
BOTH = [{"en": one, "fr": other} for one, other in zip(EN, FR, strict=True)]
KINDS = ["Parquet", "Arrow", "Arrow stream"]
of_each_kind = pytest.mark.parametrize("kind", KINDS)


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


@of_each_kind
@pytest.mark.parametrize("rows", [1, 3, 7, 20, 100])
def test_rows_from_any_on(tmp_path: Path, kind: str, rows: int) -> None:
    path = put(tmp_path / "t", kind, {"id": range(20), "fr": FR, "en": EN}, rows)
    assert kind_of_table(path) == kind
    table = ColumnTable(path, kind)
    assert (table.count(("fr", "en")), table.names) == (20, ["id", "fr", "en"])
    expected = [(number, EN[number - 1].encode(), FR[number - 1].encode()) for number in range(1, 21)]
    for start in range(22):
        assert list(table.parse(("en", "fr"), start)) == list(table.parse(("3", "2"), start)) == expected[start:]


@of_each_kind
def test_which_columns_are_taken(tmp_path: Path, kind: str) -> None:
    number = {"n": range(20)}
    words = {
        "translation": BOTH, "tokens": [text.split() for text in EN], "large": pa.array(FR, pa.large_string()),
        "bytes": [text.encode() for text in EN], "dictionary": pa.array(FR).dictionary_encode(),
        "lines": [text.replace(" ", "\n") for text in EN],
    }  # fmt: skip
    for columns, chosen in (
        (
            {"source": EN, "target": FR, "de": FR, "en": EN},
            [{}, {"columns": "source,target"}, {"source": "en", "target": "de"}, {"source": "xx"}],
        ),
        ({"a": EN, **number, "x.b": FR}, [{}, {"columns": "A,b"}]),
        ({**number, "translation": BOTH}, [{}, {"source": "en"}]),
        (
            words,
            [
                {"columns": of}
                for of in ("translation.en,translation.fr", "tokens,large", "bytes,dictionary", "lines,large")
            ],
        ),
    ):
        path = put(tmp_path / "t", kind, columns)
        assert all(pairs(path, **of) == PAIRS for of in chosen)  # type: ignore[attr-defined]
    with refuses(r"t: has the columns a, b, tokens \(choose those of source"):
        pairs(put(tmp_path / "t", kind, {"a": EN, "b": FR, "tokens": words["tokens"], **number}))
    path = put(tmp_path / "t", kind, {"a": EN, "b": FR, **number})
    for wrong, what in (("a,c", "no column 'c', but a, b, n"), ("a,9", "no column '9'"), ("a,n", "no text")):
        with refuses(what):
            pairs(path, wrong)


@of_each_kind
def test_rows_without_text_shift_no_others(tmp_path: Path, kind: str) -> None:
    table = ColumnTable(put(tmp_path / "t", kind, {"a": ["x", None, "y"], "b": ["u", "v", ""]}), kind)
    rows = table.parse(("a", "b"))
    assert next(rows) == (1, b"x", b"u")
    with refuses(r"t:2: has nothing in column 'a'", BrokenLine):
        next(rows)
    assert list(rows) == [(3, b"y", b"")]


@of_each_kind
def test_damaged_tables(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path / "t", kind, {"source": EN, "target": FR})
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2])
    with refuses(rf"t: is no whole {kind} file: .* \(copy or make"):
        pairs(path)


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "t", "Parquet", {"source": EN, "target": FR})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with refuses(r"t is a Parquet file, which needs pyarrow \(pip install pyarrow\)", SettingError):
        open_corpus(path)


@pytest.mark.parametrize("kind", ["Arrow", "Arrow stream"])
@pytest.mark.parametrize("end", [1, 2_000_000_000, -1])
def test_offsets_that_lead_out_of_the_file(tmp_path: Path, kind: str, end: int) -> None:
    path = put(tmp_path / "t", kind, {"en": ["a b c"] * 50, "fr": ["x y z"] * 50}, 50)
    content = bytearray(path.read_bytes())
    place = content.find(struct.pack("<3i", 0, 5, 10)) + 160
    content[place : place + 4] = struct.pack("<i", end)
    path.write_bytes(content)
    with refuses(f"{re.escape(str(path))}: is no whole {kind} file"):
        pairs(path, "en,fr")


@pytest.mark.slow
@pytest.mark.parametrize("change", [1, 0x80])
def test_a_footer_that_is_not_of_its_rows(tmp_path: Path, change: int) -> None:
    """Whatever byte of it is wrong: no row is missing, and shards are what is read at once, or it is refused."""
    content, read = put(tmp_path / "a", "Parquet", {"source": EN[:9], "target": FR[:9]}).read_bytes(), 0
    path, footer = (
        tmp_path / "b.parquet",
        range(len(content) - 8 - struct.unpack("<i", content[-8:-4])[0], len(content) - 8),
    )
    for at in random.Random(change).sample(footer, len(footer) // 3):
        path.write_bytes(content[:at] + bytes([content[at] ^ change]) + content[at + 1 :])
        with suppress(CorpusError):
            corpus = open_corpus(path)
            texts = list(corpus.texts())
            assert len(texts) == 9
            assert [text for number in (1, 2, 3) for text in corpus.shard(number, 3).texts()] == texts
            read += 1
    assert read > 30
