"""What training minimises where the user does not say, and what of it fits together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import aligner
from aligner.errors import SettingError
from aligner.losses.fenchel_young import FenchelYoungProblem
from aligner.losses.hinge import Costs, MatchingProblem
from aligner.model.default import default_weights
from aligner.solvers.newton import Newton
from aligner.training.settings import (
    DEFAULT_FERTILITY,
    DEFAULT_FOLDS,
    FEW_PAIRS,
    FREQUENT_WORDS,
    LearnSettings,
    Plan,
    plan,
)
from corpora.bitext import read_bitext
from corpora.links import Links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.extractor import FAMILIES, FeatureSet, with_words
from features.statistics import CorpusStatistics


@pytest.mark.parametrize(
    ("asked", "pairs", "loss"),
    [
        ({}, FEW_PAIRS - 1, "fenchel-young"), ({}, FEW_PAIRS, "fenchel-young"),
        ({"loss": "logistic"}, FEW_PAIRS, "logistic"), ({"loss": "sparsemap"}, 5, "sparsemap"),
        ({"families": ["bias"]}, 5, "hinge"), ({"families": [*FAMILIES]}, 5, "fenchel-young"),
        ({"loss": "logistic", "families": ["bias"]}, 5, "logistic"), ({"loss": "hinge"}, 5, "hinge"),
        ({"solver": "bcfw"}, 5, "hinge"), ({"oracle": "scipy"}, 5, "hinge"), ({"possible_cost": 0.0}, 5, "hinge"),
        ({"solver_options": {"order": "uniform"}}, 5, "hinge"),
        ({"miss_cost": 2.0, "regularization": 0.5}, 5, "fenchel-young"),
    ],
)  # fmt: skip
def test_the_loss(asked: dict[str, Any], pairs: int, loss: str) -> None:
    found = plan(LearnSettings(**asked), pairs)
    assert found.loss == loss
    assert isinstance(found.solver, Newton) == (loss != "hinge")


@pytest.mark.parametrize(
    ("asked", "pairs", "regularization", "folds"),
    [
        ({"loss": "hinge"}, 100, 0.1, 0), ({}, 100, 0.03, DEFAULT_FOLDS), ({}, 3000, 0.001, 0),
        ({"cross_validate": 0}, 100, 0.03, 0), ({"cross_validate": 3, "regularization": 0.2}, 100, 0.2, 3),
        ({"regularization": 0.2}, 100, 0.2, DEFAULT_FOLDS), ({"loss": "logistic"}, 3000, 0.001, 0),
        ({}, 2 * DEFAULT_FOLDS - 1, 3 / 9, 0),
    ],
)  # fmt: skip
def test_the_plan(asked: dict[str, Any], pairs: int, regularization: float, folds: int) -> None:
    found = plan(LearnSettings(**asked), pairs)
    assert found.regularization == pytest.approx(regularization)
    assert found.folds == folds
    assert found.costs[:2] == ((3.0, 1.0) if found.loss == "hinge" else (0.6, 0.0))
    assert plan(LearnSettings(**asked, miss_cost=2.0), pairs).costs.miss == 2.0


def test_frequent_words_are_for_few_labels() -> None:
    for settings, pairs, words in [
        ({}, FEW_PAIRS - 1, FREQUENT_WORDS),
        ({}, FEW_PAIRS, 0),
        ({"loss": "hinge"}, 5, 0),
        ({"words": 7}, 5, 7),
        ({"words": 7, "loss": "hinge"}, 5, 7),
        ({"words": 0}, 5, 0),
    ]:
        assert plan(LearnSettings(**settings), pairs).words == words  # type: ignore[arg-type]


def test_the_capacity_is_one_where_an_oracle_knows_no_more() -> None:
    for settings, capacity in [
        ({}, DEFAULT_FERTILITY),
        ({"loss": "hinge"}, DEFAULT_FERTILITY),
        ({"oracle": "scipy"}, 1),
        ({"solver": "extragradient"}, DEFAULT_FERTILITY),
        ({"fertility": 2, "solver": "bcfw"}, 2),
    ]:
        assert plan(LearnSettings(**settings), 5).capacity == capacity  # type: ignore[arg-type]


@pytest.mark.parametrize("fertility", [-1, 0, 101, 100_000])
def test_a_fertility_that_no_word_has(fertility: int) -> None:
    with pytest.raises(SettingError, match=rf"`fertility` must be a number from 1 to 100, not {fertility}"):
        LearnSettings(fertility=fertility)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"regularization": 1e-10}, "λ must be from 1e-9 to 1e9"),
        ({"regularization": 1e10}, "λ must be from 1e-9 to 1e9"),
        ({"regularization": 1.0, "costs": Costs(miss=-2.0)}, "miss cost"),
    ],
)
def test_plans_that_cannot_be(settings: dict[str, Any], what: str) -> None:
    with pytest.raises(SettingError, match=what):
        Plan("fenchel-young", Newton(), **settings)


def test_the_prior_needs_all_families(sample: Path) -> None:
    corpus = open_corpus(str(sample / "train"))
    bitext = read_bitext([corpus], Normalizer(), Normalizer())
    statistics = CorpusStatistics.from_bitext(bitext)
    links = Links.from_pairs(corpus.links())
    known = default_weights().weights
    every = FeatureSet().extract(bitext, statistics)
    default = plan(LearnSettings(regularization=0.1), 5)
    problem = default.problem(every, links)
    assert isinstance(problem, FenchelYoungProblem)
    assert problem.prior.tolist() == [known[name] for name in every.names]
    assert "prior:default" in problem.signature
    more = with_words(FeatureSet(), bitext, 4).extract(bitext, statistics)  # of which the default weights know nothing
    problem = default.problem(more, links)
    assert isinstance(problem, FenchelYoungProblem)
    assert problem.prior.tolist() == [known[name] for name in every.names] + [0.0] * 8
    few = FeatureSet(("bias", "association")).extract(bitext, statistics)
    problem = default.problem(few, links)
    assert isinstance(problem, FenchelYoungProblem)
    assert not problem.prior.any()
    assert "prior:none" in problem.signature
    assert isinstance(plan(LearnSettings(solver="bcfw"), 5).problem(few, links), MatchingProblem)


@pytest.mark.slow
def test_few_labels_are_learnt_over_matchings(sample: Path) -> None:
    model = aligner.train(sample / "train", learn=LearnSettings(max_labelled=60)).model
    expected = {"loss": "fenchel-young", "folds": 5, "calibrated_on": "held-out folds", "oracle_calls": 0}
    assert model.record | expected == model.record
    assert model.record["features"] == sum(len(family.NAMES) for family in FAMILIES.values()) + 2 * FREQUENT_WORDS
    assert "the" in model.features.words[0]


@pytest.mark.slow
def test_no_loss_of_links_and_several_links_a_word(sample: Path) -> None:
    one, three = (
        aligner.train(
            str(sample / "train"), learn=LearnSettings(fertility=n, regularization=0.03, cross_validate=0)
        ).model
        for n in (1, 3)
    )
    assert one.weights.tobytes() == three.weights.tobytes()
    assert (one.rewards.source, three.rewards.source) == ((), (0.0, 0.0))
