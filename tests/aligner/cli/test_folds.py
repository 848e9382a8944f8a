"""`aligner train` with folds: the trace and the messages, and that they tell of the same solutions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commands import run

from aligner.model.model import load


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("folds")
    train = ["train", sample / "train", "-m", folder / "M", "--trace", folder / "T", "-v", "--set", "max_labelled=100"]
    return folder, run(*train, "--set", "cross_validate=3")


def test_the_trace_says_of_each_audit_where_it_was(judged: tuple[Path, Any]) -> None:
    folder, result = judged
    record = load(folder / "M").record
    audits = [json.loads(line) for line in (folder / "T").read_text().splitlines()]
    said = [line for line in result.stderr.splitlines() if re.match(r"(without fold \d, )?pass ", line)]
    assert len(said) == len(audits)
    for audit, line in zip(audits, said, strict=True):
        fold = "" if audit["fold"] is None else f"without fold {audit['fold']}, "
        assert line.startswith(f"{fold}pass {audit['passes']:g}: ")
        before = [other for other in audits[: audits.index(audit) + 1] if other["fold"] == audit["fold"]]
        certified = min(other["primal"] for other in before) - max(other["dual"] for other in before)
        assert audit["gap"] == pytest.approx(certified, abs=1e-12)
        assert audit["gap"] >= -1e-9
    last = {audit["fold"]: audit for audit in audits}
    end = last.pop(None)
    assert last.keys() == {1, 2, 3}
    assert record["fold_passes"] == sum(audit["passes"] for audit in last.values())
    assert end.pop("fold") is None
    assert {name: record[name] for name in end} == end
    assert f"Wrong links on held-out pairs: {record['learnt_aer']:.3g} %" in result.stderr


@pytest.mark.slow
def test_folds_are_as_asked_for(sample: Path, tmp_path: Path) -> None:
    plain = run("train", sample / "train", "-m", tmp_path / "M", "--loss", "hinge")
    judged = run("train", sample / "train", "-m", tmp_path / "N", "--loss", "hinge", "--set", "cross_validate=4")
    assert re.search(r"^313 pairs taught. Wrong links on held-out pairs: [\d.]+ %\. Model", judged.stderr, re.M)
    assert "held-out" not in plain.stderr
    assert (load(tmp_path / "M").weights == load(tmp_path / "N").weights).all()


@pytest.mark.slow
def test_notes_are_in_the_figures(sample: Path, tmp_path: Path) -> None:
    result = run(
        "train", sample / "train", "-m", tmp_path / "M", "--set", "oracle=greedy", "--set", "max_passes=3", "-v"
    )
    notes = load(tmp_path / "M").record["notes"]
    assert notes
    assert re.search(rf"^notes +{re.escape(', '.join(notes))}$", result.stderr, re.M)
