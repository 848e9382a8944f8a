"""The structured SVM of matchings: gold inside the polytope, costs and losses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from aligner._kernels import POSSIBLE, SURE
from aligner.errors import SettingError
from aligner.problem import MatchingProblem
from corpora.alignment import Links, PairLinks
from features.table import EdgeTable

MakeProblem = Callable[..., MatchingProblem]


def test_gold_is_projected_on_matchings(make_problem: MakeProblem) -> None:
    """Of a word with two sure links the preferred one stays, the other becomes possible and is counted as lost."""
    shapes, offsets = np.array([[2, 3]]), np.array([0, 6])
    edges = EdgeTable(np.eye(6, dtype=np.float32), shapes, offsets, tuple("abcdef"))
    links = Links.from_pairs([PairLinks(frozenset({(0, 0), (0, 1), (1, 2)}), frozenset({(1, 0)}))])
    preference = np.array([0.1, 0.9, 0, 0, 0, 0.3])
    problem = MatchingProblem.from_links(edges, links, regularization=1.0, preference=preference)
    assert problem.links_lost == 1
    np.testing.assert_array_equal(problem.labels, [POSSIBLE, SURE, 0, POSSIBLE, 0, SURE])
    np.testing.assert_array_equal(problem.gold, [[0, 1, 0, 0, 0, 1]])
    assert problem.sure.tolist() == [2]
    # At w = 0 the worst matching has no sure link and two false ones: loss 2 c+ + 2 c-.
    corners = problem.corners(np.array([0]), np.zeros(6))
    assert corners.losses.tolist() == [2 * 3.0 + 2 * 1.0]


def test_links_outside_their_pair_are_refused() -> None:
    edges = EdgeTable(np.zeros((8, 1), np.float32), np.array([[2, 2], [2, 2]]), np.array([0, 4, 8]), ("x",))
    links = Links.from_pairs([PairLinks(frozenset({(0, 5)}), frozenset()), PairLinks(frozenset(), frozenset())])
    with pytest.raises(ValueError, match="pair 0 is out of range"):
        MatchingProblem.from_links(edges, links, regularization=1.0)


def test_more_sure_links_beat_any_preference() -> None:
    edges = EdgeTable(np.zeros((4, 1), np.float32), np.array([[2, 2]]), np.array([0, 4]), ("x",))
    links = Links.from_pairs([PairLinks(frozenset({(0, 0), (0, 1), (1, 0)}), frozenset())])
    problem = MatchingProblem.from_links(edges, links, regularization=1.0, preference=np.array([1.0, 0, 0, 0]))
    np.testing.assert_array_equal(problem.labels, [POSSIBLE, SURE, SURE, 0])


def test_losses_are_weighted_hamming_distances(make_problem: MakeProblem) -> None:
    """L(z) = c⁺ · missed sure links + c⁻ · links outside gold, recounted from each corner's matching."""
    problem = make_problem(n=15, miss_cost=2.5, false_cost=0.5)
    corners = problem.corners(np.arange(15), np.random.default_rng(1).standard_normal(5))
    row = 0
    for i in range(15):
        J, K = problem.edges.shapes[i]
        labels = problem.labels[problem.edges.offsets[i] : problem.edges.offsets[i + 1]].reshape(J, K)
        z = np.zeros((J, K), bool)
        mate = corners.mates[row : row + J]
        row += J
        z[np.flatnonzero(mate >= 0), mate[mate >= 0]] = True
        expected = 2.5 * ((labels == SURE) & ~z).sum() + 0.5 * ((labels == 0) & z).sum()
        assert corners.losses[i] == pytest.approx(expected)
        np.testing.assert_allclose(
            corners.psi[i],
            problem.gold[i] - problem.edges[i][z].sum(axis=0, dtype=float),
            rtol=1e-9,
            atol=1e-12,
        )


@pytest.mark.parametrize("bad", [{"regularization": 0.0}, {"miss_cost": -1.0}, {"false_cost": np.nan}])
def test_impossible_settings_are_named(bad: dict[str, float], make_problem: MakeProblem) -> None:
    with pytest.raises(SettingError, match=next(iter(bad)).replace("_", " ")):
        make_problem(**bad)
