"""aligner combine, and probabilities of --links: what is read, what is written, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import refused, run, write

from corpora.link_files import read_links


def test_one_system_is_its_own_consensus(sample: Path, tmp_path: Path) -> None:
    gold = sample / "test.wa"
    union = run("symmetrize", gold, gold, "--method", "union").stdout
    assert run("combine", gold).stdout == run("combine", gold, gold, gold).stdout == union
    output = tmp_path / "out.gz"
    assert not run("combine", gold, "--text", sample / "test", "-o", output, "-q").stdout
    assert len(read_links(output)) == union.count("\n")


def test_probabilities_decide(tmp_path: Path) -> None:
    one = write(tmp_path / "one", "0-0:0.99 1-1:.9 2-2:1e-2", "", "0-0")
    other = write(tmp_path / "other", "0-0 2-3:2e-1", "1-0", "")
    assert run("combine", one, other).stdout == "0-0 1-1\n1-0\n0-0\n"


def test_broken_files_are_named(sample: Path, tmp_path: Path) -> None:
    whole, text = sample / "test.wa", sample / "test"
    lines = whole.read_text().splitlines()
    short = write(tmp_path / "short", *lines[:-1])
    assert f"ends after {len(lines) - 1} pairs" in refused("combine", whole, short, line=len(lines) - 1)
    broken = write(tmp_path / "broken", lines[0], "0-0:1.5", *lines[2:])
    assert "'0-0:1.5' has no probability (give i-j:p" in refused("combine", whole, broken, line=2)
    outside = write(tmp_path / "outside", lines[0], lines[1], "0-99", *lines[3:])
    assert run("combine", whole, outside).stdout
    assert "out of range" in refused("combine", whole, outside, "--text", text, line=3)


@pytest.mark.slow
def test_probabilities_of_links_are_checked_before_the_work(model: Path, sample: Path, tmp_path: Path) -> None:
    lines = (sample / "test.wa").read_text().splitlines()
    broken = write(tmp_path / "broken", lines[0], "0-0:0", *lines[2:])
    for command in (
        ["align", sample / "test", "--links", f"neural={broken}"],
        ["train", sample / "test", "--links", f"neural={broken}", "-m", tmp_path / "M", "-q"],
    ):
        assert "'0-0:0' has no probability" in refused(*command, line=2)
    # Scores of links that are to be judged are of any kind.
    scored = write(tmp_path / "scored", lines[0], "0-0:-3.5", *lines[2:])
    assert run("score", sample / "test.en", sample / "test.fr", scored, "-m", model).stdout.count("\n") == len(lines)
