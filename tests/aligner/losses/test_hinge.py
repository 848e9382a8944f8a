"""The structured SVM of matchings: gold inside the polytope, costs and losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aligner.errors import ScoreError, SettingError
from aligner.losses._corner_kernels import POSSIBLE, SURE
from aligner.losses.capacity import Fertility
from aligner.losses.fenchel_young import FenchelYoungProblem
from aligner.losses.hinge import Costs, MatchingProblem, Prior
from aligner.matching import best_matchings
from corpora.links import Links, PairLinks
from corpora.ragged import Lists
from features.table import EdgeTable

MakeProblem = Callable[..., MatchingProblem]


def test_gold_is_projected_on_matchings(make_problem: MakeProblem) -> None:
    """Of a word with two sure links the preferred one stays, the other becomes possible and is counted as lost."""
    edges = EdgeTable(np.eye(6, dtype=np.float32), Lists.of_all([(2, 3)]), tuple("abcdef"))
    links = Links.from_pairs([PairLinks(frozenset({(0, 0), (0, 1), (1, 2)}), frozenset({(1, 0)}))])
    preference = np.array([0.1, 0.9, 0, 0, 0, 0.3])
    problem = MatchingProblem.from_links(edges, links, regularization=1.0, preference=preference)
    assert problem.links_lost == 1
    np.testing.assert_array_equal(problem.labels, [POSSIBLE, SURE, 0, POSSIBLE, 0, SURE])
    np.testing.assert_array_equal(problem.gold, [[0, 1, 0, 0, 0, 1]])
    assert (problem.labels == SURE).sum() == 2
    # At w = 0 the worst matching has no sure link and two false ones: loss 2 c+ + 2 c-.
    corners = problem.corners(np.array([0]), np.zeros(6))
    assert corners.losses.tolist() == [2 * 3.0 + 2 * 1.0]


def test_links_outside_their_pair_are_refused() -> None:
    edges = EdgeTable(np.zeros((8, 1), np.float32), Lists.of_all([(2, 2), (2, 2)]), ("x",))
    links = Links.from_pairs([PairLinks(frozenset({(0, 5)})), PairLinks(frozenset())])
    with pytest.raises(ValueError, match="pair 0 is out of range"):
        MatchingProblem.from_links(edges, links, regularization=1.0)


def test_gold_that_is_not_listed_is_left_out() -> None:
    lists = Lists(np.array([0, 1], np.int32), np.array([1, 0], np.int32), np.array([[2, 2]]), np.array([0, 2]))
    edges = EdgeTable(np.ones((2, 1), np.float32), lists, ("x",))
    links = Links.from_pairs([PairLinks(frozenset({(1, 1), (1, 0)}), frozenset({(0, 0)}))])
    problem = MatchingProblem.from_links(edges, links, regularization=1.0)
    assert problem.labels.tolist() == [0, SURE]
    assert problem.links_lost == 0
    assert FenchelYoungProblem.from_links(edges, links, regularization=1.0).gold.tolist() == [0, 1]


@pytest.mark.parametrize("capacity", [1, 2])
def test_a_prior_moves_the_regulariser_alone(make_problem: Any, capacity: int) -> None:
    """λ/2 ‖w − w₀‖² and the hinges of w, whatever w₀."""
    rng = np.random.default_rng(0)
    prior = rng.standard_normal(5)
    problem, centred = (make_problem(capacity=capacity, prior=known) for known in (None, Prior(prior)))
    v = rng.standard_normal(problem.n_features)
    v[5:] = -np.abs(v[5:])
    w = centred.weights(v)
    np.testing.assert_allclose(w[:5], v[:5] + prior)
    assert (w[5:] == v[5:]).all()
    every = np.arange(problem.n_blocks)
    ours, theirs = problem.corners(every, w), centred.corners(every, v)
    np.testing.assert_allclose(theirs.losses - theirs.psi @ v, ours.losses - ours.psi @ w, rtol=1e-9, atol=1e-9)
    part = centred.take(np.array([3, 1]))
    np.testing.assert_allclose(part.target_costs, centred.target_costs[[3, 1]])
    assert "prior:given" in centred.signature


def test_more_sure_links_beat_any_preference() -> None:
    edges = EdgeTable(np.zeros((4, 1), np.float32), Lists.of_all([(2, 2)]), ("x",))
    links = Links.from_pairs([PairLinks(frozenset({(0, 0), (0, 1), (1, 0)}))])
    problem = MatchingProblem.from_links(edges, links, regularization=1.0, preference=np.array([1.0, 0, 0, 0]))
    np.testing.assert_array_equal(problem.labels, [POSSIBLE, SURE, SURE, 0])


def test_several_links_keep_gold() -> None:
    """With room for two links a source word and one a target word only what goes beyond is lost."""
    edges = EdgeTable(np.eye(8, dtype=np.float32), Lists.of_all([(2, 4)]), tuple("abcdefgh"))
    gold = {(0, 0), (0, 1), (0, 2), (1, 2), (1, 3)}
    links = Links.from_pairs([PairLinks(frozenset(gold))])
    fertility = Fertility(2, 1)
    problem = MatchingProblem.from_links(edges, links, regularization=1.0, fertility=fertility)
    assert problem.links_lost == 1
    np.testing.assert_array_equal(problem.labels, [SURE, SURE, POSSIBLE, 0, 0, 0, SURE, SURE])
    assert problem.fertility.names == ("source:2",)
    np.testing.assert_array_equal(problem.gold, [[1, 1, 0, 0, 0, 0, 1, 1, 2]])
    assert "fertility:2-1" in problem.signature
    wide = Fertility(3, 2)
    assert MatchingProblem.from_links(edges, links, regularization=1.0, fertility=wide).links_lost == 0


def test_what_several_links_cannot_have_is_named(make_problem: MakeProblem) -> None:
    with pytest.raises(SettingError, match="scipy oracle has one link a word only"):
        make_problem(capacity=2, oracle="scipy")
    for oracle in ("assignment", "flow"):
        problem = make_problem(capacity=2, oracle=oracle)
        with pytest.raises(ValueError, match="at most 0"):
            problem.corners(np.arange(3), np.ones(problem.n_features))
        with pytest.raises(ScoreError):
            problem.corners(np.arange(3), np.full(problem.n_features, np.nan))


@pytest.mark.parametrize("capacity", [2, 3])
def test_a_part_of_a_problem_has_the_same_corners(capacity: int, make_problem: MakeProblem) -> None:
    problem, chosen = make_problem(capacity=capacity), np.array([7, 2, 11])
    w = -np.abs(np.random.default_rng(1).standard_normal(problem.n_features))
    ours, theirs = problem.take(chosen).corners(np.arange(3), w), problem.corners(chosen, w)
    np.testing.assert_array_equal(ours.psi, theirs.psi)
    np.testing.assert_array_equal(ours.losses, theirs.losses)


@pytest.mark.parametrize(("capacity", "oracle"), [(1, "assignment"), (2, "assignment"), (3, "assignment"), (2, "lp")])
def test_losses_are_weighted_hamming_distances(capacity: int, oracle: str, make_problem: MakeProblem) -> None:
    """L(z) = c⁺ · missed sure links + c⁻ · links outside gold, recounted from the best matchings; ψ likewise."""
    problem = make_problem(n=15, costs=Costs(2.5, 0.5, 0.0), capacity=capacity, oracle=oracle, listed=0.7)
    w = np.random.default_rng(1).standard_normal(problem.n_features)
    w[5:] = -0.1 * np.abs(w[5:])
    corners = problem.corners(np.arange(15), w)
    scores = problem.edges.features @ w[:5] + problem.costs
    rewards = problem.link_rewards(w)
    lists = problem.edges.lists
    best = best_matchings(scores, lists, rewards.source, rewards.target)
    matchings = []
    for i in range(15):
        rows = slice(lists.offsets[i], lists.offsets[i + 1])
        labels, z = problem.labels[rows], best[rows]
        words = (lists.source[rows][z], lists.target[rows][z])
        matchings.append([np.bincount(side, minlength=size) for side, size in zip(words, lists.shapes[i], strict=True)])
        expected = 2.5 * ((labels == SURE) & ~z).sum() + 0.5 * ((labels == 0) & z).sum()
        assert corners.losses[i] == pytest.approx(expected)
        features = problem.edges[i][z].sum(axis=0, dtype=float)
        np.testing.assert_allclose(corners.psi[i, :5], problem.gold[i, :5] - features, rtol=1e-9, atol=1e-12)
    if capacity > 1:
        degrees = [*zip(*matchings, strict=True)]
        further = [[np.maximum(0, x - u + 1).sum() for x in side] for side in degrees for u in range(2, capacity + 1)]
        np.testing.assert_array_equal(corners.psi[:, 5:], problem.gold[:, 5:] - np.transpose(further))
        assert max(x.max() for side in degrees for x in side) == capacity


@pytest.mark.parametrize("bad", [{"regularization": 0.0}, {"miss": -1.0}, {"false": np.nan}])
def test_impossible_settings_are_named(bad: dict[str, float], make_problem: MakeProblem) -> None:
    settings = bad if "regularization" in bad else {"costs": Costs(**bad)}
    with pytest.raises(SettingError, match=next(iter(bad))):
        make_problem(**settings)
