"""The page of differences: each row names a program in a version, and the test in which it was seen."""

from __future__ import annotations

import re

import pytest
from neighbours.environments import ROOT

TESTS = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if path.name != "test_page.py"]
TABLE = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "docs" / "neighbours.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| program |")
]


def test_the_page_has_rows() -> None:
    assert len(TABLE) > 20
    assert len((ROOT / "docs" / "neighbours.md").read_bytes()) <= 10_000


@pytest.mark.parametrize("row", range(len(TABLE)))
def test_each_row_is_held_by_a_test_with_this_version(row: int) -> None:
    *cells, test = TABLE[row]
    assert len(cells) == 4, "without a bar in a cell"
    name = next(cells[0] for cells in TABLE[row::-1] if cells[0])
    (file,) = [path for path in TESTS if f"def {test.strip('`')}(" in path.read_text("utf-8")]
    text = re.sub(r"\[[a-z,]+\]==", "==", file.read_text("utf-8"))
    for program in re.sub(r" \(.*\)", "", name).split(", "):
        words = program.split(" ")
        pins = [f"{words[0]}{sign}{words[-1]}".lower() for sign in ("==", "@")]
        assert any(pin in text.lower() for pin in pins) or program in text, program
