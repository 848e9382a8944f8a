"""Probabilities of links: laws of the fit, and that models keep them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

import aligner
from aligner.model.aligning import Part, align
from aligner.model.calibration import Calibration, judged
from aligner.model.model import Model
from aligner.training.figures import format_training
from aligner.training.inputs import read_labelled
from aligner.training.settings import LearnSettings
from corpora.links import NO_LINKS, Links, PairLinks
from corpora.readers import open_corpus
from tests.model_files import rewrite


def links_of_one_pair(scores: np.ndarray, right: np.ndarray) -> Links:
    """Links with these scores, sure where they are right."""
    words = np.arange(len(scores), dtype=np.int32)
    return Links(words, words, right, np.array([0, len(scores)]), scores=scores)


def drawn(n: int, seed: int = 0, slope: float = 1.5, shift: float = -1.0) -> tuple[Links, np.ndarray]:
    """Links that are right with the logistic probability of their score, and these probabilities."""
    rng = np.random.default_rng(seed)
    scores = rng.gamma(2.0, 1.0, n)
    truth = 1.0 / (1.0 + np.exp(-(slope * scores + shift)))
    return links_of_one_pair(scores, rng.random(n) < truth), truth


def calibration_error(probabilities: np.ndarray, correct: np.ndarray) -> float:
    """Mean over links of |share of right ones − mean probability| in the link's tenth of the probabilities."""
    bins = np.minimum((probabilities * 10).astype(int), 9)
    sums = np.bincount(bins, correct - probabilities, minlength=10)
    return float(np.abs(sums).sum() / len(bins))


@st.composite
def some_links(draw: Any) -> Links:
    n = draw(st.integers(1, 400))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    scores = rng.integers(0, draw(st.sampled_from([1, 3, 1000])), n) / 7  # with and without ties
    return links_of_one_pair(scores, rng.random(n) < draw(st.sampled_from([0.0, 0.5, 0.9, 1.0])))


@given(some_links())
def test_probabilities_rise_with_the_score(links: Links) -> None:
    found = Calibration.fit(links)
    scores = np.linspace(-10, 1000, 500)
    probabilities = found.probabilities(scores)
    assert 0 < probabilities.min() <= probabilities.max() < 1
    assert bool((np.diff(probabilities) >= 0).all())
    assert links.known_scores.min() - 1e-9 <= found.scores[0] <= found.scores[-1] <= links.known_scores.max() + 1e-9


# Bins of one score, whose means of 56 and of 55 numbers are rounded apart.
ONE_SCORE = links_of_one_pair(np.full(111, 1 / 7), np.arange(111) > 55)


@given(some_links(), st.floats(-5, 5))
@example(ONE_SCORE, 5.0)
def test_an_offset_of_the_scores_changes_no_probability(links: Links, offset: float) -> None:
    found = Calibration.fit(links)
    shifted = found.shifted(offset).probabilities(links.known_scores + offset)
    assert np.abs(shifted - found.probabilities(links.known_scores)).max() < 1e-9


def test_the_fit_finds_the_probabilities_of_the_source() -> None:
    links, _ = drawn(40_000)
    other, truth = drawn(20_000, seed=1)
    found = Calibration.fit(links).probabilities(other.known_scores)
    assert np.abs(found - truth).mean() < 0.02
    assert calibration_error(found, other.sure) < 0.02
    # A leap, which no sigmoid of the score follows.
    scores = np.linspace(0, 4, 20_000)
    leap = np.where(scores < 3, 0.5, 0.95)
    steep = Calibration.fit(links_of_one_pair(scores, np.random.default_rng(0).random(len(scores)) < leap))
    assert np.abs(steep.probabilities(scores) - leap).mean() < 0.03


def test_the_fit_is_near_isotonic_regression() -> None:
    links, _ = drawn(5000, slope=0.6)
    ours = Calibration.fit(links).probabilities(links.known_scores)
    theirs = IsotonicRegression().fit(links.known_scores, links.sure).predict(links.known_scores)
    assert np.abs(ours - theirs).mean() < 0.02
    assert ours.mean() == pytest.approx(links.sure.mean(), abs=0.01)


@pytest.mark.parametrize(
    ("scores", "log_odds"),
    [
        ((), ()),
        ((1.0,), ()),
        ((1.0, 1.0), (0.0, 1.0)),
        ((1.0, 2.0), (1.0, 0.0)),
        ((np.nan,), (0.0,)),
        ((0.0,), (np.inf,)),
    ],
)
def test_what_cannot_be_calibrated(scores: tuple[float, ...], log_odds: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="calibration"):
        Calibration(scores, log_odds)
    with pytest.raises(ValueError, match="no links"):
        Calibration.fit(links_of_one_pair(np.zeros(0), np.zeros(0, np.bool_)))


def test_links_are_right_where_gold_has_them() -> None:
    gold = Links.from_pairs([PairLinks(frozenset({(0, 0)}), frozenset({(1, 1)})), NO_LINKS])
    positions = np.array([[0, 0], [0, 1], [1, 1], [0, 0]], np.int32).T
    found = Links(*positions, np.ones(4, np.bool_), np.array([0, 3, 4]), scores=np.array([3.0, 2.0, 1.0, 4.0]))
    links = judged(found, gold)
    assert links.known_scores.tolist() == [3.0, 2.0, 1.0, 4.0]
    assert links.sure.tolist() == [True, False, True, False]
    with pytest.raises(ValueError, match="zip"):
        judged(found, gold.take(np.array([0])))


@pytest.fixture(scope="module")
def model(sample: Path) -> Model:
    return aligner.train(sample / "train", learn=LearnSettings(regularization=0.01, cross_validate=3)).model


def test_a_model_gives_probabilities_of_its_scores(model: Model, sample: Path) -> None:
    labelled = read_labelled([open_corpus(sample / "test")], model.normalizers)
    raw = replace(model, calibration=None).align_bitext(labelled.bitext)
    found = model.align_bitext(labelled.bitext)
    assert [one for _, part in align([Part(labelled.bitext)], model) for one in part] == list(found)
    assert model.calibration is not None
    assert replace(found.links, scores=None) == replace(raw.links, scores=None)
    expected = model.calibration.probabilities(raw.links.known_scores)
    np.testing.assert_array_equal(found.links.known_scores, expected)
    links = judged(found.links, labelled.links)
    assert calibration_error(links.known_scores, links.sure) < 0.05
    both = [
        {(i, link): p for i, a in enumerate(each) for link, p in zip(a.links, a.scores, strict=True)}
        for each in (found, model.with_offset(0.5).align_bitext(labelled.bitext))
    ]
    same = [(p, both[1][link]) for link, p in both[0].items() if link in both[1]]
    assert len(same) > 500
    np.testing.assert_allclose(*np.array(same).T, rtol=1e-6)


def test_calibration_is_on_held_out_folds_where_there_are_any(model: Model, sample: Path) -> None:
    assert model.record["calibrated_on"] == "held-out folds"
    assert re.search(r"^calibrated on +held-out folds$", format_training(model.record), re.M)
    seen = aligner.train(sample / "train", learn=LearnSettings(cross_validate=0))
    assert seen.model.record["finished_folds"] == 0
    assert seen.model.record["calibrated_on"] == "labelled pairs"
    assert seen.model.calibration is not None


def test_a_model_keeps_its_calibration(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "M")
    loaded = aligner.load(tmp_path / "M")
    assert loaded.calibration == model.calibration
    pair = "a red house .".split(), "une maison rouge .".split()
    assert loaded.align(*pair).scores == model.align(*pair).scores
    raw = aligner.load(rewrite(tmp_path / "M", tmp_path / "raw", calibration=None))
    assert raw.calibration is None
    assert raw.align(*pair).links == model.align(*pair).links
    assert max(raw.align(*pair).scores) > 1


def test_links_that_are_not_found_are_less_probable() -> None:
    found = Calibration((0.5, 2.0), (0.4, 3.0))
    scores = np.array([-700.0, -2.0, -1.0, 0.0, 0.3, 1.0])
    assert np.array_equal(found.probabilities(scores, 0.0)[3:], found.probabilities(scores)[3:])
    expected = 1.0 / (1.0 + np.exp(-(0.4 + scores[:3])))
    np.testing.assert_allclose(found.probabilities(scores, 0.0)[:3], expected)
