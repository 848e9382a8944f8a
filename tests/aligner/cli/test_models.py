"""`aligner info` of features: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import refused, run, write

from aligner.model.model import Model, load


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    path = tmp_path_factory.mktemp("model") / "M"
    families = "bias,association,position,competition"
    run("train", sample / "train", "-m", path, "-q", "--set", "cross_validate=0", "--set", f"families={families}")
    return path


def test_features_of_a_model(model: Path, sample: Path) -> None:
    plain = run("info", model, "--features")
    assert "without" not in plain.stdout
    assert not plain.stderr
    names = load(model).features.names
    assert sorted(line.split()[0] for line in plain.stdout.split("\n\n")[2].splitlines()[1:]) == sorted(names)
    judged = run("info", model, sample / "test")
    assert "AER without" in judged.stdout
    found = json.loads(run("info", model, sample / "test", "--format", "json").stdout)["report"]
    assert f"AER {found['aer']:.2f} %" in judged.stdout
    assert {feature["name"] for feature in found["features"]} == {*names}
    # The same links are judged as `evaluate` judges them.
    links = model.parent / "F"
    run("align", sample / "test", "-m", model, "-o", links, "--force")
    (report,) = json.loads(run("evaluate", sample / "test.wa", links, "--format", "json").stdout)
    assert found["aer"] == pytest.approx(report["aer"])
    both = run("info", model, sample / "test", sample / "train", "--format", "json")
    assert json.loads(both.stdout)["report"]["pairs"] == report["pairs"] + load(model).record["labelled_pairs"]


def test_features_with_links_of_others(linked: Model, sample: Path, tmp_path: Path) -> None:
    linked.save(tmp_path / "L")
    given = "info", tmp_path / "L", sample / "test"
    found = json.loads(run(*given, "--links", sample / "test.wa", "--format", "json").stdout)["report"]
    assert "links" in {family["name"] for family in found["families"]}
    assert "--links" in refused(*given)


def test_what_features_refuses(model: Path, tmp_path: Path) -> None:
    for name in ("t.en", "t.fr", "u.en", "u.fr"):
        write(tmp_path / name, "a b")
    write(tmp_path / "u.wa", "0-9")
    for arguments in ([tmp_path / "nothing"], [model, tmp_path / "nothing"]):
        assert "nothing" in refused("info", *arguments)
    assert "has no links" in refused("info", model, tmp_path / "t")
    assert "out of range" in refused("info", model, tmp_path / "u", line=1)
    for arguments in ([], [model, "--format", "x"]):
        assert run("info", *arguments, code=2).stderr
