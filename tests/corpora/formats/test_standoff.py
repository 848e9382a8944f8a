"""Standoff files: parts of spans, on several lines, and what comes along with them."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from readings import leaves_out, refuses

from corpora.formats.standoff import read_standoff, write_standoff

TEXT = "North and South America\n\n💩 Ana\tin\nParis"
SPANS = [
    "T1\tLOC 0 5;16 23\tNorth America",
    "T2\tLOC 10 23\tSouth America",
    "T3\tPER 27 30\tAna",
    "T4\tX 31 33;34 39\tin Paris",
]
OTHERS = [
    "R1\tIn Arg1:T3 Arg2:T1\t",
    "*\tEquiv T1 T2",
    "E1\tX:T4 Who:T3",
    "A1\tNegated E1",
    "A2\tAge T3 T9",
    "N1\tReference T3 Wikidata:Q1\tAna",
    "#1\tAnnotatorNotes T1\tlook at T9",
]


def put(folder: Path, *lines: str, text: str = TEXT) -> Path:
    (folder / "a.txt").write_bytes(text.encode())
    (folder / "a.ann").write_bytes("".join(f"{line}\n" for line in lines).encode())
    return folder / "a.ann"


def test_parts_of_spans_are_on_their_lines(tmp_path: Path) -> None:
    found = list(read_standoff(put(tmp_path, *SPANS, *OTHERS)))
    assert [one.text for one in found] == TEXT.split("\n")
    assert [[(*mark[:3], mark.key[0]) for mark in one.marks or ()] for one in found] == [
        [(0, 5, "LOC", "T1"), (10, 23, "LOC", "T2"), (16, 23, "LOC", "T1")],
        [],
        [(2, 5, "PER", "T3"), (6, 8, "X", "T4")],
        [(0, 5, "X", "T4")],
    ]


def test_what_is_read_is_written(tmp_path: Path) -> None:
    path = put(tmp_path, *SPANS, *OTHERS)
    with BytesIO() as stream:
        write_standoff(stream, read_standoff(path), path)
        assert sorted(stream.getvalue().decode().splitlines()) == sorted([*SPANS, *OTHERS])
    with BytesIO() as stream:
        write_standoff(stream, (one.without_keys() for one in read_standoff(path)))
        assert stream.getvalue().decode().splitlines()[:2] == ["T1\tLOC 0 5\tNorth", "T2\tLOC 10 23\tSouth America"]


def test_a_span_across_lines_is_divided(tmp_path: Path) -> None:
    """brat writes its parts; other programs do not."""
    path = put(tmp_path, "T1\tX 31 39\tin Paris")
    assert [one.marks and one.marks[0][:2] for one in read_standoff(path)] == [[], [], (6, 8), (0, 5)]


@pytest.mark.parametrize(
    ("lost", "left_out"),
    [("T1", {"R1", "*", "#1"}), ("T2", {"*"}), ("T3", {"R1", "E1", "A1", "A2", "N1"}), ("T4", {"E1", "A1"})],
)
def test_what_names_a_span_that_is_not_carried_is_left_out(tmp_path: Path, lost: str, left_out: set[str]) -> None:
    path = put(tmp_path, *SPANS, *OTHERS)
    texts = [
        replace(one, marks=[mark for mark in one.marks or () if mark.key != (lost,)]) for one in read_standoff(path)
    ]
    stream = BytesIO()
    with leaves_out(f"left out: {len(left_out)} lines of spans that are not"):
        write_standoff(stream, texts, path)
    written = {line.split("\t")[0] for line in stream.getvalue().decode().splitlines()}
    assert {line.split("\t")[0] for line in (*SPANS, *OTHERS)} - written == left_out | {lost}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("T1 PER 0 5 North", "'T1 PER 0 5 North' is no line"), ("T1\tPER 5 5\t", "T1 is '', but at 5 5 is ''"),
        ("T1\tPER 0 5\tSouth", "T1 is 'South', but at 0 5 is 'North'"), ("T1\tPER 0 99\tx", "T1 is 'x', but at 0 99"),
        ("T1\tPER 0\tx", "is no line"), (f"T1\tPER 0 {'9' * 5000}\tx", "is no line"), ("x", "is no line"),
        ("\xff", "not valid UTF-8"),
    ],
)  # fmt: skip
def test_what_is_broken(tmp_path: Path, line: str, what: str) -> None:
    path = put(tmp_path, SPANS[0])
    path.write_bytes(path.read_bytes() + line.encode("latin-1"))
    with refuses(rf"a\.ann:2: .*{what}"):
        list(read_standoff(path))


def test_texts_are_beside(tmp_path: Path) -> None:
    for text, lines in (("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\n\n", 2), ("a\r\nb", 2)):
        assert len(list(read_standoff(put(tmp_path, text=text)))) == lines
    (_, one) = read_standoff(put(tmp_path, "T1\tX 3 4\tb", text="a\r\nb"))
    assert one.marks == [(0, 1, "X", ("T1",))], "brat counts the carriage return, too"
    (tmp_path / "a.txt").unlink()
    with refuses(r"a\.txt: no such file"):
        list(read_standoff(tmp_path / "a.ann"))
