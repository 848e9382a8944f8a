"""Decoding finds the best matchings, in any batches, and says their scores, to the last bit in whatever order."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from aligner.losses.capacity import LinkRewards
from aligner.model import _score_kernels as _kernels
from aligner.model.decoding import Alignment, Alignments, decode_edges
from aligner.model.model import Model
from aligner.model.scoring import exact_weights, score_table
from corpora.bitext import Bitext, BitextBuilder
from corpora.links import Links, PairLinks
from corpora.normalize import Normalizer
from corpora.ragged import Lists
from features.batch import EDGES_AT_ONCE
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
    assert len(found) == len(bitext)
    for i, alignment in enumerate(found):
        rows = slice(*edges.lists.offsets[i : i + 2])
        scores = np.full(edges.lists.shapes[i], -np.inf)
        scores[edges.lists.source[rows], edges.lists.target[rows]] = edges[i].astype(np.float64) @ model.weights
        rows, columns = linear_sum_assignment(np.maximum(scores, 0.0), maximize=True)
        assert sum(alignment.scores) == pytest.approx(np.maximum(scores, 0.0)[rows, columns].sum(), rel=1e-9)
        assert list(alignment.links) == sorted(alignment.links)
        assert len({j for j, _ in alignment}) == len({k for _, k in alignment}) == len(alignment)
        np.testing.assert_allclose(alignment.scores, [scores[link] for link in alignment], rtol=1e-9, atol=1e-9)
        assert all(score > 0 for score in alignment.scores)
    assert sum(map(len, found)) > 500


@pytest.mark.parametrize("edges_at_once", [1, 100, 1000])
def test_batches_do_not_matter(
    model: Model, bitext: Bitext, monkeypatch: pytest.MonkeyPatch, edges_at_once: int
) -> None:
    whole = list(model.align_bitext(bitext))
    monkeypatch.setattr("features.batch.EDGES_AT_ONCE", edges_at_once)
    assert list(model.align_bitext(bitext)) == whole


def test_a_pair_larger_than_a_batch(model: Model) -> None:
    builder = BitextBuilder(Normalizer(), Normalizer())
    words = [f"n{i}" for i in range(600)]
    for source in (["a"], words, ["b"]):
        builder.add_tokens(source, source)
    assert len(words) ** 2 > EDGES_AT_ONCE
    features = FeatureSet(("bias", "orthography"))
    weights = np.where(np.array(features.names) == "exact", 2.0, 0.0)
    weights[features.names.index("bias")] = -1.0
    found = replace(model, features=features, weights=weights).align_bitext(builder.bitext())
    assert [list(alignment) for alignment in found] == [[(x, x) for x in range(n)] for n in (1, 600, 1)]
    assert set(itertools.chain(*(alignment.scores for alignment in found))) == {1.0}


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


@pytest.mark.parametrize("capacity", [1, 2, 3])
@pytest.mark.parametrize("seed", range(20))
def test_links_are_the_positive_edges_where_nothing_keeps_them_apart(capacity: int, seed: int) -> None:
    """With prices of 0, and no word with more edges above 0 than it may have links, decoding is a threshold."""
    rng = np.random.default_rng(seed)
    shapes = rng.integers(1, 9, (10, 2))
    scores = np.abs(rng.standard_normal(shapes.prod(axis=1).sum())).astype(np.float32)
    expected = []
    for (J, K), part in zip(shapes, np.split(scores, Lists.of_all(shapes).offsets[1:-1]), strict=True):
        links = np.zeros((J, K), bool)
        for j, k in rng.permutation([(j, k) for j in range(J) for k in range(K)]):
            links[j, k] = rng.random() < 0.7 and links[j].sum() < capacity and links[:, k].sum() < capacity
        part[~links.ravel()] *= -1.0  # a view of the scores
        expected.append(tuple(zip(*(axis.tolist() for axis in np.nonzero(links)), strict=True)))
    edges = EdgeTable(scores[:, None], Lists.of_all(shapes), ("x",))
    free = (0.0,) * (capacity - 1)
    found = decode_edges(edges, np.ones(1), LinkRewards(free, free))
    assert [alignment.links for alignment in found] == expected


def test_nothing_to_decode(model: Model) -> None:
    assert list(model.align_bitext(model.builder().bitext())) == []
    shapes = np.zeros((0, 2), np.int64)
    edges = EdgeTable(np.zeros((0, 1), np.float32), Lists.of_all(shapes), ("x",))
    assert list(decode_edges(edges, np.ones(1))) == []


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
    assert len(found) == len(bitext) == len(one_by_one)
    assert found[1:3] == one_by_one[1:3]
    assert found[::-1] == one_by_one[::-1]
    assert list(Alignments.join([found, Alignments.join([]), found])) == one_by_one * 2
    assert list(Alignments.join([])) == []
    assert found.lines().decode() == "".join(f"{alignment}\n" for alignment in one_by_one)
    assert Links.from_sets(found) == Links.from_pairs(PairLinks(frozenset(links)) for links in one_by_one)


def test_large_positions_and_numbers_beyond_the_end() -> None:
    source, target = np.array([0, 9, 99, 12345, 0]), np.array([0, 10, 100, 678901, 0])
    links = Links(source, target, np.ones(5, np.bool_), np.array([0, 0, 4, 4, 5]))
    found = Alignments.of(links, np.ones(5), np.empty((4, 2), np.int64))
    assert found.lines() == b"\n0-0 9-10 99-100 12345-678901\n\n0-0\n"
    assert Alignments.join([]).lines() == b""
    assert [found[i] for i in range(-4, 4)] == [*found, *found]
    for beyond in (4, -5):
        with pytest.raises(IndexError):
            found[beyond]


def test_scores_equal_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    features, weights = rng.standard_normal((50, 7)).astype(np.float32), rng.standard_normal(7)
    expected = features.astype(np.float64) @ weights
    bound = 1e-12 * np.abs(weights).sum() * np.abs(features).sum(axis=1)
    scores = score_table(weights, features)
    assert (np.abs(scores - expected) <= bound).all()
    alone = np.concatenate([score_table(weights, features[e : e + 1]) for e in range(len(features))])
    assert scores.tobytes() == alone.tobytes()
    assert score_table(weights, features[:0]).shape == (0,)


@pytest.mark.parametrize("scale", [1e-250, 1.0, 3e7])
def test_scores_do_not_depend_on_the_order_of_sums(scale: float) -> None:
    """To the last bit, for features on the grid."""
    rng = np.random.default_rng(1)
    features = (rng.integers(-GRID, GRID + 1, (600, 40)) / GRID).astype(np.float32)
    weights = scale * rng.standard_normal(40) * 10.0 ** rng.integers(-6, 3, 40)
    scores = score_table(weights, features)
    assert np.array_equal(score_table(weights, np.asfortranarray(features)), scores)
    order = rng.permutation(40)
    assert np.array_equal(score_table(weights[order], np.ascontiguousarray(features[:, order])), scores)
    assert np.array_equal(score_table(np.zeros(40), features), np.zeros(600))
    exact = exact_weights(weights)
    assert [sum(map(Fraction, (row * exact).tolist())) for row in features[:50].astype(float)] == scores[:50].tolist()
    parts = np.zeros(600)
    for columns in (slice(0, 13), slice(13, 40)):
        off_the_grid = features[:, columns] + np.float32(0.4 / GRID)
        _kernels.add_rounded_scores(np.ascontiguousarray(off_the_grid.T), exact[columns], parts)
    assert np.array_equal(parts, scores)
