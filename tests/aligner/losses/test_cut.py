"""Associative networks of two labels: the oracle against brute force and linear programmes, and their polytope."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from aligner.errors import SettingError
from aligner.solvers import CutProblem, Extragradient, Status, check_problem, solve
from aligner.solvers.saddle import Projection


def random_cuts(n: int = 6, seed: int = 0, largest: int = 7, share: float = 0.5) -> CutProblem:
    """Graphs of up to so many nodes, with this share of all edges."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, largest + 1, n)
    begins = np.append(0, np.cumsum(sizes))
    pairs = [pair for i in range(n) for pair in itertools.combinations(range(begins[i], begins[i + 1]), 2)]
    ends = np.array([pair for pair in pairs if rng.random() < share]).reshape(-1, 2)
    labels = rng.integers(2, size=begins[-1])
    nodes = np.column_stack([labels + 0.7 * rng.standard_normal(begins[-1]), np.ones(begins[-1])])
    edges = np.column_stack([np.ones(len(ends)), rng.random(len(ends))])
    return CutProblem.of(nodes, labels, sizes, ends, edges, regularization=0.1)


def weights(seed: int) -> np.ndarray:
    w = np.random.default_rng(seed).standard_normal(4) * [2.0, 1.0, 0.5, 0.5]
    return np.concatenate([w[:2], -np.abs(w[2:])])


def part(cuts: CutProblem, i: int) -> tuple[np.ndarray, ...]:
    """Nodes, labels, ends and edges of a graph."""
    arrays = cuts.arrays
    nodes, edges = slice(*arrays.offsets[i : i + 2]), slice(*arrays.edge_offsets[i : i + 2])
    return arrays.nodes[nodes], arrays.labels[nodes], arrays.ends[edges], arrays.edges[edges]


def score(w: np.ndarray, z: np.ndarray, of_graph: tuple[np.ndarray, ...]) -> float:
    nodes, _, ends, edges = of_graph
    return float(z @ nodes @ w[:2] + np.abs(np.diff(z[ends])[:, 0]) @ edges @ w[2:])


@pytest.mark.parametrize("seed", range(5))
def test_the_oracle_is_the_best_of_all_labellings_and_of_the_polytope(seed: int) -> None:
    cuts, w = random_cuts(seed=seed), weights(seed)
    found = cuts.corners(np.arange(cuts.n_blocks), w)
    for i in range(cuts.n_blocks):
        nodes, y, ends, edges = of_graph = part(cuts, i)
        n, m = len(nodes), len(edges)
        every = [np.array(z, float) for z in itertools.product([0, 1], repeat=n)]
        hinges = [np.mean(z != y) + score(w, z, of_graph) - score(w, y, of_graph) for z in every]
        assert found.losses[i] - found.psi[i] @ w == pytest.approx(max(hinges), abs=1e-8)
        costs = -np.concatenate([nodes @ w[:2] + (1 - 2 * y) / n, edges @ w[2:]])
        rows = np.zeros((2 * m, n + m))
        for e, (j, k) in enumerate(ends):
            rows[2 * e, [j, k, n + e]], rows[2 * e + 1, [j, k, n + e]] = (1, -1, -1), (-1, 1, -1)
        best = linprog(costs, rows if m else None, np.zeros(2 * m) if m else None, bounds=(0, 1))
        assert -best.fun + np.mean(y) - score(w, y, of_graph) == pytest.approx(max(hinges), abs=1e-8)
        plain = max(every, key=lambda z: score(w, z, of_graph))
        own = cuts.predict(w)[cuts.arrays.offsets[i] : cuts.arrays.offsets[i + 1]]
        assert score(w, own, of_graph) == pytest.approx(score(w, plain, of_graph), abs=1e-9)


def test_a_large_grid_equals_a_linear_programme() -> None:
    cuts, w = grids([np.random.default_rng(0).integers(2, size=(20, 25))], noise=1.5), np.array([2.0, -1.0, -0.7])
    arrays, n, m = cuts.arrays, 500, len(cuts.arrays.ends)
    gains = cuts.scores(np.array([0]), w)
    rows = np.zeros((2 * m, n + m))
    for e, (j, k) in enumerate(arrays.ends):
        rows[2 * e, [j, k, n + e]], rows[2 * e + 1, [j, k, n + e]] = (1, -1, -1), (-1, 1, -1)
    best = linprog(-gains, rows, np.zeros(2 * m), bounds=(0, 1))
    corner = cuts.corners(np.array([0]), w)
    hinge = corner.losses[0] - corner.psi[0] @ w
    assert -best.fun - gains @ cuts.target == pytest.approx(hinge, abs=1e-8)


@pytest.mark.parametrize("geometry", CutProblem.geometries)
@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_point_is_that_of_a_general_solver(seed: int, geometry: str) -> None:
    cuts, euclidean = random_cuts(3, seed, largest=5), geometry == "euclidean"
    points = 1.5 * np.random.default_rng(seed).standard_normal(cuts.parts[-1]) - (not euclidean)
    duals = cuts.duals(np.arange(3))
    found = cuts.nearest(np.arange(3), points, geometry, duals)
    np.testing.assert_allclose(cuts.nearest(np.arange(3), points, geometry, duals), found, atol=1e-6)
    for i in range(3):
        n, ends = len(part(cuts, i)[0]), part(cuts, i)[2]
        q, z = (values[slice(*cuts.parts[i : i + 2])] for values in (points, found))
        rows = np.zeros((2 * len(ends), len(q)))
        for e, (j, k) in enumerate(ends):
            rows[2 * e, [j, k, n + e]], rows[2 * e + 1, [j, k, n + e]] = (-1, 1, 1), (1, -1, 1)

        def value(x: np.ndarray, q: np.ndarray = q) -> float:
            return float((0.5 * x * x if euclidean else x * np.log(x) - x).sum() - q @ x)

        best = minimize(
            value,
            np.full(len(q), 0.5),
            jac=lambda x, q=q: (x if euclidean else np.log(x)) - q,
            method="SLSQP",
            bounds=[(0.0 if euclidean else 1e-12, 1.0)] * len(q),
            options={"ftol": 1e-15, "maxiter": 1000},
            constraints=[{"type": "ineq", "fun": lambda x, rows=rows: rows @ x, "jac": lambda x, rows=rows: rows}]
            if len(rows)
            else [],
        )
        np.testing.assert_allclose(z, best.x, atol=2e-6)
        assert value(z) <= best.fun + 1e-11
        assert (rows @ z >= 0.0).all()
        assert z.min() >= 0.0
        assert z.max() <= 1.0


def test_all_solvers_enclose_one_optimum() -> None:
    cuts = random_cuts(12)
    check_problem(cuts)
    results = [solve(cuts, name, gap=1e-3, passes=20_000) for name in ("bcfw", "bcfw-pairwise", "cutting-plane")]
    results.append(solve(cuts, Extragradient(restarts=True), gap=1e-2, passes=3000))
    results.append(solve(cuts, Extragradient(Projection.ENTROPIC, restarts=True), gap=1e-2, passes=3000))
    others = ("projected-gradient", "exponentiated-gradient", "excessive-gap")
    results += [solve(cuts, name, gap=1e-2, passes=3000) for name in others]
    assert all(result.status is Status.CONVERGED for result in results)
    assert max(result.dual for result in results) <= min(result.primal for result in results) + 1e-9
    assert all((result.w[2:] <= 0.0).all() for result in results)


def test_some_graphs_are_a_problem_of_their_own() -> None:
    cuts, w, chosen = random_cuts(8), weights(0), np.array([5, 0, 5, 7])
    some, whole = cuts.take(chosen).corners(np.arange(4), w), cuts.corners(chosen, w)
    np.testing.assert_array_equal(some.losses, whole.losses)
    np.testing.assert_array_equal(some.psi, whole.psi)
    smallest = cuts.rehearsal()
    assert (smallest.n_blocks, smallest.parts[-1]) == (1, np.diff(cuts.parts).min())


def grids(pictures: list[np.ndarray], noise: float, seed: int = 0) -> CutProblem:
    """Pictures of 0 and 1 seen with noise, whose neighbouring pixels are joined."""
    rng = np.random.default_rng(seed)
    rows, columns = pictures[0].shape
    number = np.arange(rows * columns).reshape(rows, columns)
    joined = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    ends = np.concatenate([np.column_stack([one.ravel(), other.ravel()]) for one, other in joined])
    labels = np.concatenate([picture.ravel() for picture in pictures])
    seen = labels - 0.5 + noise * rng.standard_normal(len(labels))
    every = np.concatenate([ends + i * rows * columns for i in range(len(pictures))])
    edges = np.column_stack([np.ones(len(every)), np.exp(-np.abs(np.diff(seen[every])[:, 0]))])
    return CutProblem.of(seen[:, None], labels, [rows * columns] * len(pictures), every, edges, regularization=1e-3)


def test_neighbours_help_to_see_a_noisy_picture() -> None:
    y, x = np.mgrid[:16, :16]
    pictures = [((x - a) ** 2 + (y - b) ** 2 < 25).astype(int) for a, b in ((5, 5), (9, 8), (7, 11), (11, 5))]
    train, test = grids(pictures[:2], 0.8), grids(pictures[2:], 0.8, seed=1)
    w = solve(train, "bcfw", gap=1e-2, passes=2000).w
    alone = np.mean((test.arrays.nodes[:, 0] > 0) != test.arrays.labels)
    assert test.error(w) < 0.5 * alone


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "labels": ({"labels": [0, 2, 1]}, "labels must be 0 or 1"),
    "sizes": ({"sizes": [2, 2]}, "do not fit sizes"),
    "halves": ({"ends": [[0.5, 1]]}, "whole numbers"),
    "table of sizes": ({"sizes": [[2, 1]]}, "do not fit sizes"),
    "two graphs": ({"ends": [[0, 2]]}, "two nodes of a graph"),
    "itself": ({"ends": [[1, 1]]}, "two nodes of a graph"),
    "repelled": ({"edges": [[-1.0]]}, "those of edges at least 0"),
    "no node": ({"ends": [[0, 3]]}, "ends nodes"),
    "strength": ({"regularization": 0.0}, "above 0"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_graphs_are_refused(name: str) -> None:
    good = {"nodes": [[1.0], [0.0], [1.0]], "labels": [1, 0, 1], "sizes": [2, 1], "ends": [[0, 1]], "edges": [[1.0]]}
    changed, message = WRONG[name]
    assert CutProblem.of(**good, regularization=1.0).n_features == 2  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=message) as error:
        CutProblem.of(**{**good, "regularization": 1.0, **changed})
    assert "\n" not in str(error.value)


def test_weights_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="at most 0"):
        random_cuts().predict(np.ones(4))
    with pytest.raises(ValueError, match="weights for 4 features"):
        random_cuts().predict(np.ones(3))
