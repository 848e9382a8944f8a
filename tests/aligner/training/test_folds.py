"""Training with folds: what is recorded, what an interrupt leaves, and where the default weights are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from whole_texts import aer

import aligner
from aligner.errors import SettingError
from aligner.model.default import default_model
from aligner.progress import Hooks, Progress
from aligner.solvers import TracePoint
from aligner.training.ablation import describe_model
from aligner.training.figures import summarize_training
from aligner.training.settings import LearnSettings
from corpora.readers import open_corpus
from features.extractor import FeatureSet


@pytest.mark.slow
def test_cross_validation_changes_no_weight(sample: Path) -> None:
    # So little regularization that the weights fit what they have seen.
    settings: dict[str, Any] = {"loss": "hinge", "regularization": 1e-3}
    folds: list[int | None] = []
    told: list[Progress] = []
    hooks = Hooks(on_progress=told.append, on_audit=lambda point, fold: folds.append(fold))
    training = aligner.train(sample / "train", learn=LearnSettings(**settings))
    judged = aligner.train(sample / "train", learn=LearnSettings(cross_validate=3, **settings), hooks=hooks)
    assert judged.model.weights.tobytes() == training.model.weights.tobytes()
    record = judged.model.record
    assert record["regularization"] == training.model.record["regularization"] == 1e-3
    assert (record["folds"], record["finished_folds"]) == (3, 3)
    # What was not seen is harder than what was, and about as hard as other text.
    assert record["training_aer"] < record["learnt_aer"] < 150 * aer(judged.model, open_corpus(sample / "test"))
    assert training.model.record["learnt_aer"] is None
    assert [*dict.fromkeys(folds)] == [None, 1, 2, 3]
    details = [p.detail for p in told if p.stage == "training"]
    for detail, fold in zip(details, folds, strict=True):
        assert detail.startswith("gap " if fold is None else f"without fold {fold} of 3: gap ")


def test_an_interrupt_keeps_the_finished_folds(sample: Path) -> None:
    def interrupt(point: TracePoint, fold: int | None) -> None:
        if fold == 3:
            raise KeyboardInterrupt

    training = aligner.train(sample / "train", learn=LearnSettings(max_labelled=60), hooks=Hooks(on_audit=interrupt))
    record = training.model.record
    assert training.interrupted
    assert (record["folds"], record["finished_folds"]) == (5, 2)
    assert record["learnt_aer"] is not None
    assert record["converged"]


def test_folds_that_end_early_are_counted(sample: Path) -> None:
    record = aligner.train(sample / "train", learn=LearnSettings(max_labelled=30, max_passes=1)).model.record
    assert (record["converged"], record["early_folds"]) == (False, 5)
    told = summarize_training(record)
    assert f"at a relative gap of {record['relative_gap']:.2g}: the limit of passes was reached. 5 of 5 folds" in told
    whole = aligner.train(sample / "train", learn=LearnSettings(max_labelled=30)).model.record
    assert (whole["converged"], whole["early_folds"]) == (True, 0)
    assert "early" not in summarize_training(whole)


def test_more_folds_than_labels_are_refused_before_the_long_work(sample: Path) -> None:
    told: list[Progress] = []
    with pytest.raises(SettingError, match="10 labelled pairs cannot be held out in 11 folds"):
        aligner.train(
            sample / "train",
            learn=LearnSettings(max_labelled=10, cross_validate=11),
            hooks=Hooks(on_progress=told.append),
        )
    assert {progress.stage for progress in told} == {"reading"}


TIED: dict[str, Any] = {"max_labelled": 20, "regularization": 1e6, "fertility": 2}
"""So much regularization that what is learnt is what was known."""

PAIR = "a red house .".split(), "une maison rouge .".split()


@pytest.mark.slow
def test_the_default_weights_are_kept_where_labels_do_not_help(sample: Path, tmp_path: Path) -> None:
    training = aligner.train(sample / "train", learn=LearnSettings(**TIED))
    model, record = training.model, training.model.record
    assert record["aer"] == record["default_aer"] == pytest.approx(record["learnt_aer"])
    assert "are kept" in summarize_training(record)
    learnt = aligner.train(sample / "train", learn=LearnSettings(**TIED, weights="learnt")).model
    assert learnt.info()["weights"] == "learnt"
    assert learnt.record["aer"] == learnt.record["learnt_aer"] == record["learnt_aer"]
    assert "are kept" not in summarize_training(learnt.record)
    assert model.features == FeatureSet(candidates="fewer"), "no words of the labelled pairs"
    assert model.rewards.source == (0.0,), "as many links a word as asked for"
    same = default_model(model.statistics)
    assert model.align(*PAIR) == same.align(*PAIR)
    assert (model.info()["weights"], model.info()["labelled_pairs"]) == ("default", 20)
    assert len(describe_model(model).features) == record["features"] == len(model.features.names)
    model.save(tmp_path / "M")
    assert aligner.load(tmp_path / "M").info() == model.info()


@pytest.mark.slow
def test_the_default_weights_are_compared_whatever_the_center(sample: Path) -> None:
    """From zero so much regularization teaches nothing, so that they are better."""
    training = aligner.train(sample / "train", learn=LearnSettings(**TIED, center="zero"))
    record = training.model.record
    assert record["aer"] == record["default_aer"] < 50 < record["learnt_aer"]
    assert training.model.align(*PAIR) == default_model(training.model.statistics).align(*PAIR)


@pytest.mark.slow
def test_what_helps_is_kept(sample: Path) -> None:
    training = aligner.train(sample / "train")
    record = training.model.record
    assert record["aer"] == record["learnt_aer"] < record["default_aer"]
    assert "default_weights" not in record
    assert training.model.info()["weights"] == "learnt"
    assert (training.model.weights == training.result.w[: len(training.model.weights)]).all()


@pytest.mark.slow
@pytest.mark.parametrize("other", ["cross_validate", "families", "loss"])
def test_what_cannot_be_compared_is_learnt(sample: Path, other: str) -> None:
    given = {"cross_validate": 0, "families": ["bias", "association"], "loss": "hinge"}
    settings = {"max_labelled": 20, "max_passes": 3, "cross_validate": 2, "regularization": 1e6} | {other: given[other]}
    record = aligner.train(sample / "train", learn=LearnSettings(**settings)).model.record
    assert record["default_aer"] is None
    assert "default_weights" not in record
    assert (record["aer"] is None) == (other == "cross_validate")
