"""`aligner features` and `aligner suggest`: what they print and write, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import refused, run

from aligner.model.model import load
from corpora.link_files import read_links


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    path = tmp_path_factory.mktemp("model") / "M"
    families = "bias,association,position,competition"
    run("train", sample / "train", "-m", path, "-q", "--cross-validate", 0, "--features", families)
    return path


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    path = tmp_path_factory.mktemp("linked") / "M"
    run("train", sample / "train", "-m", path, "-q", "--cross-validate", 0, "--links", sample / "train.wa",
        "--features", "bias,association")  # fmt: skip
    return path


def test_features_of_a_model(model: Path, sample: Path) -> None:
    plain = run("features", model)
    assert "without" not in plain.stdout
    assert not plain.stderr
    names = load(model).features.names
    assert sorted(line.split()[0] for line in plain.stdout.split("\n\n")[1].splitlines()[1:]) == sorted(names)
    judged = run("features", model, "--gold", sample / "test")
    assert "AER without" in judged.stdout
    found = json.loads(run("features", model, "--gold", sample / "test", "--format", "json").stdout)
    assert f"AER {found['aer']:.2f} %" in judged.stdout
    assert {feature["name"] for feature in found["features"]} == {*names}
    # The same links are judged as `evaluate` judges them.
    links = model.parent / "F"
    run("align", sample / "test", "-m", model, "-o", links, "--force")
    (report,) = json.loads(run("evaluate", sample / "test.wa", links, "--format", "json").stdout)
    assert found["aer"] == pytest.approx(report["aer"])
    both = run("features", model, "--gold", sample / "test", "--gold", sample / "train", "--format", "json")
    assert json.loads(both.stdout)["pairs"] == report["pairs"] + load(model).record["labelled_pairs"]


def test_candidates_are_kept_and_can_be_others(model: Path, sample: Path, tmp_path: Path) -> None:
    every = tmp_path / "M"
    run("train", sample / "train", "-m", every, "-q", "--cross-validate", 0, "--features", "bias,association",
        "--candidates", "all")  # fmt: skip
    assert load(every).features.candidates == "all"
    assert load(model).features.candidates == "likely"
    align = "align", sample / "test", "-q", "-m", model
    lines = [run(*align, *more).stdout for more in ([], ["--candidates", "likely"])]
    assert lines[0] == lines[1]
    more = load(every).record["edges"], load(model).record["edges"]
    assert more[0] > more[1]
    assert load(every).record["links_unlisted"] == 0 < load(model).record["links_unlisted"]


def test_features_with_links_of_others(linked: Path, sample: Path) -> None:
    gold = ["--gold", sample / "test"]
    found = json.loads(run("features", linked, *gold, "--links", sample / "test.wa", "--format", "json").stdout)
    assert "links" in {family["name"] for family in found["families"]}
    assert "--links" in refused("features", linked, *gold)


def test_what_features_refuses(model: Path, sample: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    assert "nothing" in refused("features", nothing)
    assert "nothing" in refused("features", model, "--gold", nothing)
    assert "has no links" in refused("features", model, "--gold", _text(tmp_path, "t", "a b\n", "a b\n"))
    assert "out of range" in refused(
        "features", model, "--gold", _text(tmp_path, "u", "a b\n", "a b\n", links="0-9\n"), line=1
    )
    curved = tmp_path / "C"
    run("train", sample / "train", "-m", curved, "-q", "--solver", "kernel-bcfw", "--max-passes", 1,
        "--max-labelled", 5, "--features", "bias,association")  # fmt: skip
    assert "kernel" in refused("features", curved)
    assert run("features", code=2).stderr
    assert run("features", model, "--format", "x", code=2).stderr


def test_suggestions_are_labelled_pairs_to_correct(model: Path, sample: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "s"
    texts = sample / "test.en", sample / "test.fr"
    result = run("suggest", *texts, "-m", model, "-n", 7, "-o", prefix)
    assert not result.stdout
    assert "7 pairs" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.en", "s.fr", "s.wa"]
    chosen = [(tmp_path / f"s.{suffix}").read_text("utf-8").splitlines() for suffix in ("en", "fr")]
    pairs = [path.read_text("utf-8").splitlines() for path in texts]
    assert {*zip(*chosen, strict=True)} <= {*zip(*pairs, strict=True)}
    aligned = run("align", tmp_path / "s", "-m", model)
    assert aligned.stdout == (tmp_path / "s.wa").read_text()
    # What is corrected is trained with, and left out the next time.
    run("train", sample / "train", "--gold", prefix, "-m", tmp_path / "N", "-q", "--cross-validate", 0)
    assert len(read_links(tmp_path / "s.wa")) == load(tmp_path / "N").record["labelled_pairs"] == 7
    run("suggest", *texts, "-m", model, "-n", 7, "-o", tmp_path / "next", "--gold", prefix, "-q")
    assert not {*chosen[0]} & {*(tmp_path / "next.en").read_text("utf-8").splitlines()}
    # A prefix as SRC, and more than there are.
    n = len(pairs[0])
    assert run("suggest", sample / "test", "-m", model, "-n", 10 * n, "-o", tmp_path / "all", "-q").stderr == ""
    assert (tmp_path / "all.en").read_text("utf-8").splitlines()[:7] == chosen[0]


def test_texts_whose_languages_are_not_known(model: Path, sample: Path, tmp_path: Path) -> None:
    for suffix, name in (("en", "a.txt"), ("fr", "b.txt")):
        (tmp_path / name).write_bytes((sample / f"test.{suffix}").read_bytes())
    run("suggest", tmp_path / "a.txt", tmp_path / "b.txt", "-m", model, "-n", 2, "-o", tmp_path / "s", "-q")
    assert {"s.en", "s.fr", "s.wa"} <= {path.name for path in tmp_path.iterdir()}
    run("train", sample / "train", "--gold", tmp_path / "s", "--source", "source", "--target", "target", code=1)


def test_what_suggest_refuses(model: Path, linked: Path, sample: Path, tmp_path: Path) -> None:
    texts = sample / "test.en", sample / "test.fr"
    prefix = tmp_path / "s"
    (tmp_path / "s.fr").write_text("precious")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    nothing = tmp_path / "nothing"
    base = ["-m", model, "-o", tmp_path / "x"]
    assert "--force" in refused("suggest", *texts, "-m", model, "-o", prefix)
    assert "nothing" in refused("suggest", nothing, *base)
    assert "nothing" in refused("suggest", texts[0], nothing, *base)
    assert "nothing" in refused("suggest", *texts, "-m", nothing, "-o", tmp_path / "x")
    assert "nothing" in refused("suggest", *texts, *base, "--gold", nothing)
    assert "create" in refused("suggest", *texts, "-m", model, "-o", nothing / "x")
    assert "other order" in refused("suggest", *reversed(texts), *base)
    assert "--links" in refused("suggest", *texts, "-m", linked, "-o", tmp_path / "x")
    assert "more line" in refused(
        "suggest", texts[0], sample / "train.fr", *base, line=len(read_links(sample / "test.wa"))
    )
    for wrong in (["-n", "0"], ["-n", "x"], ["--bogus"]):
        assert run("suggest", *texts, *base, *wrong, code=2).stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    run("suggest", *texts, "-m", model, "-o", prefix, "-n", 3, "--force", "-q")
    assert len((tmp_path / "s.fr").read_text("utf-8").splitlines()) == 3


def test_bad_text_leaves_nothing(model: Path, tmp_path: Path) -> None:
    corpus = _text(tmp_path, "t", "a\nb\n", "a\nb\n")
    (tmp_path / "t.fr").write_bytes(b"a\n\xff\n")
    assert "UTF-8" in refused("suggest", corpus, "-m", model, "-o", tmp_path / "x", line=2)
    (tmp_path / "t.en").write_bytes(b"")
    (tmp_path / "t.fr").write_bytes(b"")
    assert "no lines" in refused("suggest", corpus, "-m", model, "-o", tmp_path / "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.en", "t.fr"]


def _text(folder: Path, name: str, source: str, target: str, links: str | None = None) -> Path:
    for suffix, content in (("en", source), ("fr", target), ("wa", links)):
        if content is not None:
            (folder / f"{name}.{suffix}").write_text(content, "utf-8")
    return folder / name
