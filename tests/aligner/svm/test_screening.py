"""What blocks remember changes no answer, and leaves out no edge that could score above 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from aligner.solvers import block as block_module
from aligner.solvers.block import Block
from aligner.svm import _screening_kernels as screening
from aligner.svm.hinge import MatchingProblem
from corpora.alignment import Links, PairLinks
from corpora.ragged import edge_offsets
from features.codes import GRID, round_to_grid
from features.table import EdgeTable

MakeProblem = Callable[..., MatchingProblem]
BLOCKS = 30


def selective(problem: MatchingProblem, rng: np.random.Generator) -> np.ndarray:
    """Weights with which few edges score above 0: the first feature is a constant."""
    w = rng.standard_normal(problem.n_features)
    w[0] = -3.0
    tail = w[len(problem.edges.names) :]
    np.minimum(tail, -tail, out=tail)
    return w


def field(problem: MatchingProblem, number: int) -> np.ndarray:
    return problem.arrays.screen.records.reshape(-1, screening.FIELDS)[:, number]


def listed(problem: MatchingProblem, i: int) -> np.ndarray:
    start = problem.edges.offsets[i] // screening.SHARE
    return problem.arrays.screen.listed[start : start + field(problem, screening.SIZE)[i]]


def remembering(make_problem: MakeProblem, seed: int = 0, **settings: object) -> tuple[MatchingProblem, np.ndarray]:
    """A problem and weights near which its blocks remember lists."""
    problem = make_problem(n=BLOCKS, d=7, largest=20, seed=seed, grid=True, **settings)
    rng = np.random.default_rng(seed)
    w = selective(problem, rng)
    for step in (0.0, 0.01, 0.01):
        w[1:7] += step * rng.standard_normal(6)
        problem.corners(np.arange(BLOCKS), w)
    return problem, w


@pytest.mark.parametrize("capacity", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_answers_are_the_same_to_the_bit(capacity: int, seed: int, make_problem: MakeProblem) -> None:
    problem, w = remembering(make_problem, seed, capacity=capacity)
    rng = np.random.default_rng(seed)
    used = 0
    for size in rng.permutation(np.geomspace(1e-6, 1.0, 60)):
        w[1:7] += size * rng.standard_normal(6)
        before = field(problem, screening.USES).copy()
        blocks = rng.permutation(BLOCKS)
        found, expected = (
            problem.corners(blocks, w),
            replace(problem).corners(blocks, w),
        )  # the latter remembers nothing
        used += int((field(problem, screening.USES) > before).sum())
        for name in ("psi", "losses", "mates"):
            assert np.array_equal(getattr(found, name), getattr(expected, name))
    assert used > 5 * BLOCKS
    assert not field(problem, screening.OWNED).any()


@pytest.mark.parametrize("seed", range(3))
def test_no_edge_left_out_can_score_above_0(seed: int, make_problem: MakeProblem) -> None:
    """At the weights within the radius that are worst for each edge, and at random ones."""
    problem, _ = remembering(make_problem, seed)
    rng = np.random.default_rng(seed)
    edges, screen, centre = problem.edges, problem.arrays.screen, problem.edges.codes.centre
    with_lists = np.flatnonzero(screen.references[:, 0] > 0)
    assert len(with_lists) > BLOCKS / 3
    closest = -np.inf
    for i in with_lists.tolist():
        rows = slice(edges.offsets[i], edges.offsets[i + 1])
        features, costs = edges.features[rows].astype(float), problem.costs[problem.labels[rows]]
        left_out = np.setdiff1d(np.arange(len(features)), listed(problem, i))
        assert len(left_out) > 0
        radius, v = float(screen.references[i, 0]), screen.references[i, 1:].astype(float)
        directions = np.concatenate([features[left_out] - centre, features[left_out], rng.standard_normal((20, 7))])
        for direction in directions:
            w = v + direction / np.linalg.norm(direction)
            moved = screening.distance_moved(i, w, centre, screen.references)
            w = v + (w - v) * radius / moved * (1 - 1e-6)
            assert screening.distance_moved(i, w, centre, screen.references) < radius
            closest = max(closest, float((features @ w + costs)[left_out].max()))
    assert -0.05 < closest <= 0.0  # near enough to 0 that a longer radius would be wrong


def test_what_another_thread_has_is_left_alone(make_problem: MakeProblem) -> None:
    problem, w = remembering(make_problem)
    expected = problem.corners(np.arange(BLOCKS), w)
    for other in (w, w + 0.5, -w):
        screen = [part.copy() for part in problem.arrays.screen]
        field(problem, screening.OWNED)[:] = 1
        found = problem.corners(np.arange(BLOCKS), other)
        assert field(problem, screening.OWNED).all()
        field(problem, screening.OWNED)[:] = 0
        for before, after in zip(screen, problem.arrays.screen, strict=True):
            assert before.tobytes() == after.tobytes()
        assert np.array_equal(found.psi, replace(problem).corners(np.arange(BLOCKS), other).psi)
    assert np.array_equal(problem.corners(np.arange(BLOCKS), w).psi, expected.psi)


def test_a_long_used_list_is_made_anew(make_problem: MakeProblem) -> None:
    problem, w = remembering(make_problem)
    block = int(np.argmax(problem.arrays.screen.references[:, 0]))
    for _ in range(3 * screening.MOST_USES):
        problem.corners(np.array([block]), w)
        assert field(problem, screening.USES)[block] <= screening.MOST_USES


@pytest.mark.parametrize("threads", [1, 5])
def test_what_is_remembered_in_solving_is_true(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where threads come late: a list and the weights it was made at belong together."""
    monkeypatch.setattr(block_module, "cores", lambda: threads)
    rng = np.random.default_rng(0)
    shapes = rng.integers(15, 25, (60, 2))
    offsets = edge_offsets(shapes)
    features = np.clip(rng.standard_normal((offsets[-1], 6)) / 3, -1, 1).astype(np.float32)
    features[:, 0] = 1
    pairs = []
    for first, (J, K) in zip(offsets.tolist(), shapes.tolist(), strict=False):  # few edges are links, as in text
        links = [(j, j) for j in range(min(J, K)) if rng.random() < 0.7]
        features[[first + j * K + k for j, k in links], 1] = 1
        pairs.append(PairLinks(frozenset(links), frozenset()))
    round_to_grid(features)
    edges = EdgeTable(features, shapes, offsets, tuple("abcdef"))
    problem = MatchingProblem.from_links(edges, Links.from_pairs(pairs), regularization=0.01)
    solver = Block(minibatch=4)
    state = solver.init(problem, np.random.default_rng(0))
    screen, costs = problem.arrays.screen, problem.costs[problem.labels]
    used = 0
    for _ in range(30):
        solver.sweep(problem, state)
        used += int((field(problem, screening.USES) > 0).sum())
        for i in np.flatnonzero(screen.references[:, 0] > 0).tolist():
            rows = slice(offsets[i], offsets[i + 1])
            v, radius = screen.references[i, 1:].astype(float), float(screen.references[i, 0])
            scores = features[rows] @ v + costs[rows] + radius * edges.codes.distances[rows]
            assert set(np.flatnonzero(scores > 0)) <= set(listed(problem, i).tolist())
            start = offsets[i] // screening.SHARE
            packed = screen.rows[start : start + len(listed(problem, i))]
            assert np.array_equal(packed[:, :-1] / GRID, features[rows][listed(problem, i)])
    assert used > 5 * len(shapes)


def test_features_without_codes_are_not_remembered(make_problem: MakeProblem) -> None:
    problem = make_problem(n=5, d=3)  # not on the grid
    assert not len(problem.edges.codes.starts)
    assert all(len(part) == 0 for part in problem.arrays.screen[:2])
