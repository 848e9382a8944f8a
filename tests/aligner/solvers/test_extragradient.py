"""Dual extragradient: its steps, its two forms, its certificate."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from aligner.errors import SettingError
from aligner.problem import MatchingProblem
from aligner.solvers import Stop, make_solver, solve
from aligner.solvers.extragradient import Extragradient, Projection
from aligner.solvers.saddle import Metric, feature_metric, largest_eigenvalue

MakeProblem = Callable[..., MatchingProblem]
every_projection = pytest.mark.parametrize("projection", list(Projection), ids=lambda p: p.value)


def random_metric(seed: int = 0, d: int = 5) -> tuple[Metric, np.ndarray]:
    features = np.random.default_rng(seed).standard_normal((40, d)).astype(np.float32) * np.arange(1, d + 1)
    features = features.astype(np.float32)
    return feature_metric(features, np.random.default_rng(seed)), features.astype(float)


def test_the_metric_is_that_of_the_features() -> None:
    metric, features = random_metric()
    w = np.random.default_rng(1).standard_normal(5)
    assert metric.norm(w) == pytest.approx(np.linalg.norm(features @ w))
    assert metric.feature_norm == pytest.approx(np.linalg.norm(features, 2), rel=1e-6)


def test_power_iteration_finds_the_largest_eigenvalue() -> None:
    rng = np.random.default_rng(2)
    root = rng.standard_normal((8, 8))
    assert largest_eigenvalue(root @ root.T, rng) == pytest.approx(np.linalg.eigvalsh(root @ root.T)[-1], rel=1e-8)
    assert largest_eigenvalue(np.zeros((3, 3)), rng) == 0.0


@pytest.mark.parametrize("radius", [0.1, 1.0, 100.0])
def test_steps_of_w_are_proximal(radius: float) -> None:
    """Against a general solver: argmax force·w − ridge/2 ‖w‖² − scale/2 ‖w − center‖²_M, free and in the ball."""
    metric, features = random_metric(3)
    rng = np.random.default_rng(4)
    center, force = rng.standard_normal(5), 50 * rng.standard_normal(5)
    moments = features.T @ features

    def loss(w: np.ndarray, ridge: float) -> float:
        return float(-force @ w + ridge / 2 * w @ w + 0.3 / 2 * (w - center) @ moments @ (w - center))

    free = minimize(loss, center, args=(2.0,), tol=1e-12)
    np.testing.assert_allclose(metric.step(center, force, 0.3, 2.0), free.x, atol=1e-4)
    inside = minimize(
        loss, np.zeros(5), args=(0.0,), method="SLSQP", tol=1e-12,
        constraints={"type": "ineq", "fun": lambda w: radius**2 - w @ w},
    )  # fmt: skip
    ours = metric.step_in_ball(center, force, 0.3, radius)
    assert np.linalg.norm(ours) <= radius * (1 + 1e-12)
    assert loss(ours, 0.0) <= inside.fun + 1e-5 * abs(inside.fun)


@every_projection
@pytest.mark.parametrize("radius", [None, 0.8])
def test_both_forms_give_the_same_iterates(
    projection: Projection, radius: float | None, make_problem: MakeProblem
) -> None:
    """Sums of d numbers stand for all of z: the memory-efficient form is no approximation  [TLJ06 §4.3]."""
    problem = make_problem(n=10)
    efficient, stored = (
        solve(
            problem,
            Extragradient(projection, radius, stored=stored, accuracy=1e-15),
            stop=Stop(gap=-1.0, passes=25, audit_growth=1.0),
        )
        for stored in (False, True)
    )
    np.testing.assert_allclose(efficient.w, stored.w, rtol=1e-10, atol=1e-10)
    for one, other in zip(efficient.trace, stored.trace, strict=True):
        assert one.primal == pytest.approx(other.primal, rel=1e-10)
        assert one.dual == pytest.approx(other.dual, rel=1e-9, abs=1e-9)


@every_projection
@pytest.mark.parametrize("restarts", [False, True])
def test_the_optimum_within_the_norm_of_the_regularised_one_is_the_same(
    projection: Projection, restarts: bool, make_problem: MakeProblem
) -> None:
    """With γ = ‖w*‖ the least hinge within the ball is that of w*  [TLJ06]."""
    problem = make_problem(n=12, d=4)
    best = solve(problem, make_solver("bcfw-pairwise"), stop=Stop(gap=1e-9, passes=5000))
    radius = float(np.linalg.norm(best.w))
    hinge = best.trace[-1].primal - problem.regularization / 2 * radius**2
    solver = Extragradient(projection, radius, restarts)
    trace = solve(problem, solver, stop=Stop(gap=1e-2, passes=3000)).trace
    assert trace[-1].relative_gap <= 1e-2
    assert trace[-1].dual - 1e-4 <= hinge <= trace[-1].primal + 1e-4
    assert min(point.gap for point in trace) >= -1e-12


@every_projection
@pytest.mark.parametrize("radius", [None, 0.8])
def test_theory_bounds_the_gap(projection: Projection, radius: float | None, make_problem: MakeProblem) -> None:
    trace = solve(make_problem(n=10), Extragradient(projection, radius), stop=Stop(gap=0.0, passes=200)).trace
    bounds = [point.bound for point in trace]
    assert bounds[0] is None
    assert all(bound is not None and point.gap <= bound for point, bound in zip(trace[1:], bounds[1:], strict=True))
    assert bounds[-1] < bounds[1]  # type: ignore[operator]


def test_memory_does_not_grow_with_the_corpus(make_problem: MakeProblem) -> None:
    """Sixteen times the pairs, and less than twice the solver's own memory, where features grow sixteenfold."""
    peaks, sizes = [], []
    for n in (40, 640):
        problem = make_problem(n=n, d=8, largest=12)
        solver = Extragradient()
        solve(problem, solver, stop=Stop(gap=0.0, passes=1))  # compiles
        state = solver.init(problem, np.random.default_rng(0))
        solver.sweep(problem, state)
        tracemalloc.start()
        for _ in range(3):
            solver.sweep(problem, state)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        sizes.append(problem.edges.features.nbytes)
    assert sizes[1] > 10 * sizes[0]
    assert peaks[1] < 2 * peaks[0] + 200_000
    assert peaks[1] < sizes[1] / 4


def test_notes_tell_the_norm_of_the_features(make_problem: MakeProblem) -> None:
    problem = make_problem(n=6)
    notes = solve(problem, Extragradient(radius=2.0), stop=Stop(passes=2)).notes
    norm = np.linalg.norm(problem.edges.features.astype(float), 2)
    assert f"‖F‖₂ = {norm:.6g}" in notes[0]
    assert "within ‖w‖ <= 2" in notes[1]


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf])
def test_a_radius_that_cannot_work_is_refused(radius: float) -> None:
    with pytest.raises(SettingError, match="radius"):
        make_solver("extragradient", radius=radius)


def test_a_change_of_regularization_changes_the_answer_only_without_a_radius(make_problem: MakeProblem) -> None:
    problem = make_problem(n=8)
    other = replace(problem, regularization=0.4)
    stop = Stop(gap=0.0, passes=6)
    within, free = (
        [solve(p, Extragradient(radius=radius), stop=stop).w for p in (problem, other)] for radius in (1.0, None)
    )
    assert not np.allclose(free[0], free[1])
    assert np.linalg.norm(within[0]) <= 1.0 + 1e-12
