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
from corpora.link_files import read_links
from corpora.reading import parse_columns

if TYPE_CHECKING:
    from tests.aligner.cli.conftest import Desk

LEAST = "--least", "2"


@pytest.fixture(scope="module")
def text(sample: Path) -> tuple[Path, Path]:
    return sample / "train.en", sample / "train.fr"


def test_forms_hold_the_same_terms(text: tuple[Path, Path], tmp_path: Path) -> None:
    header, *rows = [line.split("\t") for line in run("terms", *text, *LEAST, "-q").stdout.splitlines()]
    assert header[:3] == ["source", "target", "count"]
    assert len(rows) > 50
    files = {end: tmp_path / f"terms.{end}" for end in ("tsv", "csv", "xlsx", "tbx", "html")}
    for file in files.values():
        assert f"{len(rows)} terms, written to {file}" in run("terms", *text, *LEAST, "-o", file).stderr
    with files["csv"].open(encoding="utf-8-sig", newline="") as stream:
        assert list(csv.reader(stream)) == [header, *rows]
    book = openpyxl.load_workbook(files["xlsx"])
    cells = [["" if cell is None else cell for cell in row] for row in book.active.values]
    assert [row[:3] for row in cells[1:]] == [[*row[:2], int(row[2])] for row in rows]
    entries = [[side.findtext("tig/term") for side in one] for one in ET.parse(files["tbx"]).iter("termEntry")]
    assert entries == [row[:2] for row in rows]
    page = files["html"].read_text("utf-8")
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert [term[:2] for term in data["terms"]] == [row[:2] for row in rows]
    for source, target, *_, places in data["terms"]:
        for number, (a, b, c, d) in places:
            sides = data["sentences"][str(number)]
            assert len(source.split()) == b - a <= len(sides[0])
            assert len(target.split()) == d - c <= len(sides[1])


def test_links_are_found_or_given(text: tuple[Path, Path], tmp_path: Path) -> None:
    links = tmp_path / "L"
    run("align", *text, "-o", links)
    found = run("terms", *text, *LEAST, "-q").stdout
    assert run("terms", *text, links, *LEAST, "-q").stdout == found
    joint = write(
        tmp_path / "joint",
        *(f"{a} ||| {b}" for a, b in zip(*(side.read_text("utf-8").splitlines() for side in text), strict=True)),
    )
    assert run("terms", joint, *LEAST, "-q").stdout == found
    assert len(read_links(links)) == 313


def test_words_are_those_that_links_count(tmp_path: Path) -> None:
    """A no-break space is no space."""
    lines = ["10\u00a0km of road"] * 4 + [" ".join(f"the{n}" for n in range(20))] * 5  # the most frequent words
    texts = [write(tmp_path / name, *lines) for name in ("t.a", "t.b")]
    links = write(tmp_path / "L", *["0-0 2-2"] * 4, *[""] * 5)
    found = run("terms", *texts, links, "-q").stdout.splitlines()[1:]
    assert {row.split("\t")[0] for row in found} == {"10\u00a0km", "road", "10\u00a0km of road"}


def test_a_glossary_is_checked(text: tuple[Path, Path], desk: Desk) -> None:
    table = desk.folder / "terms.tsv"
    run("terms", *text, *LEAST, "-o", table)
    glossary = write(desk.folder / "glossary", "house\tchâteau", "house\tdemeure", "zebra\tzèbre")
    header, *rows = run("terms", *text, "--check", glossary, "-q").stdout.splitlines()
    assert header == "pair\tterm\texpected\tfound\tsource\ttarget"
    lines = text[0].read_text("utf-8").splitlines()
    with_house = [n for n, line in enumerate(lines, 1) if {"house", "houses"} & {*line.lower().split()}]
    assert sorted({int(row.split("\t")[0]) for row in rows}) == with_house
    assert {tuple(row.split("\t")[2:4]) for row in rows} == {
        ("château | demeure", found) for found in ("maison", "maisons")
    }
    best = write(table, *table.read_text("utf-8").splitlines()[:31])
    times = sum(int(row.split("\t")[2]) for row in best.read_text("utf-8").splitlines()[1:])
    own = run("terms", *text, "--check", best, "-q").stdout.splitlines()[1:]
    assert len(own) < times / 5, "a table of terms is a glossary that the text keeps to"


def test_glossaries_of_other_programs_are_checked(text: tuple[Path, Path], desk: Desk) -> None:
    """In the languages of the text, split as the text is."""
    expected = run("terms", *text, "--check", write(desk.folder / "g", "house\tchâteau"), "-q").stdout
    table = write(desk.folder / "g.csv", "id;French;English", "1;château;house", "2;;zebra")
    found = run("terms", *text, "--check", table, "-q")
    assert found.stdout == expected
    assert "g.csv: left out: 1 entries without a term in both languages" in found.stderr


def test_names_of_columns_with_commas_have_quotes() -> None:
    assert parse_columns('"Greek, modern", English') == ("Greek, modern", "English")
    assert parse_columns("2nd,en") == ("2nd", "en")
    for wrong in ("a,b,c", "1,b", "0,1", ",b", "", "\n"):
        with pytest.raises(SettingError, match="is not S,T"):
            parse_columns(wrong)


def test_what_is_refused(text: tuple[Path, Path], desk: Desk) -> None:
    glossary = write(desk.folder / "glossary.tsv", "house")
    assert "glossary.tsv:1: 'house' is no term and translation" in refused("terms", *text, "--check", glossary, line=1)
    for options in (
        ["-o", desk.folder / "terms.doc"],
        ["--check", glossary, "-o", desk.folder / "x.html"],
        ["--check", glossary, "--least", "2"],
        [desk.gold, "-m", desk.model],
        [desk.gold, "--columns", "1,2"],
    ):
        assert run("terms", *text, *options, code=2).stderr.count("\n") == 1
    for name in ("--check", "--stop"):
        assert "is read here" in refused("terms", *text, name, glossary, "-o", glossary, "--force")
    assert not [path for path in desk.contents() if path.endswith((".doc", ".html"))]


@pytest.mark.parametrize("command", [["terms"], ["score", "--format", "worst"]])
def test_without_openpyxl_no_work_is_begun(
    command: list[str], text: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    result = run(*command, *text, "-o", tmp_path / "x.xlsx", code=2)
    assert result.stderr == "XLSX needs openpyxl (pip install openpyxl, or use CSV)\n"
    assert not list(tmp_path.iterdir())
