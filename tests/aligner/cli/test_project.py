"""Inline markup by the command, from Python, and by the service's requests."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from commands import refused, run, write

import aligner
from aligner.pages.serve.requests import Limits, ToProject, answer_all
from corpora.inline.kinds import read_marked


@pytest.fixture(scope="module")
def texts(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """en, with its first word in bold, fr, and their gold links."""
    folder = tmp_path_factory.mktemp("marked")
    for side in ("en", "fr"):
        write(folder / side, *(sample / f"test.{side}").read_text("utf-8").splitlines())
    lines = (folder / "en").read_text("utf-8").splitlines()
    write(folder / "tags", *(f"<b>{line.replace(' ', '</b> ', 1)}" for line in lines))
    (folder / "wa").write_bytes((sample / "test.wa").read_bytes())
    return folder


def test_lines_with_links(texts: Path, tmp_path: Path) -> None:
    files = texts / "tags", texts / "fr", texts / "wa", "--markup", "html"
    told = run("project", *files, "-o", tmp_path / "out", "--unsure", tmp_path / "unsure.csv").stderr
    output = (tmp_path / "out").read_text("utf-8").splitlines()
    target = (texts / "fr").read_text("utf-8").splitlines()
    assert [read_marked(line, "html").text for line in output] == target
    assert all(line.count("<b>") == line.count("</b>") == 1 for line in output)
    with (tmp_path / "unsure.csv").open(encoding="utf-8-sig") as stream:
        rows = [*csv.DictReader(stream)]
    assert f"{len(output)} tags, {len(rows)} unsure, written to" in told
    for row in rows:
        assert row["text"] == target[int(row["line"]) - 1]
        assert row["tag"] == "<b>"
    report = run("project", *files, "--gold", tmp_path / "out", "-q").stdout.splitlines()
    assert report[-1].split()[:3] == ["all", f"{len(output)}", "100.00"]
    assert "has not the text" in refused(
        "project", *files, "--gold", texts / "tags", "-q", "-o", tmp_path / "x", line=1
    )
    longer = write(tmp_path / "longer", *output, "more")
    assert "has more segments than the target" in refused("project", *files, "--gold", longer, "-q")
    assert not (tmp_path / "x").exists()


def test_corrections_are_taken_over(texts: Path, tmp_path: Path) -> None:
    """A table of unsure tags, in each format that it is written in; for corrected ones see the tests of its page."""
    files = texts / "tags", texts / "fr", texts / "wa", "--markup", "html"
    output = run("project", *files, "-q").stdout
    for end in ("tsv", "csv", "xlsx"):
        table = tmp_path / f"unsure.{end}"
        run("project", *files, "-o", tmp_path / end, "--unsure", table, "-q")
        told = run("project", *files, "-o", tmp_path / "out", "--corrected", table, "--force").stderr
        assert ", 0 unsure, written to" in told
        assert (tmp_path / "out").read_text("utf-8") == output


def test_examples_of_a_memory(model: Path, tmp_path: Path) -> None:
    unit = "<tu><tuv xml:lang='en'><seg>{}</seg></tuv><tuv xml:lang='de'><seg>{}</seg></tuv>{}</tu>"

    def memory(name: str, *parts: str) -> Path:
        return write(tmp_path / name, f"<tmx version='1.4'><header/><body>{unit.format(*parts)}</body></tmx>")

    tagged = "the <hi>power button</hi>", "die <hi>Ein Aus Taste</hi>", "<tuv xml:lang='fr'><seg>x</seg></tuv>"
    known, plain = memory("m.tmx", *tagged), memory("n.tmx", "a", "b", "")
    pair = "press <b>power button</b> now", "Jetzt Ein Aus Taste dr\u00fccken"
    files = [write(tmp_path / name, line) for name, line in zip("stl", (*pair, "0-4 2-3 3-0"), strict=True)]
    command = "project", *files, "--markup", "html", "-q"
    assert "<b>Taste</b>" in run(*command).stdout
    assert "<b>Ein Aus Taste</b>" in run(*command, "--examples", known, "--source", "en", "--target", "de").stdout
    settings = aligner.AlignSettings(source="en", target="de")
    (found,) = aligner.project([pair], model=aligner.load(model), settings=settings, examples=known)
    assert "<b>Ein Aus Taste</b>" in found.target
    for wrong, said in (
        (known, "has 3 languages"),
        (plain, "has no tags around words"),
        (files[0], "is neither TMX nor XLIFF"),
    ):
        assert said in refused(*command, "--examples", wrong)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("1 0 2 1 {}", "there is no tag 0 with a place from 2 to 1"),
        ("1 7 0 1 {}", "there is no tag 7"),
        ("1 0 0 1 x", "has another target than pair 1 of the text"),
        ("900 0 0 1 x", "is of pair 900, but the text has"),
        ("1 0 -1 1 {}", "has not a number in each of pair, number, start, end"),
        ("1 0", "has not a number in each of pair, number, start, end"),
        ("1 0 0 1 {}|1 1 0 1 x", "does not go with line 2"),
        ("1 0 0 1 {}|1 0 0 2 {}", "does not go with line 2"),
    ],
)
def test_corrections_that_are_refused(texts: Path, tmp_path: Path, row: str, said: str) -> None:
    target = (texts / "fr").read_text("utf-8").splitlines()[0]
    rows = ["\t".join(cell.format(target) for cell in one.split(" ", 4)) for one in row.split("|")]
    table = write(tmp_path / "table", "pair\tnumber\tstart\tend\ttext", *rows)
    files = texts / "tags", texts / "fr", texts / "wa", "--markup", "html"
    assert said in refused("project", *files, "--corrected", table, "-q", "-o", tmp_path / "x", line=1 + len(rows))
    assert not (tmp_path / "x").exists()
    write(tmp_path / "table", "pair\tend", "1\t0")
    assert "has no column" in refused("project", *files, "--corrected", table, "-q", line=1)


def test_links_of_other_tokens(tmp_path: Path) -> None:
    """Links of words between spaces, or of tokens in jsonl."""
    write(tmp_path / "en", "Press <b>Ctrl</b>-S, <i>please</i>.")
    write(tmp_path / "de", "Bitte Strg-S drücken.")
    write(tmp_path / "links", "0-2 1-1 2-0")
    output = "<i>Bitte</i> <b>Strg</b>-S drücken.\n"
    command = "project", tmp_path / "en", tmp_path / "de", tmp_path / "links", "--markup", "html", "-q"
    assert run(*command).stdout == output, "words of which a part is tagged"
    source, target = ["Press", "Ctrl", "-S", ",", "please", "."], ["Bitte", "Strg", "-S", "drücken", "."]
    pair = {"source": source, "target": target, "links": [[0, 3], [1, 1], [2, 2], [4, 0], [5, 4]]}
    write(tmp_path / "links", json.dumps(pair))
    assert run(*command).stdout == output
    write(tmp_path / "links", json.dumps({**pair, "source": [*source[:-1], "other"]}))
    assert "links of other words" in refused(*command, line=1)


@pytest.mark.parametrize("with_model", [True, False])
def test_python_and_service_say_the_same(texts: Path, model: Path, with_model: bool) -> None:
    given = ["-m", model] if with_model else []
    output = run("project", texts / "tags", texts / "fr", "--markup", "html", *given, "-q").stdout.splitlines()
    pairs = [*zip(*((texts / side).read_text("utf-8").splitlines() for side in ("tags", "fr")), strict=True)]
    loaded = aligner.load(model)
    swapped = run("project", texts / "fr", texts / "en", *given, "--markup", "html")
    assert ("are the sides swapped?" in swapped.stderr) == with_model
    found = aligner.project(pairs, model=loaded if with_model else None)
    assert [one.target for one in found] == output
    if with_model:
        asked = {"markup": "html", "pairs": [{"source": source, "target": target} for source, target in pairs]}
        ((answer, number),) = answer_all(loaded, Limits(), [ToProject(json.dumps(asked).encode())])  # type: ignore[misc]
        expected = [{"target": one.target, "tags": [tag._asdict() for tag in one.tags]} for one in found]
        assert [{name: pair[name] for name in ("target", "tags")} for pair in json.loads(answer)["pairs"]] == expected
        assert number == len(pairs)


def test_documents(tmp_path: Path) -> None:
    unit = "<trans-unit id='1'><source>A <g id='1'>house</g></source><target>{}</target></trans-unit>"
    unit = f"<xliff version='1.2'><file>{unit}</file></xliff>"
    path, links = tmp_path / "d.xlf", write(tmp_path / "links", "0-0 1-1")
    path.write_text(unit.format("Une maison"))
    assert run("project", path, links, "-q").stdout == unit.format("Une <g id='1'>maison</g>")
    bodies = {"en": "A <b>house</b>", "fr": "Une maison"}
    pages = [write(tmp_path / name, f"<!doctype html><p>{body}") for name, body in bodies.items()]
    assert run("project", *pages, links, "-q").stdout == "<!doctype html><p>Une <b>maison</b>\n"
    assert "is read here" in refused("project", path, links, "-o", path, "--force")
    assert "is read more than once" in refused("project", "-", pages[1], links, "--markup", "html", "-q")
    write(tmp_path / "empty")
    assert run("project", tmp_path / "empty", tmp_path / "empty", "--markup", "html", "-q").stdout == ""
