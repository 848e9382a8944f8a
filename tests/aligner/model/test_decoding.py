"""Decoding finds the best matchings, in any batches, and says their scores, to the last bit in whatever order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from aligner.losses.capacity import LinkRewards
from aligner.model.decoding import Alignment, Alignments, decode_edges
from aligner.model.model import Model
from aligner.model.scoring import exact_weights, score_table
from corpora.bitext import Bitext
from corpora.links import Links, PairLinks
from corpora.ragged import Lists
from features.extractor import FeatureSet
from features.table import GRID, EdgeTable


@pytest.fixture(scope="module")
def model(model: Model) -> Model:
    """A model whose scores are shown as they are, for one link a word."""
    return replace(model, calibration=None, rewards=LinkRewards())


@pytest.fixture(scope="module")
def bitext(sample: Path, model: Model) -> Bitext:
    """The test part of the sample with empty sentences here and there."""
    builder = model.builder()
    lines = [(sample / f"test.{language}").read_bytes().splitlines() for language in ("en", "fr")]
    for i, (source, target) in enumerate(zip(*lines, strict=True)):
        builder.add_lines([source], [target])
        if i % 9 == 0:
            builder.add_lines([b""], [target])
            builder.add_lines([source], [b""])
            builder.add_lines([b""], [b""])
    return builder.bitext()


def test_best_matchings_of_the_edges(model: Model, bitext: Bitext) -> None:
    edges = model.features.extract(bitext, model.statistics)
    found = list(model.align_bitext(bitext))
    assert found == list(decode_edges(edges, model.weights))
    for i, alignment in enumerate(found):
        rows = slice(*edges.lists.offsets[i : i + 2])
        scores = np.zeros(edges.lists.shapes[i])
        scores[edges.lists.source[rows], edges.lists.target[rows]] = edges[i].astype(np.float64) @ model.weights
        best = np.maximum(scores, 0.0)
        assert sum(alignment.scores) == pytest.approx(best[linear_sum_assignment(best, maximize=True)].sum(), rel=1e-9)
        assert list(alignment.links) == sorted(alignment.links)
        assert len({j for j, _ in alignment}) == len({k for _, k in alignment}) == len(alignment)
        np.testing.assert_allclose(alignment.scores, [scores[link] for link in alignment], rtol=1e-9, atol=1e-9)
        assert all(score > 0 for score in alignment.scores)
    assert sum(map(len, found)) > 500


@pytest.mark.parametrize("edges_at_once", [1, 100, 1000])
def test_batches_do_not_matter(
    model: Model, bitext: Bitext, monkeypatch: pytest.MonkeyPatch, edges_at_once: int
) -> None:
    """Nor that a pair is larger than one."""
    whole = list(model.align_bitext(bitext))
    monkeypatch.setattr("features.batch.EDGES_AT_ONCE", edges_at_once)
    assert list(model.align_bitext(bitext)) == whole


def test_links_of_others_are_of_the_whole_bitext(model: Model, bitext: Bitext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("features.batch.EDGES_AT_ONCE", 300)
    lengths = zip(bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True)
    reversed_ = [{(x, min(J, K) - 1 - x) for x in range(min(J, K))} for J, K in lengths]
    links = Links.from_pairs(PairLinks(frozenset(pair)) for pair in reversed_)
    believer = replace(model, features=FeatureSet((), ("other",)), weights=np.ones(1))
    found = believer.align_bitext(bitext, [links])
    assert [set(alignment) for alignment in found] == reversed_


def test_several_links_a_word() -> None:
    """With rewards the links are those of the best b-matching, which here is seen at a glance."""
    scores = np.array([[3.0], [2.0], [-1.0], [1.0], [0.5], [4.0], [5.0]], np.float32)  # (2, 3), then (1, 1)
    shapes = np.array([[2, 3], [0, 2], [1, 1]])
    edges = EdgeTable(scores, Lists.of_all(shapes), ("x",))
    found = list(decode_edges(edges, np.ones(1), LinkRewards((-1.5,))))
    assert [alignment.links for alignment in found] == [((0, 0), (0, 1), (1, 2)), (), ((0, 0),)]
    assert found[0].scores == (3.0, 2.0, 4.0)
    dear = decode_edges(edges, np.ones(1), LinkRewards((-2.5,)))
    assert list(dear) == list(decode_edges(edges, np.ones(1)))


def test_alignment_is_its_links() -> None:
    alignment = Alignment(((0, 1), (2, 0)), (0.5, 1.5))
    assert list(alignment) == [(0, 1), (2, 0)]
    assert len(alignment) == 2
    assert (2, 0) in alignment
    assert (0, 0) not in alignment
    assert str(alignment) == "0-1 2-0"
    assert alignment.score == 1.0, "the mean"
    assert (str(Alignment((), ())), len(Alignment((), ())), Alignment((), ()).score) == ("", 0, 0.0)


def test_packed_alignments_are_joined_and_written(model: Model, bitext: Bitext) -> None:
    found = model.align_bitext(bitext)
    one_by_one = list(found)
    assert found[1:3] == one_by_one[1:3]
    assert found[::-1] == one_by_one[::-1]
    assert list(Alignments.join([found, Alignments.join([]), found])) == one_by_one * 2
    assert list(Alignments.join([])) == list(model.align_bitext(bitext.take(np.empty(0, np.int64)))) == []
    assert found.lines().decode() == "".join(f"{alignment}\n" for alignment in one_by_one)
    assert Links.from_sets(found) == Links.from_pairs(PairLinks(frozenset(links)) for links in one_by_one)


def test_large_positions_and_numbers_beyond_the_end() -> None:
    source, target = np.array([0, 9, 99, 12345, 0]), np.array([0, 10, 100, 678901, 0])
    links = Links(source, target, np.ones(5, np.bool_), np.array([0, 0, 4, 4, 5]))
    found = Alignments.of(links, np.ones(5), np.empty((4, 2), np.int64))
    assert found.lines() == b"\n0-0 9-10 99-100 12345-678901\n\n0-0\n"
    assert [found[i] for i in range(-4, 4)] == [*found, *found]
    for beyond in (4, -5):
        with pytest.raises(IndexError):
            found[beyond]


@pytest.mark.parametrize("scale", [1e-250, 1.0, 3e7])
def test_scores_do_not_depend_on_the_order_of_sums(scale: float) -> None:
    """To the last bit, for features on the grid."""
    rng = np.random.default_rng(1)
    features = (rng.integers(-GRID, GRID + 1, (600, 40)) / GRID).astype(np.float32)
    weights = scale * rng.standard_normal(40) * 10.0 ** rng.integers(-6, 3, 40)
    scores = score_table(weights, features)
    bound = 1e-12 * np.abs(weights).sum() * np.abs(features).sum(axis=1)
    assert (np.abs(scores - features.astype(np.float64) @ weights) <= bound).all()
    assert np.array_equal(score_table(weights, np.asfortranarray(features)), scores)
    order = rng.permutation(40)
    assert np.array_equal(score_table(weights[order], np.ascontiguousarray(features[:, order])), scores)
    assert np.array_equal([score_table(weights, features[e : e + 1])[0] for e in range(50)], scores[:50])
    exact = exact_weights(weights)
    assert [sum(map(Fraction, (row * exact).tolist())) for row in features[:50].astype(float)] == scores[:50].tolist()
    assert score_table(weights, features[:0]).shape == (0,)
