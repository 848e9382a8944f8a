"""`aligner train --path`: the table, the trace and the messages, and that they tell of the same solutions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commands import run

from aligner.model.model import load


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("path")
    train = ["train", sample / "train", "-m", folder / "M", "--trace", folder / "T", "-v", "--max-labelled", 100]
    return folder, run(*train, "--path", "100:0.1:4", "--cross-validate", 3)


def test_the_table_is_that_of_the_model(followed: tuple[Path, Any]) -> None:
    folder, result = followed
    record = load(folder / "M").record
    header, *table = result.stderr.split("\n\n")[1].splitlines()[:5]
    assert [line.split()[0] for line in table] == ["100", "10", "1", "0.1"]
    for line, row in zip(table, record["path"], strict=True):
        assert ("*" in line) == (row["regularization"] == record["regularization"])
        assert f"{row['aer']:.4g}" == line.split()[header.split().index("aer")]
    assert f"chose λ, too: {min(row['aer'] for row in record['path']):.3g} %" in result.stderr


def test_the_trace_says_of_each_audit_where_it_was(followed: tuple[Path, Any]) -> None:
    folder, result = followed
    record = load(folder / "M").record
    audits = [json.loads(line) for line in (folder / "T").read_text().splitlines()]
    said = [line for line in result.stderr.splitlines() if line.startswith("λ ")]
    assert len(said) == len(audits)
    for audit, line in zip(audits, said, strict=True):
        fold = "" if audit["fold"] is None else f" without fold {audit['fold']}"
        assert line.startswith(f"λ {audit['regularization']:.4g}{fold}, pass {audit['passes']:g}: ")
        assert audit["gap"] <= audit["primal"] - audit["dual"] + 1e-9  # of the best primal and dual so far
        assert audit["gap"] >= -1e-9
    assert {audit["fold"] for audit in audits} == {None, 1, 2, 3}
    last = {(audit["regularization"], audit["fold"]): audit for audit in audits}
    for row in record["path"]:
        folds = [last[row["regularization"], fold] for fold in (1, 2, 3)]
        assert row["passes"] == last[row["regularization"], None]["passes"]
        assert row["fold_passes"] == sum(audit["passes"] for audit in folds)
    end = last[record["regularization"], None]
    assert end.pop("fold") is None
    assert {name: record[name] for name in end} == end


@pytest.mark.slow
def test_one_lambda_is_judged_without_a_table(sample: Path, tmp_path: Path) -> None:
    plain = run("train", sample / "train", "-m", tmp_path / "M", "--loss", "hinge")
    judged = run("train", sample / "train", "-m", tmp_path / "N", "--loss", "hinge", "--cross-validate", 4)
    assert re.search(r"^313 pairs taught. Wrong links on held-out pairs: [\d.]+ %\. Model", judged.stderr, re.M)
    assert "held-out" not in plain.stderr
    assert "\n\n" not in judged.stderr
    assert (load(tmp_path / "M").weights == load(tmp_path / "N").weights).all()


@pytest.mark.slow
def test_notes_are_in_the_table(sample: Path, tmp_path: Path) -> None:
    result = run("train", sample / "train", "-m", tmp_path / "M", "--oracle", "greedy", "--max-passes", 3, "-v")
    notes = load(tmp_path / "M").record["notes"]
    assert notes
    assert re.search(rf"^notes +{re.escape(', '.join(notes))}$", result.stderr, re.M)
