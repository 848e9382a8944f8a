"""The logistic loss: its sums against numpy, its optimum against scipy, and its certificate."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from aligner.errors import SettingError
from aligner.solvers import Status, Stop, TracePoint, solve
from aligner.solvers import newton as newton_module
from aligner.solvers.newton import Newton
from aligner.svm._corner_kernels import POSSIBLE, SURE
from aligner.svm._logistic_kernels import LEAST_CURVATURE, add_logistic
from aligner.svm.hinge import label_edges
from aligner.svm.logistic import LogisticProblem
from corpora.alignment import Links, PairLinks
from corpora.ragged import Lists
from features.table import EdgeTable

TIGHT = Stop(gap=1e-10, passes=100)


def make_problem(seed: int = 0, pairs: int = 12, d: int = 7, **settings: Any) -> tuple[LogisticProblem, Links]:
    rng = np.random.default_rng(seed)
    shapes = rng.integers(0, 7, (pairs, 2))
    lists = Lists.of_all(shapes)
    features = rng.standard_normal((len(lists.source), d)).astype(np.float32)
    features[:, -1] = 1.0
    links = []
    for J, K in shapes.tolist():
        drawn = [(j, k) for j in range(J) for k in range(K) if rng.random() < 0.3]
        links.append(PairLinks(frozenset(drawn[::2]), frozenset(drawn[1::2])))
    gold = Links.from_pairs(links)
    edges = EdgeTable(features, lists, tuple(f"f{c}" for c in range(d)))
    options = {"regularization": 0.1, "prior": rng.standard_normal(d), "miss_cost": 1.5, "false_cost": 0.8}
    return LogisticProblem.from_links(edges, gold, **options | settings), gold


def objective(problem: LogisticProblem, w: np.ndarray) -> tuple[float, np.ndarray]:
    """P and its gradient, by numpy."""
    y = problem.signs.astype(float)
    x = problem.edges.features.astype(float)
    cost = np.where(y > 0, problem.miss_cost, problem.false_cost) * (y != 0) / problem.n_blocks
    z = y * (x @ w)
    away = w - problem.prior
    value = 0.5 * problem.regularization * away @ away + (cost * np.logaddexp(0.0, -z)).sum()
    return value, problem.regularization * away - x.T @ (cost * y / (1.0 + np.exp(z)))


@pytest.mark.parametrize("scale", [0.1, 1.0, 300.0])
def test_sums_equal_numpy(scale: float) -> None:
    problem, _ = make_problem()
    w = scale * np.random.default_rng(1).standard_normal(problem.n_features)
    x, y = problem.edges.features.astype(float), problem.signs.astype(float)
    gradient, curvature = np.zeros(len(w)), np.zeros((len(w), len(w)))
    losses, entropies = add_logistic(
        problem.edges.features, problem.signs, 3, len(y) - 2, w, np.array([0.8, 1.5]), gradient, curvature
    )
    x, y = x[3:-2], y[3:-2]
    cost = np.where(y > 0, 1.5, 0.8) * (y != 0)
    z = y * (x @ w)
    dual = np.exp(-np.logaddexp(0.0, z))
    bend = cost * dual * (1 - dual) * (dual * (1 - dual) >= LEAST_CURVATURE)
    inside = np.clip(dual, 1e-300, 1 - 1e-16)
    entropy = -inside * np.log(inside) - (1 - inside) * np.log1p(-inside)
    np.testing.assert_allclose(losses, cost @ np.logaddexp(0.0, -z), rtol=1e-12)
    np.testing.assert_allclose(entropies, cost @ entropy, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(gradient, -x.T @ (cost * dual * y), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(curvature, np.tril(x.T @ (bend[:, None] * x)), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("regularization", [10.0, 0.1, 1e-4])
@pytest.mark.parametrize("seed", range(3))
def test_reaches_the_optimum_of_scipy_and_certifies_it(seed: int, regularization: float) -> None:
    problem, _ = make_problem(seed, regularization=regularization)
    best = minimize(lambda w: objective(problem, w), problem.prior, jac=True, tol=1e-12, method="BFGS")
    points: list[TracePoint] = []
    result = solve(problem, Newton(), stop=TIGHT, callback=lambda point, w: points.append(point))
    assert result.status is Status.CONVERGED
    assert points[-1].oracle_calls == 0
    np.testing.assert_allclose(points[-1].primal, objective(problem, result.w)[0], rtol=1e-12)
    np.testing.assert_allclose(points[-1].primal, best.fun, rtol=1e-7)
    assert all(point.gap >= -1e-12 * max(1.0, point.primal) for point in points)
    assert all(point.dual <= best.fun + 1e-9 for point in points)
    values = [point.primal for point in points]
    assert all(later <= earlier for earlier, later in itertools.pairwise(values))
    assert np.linalg.norm(objective(problem, result.w)[1]) <= 1e-4


def test_possible_links_teach_nothing() -> None:
    problem, gold = make_problem()
    labels = label_edges(problem.edges, gold)
    assert (problem.signs[labels == POSSIBLE] == 0).all()
    assert (labels == POSSIBLE).any()
    assert (problem.signs[labels == SURE] == 1).all()
    assert (labels == SURE).any()
    assert (problem.signs[labels == 0] == -1).all()
    changed = problem.edges.features.copy()
    changed[labels == POSSIBLE] += 5.0
    other = EdgeTable(changed, problem.edges.lists, problem.edges.names)
    again = LogisticProblem.from_links(
        other, gold, regularization=0.1, prior=problem.prior, miss_cost=1.5, false_cost=0.8
    )
    first, second = (solve(each, Newton(), stop=TIGHT).w for each in (problem, again))
    np.testing.assert_array_equal(first, second)


def test_stays_at_the_prior_where_regularisation_is_strong() -> None:
    problem, _ = make_problem(regularization=1e9)
    np.testing.assert_allclose(solve(problem, Newton(), stop=TIGHT).w, problem.prior, atol=1e-6)
    without, _ = make_problem(regularization=1e9, prior=None)
    np.testing.assert_allclose(solve(without, Newton(), stop=TIGHT).w, 0.0, atol=1e-6)


def test_sums_do_not_depend_on_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton_module, "_EDGES_AT_ONCE", 16)
    problem, _ = make_problem()
    first = solve(problem, Newton(), stop=TIGHT)
    monkeypatch.setattr("corpora.threads.cores", lambda: 1)
    assert solve(problem, Newton(), stop=TIGHT).w.tobytes() == first.w.tobytes()


def test_takes_pairs() -> None:
    problem, gold = make_problem()
    pairs = np.array([7, 1, 4])
    part = problem.take(pairs)
    direct = LogisticProblem.from_links(
        part.edges, gold.take(pairs), regularization=0.1, prior=problem.prior, miss_cost=1.5, false_cost=0.8
    )
    np.testing.assert_array_equal(part.signs, direct.signs)
    np.testing.assert_array_equal(part.edges.lists.shapes, problem.edges.lists.shapes[pairs])
    for place, pair in enumerate(pairs.tolist()):
        np.testing.assert_array_equal(part.edges[place], problem.edges[pair])


def test_ends_where_no_step_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, _ = make_problem()
    asked = 0
    sums = newton_module._sums

    def counted(problem: LogisticProblem, w: np.ndarray) -> Any:
        nonlocal asked
        asked += 1
        return sums(problem, w)

    monkeypatch.setattr(newton_module, "_sums", counted)
    result = solve(problem, Newton(), stop=Stop(gap=-1.0, passes=1000))
    assert result.status is Status.PASSES
    assert asked < 300
    assert abs(result.trace[-1].gap) < 1e-12
    assert result.w.tobytes() == solve(problem, Newton(), stop=Stop(gap=-1.0, passes=500)).w.tobytes()


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"regularization": 0.0}, SettingError, "regularization must be a number above 0"),
        ({"miss_cost": float("nan")}, SettingError, "miss cost must be a number above 0"),
        ({"prior": np.zeros(3)}, ValueError, "a prior of shape"),
        ({"pairs": 0}, SettingError, "no labelled pairs"),
    ],
)
def test_bad_settings(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_problem(**settings)
