"""The commands on good input: what they print where, what they write, and that files and library agree."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from commands import COMMAND, run, write
from typer.testing import CliRunner

import aligner
from aligner.cli import app
from aligner.cli.outputs import Format
from aligner.model.model import load


def test_no_arguments_show_the_commands() -> None:
    result = CliRunner().invoke(app, [])
    assert all(name in result.output for name in ("train", "align", "evaluate", "info", "convert", "symmetrize"))


def test_version() -> None:
    assert run("--version").stdout == f"aligner {aligner.__version__}\n"


@pytest.mark.slow
def test_quick_start(sample: Path, tmp_path: Path) -> None:
    model, links = tmp_path / "M", tmp_path / "F"
    trained = run("train", sample / "train", "-m", model)
    assert not trained.stdout
    judged = r"\n313 pairs taught. Held-out AER ([\d.]+) %, .*; of the default weights ([\d.]+) %\. Model"
    learnt, default = map(float, re.search(judged, trained.stderr).groups())  # type: ignore[union-attr]
    assert learnt < default
    assert "train.en = source, train.fr = target" in trained.stderr
    assert f" Model written to {model}\n" in trained.stderr
    aligned = run("align", sample / "test.en", sample / "test.fr", "-m", model, "-o", links)
    assert not aligned.stdout
    assert "without a link" in aligned.stderr
    judged = run("evaluate", sample / "test.wa", links)
    assert not judged.stderr
    (report,) = json.loads(run("evaluate", sample / "test.wa", links, "--format", "json").stdout)
    assert {"aer", "precision", "recall", "f1", "links", "sure", "possible", "pairs", "interval", "signature"} <= {
        *report
    }
    assert report["links"] == len(links.read_text().split())
    assert report["pairs"] == len(links.read_text().splitlines())
    assert report["interval"][0] <= report["aer"] <= report["interval"][1]
    assert f"{report['aer']:.2f}" in judged.stdout
    assert report["signature"] in judged.stdout
    assert report["aer"] < 25


def test_a_naacl_hypothesis_may_leave_its_last_pairs_without_links(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.wa", "0-0", "1-1", "")
    found = write(tmp_path / "found.naacl", "1 1 1 S", "2 2 2 S")
    (report,) = json.loads(run("evaluate", gold, found, "--format", "json").stdout)
    assert (report["pairs"], report["aer"]) == (3, 0.0)


@pytest.mark.slow
def test_strict_says_by_its_code_that_the_gap_was_not_reached(sample: Path, tmp_path: Path) -> None:
    model = tmp_path / "M"
    limits = "--set tolerance=0 --set max_passes=2 --set cross_validate=0"
    arguments = ["train", sample / "train", "-m", model, *limits.split()]
    assert "not converged" in run(*arguments, "--strict", code=3).stderr
    assert not load(model).record["converged"]
    run(*arguments, "--force")
    run("train", sample / "train", "-m", model, "--strict", "--force", "--set", "cross_validate=0")
    assert load(model).record["converged"]


def test_force_replaces_the_old_file(model: Path, sample: Path, tmp_path: Path) -> None:
    output = write(tmp_path / "F", "old")
    run("align", sample / "test", "-m", model, "-o", output, "--force")
    assert output.read_text() == run("align", sample / "test", "-m", model).stdout
    assert [*tmp_path.iterdir()] == [output]


def test_the_model_on_standard_output_is_the_model(sample: Path, tmp_path: Path) -> None:
    result = run("train", sample / "train", "-m", "-", "--set", "cross_validate=0")
    (tmp_path / "M").write_bytes(result.stdout_bytes)
    assert load(tmp_path / "M").record["pairs"] > 0
    assert "313 pairs taught. Model written to -\n" in result.stderr


ODD = [
    ("the house", "la maison"), ("", ""), ("only", ""), ("", "seulement"), ("  a\tb  c ", "d\te  f"),
    ("x | y", "x | y"), ("a\u2028b c", "d\u2028e f"), ("a\u00a0b c\u3000d", "e\u0085f g"),
    ("w" * 300, "w" * 299 + "z"), (" \t", "  "), ("e\u0301 \U0001f600", "\u00e9"),
]  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_odd_text_keeps_its_lines_and_tokens(model: Path, sample: Path, tmp_path: Path, end: str, bom: str) -> None:
    source = write(tmp_path / "o.en", *(line[0] for line in ODD), end=end)
    target = write(tmp_path / "o.fr", *(line[1] for line in ODD), end=end)
    source.write_bytes(bom.encode() + source.read_bytes().rstrip(b"\r\n"))  # its last line has no end
    outputs = {f: run("align", source, target, "-m", model, "--format", f).stdout.split("\n") for f in get_args(Format)}
    for lines in outputs.values():
        assert lines.pop() == ""
        assert len(lines) == len(ODD)
    for texts, line in zip(ODD, outputs["jsonl"], strict=True):
        entry = json.loads(line)
        tokens = [[token.decode() for token in text.encode().split()] for text in texts]
        assert [entry["source"], entry["target"]] == tokens
        assert all(j < len(tokens[0]) and k < len(tokens[1]) and score > 0 for j, k, score in entry["links"])
    run("train", source, target, "--gold", sample / "test", "-m", tmp_path / "M", "-q", "--set", "cross_validate=0")
    assert load(tmp_path / "M").record["pairs"] == len(ODD)


def test_source_and_target_choose_the_direction(model: Path, sample: Path, tmp_path: Path) -> None:
    for language in ("en", "fr"):
        (tmp_path / f"t.{language}").write_bytes((sample / f"test.{language}").read_bytes())
    run("convert", sample / "test.wa", tmp_path / "t.wa", "--to", "pharaoh", "--transpose")
    backwards = ["--source", "fr", "--target", "en"]
    run("train", tmp_path / "t", "-m", tmp_path / "M", "-q", "--set", "cross_validate=0", *backwards)
    assert load(tmp_path / "M").languages == ("fr", "en")
    by_prefix = run("align", tmp_path / "t", "-m", tmp_path / "M", "-o", tmp_path / "F", "-q")
    assert not by_prefix.stderr
    by_name = run("align", tmp_path / "t.fr", tmp_path / "t.en", "-m", tmp_path / "M").stdout
    assert (tmp_path / "F").read_text() == by_name, "a prefix is read in the direction of the model"
    run("evaluate", tmp_path / "t", tmp_path / "F", *backwards)
    run("evaluate", tmp_path / "t", tmp_path / "F", code=1)
    converted = run("convert", tmp_path / "t", "-", "--to", "comtrans", *backwards).stdout.split("\n")
    assert converted[0] == (sample / "test.fr").read_text().split("\n")[0]


@pytest.mark.slow
def test_giza_output_is_a_silver_corpus(data: Path, tmp_path: Path) -> None:
    corpus, model = data / "giza" / "en-nl.A3.final", tmp_path / "M"
    run("train", corpus, "-m", model, "-q")
    run("align", corpus, "-m", model, "-o", tmp_path / "F")
    (report,) = json.loads(run("evaluate", corpus, tmp_path / "F", "--format", "json").stdout)
    assert report["pairs"] == 1000
    assert report["aer"] == pytest.approx(load(model).record["training_aer"]), "the same text was aligned in training"


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
