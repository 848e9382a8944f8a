"""Training keeps the default weights where labels do not help, and says so in the record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import aligner
from aligner.model.default import default_model
from aligner.training.ablation import describe_model
from aligner.training.figures import summarize_training
from aligner.training.settings import LearnSettings
from features.extractor import FeatureSet

TIED: dict[str, Any] = {"max_labelled": 20, "regularization": 1e6, "fertility": 2}
"""So much regularization that what is learnt is what was known."""

PAIR = "a red house .".split(), "une maison rouge .".split()


@pytest.mark.slow
def test_the_default_weights_are_kept_where_labels_do_not_help(sample: Path, tmp_path: Path) -> None:
    training = aligner.train(sample / "train", learn=LearnSettings(**TIED))
    model, record = training.model, training.model.record
    assert record["aer"] == record["default_aer"] == pytest.approx(record["learnt_aer"])
    assert "are kept" in summarize_training(record)
    assert model.features == FeatureSet(), "no words of the labelled pairs"
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
