"""Posteriors of any text against enumeration, and links from them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from whole_texts import posteriors

from corpora.bitext import Bitext
from corpora.links import Link
from corpora.ragged import edge_offsets
from corpora.symmetrize import symmetrize
from features.translation.model import TranslationModel
from features.translation.posteriors import Posteriors
from features.translation.training import train_translation


@pytest.fixture(scope="module")
def corpus(make_pairs: Callable[..., list], make_bitext: Callable[..., Bitext]) -> Bitext:
    return make_bitext(make_pairs(3, n=80, n_words=12, longest=7))


@pytest.fixture(scope="module")
def model(corpus: Bitext) -> TranslationModel:
    return train_translation(corpus)


@pytest.fixture(scope="module")
def known_words(make_bitext: Callable[..., Bitext]) -> TranslationModel:
    """A model of a language whose words are those of the other with x before them, in the same order or another."""
    rng = np.random.default_rng(0)
    words = "house minister ministry speak speaks zebra garden 1984 question answer yes table window".split()
    pairs = []
    for _ in range(400):
        chosen = rng.choice(words, 5, replace=False).tolist()
        other = rng.permutation(chosen).tolist() if rng.random() < 0.3 else chosen
        pairs.append((chosen, [f"x{word}" for word in other]))
    return train_translation(make_bitext(pairs))


def align(model: TranslationModel, make_bitext: Callable, source: str, target: str, threshold: float) -> set[Link]:
    found = posteriors(model, make_bitext([(source.split(), target.split())]))
    return set(found.soft_links(threshold)[0].sure)


def test_unknown_words_align_by_spelling_and_position(known_words: TranslationModel, make_bitext: Callable) -> None:
    assert align(known_words, make_bitext, "house zebra yes", "xyes xzebra xhouse", 0.3) == {(0, 2), (1, 1), (2, 0)}
    # One unknown word on either side among known ones.
    assert (1, 1) in align(known_words, make_bitext, "house blorp yes", "xhouse kwaf xyes", 0.3)
    # Unknown words that change places are told apart by their spelling.
    links = align(known_words, make_bitext, "quebec house 1997", "1997 xhouse québec", 0.3)
    assert links == {(0, 2), (1, 1), (2, 0)}
    # Unknown forms of known words: their classes are known.
    links = align(known_words, make_bitext, "ministers zebras", "xzebras xministers", 0.4)
    assert links == {(0, 1), (1, 0)}


def test_in_very_long_pairs_words_are_their_first_pieces_alone(
    known_words: TranslationModel, make_bitext: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each pair by itself: one that is not too long is as it was."""
    model = replace(known_words, lexicons={"pieces": known_words.lexicons["pieces"]})
    pair, short = ("house minister garden".split(), "xhouse xgarden xminister".split()), (["house"], ["xhouse"])
    cut = [[word[:4] for word in side] for side in pair]
    expected = posteriors(model, make_bitext([cut])).forward, posteriors(model, make_bitext([short])).forward
    monkeypatch.setattr("features.translation.pieces.MOST_EDGES", 10)
    found = posteriors(model, make_bitext([pair, short]))
    assert np.array_equal(found.forward, np.concatenate(expected))


def test_a_text_with_no_known_word_is_finite(known_words: TranslationModel, make_bitext: Callable) -> None:
    found = posteriors(known_words, make_bitext([(["κ"] * 30, ["ж"] * 40), (["q"], ["w"])]))
    assert np.isfinite(found.forward).all()
    assert np.isfinite(found.reverse).all()


def random_posteriors(seed: int) -> Posteriors:
    rng = np.random.default_rng(seed)
    shapes = rng.integers(0, 7, (20, 2))
    offsets = edge_offsets(shapes)
    forward, reverse = np.empty((2, offsets[-1]), np.float32)
    for i, (J, K) in enumerate(shapes.tolist()):
        edges = slice(offsets[i], offsets[i + 1])
        forward[edges] = rng.dirichlet(np.full(J + 1, 0.2), K)[:, :J].T.ravel()
        reverse[edges] = rng.dirichlet(np.full(K + 1, 0.2), J)[:, :K].ravel()
    return Posteriors(forward, reverse, shapes, offsets, np.zeros((2, 20)))


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 1.0])
def test_soft_links_are_the_edges_above_the_threshold(threshold: float) -> None:
    found = random_posteriors(0)
    links = found.soft_links(threshold)
    assert len(links) == len(found.shapes)
    for i, (J, K) in enumerate(found.shapes.tolist()):
        edges = slice(found.offsets[i], found.offsets[i + 1])
        soft = np.sqrt(found.forward[edges] * found.reverse[edges]).reshape(J, K)
        assert links[i].sure == {(j, k) for j in range(J) for k in range(K) if soft[j, k] > threshold}
        assert not links[i].possible


@pytest.mark.parametrize("method", ["intersection", "union", "grow-diag", "grow-diag-final-and"])
def test_symmetrized_links_combine_the_best_of_each_direction(method: str) -> None:
    found = random_posteriors(1)
    links = found.symmetrized_links(method)
    for i, (J, K) in enumerate(found.shapes.tolist()):
        edges = slice(found.offsets[i], found.offsets[i + 1])
        forward, reverse = (p[edges].reshape(J, K) for p in (found.forward, found.reverse))
        one = {
            (int(forward[:, k].argmax()), k) for k in range(K) if J and forward[:, k].max() > 1 - forward[:, k].sum()
        }
        other = {(j, int(reverse[j].argmax())) for j in range(J) if K and reverse[j].max() > 1 - reverse[j].sum()}
        assert links[i].sure == symmetrize(one, other, method)


def test_posteriors_and_log_likelihoods_are_those_of_each_pair_alone(model: TranslationModel, corpus: Bitext) -> None:
    found = posteriors(model, corpus)
    assert found.log_likelihoods.shape == (2, len(corpus))
    for i, (J, K) in enumerate(found.shapes.tolist()):
        alone = posteriors(model, corpus.take(np.array([i])))
        assert np.array_equal(alone.log_likelihoods[:, 0], found.log_likelihoods[:, i])
        assert np.array_equal(alone.forward, found.forward[found.offsets[i] : found.offsets[i + 1]])
        if J * K == 0:
            assert (found.fit[i] == -np.inf).all()
        else:
            forward, reverse = found.log_likelihoods[:, i]
            assert found.fit[i].tolist() == [forward / K, reverse / J, (forward + reverse) / (J + K)]
