"""Commands take a whole corpus in one file, such as a translation memory, where they take two texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commands import refused, run, write

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk


@pytest.fixture
def memory(desk: Desk) -> Path:
    run("convert", desk.gold, desk.folder / "m.tmx", "--text", desk.text, "-q")
    return desk.folder / "m.tmx"


@pytest.mark.parametrize("form", ["scored", "jsonl", "tsv"])
def test_a_memory_is_two_texts(desk: Desk, memory: Path, form: str) -> None:
    links, texts = desk.folder / "L", (desk.source, desk.target)
    run("align", memory, "--format", form, "-o", links, "-q")
    assert run("align", *texts, "--format", form, "-q").stdout == links.read_text("utf-8")
    for command in ("show", "report"):
        more = ["--gold", desk.gold, *(["--format", "csv"] if command == "report" else [])]
        assert run(command, memory, links, *more, "-q" if command == "report" else "-n2").stdout == (
            run(command, *texts, links, *more, "-q" if command == "report" else "-n2").stdout
        )
    for name, given in (("one", [memory]), ("two", texts)):
        run("lexicon", *given, links, "-o", desk.folder / name, "-q")
    assert (desk.folder / "one.tsv").read_bytes() == (desk.folder / "two.tsv").read_bytes()
    two = run("report", memory, f"a={links}", f"b={links}", "--gold", desk.gold, "--format", "csv").stdout
    assert [line.split(",")[0].strip('"') for line in two.splitlines()] == ["name", "a", "b"]


def test_what_is_missing_is_named(desk: Desk, memory: Path) -> None:
    for command in ("show", "report", "lexicon"):
        assert "nowhere: no such file" in refused(command, memory, desk.folder / "nowhere")
    text = write(desk.folder / "text", "a b", "c")
    assert "is TMX, which holds both languages" in refused("report", memory, text, text)
