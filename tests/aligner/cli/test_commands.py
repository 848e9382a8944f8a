"""The commands on good input: what they print where, what they write, and which direction they read in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from commands import COMMAND, run, write

import aligner
from aligner.model.model import load


def test_version() -> None:
    assert run("--version").stdout == f"aligner {aligner.__version__}\n"


@pytest.mark.slow
def test_strict_says_by_its_code_that_the_gap_was_not_reached(sample: Path, tmp_path: Path) -> None:
    model = tmp_path / "M"
    arguments = ["train", sample / "train", "-m", model, "--set", "cross_validate=0", "--force"]
    limits = ["--set", "tolerance=0", "--set", "max_passes=2"]
    assert "not converged" in run(*arguments, *limits, "--strict", code=3).stderr
    assert not load(model).record["converged"]
    run(*arguments, *limits)
    run(*arguments, "--strict")
    assert load(model).record["converged"]


def test_the_model_on_standard_output_is_the_model(sample: Path, tmp_path: Path) -> None:
    result = run("train", sample / "train", "-m", "-", "--set", "cross_validate=0")
    (tmp_path / "M").write_bytes(result.stdout_bytes)
    assert load(tmp_path / "M").record["pairs"] > 0
    assert "train.en = source, train.fr = target" in result.stderr
    assert "313 pairs taught. Model written to -\n" in result.stderr


def test_a_prefix_is_read_in_the_direction_of_the_model(sample: Path, tmp_path: Path) -> None:
    for language in ("en", "fr"):
        (tmp_path / f"t.{language}").write_bytes((sample / f"test.{language}").read_bytes())
    run("convert", sample / "test.wa", tmp_path / "t.wa", "--to", "pharaoh", "--transpose")
    backwards = ["--source", "fr", "--target", "en"]
    run("train", tmp_path / "t", "-m", tmp_path / "M", "-q", "--set", "cross_validate=0", *backwards)
    assert load(tmp_path / "M").languages == ("fr", "en")
    by_name = run("align", tmp_path / "t.fr", tmp_path / "t.en", "-m", tmp_path / "M").stdout
    assert run("align", tmp_path / "t", "-m", tmp_path / "M", "-o", tmp_path / "F", "-q").stderr == ""
    assert (tmp_path / "F").read_text() == by_name
    run("evaluate", tmp_path / "t", tmp_path / "F", *backwards)
    run("evaluate", tmp_path / "t", tmp_path / "F", code=1)
    # Of two files the corpus decides, of labels too.
    learn = ["--gold", tmp_path / "t", "--set", "max_passes=1", "--set", "cross_validate=0"]
    found = run("train", tmp_path / "t.fr", tmp_path / "t.en", *learn, "-m", tmp_path / "G")
    assert f"{tmp_path / 't'}: texts t.fr = source, t.en = target" in found.stderr


OF_CHILD = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.parametrize("length", [1000, pytest.param(2000, marks=pytest.mark.nightly)])
def test_a_long_sentence_fits(model: Path, tmp_path: Path, length: int) -> None:
    words = [f"w{n % 700}" for n in range(length)]
    for language in ("en", "fr"):
        write(tmp_path / f"t.{language}", "a b", " ".join(words), "c")
    write(tmp_path / "t.wa", "0-0 1-1", " ".join(f"{n}-{n}" for n in range(length)), "0-0")
    align = ["align", tmp_path / "t", "-m", model, "-o", tmp_path / "F"]
    for arguments in (align, ["train", tmp_path / "t", "-m", tmp_path / "M", "-q"]):
        # By way of a small process: what is started has its starter's memory for a moment, which counts.
        command = [sys.executable, "-c", OF_CHILD, *COMMAND, *map(str, arguments)]
        assert int(subprocess.run(command, check=True, capture_output=True).stdout) < 2**20, "KiB on Linux"
    assert len((tmp_path / "F").read_text().splitlines()) == 3
