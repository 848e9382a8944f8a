"""Text in other encodings is read as the same text in UTF-8 is."""

import codecs
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import refused, run
from hypothesis import given
from hypothesis import strategies as st
from readings import refuses

from corpora import SettingError
from corpora.encodings import named_encoding, read_as
from corpora.files import count_lines, read_lines
from corpora.readers import open_corpus

LINES = ["la maison est là .", "", "Ċ 東京 \U0001f600", "x" * 70_000 + "\u0a0a"]


@pytest.fixture(autouse=True)
def _in_utf8_afterwards() -> Iterator[None]:
    yield
    read_as("utf-8")


@pytest.mark.parametrize("encoding", [f"utf-{bits}{order}" for bits in (16, 32) for order in ("", "-le", "-be")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_utf16_and_utf32_are_recognised(tmp_path: Path, encoding: str, end: str, packed: bool) -> None:
    content = "".join(line + end for line in LINES).encode(encoding)
    (tmp_path / "a").write_bytes(gzip.compress(content) if packed else content)
    assert [line.decode() for line in read_lines(tmp_path / "a")] == LINES
    assert [line.decode() for line in read_lines(tmp_path / "a", 2)] == LINES[2:]
    assert count_lines(tmp_path / "a") == len(LINES)


@given(st.text(st.characters(min_codepoint=9, max_codepoint=0xFFFF, exclude_categories=["Cs"]), min_size=2))
@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf32_is_recognised_by_two_characters(
    tmp_path_factory: pytest.TempPathFactory, mark: str, order: str, text: str
) -> None:
    path = tmp_path_factory.mktemp("encodings") / "a"
    text = "\n".join(line.rstrip("\r") for line in f".{text}.".split("\n"))
    path.write_bytes(f"{mark}{text}".encode(f"utf-32-{order}"))
    assert b"\n".join(read_lines(path)).decode() == text


@given(st.lists(st.text(st.characters(codec="cp1252", exclude_characters="\0\n\r"))))
def test_code_pages_are_named(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("encodings") / "a"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode("cp1252"))
    read_as("windows-1252")
    assert named_encoding() == "cp1252"
    assert [line.decode() for line in read_lines(path)] == lines
    assert count_lines(path) == len(lines)
    path.write_bytes("é\n".encode("utf-8-sig"))
    assert [*read_lines(path)] == ["é".encode()], "a mark of UTF-8 says more than a name"


def test_what_is_no_such_text(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("a\nb\nc".encode("utf-16") + b"\x00")
    with refuses(r"/a:3: not valid UTF-16-LE"):
        list(read_lines(path))
    path.write_bytes("a\nb\nc".encode("utf-32-be") + b"\0\x20\0\0")
    with refuses(r"/a:3: not valid UTF-32-BE"):
        list(read_lines(path))
    path.write_bytes(b"a\nb\xff\n")
    read_as("shift_jis")
    with refuses(r"/a:2: not valid SHIFT_JIS"):
        list(read_lines(path))
    content = ("Ċ" + "\n\u0a0a" * 300_000).encode("utf-16-le") + b"\0\xd8\n\0"
    path.write_bytes(gzip.compress(codecs.BOM_UTF16_LE + content, 1))
    with refuses(r"/a:300001: not valid UTF-16-LE"):
        list(read_lines(path))
    for name in ("nonsense", "base64", "", "undefined", "idna"):
        with refuses("unknown `encoding`", SettingError):
            read_as(name)
    assert named_encoding() == "shift_jis"


def test_commands_take_an_encoding(tmp_path: Path) -> None:
    text = "le café ||| the café\nla maison ||| the house\n"
    for name, encoding in (("a", "cp1252"), ("b", "utf-8"), ("c", "utf-16")):
        (tmp_path / name).write_text(text, encoding)
    stdin, named = (tmp_path / "a").read_bytes(), ("--encoding", "cp1252")
    run(*named, "train", tmp_path / "a", "-m", tmp_path / "M", "-q")
    for how in (("--format", "jsonl", "-q"), ("-m", tmp_path / "M", "--format", "jsonl", "-q")):
        expected = run("align", tmp_path / "b", *how).stdout
        assert "café" in expected
        assert run("align", tmp_path / "c", *how).stdout == expected
        assert run(*named, "align", tmp_path / "a", *how).stdout == expected
        assert run("align", "-", *how, *named, stdin=stdin).stdout == expected
    for content in ((tmp_path / "c").read_bytes(), gzip.compress(text.encode())):
        assert run("align", "-", *how, stdin=content).stdout == expected
    assert "ends too early" in refused("align", "-", *how, stdin=gzip.compress(text.encode())[:30])
    assert "name its encoding by --encoding" in refused("align", tmp_path / "a", line=1)
    (tmp_path / "links.jsonl").write_text(expected, "utf-8")
    for encoding in ("shift_jis", "cp1252"):  # links with words are UTF-8, whatever the text is
        shown = run("align", tmp_path / "links.jsonl", "--format", "jsonl", "-q", "--encoding", encoding).stdout
        assert [json.loads(line)["source"] for line in shown.splitlines()] == [["le", "café"], ["la", "maison"]]
    assert "requires an argument" in run("align", tmp_path / "b", "--encoding", code=2).stderr
    assert "unknown --encoding" not in run("--encoding", "x", "align", tmp_path / "b", code=2).stdout
    assert len(list(open_corpus(tmp_path / "b").texts())) == 2, "which holds for one command only"
