"""Training with folds: what is recorded of them, that they change no weight, and what an interrupt leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import aligner
from aligner.errors import SettingError
from aligner.evaluation.counts import count, scores
from aligner.progress import Hooks, Progress
from aligner.solvers import TracePoint
from aligner.training.settings import LearnSettings
from corpora.alignment import Links, PairLinks
from corpora.readers import open_corpus


def aer(model: aligner.Model, prefix: Path) -> float:
    """In percent."""
    corpus = open_corpus(prefix)
    pairs = ((source.decode().split(), target.decode().split()) for _, source, target in corpus.texts())
    found = Links.from_pairs(PairLinks(frozenset(a), frozenset()) for a in model.align_many(pairs))
    return 100 * float(scores(count(Links.from_pairs(corpus.links()), found).sum(axis=0)).aer)


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
    assert record["training_aer"] < record["learnt_aer"] < 1.5 * aer(judged.model, sample / "test")
    assert training.model.record["learnt_aer"] is None
    assert [*dict.fromkeys(folds)] == [None, 1, 2, 3]
    details = [p.detail for p in told if p.stage == "training"]
    for detail, fold in zip(details, folds, strict=True):
        assert detail.startswith("primal" if fold is None else f"without fold {fold} of 3: primal")


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


def test_more_folds_than_labels_are_refused_before_the_long_work(sample: Path) -> None:
    told: list[Progress] = []
    with pytest.raises(SettingError, match="10 labelled pairs cannot be held out in 11 folds"):
        aligner.train(
            sample / "train",
            learn=LearnSettings(max_labelled=10, cross_validate=11),
            hooks=Hooks(on_progress=told.append),
        )
    assert {progress.stage for progress in told} == {"reading"}
