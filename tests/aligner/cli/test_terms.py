"""`aligner terms`: all forms hold the same terms, of links that are given or found, and given terms are checked."""

from __future__ import annotations

import csv
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pytest
from commands import refused, run, write

from corpora import SettingError
from corpora.reading import parse_columns

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk

LEAST = "--least", "2"


@pytest.fixture(scope="module")
def text(sample: Path) -> tuple[Path, Path]:
    return sample / "train.en", sample / "train.fr"


def test_forms_hold_the_same_terms(text: tuple[Path, Path], tmp_path: Path) -> None:
    links, joint = tmp_path / "L", tmp_path / "joint"
    run("align", *text, "-o", links)
    printed = run("terms", *text, *LEAST, "-q").stdout
    assert run("terms", *text, links, *LEAST, "-q").stdout == printed, "links are found or given"
    write(joint, *map(" ||| ".join, zip(*(side.read_text("utf-8").splitlines() for side in text), strict=True)))
    assert run("terms", joint, *LEAST, "-q").stdout == printed
    header, *rows = [line.split("\t") for line in printed.splitlines()]
    assert header[:3] == ["source", "target", "count"]
    assert len(rows) > 50
    files = {end: tmp_path / f"terms.{end}" for end in ("tsv", "csv", "xlsx", "tbx", "html")}
    for file in files.values():
        assert f"{len(rows)} terms, written to {file}" in run("terms", *text, *LEAST, "-o", file).stderr
    with files["csv"].open(encoding="utf-8-sig", newline="") as stream:
        assert list(csv.reader(stream)) == [header, *rows]
    book = openpyxl.load_workbook(files["xlsx"])
    assert [[*row[:3]] for row in book.active.values][1:] == [[*row[:2], int(row[2])] for row in rows]
    entries = [[side.findtext("tig/term") for side in one] for one in ET.parse(files["tbx"]).iter("termEntry")]
    assert entries == [row[:2] for row in rows]
    data = json.loads(files["html"].read_text("utf-8").split('id="data">')[1].split("</script>")[0])
    assert [term[:2] for term in data["terms"]] == [row[:2] for row in rows]
    for source, target, *_, places in data["terms"]:
        for number, (a, b, c, d) in places:
            one, other = data["sentences"][str(number)]
            assert len(source.split()) == b - a <= len(one)
            assert len(target.split()) == d - c <= len(other)


def test_words_are_those_that_links_count(tmp_path: Path) -> None:
    """A no-break space is no space."""
    lines = ["10\u00a0km of road"] * 4 + [" ".join(f"the{n}" for n in range(20))] * 5  # the most frequent words
    texts = [write(tmp_path / name, *lines) for name in ("t.a", "t.b")]
    links = write(tmp_path / "L", *["0-0 2-2"] * 4, *[""] * 5)
    found = run("terms", *texts, links, "-q").stdout.splitlines()[1:]
    assert {row.split("\t")[0] for row in found} == {"10\u00a0km", "road", "10\u00a0km of road"}


def test_names_of_columns_with_commas_have_quotes() -> None:
    assert parse_columns('"Greek, modern", English') == ("Greek, modern", "English")
    assert parse_columns("2nd,en") == ("2nd", "en")
    for wrong in ("a,b,c", "1,b", "0,1", ",b", "", "\n"):
        with pytest.raises(SettingError, match="is not S,T"):
            parse_columns(wrong)


@pytest.mark.parametrize("command", [["terms"], ["score", "--format", "worst"]])
def test_without_openpyxl_no_work_is_begun(
    command: list[str], text: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    result = run(*command, *text, "-o", tmp_path / "x.xlsx", code=2)
    assert result.stderr == "XLSX needs openpyxl (pip install openpyxl, or use CSV)\n"
    assert not list(tmp_path.iterdir())


def test_glossaries_are_checked(text: tuple[Path, Path], desk: Desk) -> None:
    """Also those of other programs, in the languages of the text, and a table of its terms, which it keeps to."""
    glossary = write(desk.folder / "glossary", "house\tchâteau", "house\tdemeure", "zebra\tzèbre")
    printed = run("terms", *text, "--check", glossary, "-q").stdout
    header, *rows = [line.split("\t") for line in printed.splitlines()]
    assert header == ["pair", "term", "expected", "found", "source", "target"]
    lines = [{*line.lower().split()} for line in text[0].read_text("utf-8").splitlines()]
    assert sorted({int(row[0]) for row in rows}) == [
        n for n, words in enumerate(lines, 1) if {"house", "houses"} & words
    ]
    assert {(row[2], row[3]) for row in rows} == {("château | demeure", found) for found in ("maison", "maisons")}
    table = write(desk.folder / "g.csv", "id;French;English", "1;château;house", "2;demeure;house", "3;;zebra")
    found = run("terms", *text, "--check", table, "-q")
    assert found.stdout == printed
    assert "g.csv: left out: 1 entries without a term in both languages" in found.stderr
    own = write(desk.folder / "terms.tsv", *run("terms", *text, *LEAST, "-q").stdout.splitlines()[:31])
    times = sum(int(row.split("\t")[2]) for row in own.read_text("utf-8").splitlines()[1:])
    assert run("terms", *text, "--check", own, "-q").stdout.count("\n") - 1 < times / 5


def test_what_is_refused(text: tuple[Path, Path], desk: Desk) -> None:
    glossary = write(desk.folder / "glossary.tsv", "house")
    assert "glossary.tsv:1: 'house' is no term and translation" in refused("terms", *text, "--check", glossary, line=1)
    assert run("terms", *text, "--check", glossary, "-o", desk.folder / "x.html", code=2).stderr.count("\n") == 1
    for name in ("--check", "--stop"):
        assert "is read here" in refused("terms", *text, name, glossary, "-o", glossary, "--force")
    assert not (desk.folder / "x.html").exists()
