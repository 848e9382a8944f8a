"""Text in columns of one file gives what two files of it give, in every command that reads text."""

import csv
import re
from pathlib import Path

import pytest
from commands import invoke, refused, run, write

COLUMNS = "--columns Greek,English", "--source el --target en"

LINES = [
    "align {} -o out -q", "score {} -o out -q", "terms {} links -o out.tsv --least 1 -q", "show {} links",
    "lexicon {} links -o out -q", "report {} links --gold links --format csv -q",
]  # fmt: skip
"""Command lines with {} for the text."""

OF_PREFIX = [
    "evaluate links links --text {}", "combine links links --text {} -q", "project labels {} links -q",
    "convert {} out out2 -q",
]  # fmt: skip
"""Others, where the text is one path."""


@pytest.fixture(scope="module")
def folder(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text of two languages as one sheet with another column before them, as two files, and links."""
    made = tmp_path_factory.mktemp("reading")
    sides = [(sample / f"test.{end}").read_text().splitlines()[:12] for end in ("en", "fr")]
    for name, lines in zip(("t.el", "t.en"), sides, strict=True):
        write(made / name, *lines)
    with (made / "t.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["Id", "Greek", "English", "el", "en"])
        rows.writerows([number, *pair, *pair] for number, pair in enumerate(zip(*sides, strict=True)))
    write(made / "links", *(sample / "test.wa").read_text().splitlines()[:12])
    write(made / "labels", *("".join(f"{word} X\n" for word in line.split()) for line in sides[0]))
    return made


def outcome(line: str, folder: Path) -> tuple[int, bytes, dict[str, bytes]]:
    before = {*folder.iterdir()}
    result = invoke(*line.split())
    written = {path.name: path.read_bytes() for path in sorted({*folder.iterdir()} - before)}
    for name in written:
        (folder / name).unlink()
    return result.exit_code, re.sub(rb"line \d+", b"line", result.stdout_bytes), written


@pytest.mark.slow
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("line", [*LINES, *OF_PREFIX])
def test_columns_of_a_sheet_are_texts(line: str, columns: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    plain = line.format("t.el t.en" if line in LINES else "t")
    expected = outcome(f"{plain} --source el --target en", folder)
    assert expected[0] == 0
    assert any(expected[1:])
    assert outcome(f"{line.format('t.csv')} {columns}", folder) == expected


@pytest.mark.slow
@pytest.mark.parametrize("columns", COLUMNS)
def test_a_model_of_columns_of_a_sheet(columns: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which reads a sheet in its direction, or as it is told."""
    monkeypatch.chdir(folder)
    run(*f"train t.csv -m M -q --force {columns}".split())
    aligned = run(*f"align t.csv -m M {columns}".split()).stdout
    assert run(*"align t.el t.en -m M".split()).stdout == aligned != ""
    if "el" in columns:
        assert "t.csv: is en-el, but M is for el-en (choose --source and --target, or --columns)" in refused(
            *"align t.csv -m M --source en --target el".split()
        )


@pytest.mark.parametrize("line", [*LINES, *OF_PREFIX])
@pytest.mark.parametrize("option", ["--columns a,b", "--untranslated"])
def test_two_files_have_no_columns(line: str, option: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    result = invoke(*line.format("t.el t.en" if line in LINES else "t").split(), *option.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(option.split()[0])


def test_two_files_are_in_the_order_of_their_languages(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for chosen in ("--source en", "--target el"):
        result = invoke(*f"show t.el t.en links {chosen}".split())
        assert (result.exit_code, result.stderr) == (1, "t.el: is el (give the two files in the other order)\n")
