"""Fenchel-Young losses: gradient and curvature by finite differences, optimum by a general solver, certificate."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import LinearConstraint, minimize
from scipy.special import entr

from aligner.errors import SettingError
from aligner.losses import _curvature_kernels, fenchel_young
from aligner.losses._corner_kernels import POSSIBLE, SURE
from aligner.losses.fenchel_young import REGULARIZERS, FenchelYoungProblem
from aligner.losses.hinge import Costs, Prior
from aligner.matching.projection import nearest_points
from aligner.solvers import Status, Stop, solve
from aligner.solvers.newton import Newton
from corpora.links import Links, PairLinks
from corpora.ragged import Lists, word_offsets
from features.table import EdgeTable

TIGHT = Stop(gap=1e-9, passes=100)

every_regularizer = pytest.mark.parametrize("regularizer", [*REGULARIZERS])
every_capacity = pytest.mark.parametrize("training_links", [1, 2, None])


def make_problem(
    seed: int = 0, pairs: int = 12, d: int = 7, largest: int = 6, **settings: Any
) -> tuple[FenchelYoungProblem, Links]:
    rng = np.random.default_rng(seed)
    shapes = rng.integers(0, largest + 1, (pairs, 2))
    lists = Lists.of_all(shapes)
    features = rng.standard_normal((len(lists.source), d)).astype(np.float32)
    features[:, -1] = 1.0
    links = []
    for J, K in shapes.tolist():
        drawn = [(j, k) for j in range(J) for k in range(K) if rng.random() < 0.3]
        links.append(PairLinks(frozenset(drawn[::2]), frozenset(drawn[1::2])))
    gold = Links.from_pairs(links)
    edges = EdgeTable(features, lists, tuple(f"f{c}" for c in range(d)))
    options = {"regularization": 0.1, "prior": Prior(rng.standard_normal(d)), "costs": Costs(0.3, 0.1)}
    return FenchelYoungProblem.from_links(edges, gold, **options | settings), gold


def mirrored(curvature: np.ndarray) -> np.ndarray:
    return np.tril(curvature) + np.tril(curvature, -1).T


def omega(regularizer: str, z: npt.NDArray[np.float64]) -> float:
    if regularizer == "euclidean":
        return float(2.0 * z @ z - 2.0 * z.sum())
    return float(-(entr(z) + entr(1.0 - z)).sum())


def incidence(problem: FenchelYoungProblem) -> tuple[np.ndarray, np.ndarray]:
    """Which edges a word has, (words, E), and the links it may have."""
    lists = problem.edges.lists
    starts = word_offsets(lists.shapes)
    rows = []
    for i, (J, K) in enumerate(lists.shapes.tolist()):
        inside = np.arange(len(lists.source))
        mine = (inside >= lists.offsets[i]) & (inside < lists.offsets[i + 1])
        rows += [mine & (lists.source == j) for j in range(J)] + [mine & (lists.target == k) for k in range(K)]
    matrix = np.array(rows, float).reshape(starts[-1].sum(), -1)
    free = matrix.sum(axis=1) if problem.links is None else problem.links
    return matrix, np.maximum(np.maximum(matrix @ problem.gold, free), 1.0)


def best_dual(problem: FenchelYoungProblem) -> float:
    """max D(z) over the polytope, by a general solver."""
    allowed = problem.labels != POSSIBLE
    x, y = problem.edges.features.astype(float)[allowed], problem.gold[allowed]
    costs, n, prior = problem.costs[allowed], problem.n_blocks, problem.prior
    matrix, capacities = incidence(problem)

    def negative(z: np.ndarray) -> float:
        g = x.T @ (y - z) / n
        gain = omega(problem.regularizer, y) - omega(problem.regularizer, z) + costs @ (z - y)
        return float(prior @ g + g @ g / (2 * problem.regularization) - gain / n)

    start = np.minimum(0.5 / max(1.0, (matrix @ np.ones(matrix.shape[1])).max()), 0.5) * np.ones(len(y))
    answer = minimize(
        negative,
        start,
        method="SLSQP",
        bounds=[(1e-10, 1.0 - 1e-10)] * len(y),
        constraints=LinearConstraint(matrix[:, allowed], -np.inf, capacities),
        options={"maxiter": 500, "ftol": 1e-13},
    )
    return -float(answer.fun)


@every_regularizer
@every_capacity
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_derivatives_are_finite_differences(regularizer: str, training_links: int | None, scale: float) -> None:
    problem, _ = make_problem(regularizer=regularizer, training_links=training_links)
    rng = np.random.default_rng(1)
    w, direction, h = scale * rng.standard_normal(7), rng.standard_normal(7), 1e-6
    here, before, after = (problem.sums(w + step * direction) for step in (0.0, -h, h))
    np.testing.assert_allclose((after.value - before.value) / (2 * h), here.gradient @ direction, rtol=1e-5)
    bend = (after.gradient - before.gradient) / (2 * h)
    # Edges that are nearly certain have no part in it.
    np.testing.assert_allclose(mirrored(here.curvature) @ direction, bend, rtol=2e-2, atol=2e-2 * np.abs(bend).max())


@every_regularizer
@every_capacity
def test_losses_are_not_negative_and_0_where_gold_is_nearest(regularizer: str, training_links: int | None) -> None:
    for seed in range(20):
        problem, _ = make_problem(seed, regularizer=regularizer, training_links=training_links)
        assert problem.sums(np.random.default_rng(seed).standard_normal(7)).value >= -1e-9
    settings = {"regularizer": regularizer, "training_links": training_links}
    problem, _ = make_problem(d=1, prior=None, costs=Costs(0.0, 0.0), **settings)
    known = EdgeTable((2.0 * problem.gold - 1.0).astype(np.float32)[:, None], problem.edges.lists, problem.edges.names)
    told = replace(problem, edges=known, prior=np.zeros(1))
    assert told.sums(np.array([700.0])).value <= 1e-9


# The general solver of scipy 1.11 says so of rounding errors in its own steps.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@every_regularizer
@every_capacity
@pytest.mark.parametrize("seed", range(2))
def test_reaches_the_optimum_of_a_general_solver(regularizer: str, training_links: int | None, seed: int) -> None:
    settings = {"regularizer": regularizer, "training_links": training_links}
    problem, _ = make_problem(seed, pairs=4, d=4, largest=4, **settings)
    result = solve(problem, Newton(), stop=TIGHT)
    points = result.trace
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.primal, best_dual(problem), rtol=1e-5, atol=1e-6)
    assert all(point.gap >= -1e-9 * max(1.0, point.primal) for point in points)
    assert all(point.dual <= result.primal + 1e-9 for point in points)
    values = [point.primal for point in points]
    assert all(later <= earlier for earlier, later in itertools.pairwise(values))


@every_regularizer
def test_a_score_of_0_is_an_even_chance(regularizer: str) -> None:
    """And the slope there is that of the logistic function."""
    edges = EdgeTable(np.ones((1, 1), np.float32), Lists.of_all([(1, 1)]), ("bias",))
    gold = Links.from_pairs([PairLinks(frozenset())])
    problem = FenchelYoungProblem.from_links(edges, gold, regularization=1.0, regularizer=regularizer)
    low, middle, high = (problem.sums(np.array([w])).nearest.z[0] for w in (-1e-4, 0.0, 1e-4))
    assert middle == pytest.approx(0.5, abs=1e-12)
    assert (high - low) / 2e-4 == pytest.approx(0.25, rel=1e-6)


def test_without_competition_it_is_logistic_regression() -> None:
    problem, _ = make_problem(training_links=None, costs=Costs(0.0, 0.0))
    w = np.random.default_rng(1).standard_normal(7)
    allowed = problem.labels != POSSIBLE
    y = 2.0 * problem.gold[allowed] - 1.0
    z = y * (problem.edges.features[allowed].astype(float) @ w)
    np.testing.assert_allclose(problem.sums(w).value * problem.n_blocks, np.logaddexp(0.0, -z).sum(), rtol=1e-12)


def test_capacities_that_cannot_bind_change_nothing() -> None:
    problem, gold = make_problem()
    wide, free = (
        FenchelYoungProblem.from_links(problem.edges, gold, regularization=0.1, training_links=links)
        for links in (6, None)
    )
    w = np.random.default_rng(1).standard_normal(7)
    assert wide.sums(w).gradient.tobytes() == free.sums(w).gradient.tobytes()
    assert not np.allclose(problem.sums(w).gradient, free.sums(w).gradient)


@every_regularizer
def test_links_are_nearest_points(regularizer: str) -> None:
    problem, _ = make_problem(regularizer=regularizer)
    w = np.random.default_rng(1).standard_normal(7)
    matrix, capacities = incidence(problem)
    z = problem.sums(w).nearest.z
    assert (matrix @ z <= capacities + 1e-9).all()
    assert ((z >= 0.0) & (z <= 1.0)).all()
    rows = [(line, capacity) for line, capacity in zip(matrix, capacities, strict=True)]
    shapes = problem.edges.lists.shapes
    sides = np.concatenate([np.repeat([0, 1], shape) for shape in shapes])
    source, target = (np.array([c for (_, c), side in zip(rows, sides, strict=True) if side == s]) for s in (0, 1))
    scores = problem.edges.features.astype(float) @ w + problem.costs
    if regularizer != "fermi-dirac":
        scores = 0.25 * scores + 0.5 if regularizer == "euclidean" else 0.5 * scores - np.log(2.0)
    again = nearest_points(
        scores, problem.edges.lists, geometry=regularizer, row_capacity=source, column_capacity=target
    )
    np.testing.assert_allclose(z, again.z, atol=1e-5)


def test_possible_links_teach_nothing() -> None:
    problem, gold = make_problem()
    possible = problem.labels == POSSIBLE
    assert possible.any()
    assert (problem.labels == SURE).any()
    changed = problem.edges.features.copy()
    changed[possible] += 5.0
    other = EdgeTable(changed, problem.edges.lists, problem.edges.names)
    costs = Costs(0.3, 0.1)
    again = FenchelYoungProblem.from_links(other, gold, regularization=0.1, prior=Prior(problem.prior), costs=costs)
    first, second = (solve(each, Newton(), stop=TIGHT).w for each in (problem, again))
    np.testing.assert_array_equal(first, second)


def test_costs_ask_for_a_margin() -> None:
    """Missed links cost more: sure ones get higher scores, others higher ones too."""
    probabilities = []
    for miss_cost in (0.0, 1.0):
        problem, _ = make_problem(costs=Costs(miss_cost, 0.0))
        w = solve(problem, Newton(), stop=TIGHT).w
        probabilities.append((problem.edges.features @ w).mean())
    assert probabilities[1] > probabilities[0]


def test_stays_at_the_prior_where_regularisation_is_strong() -> None:
    problem, _ = make_problem(regularization=1e9)
    np.testing.assert_allclose(solve(problem, Newton(), stop=TIGHT).w, problem.prior, atol=1e-6)
    without, _ = make_problem(regularization=1e9, prior=None)
    np.testing.assert_allclose(solve(without, Newton(), stop=TIGHT).w, 0.0, atol=1e-6)


def test_sums_do_not_depend_on_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fenchel_young, "_EDGES_AT_ONCE", 16)
    problem, _ = make_problem()
    first = solve(problem, Newton(), stop=TIGHT)
    monkeypatch.setattr("corpora.threads.cores", lambda: 1)
    assert solve(problem, Newton(), stop=TIGHT).w.tobytes() == first.w.tobytes()


def test_takes_pairs() -> None:
    problem, gold = make_problem()
    pairs = np.array([7, 1, 4])
    part = problem.take(pairs)
    direct = FenchelYoungProblem.from_links(part.edges, gold.take(pairs), regularization=0.1)
    np.testing.assert_array_equal(part.labels, direct.labels)
    np.testing.assert_array_equal(part.gold, direct.gold)
    np.testing.assert_array_equal(part.edges.lists.shapes, problem.edges.lists.shapes[pairs])
    for place, pair in enumerate(pairs.tolist()):
        np.testing.assert_array_equal(part.edges[place], problem.edges[pair])


def test_ends_where_no_step_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, _ = make_problem()
    asked = 0
    sums = FenchelYoungProblem.sums

    def counted(*arguments: Any) -> Any:
        nonlocal asked
        asked += 1
        return sums(*arguments)

    monkeypatch.setattr(FenchelYoungProblem, "sums", counted)
    result = solve(problem, Newton(), stop=Stop(gap=0.0, passes=1000))
    assert result.status is Status.PASSES
    assert asked < 300
    assert abs(result.trace[-1].gap) < 1e-9
    assert result.w.tobytes() == solve(problem, Newton(), stop=Stop(gap=0.0, passes=500)).w.tobytes()


def test_a_singular_system_is_solved_where_it_can_be() -> None:
    """Of a word pair that only links with itself both capacities say the same."""
    system, bound = np.full((2, 2), 0.25), np.full((2, 3), 0.25)
    curvature = np.full((3, 3), 0.25)
    _curvature_kernels.subtract_bound(system, bound, curvature)
    np.testing.assert_allclose(np.tril(curvature), 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"regularization": 0.0}, SettingError, "regularization must be a number above 0"),
        ({"costs": Costs(miss=float("nan"))}, SettingError, "miss cost must be a number from 0 on"),
        ({"prior": Prior(np.zeros(3))}, ValueError, "a prior of shape"),
        ({"pairs": 0}, SettingError, "no labelled pairs"),
    ],
)
def test_bad_settings(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_problem(**settings)
