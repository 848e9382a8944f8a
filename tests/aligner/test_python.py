"""From Python: every command has a call that gives the same numbers, and what is shown is short."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands import run

import aligner
from aligner.model.decoding import Alignments
from aligner.training.ablation import describe_model
from aligner.training.inputs import read_labelled
from aligner.training.settings import LearnSettings
from corpora.link_files import read_links
from corpora.readers import open_corpus

Pairs = list[tuple[list[str], list[str]]]


@pytest.fixture(scope="module")
def pairs(sample: Path) -> Pairs:
    """The sample's test text as tokens."""
    texts = [(sample / f"test.{language}").read_text("utf-8").splitlines() for language in ("en", "fr")]
    return [(source.split(), target.split()) for source, target in zip(*texts, strict=True)]


@pytest.fixture
def files(sample: Path) -> list[Path]:
    return [sample / "test.en", sample / "test.fr"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ([], {}),
        (["--offset", 0.5], {"offset": 0.5}),
        (["--unsupervised"], {"unsupervised": 0.5}),
        (["--decoding", "union"], {"decoding": "union"}),
        (["--unsupervised", 0.3], {"unsupervised": 0.3}),
        (["--set", "null=0.4", "--set", "iterations=2"], {"null": 0.4, "iterations": 2}),
    ],
    ids=str,
)
def test_align_without_a_model(
    sample: Path, files: list[Path], pairs: Pairs, options: list[Any], settings: dict[str, Any]
) -> None:
    printed = run("align", *files, "-q", *options).stdout_bytes
    for text in (files, [str(sample / "test")], [pairs], [iter(pairs)]):
        assert aligner.align(*text, settings=aligner.AlignSettings(**settings)).lines() == printed  # type: ignore[arg-type]


@pytest.mark.slow
def test_train_with_labels(sample: Path, model: Path) -> None:
    ours, theirs = aligner.train(sample / "train", learn=LearnSettings(cross_validate=0)).model, aligner.load(model)
    assert ours.weights.tobytes() == theirs.weights.tobytes()
    assert ours.info() == theirs.info()
    assert {**ours.record, "seconds": 0} | same(theirs) == {**theirs.record, "seconds": 0}


def same(model: aligner.Model) -> dict[str, Any]:
    """What of a record is not the same in each run."""
    return {"total_seconds": model.record["total_seconds"]}


@pytest.mark.slow
def test_train_without_labels(files: list[Path], pairs: Pairs, tmp_path: Path) -> None:
    told = run("train", *files, "-m", tmp_path / "M").stderr
    assert "no labelled pairs: the model gets the default weights (--gold teaches others)\n" in told
    assert run("train", *files, "-m", tmp_path / "Q", "-q").stderr == ""
    with pytest.warns(UserWarning, match=r"no labelled pairs: .*\(`gold` teaches others\)"):
        ours = aligner.train(files)
    theirs = aligner.load(tmp_path / "M")
    assert ours.model.record == theirs.record
    assert list(ours.model.align_many(pairs)) == list(theirs.align_many(pairs)) == list(aligner.align(pairs))
    assert (ours.result, ours.interrupted) == (None, False)
    run("train", *files, "--update", tmp_path / "M", "-m", tmp_path / "U", "-q")
    updated = aligner.update_model(ours.model, files)
    assert list(updated.align_many(pairs)) == list(aligner.load(tmp_path / "U").align_many(pairs))
    assert updated.info()["updates"] == 1


@pytest.mark.slow
def test_evaluate(sample: Path, model: Path, files: list[Path], pairs: Pairs, tmp_path: Path) -> None:
    first, second = tmp_path / "first.links", tmp_path / "second.links"
    first.write_bytes(aligner.align(pairs).lines())
    run("align", *files, "-m", model, "-o", second)
    found = list(aligner.load(model).align_many(pairs))
    for gold in (sample / "test.wa", sample / "test"):  # the text at hand, too
        printed = json.loads(run("evaluate", gold, first, second, "--format", "json").stdout)
        assert [e.to_dict() for e in aligner.compare(gold, [first, str(second)])] == printed
        for answers in (found, [alignment.links for alignment in found], read_links(second)):
            ours = aligner.evaluate(gold, answers, baseline=first).to_dict()
            for name in ("aer", "intervals", "by_length"):
                assert ours[name] == printed[1][name]
            assert ours["paired"]["difference"] == printed[1]["paired"]["difference"]
    with pytest.raises(aligner.AlignerError, match="answers:1: has 1 line but the gold"):
        aligner.evaluate(sample / "test.wa", [[(0, 0)]])
    with pytest.raises(TypeError, match="positions, not a string"):
        aligner.evaluate(sample / "test.wa", ["0-0"] * 64)  # type: ignore[list-item]
    with pytest.raises(aligner.AlignerError, match=r"nowhere\.links: "):
        aligner.evaluate(sample / "test.wa", "nowhere.links")


def test_what_cannot_be_aligned() -> None:
    assert list(aligner.align([])) == []
    for strings in ([("a house", "une maison")], ["text.en", "text.fr"]):
        with pytest.raises(TypeError, match="not a string"):
            aligner.align(strings)  # type: ignore[arg-type]
    with pytest.raises(aligner.AlignerError, match=r"nowhere: no such file, folder or prefix \("):
        aligner.align("nowhere")


@pytest.mark.slow
def test_features(sample: Path, model: Path) -> None:
    printed = json.loads(run("info", model, sample / "test", "--format", "json").stdout)["report"]
    loaded = aligner.load(model)
    report = describe_model(loaded, read_labelled([open_corpus(sample / "test")], loaded.normalizers))
    assert report.aer is not None
    assert 100 * report.aer == printed["aer"]
    assert [f.weight for f in report.features] == [feature["weight"] for feature in printed["features"]]


@pytest.mark.slow
def test_a_model_that_needs_links_warms_up_too(linked: aligner.Model) -> None:
    assert linked.warm_up() is linked


@pytest.mark.slow
def test_what_is_shown_is_one_line(sample: Path, model: Path) -> None:
    loaded = aligner.load(model)
    found = Alignments.join([loaded.align_bitext(loaded.builder().add_pairs([(["a"], ["une"])]).bitext())] * 2)
    for thing, shown in (
        (loaded, "'en', 'fr'"),
        (found, "Alignments(2 pairs, 2 links)"),
        (found[0], "Alignment('0-0', score 0."),
        (aligner.evaluate(sample / "test.wa", sample / "test.wa"), ""),
    ):
        assert shown in repr(thing)
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 450
    info = loaded.info()
    assert json.loads(json.dumps(info)) == info


def test_an_evaluation_as_a_frame(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = SimpleNamespace(DataFrame=lambda row, index: (row, index))  # as pandas, where it is not installed
    monkeypatch.setitem(sys.modules, "pandas", frames)
    found = aligner.evaluate(sample / "test.wa", [[(0, 0)]] * 64)
    row, index = found.to_frame()
    assert index == ["answers"]
    assert (row["pairs"], row["links"], row["aer"]) == (64, 64, 100 * found.aer)
    assert row["aer_low"] <= row["aer"] <= row["aer_high"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pandas"):
        found.to_frame()
