"""What `aligner info` says of a model's features, against models whose weights were really set to 0."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import aligner
from aligner.errors import AlignerError
from aligner.evaluation.counts import count, scores
from aligner.losses.capacity import LinkRewards
from aligner.model.model import Model
from aligner.training.ablation import FERTILITY_FAMILY, describe_model
from aligner.training.figures import features_to_dict, format_features
from aligner.training.inputs import LabelledPairs, read_labelled
from aligner.training.settings import LearnSettings
from corpora.normalize import Normalizer
from corpora.ragged import Lists
from corpora.readers import open_corpus
from features.extractor import FAMILIES
from features.table import EdgeTable


@pytest.fixture(scope="module")
def model(sample: Path) -> Model:
    return aligner.train(
        sample / "train",
        learn=LearnSettings(
            families=("bias", "association", "position", "competition"), words=3, max_labelled=60, cross_validate=0
        ),
        links=[str(sample / "train.wa")],
    ).model


@pytest.fixture(scope="module")
def gold(sample: Path) -> LabelledPairs:
    normalizers = Normalizer(), Normalizer()
    return read_labelled([open_corpus(sample / "test")], normalizers, [str(sample / "test.wa")])


def error(model: Model, gold: LabelledPairs) -> float:
    found = model.align_bitext(gold.bitext, gold.others).links
    return float(scores(count(gold.links, found).sum(axis=0)).aer)


def test_ablation_is_the_model_without_weights(model: Model, gold: LabelledPairs) -> None:
    told: list[tuple[int, int]] = []
    report = describe_model(model, gold, on_progress=lambda done, total: told.append((done, total)))
    assert report.aer == pytest.approx(error(model, gold))
    assert report.pairs == len(gold.links)
    assert told == [(i, told[0][1]) for i in range(1, told[0][1] + 1)]
    names = model.features.names

    def without(columns: list[str]) -> float:
        weights = np.where(np.isin(names, columns), 0.0, model.weights)
        return error(replace(model, weights=weights), gold)

    for feature in report.features:
        assert feature.weight == model.weights[names.index(feature.name)]
    families = {family.name: family for family in report.families}
    assert [*families] == [*model.features.families, "links", "words", FERTILITY_FAMILY]
    words = [
        f"{side}:{w}" for side, those in zip(("source", "target"), model.features.words, strict=True) for w in those
    ]
    assert len(words) == 6
    others = {"links": ["links:statistical-1", "links:statistical-1:pair"], "words": words}
    for name, family in families.items():
        columns = [feature.name for feature in report.features if feature.family == name]
        assert family.columns == (4 if name == FERTILITY_FAMILY else len(columns))
        if name == FERTILITY_FAMILY:
            single = error(replace(model, rewards=LinkRewards()), gold)
        else:
            assert set(columns) == {*FAMILIES[name].NAMES} if name in FAMILIES else set(others[name])
            single = without(columns)
        assert family.ablation == pytest.approx(single - report.aer, abs=1e-12)
    assert any(family.ablation for family in report.families)


def test_ranges_are_of_the_labelled_pairs(model: Model, gold: LabelledPairs) -> None:
    edges = model.features.extract(gold.bitext, model.statistics, links=gold.others)
    for feature in describe_model(model, gold).features:
        column = edges.features[:, edges.names.index(feature.name)]
        assert (feature.low, feature.high) == (column.min(), column.max())
    trained = describe_model(model)
    assert trained.aer is None
    assert trained.pairs == 60
    assert all(family.ablation is None for family in trained.families)
    effects = [feature.effect for feature in trained.features if feature.effect is not None]
    assert len(effects) == len(model.features.names)
    assert effects == sorted(effects, reverse=True)
    for feature in trained.features:
        assert feature.low is not None
        assert feature.high is not None
        assert feature.effect == pytest.approx(abs(feature.weight) * (feature.high - feature.low))


def test_ranges_of_a_table() -> None:
    shapes = np.array([[1, 2], [0, 3]])
    values = np.array([[1.0, -2.0], [3.0, 5.0]], np.float32)
    assert EdgeTable(values, Lists.of_all(shapes), ("a", "b")).ranges().tolist() == [[1, 3], [-2, 5]]
    nothing = EdgeTable(values[:0], Lists.of_all(shapes[1:]), ("a", "b"))
    assert nothing.ranges().tolist() == [[0, 0], [0, 0]]


def test_models_of_before_there_were_ranges(model: Model) -> None:
    old = replace(model, record={k: v for k, v in model.record.items() if k != "feature_ranges"})
    report = describe_model(old)
    weights = [abs(feature.weight) for feature in report.features]
    assert weights == sorted(weights, reverse=True)
    assert {feature.effect for feature in report.features} == {None}
    assert " - " in format_features(report)


def test_formats_agree(model: Model, gold: LabelledPairs) -> None:
    report = describe_model(model, gold)
    found = features_to_dict(report)
    text = format_features(report)
    assert f"AER {found['aer']:.2f} %" in text
    families, features = ([row.split() for row in part.splitlines()[1:]] for part in text.split("\n\n")[1:])
    assert [row[0] for row in features] == [feature["name"] for feature in found["features"]]
    assert [row[-1] for row in families] == [f"{family['ablation']:+.2f}" for family in found["families"]]
    assert features_to_dict(describe_model(model))["aer"] is None
    assert "without" not in format_features(describe_model(model))


def test_what_cannot_be_described(model: Model, gold: LabelledPairs) -> None:
    with pytest.raises(AlignerError, match="1 files of other aligners"):
        describe_model(model, replace(gold, others=()))
