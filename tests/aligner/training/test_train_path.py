"""Training along a path of λ: the choice, what is recorded of it, and what an interrupt leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import aligner
from aligner.errors import SettingError
from aligner.evaluation.counts import count, scores
from aligner.progress import Hooks, Progress
from aligner.solvers import TracePoint
from aligner.training.path import Place
from corpora.alignment import Links, PairLinks
from corpora.readers import open_corpus


def aer(model: aligner.Model, prefix: Path) -> float:
    """In percent."""
    corpus = open_corpus(prefix)
    pairs = ((source.decode().split(), target.decode().split()) for _, source, target in corpus.texts())
    found = Links.from_pairs(PairLinks(frozenset(a), frozenset()) for a in model.align_many(pairs))
    return 100 * float(scores(count(Links.from_pairs(corpus.links()), found).sum(axis=0)).aer)


@pytest.mark.slow
def test_a_path_chooses_lambda(sample: Path) -> None:
    settings: dict[str, Any] = {"max_labelled": 120, "seed": 4}
    places: list[Place] = []
    told: list[Progress] = []
    hooks = Hooks(on_progress=told.append, on_audit=lambda point, place: places.append(place))
    training = aligner.train(sample / "train", path=(100.0, 0.1, 3), cross_validate=4, hooks=hooks, **settings)
    record, rows = training.model.record, training.path.rows
    assert [row.regularization for row in rows] == [100.0, pytest.approx(10**0.5), 0.1]
    assert (record["folds"], record["finished_folds"], len(record["path"])) == (4, 4, 3)
    for stored, row in zip(record["path"], rows, strict=True):
        assert row.aer is not None
        assert row.standard_error is not None
        assert (stored["regularization"], stored["norm"]) == (row.regularization, row.norm)
        assert stored["aer"] == pytest.approx(100 * row.aer)
        assert stored["standard_error"] == pytest.approx(100 * row.standard_error)
    best = min(record["path"], key=lambda row: row["aer"])
    assert record["regularization"] == best["regularization"]
    assert f"lambda:{best['regularization']:g}|" in record["solver"]
    weights = training.model.weights
    assert (weights == training.path.results[training.path.chosen].w[: len(weights)]).all()
    # The solution is one of the problem with this λ, whatever the way to it.
    alone = aligner.train(sample / "train", regularization=best["regularization"], **settings).result.trace[-1]
    ours = training.result.trace[-1]
    assert ours.dual <= alone.primal + 1e-12
    assert alone.dual <= ours.primal + 1e-12
    solutions = [Place(row.regularization, fold) for fold in (None, 1, 2, 3, 4) for row in rows]
    assert list(dict.fromkeys(places)) == solutions
    assert [p.done for p in told if p.stage == "path"] == [*range(1, len(solutions) + 1)]
    assert all(p.total == len(solutions) for p in told if p.stage == "path")
    details = [p.detail for p in told if p.stage == "training"]
    assert all(detail.startswith(f"{place}: ") for detail, place in zip(details, places, strict=True))


@pytest.mark.slow
def test_cross_validation_of_one_lambda_changes_no_weight(sample: Path) -> None:
    # So little regularization that the weights fit what they have seen.
    settings: dict[str, Any] = {"loss": "hinge", "regularization": 1e-3}
    training = aligner.train(sample / "train", **settings)
    judged = aligner.train(sample / "train", cross_validate=3, **settings)
    assert judged.model.weights.tobytes() == training.model.weights.tobytes()
    assert judged.model.record["regularization"] == training.model.record["regularization"] == 1e-3
    (row,) = judged.path.rows
    assert row.aer is not None
    # What was not seen is harder than what was, and about as hard as other text.
    assert judged.model.record["training_aer"] < 100 * row.aer < 1.5 * aer(judged.model, sample / "test")
    (row,) = training.path.rows
    assert row.aer is None


def test_a_path_has_five_folds_unless_told_otherwise(sample: Path) -> None:
    record = aligner.train(sample / "train", path=(10.0, 1.0, 2), max_labelled=20).model.record
    assert record["folds"] == record["finished_folds"] == 5


def test_an_interrupt_keeps_the_finished_folds(sample: Path) -> None:
    def interrupt(point: TracePoint, place: Place) -> None:
        if place.fold == 3:
            raise KeyboardInterrupt

    training = aligner.train(sample / "train", path=(10.0, 0.1, 3), max_labelled=60, hooks=Hooks(on_audit=interrupt))
    record = training.model.record
    assert training.interrupted
    assert (record["folds"], record["finished_folds"]) == (5, 2)
    assert record["regularization"] == min(record["path"], key=lambda row: row["aer"])["regularization"]
    assert record["converged"]


def test_more_folds_than_labels_are_refused_before_the_long_work(sample: Path) -> None:
    told: list[Progress] = []
    with pytest.raises(SettingError, match="10 labelled pairs cannot be held out in 11 folds"):
        aligner.train(sample / "train", max_labelled=10, cross_validate=11, hooks=Hooks(on_progress=told.append))
    assert {progress.stage for progress in told} == {"reading"}
