"""The offset of the default weights for a text: against enumeration, and what it leaves as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from aligner.evaluation.counts import error_rate
from aligner.model.default import default_model
from aligner.model.operating_point import FURTHEST, SURE, best_threshold, fitting_offset, offset_for
from aligner.model.unsupervised import align
from aligner.training.inputs import LabelledPairs
from aligner.training.learn import learn
from corpora.bitext import Bitext, read_bitext
from corpora.links import Links
from corpora.normalize import Normalizer
from corpora.readers import open_corpus
from features.statistics import CorpusStatistics


@pytest.mark.parametrize("seed", range(20))
def test_the_threshold_has_the_greatest_expected_f1(seed: int) -> None:
    """Of all thresholds; and it is half of that F1  [Lipton et al. 2014]."""
    scores = np.random.default_rng(seed).normal(seed % 5 - 3.0, 2.0, 40)
    p = expit(scores)
    expected = {t: 2.0 * p[p >= t].sum() / ((p >= t).sum() + p.sum()) for t in p}
    best = max(expected.values())
    found = float(expit(-best_threshold(scores)))
    assert found == pytest.approx(best / 2.0)
    taken = p >= found
    assert 2.0 * p[taken].sum() / (taken.sum() + p.sum()) == pytest.approx(best)


def test_sure_links_need_no_offset() -> None:
    assert offset_for(best_threshold(np.array([9.0, 8.0, -9.0]))) == 0.0
    assert best_threshold(np.empty(0)) == best_threshold(np.full(3, -1e4)) == offset_for(SURE) == 0.0
    assert 0.0 < offset_for(SURE + 0.1) < offset_for(SURE + 0.2) < offset_for(9.0) == FURTHEST


@pytest.fixture(scope="module")
def far(sample: Path) -> Bitext:
    """A text whose sides have nothing in common but the lengths of most sentences."""
    text = read_bitext([open_corpus(str(sample / "train"))], Normalizer(), Normalizer(), lambda pairs: None)
    return Bitext(text.source, text.target.take(np.roll(np.arange(len(text)), 1)))


def test_an_offset_adds_links_and_leaves_their_probabilities(far: Bitext) -> None:
    model = default_model(CorpusStatistics.from_bitext(far))
    offset = fitting_offset(model, far)
    assert offset > 0.5
    few, many = model.align_bitext(far), model.with_offset(offset, of_text=True).align_bitext(far)
    assert len(many.links.source) > 1.5 * len(few.links.source)
    for one, other in zip(few, many, strict=True):
        probabilities = dict(zip(other.links, other.scores, strict=True))
        assert all(
            probabilities[link] == pytest.approx(score) for link, score in zip(one.links, one.scores, strict=True)
        )
    assert many.links.known_scores.min() < few.links.known_scores.min()
    assert align(far).links == many.links


@pytest.fixture(scope="module")
def japanese(data: Path) -> tuple[Bitext, Links]:
    corpus = open_corpus(str(data / "en-ja" / "gold"), source="en", target="ja")
    bitext = read_bitext([corpus], Normalizer(), Normalizer(), lambda pairs: None)
    return bitext, Links.from_pairs(corpus.links())


def test_japanese_without_other_text(japanese: tuple[Bitext, Links]) -> None:
    """Far fewer errors than by scores above 0 (49.6), than any other aligner without a GPU (57.3)."""
    bitext, links = japanese
    assert error_rate(links, align(bitext).links) < 0.47


def test_weights_from_labels_get_an_offset_too(japanese: tuple[Bitext, Links]) -> None:
    """The bias alone is raised, and other pairs have fewer errors than without."""
    bitext, links = (every.take(np.arange(300)) for every in japanese)
    taught = np.arange(50)
    statistics = CorpusStatistics.from_bitext(bitext)
    made = learn(statistics, LabelledPairs(bitext.take(taught), links.take(taught), (), 50))
    model = made.model
    assert made.result is not None
    raised = model.weights - made.result.w[: len(model.weights)]
    assert set(np.flatnonzero(raised)) == {model.features.names.index("bias")}
    rest = np.arange(50, 300)
    with_it, without = (
        error_rate(links.take(rest), one.align_bitext(bitext.take(rest)).links)
        for one in (model, model.with_offset(-raised.sum()))
    )
    assert raised.sum() > 0.3
    assert with_it < without - 0.01
