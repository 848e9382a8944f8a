"""Dual extragradient: its steps, its two forms, its certificate."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from aligner.errors import SettingError
from aligner.losses.chain import ChainProblem
from aligner.losses.hinge import MatchingProblem
from aligner.solvers import Stop, make_solver, solve
from aligner.solvers.extragradient import Extragradient, SaddleState
from aligner.solvers.saddle import Projection, Spans

MakeProblem = Callable[..., MatchingProblem]
every_projection = pytest.mark.parametrize("projection", list(Projection), ids=lambda p: p.value)


class Bare:
    """A problem that has corners, but no marginals."""

    n_blocks, n_features, regularization, signature, notes = 3, 2, 0.1, "bare", ()
    rehearsal = None

    def marginals(self) -> None:
        return None


def states(problem: MatchingProblem, solver: Extragradient, sweeps: int) -> list[SaddleState]:
    """The state after each sweep; its arrays are replaced, not written to, but for those that are stored."""
    state = solver.init(problem, np.random.default_rng(0))
    found = []
    for _ in range(sweeps):
        solver.sweep(problem, state)
        found.append(copy(state))
    return found


@every_projection
@pytest.mark.parametrize("radius", [None, 0.8])
def test_both_forms_give_the_same_iterates(
    projection: Projection, radius: float | None, make_problem: MakeProblem
) -> None:
    """Sums of d numbers stand for all of z: the memory-efficient form is no approximation  [TLJ06 §4.3]."""
    problem = make_problem(n=12, largest=9)
    efficient, stored = (states(problem, Extragradient(projection, radius, restarts), 4) for restarts in (False, True))
    for one, other in zip(efficient, stored, strict=True):  # before anything is left out
        for name in ("point_w", "of_point", "ahead_w", "of_ahead"):  # the steps' lengths pass rounding on, enlarged
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-8, atol=1e-8)
        assert one.step == pytest.approx(other.step, rel=1e-6)


@every_projection
def test_steps_are_those_of_their_definition(projection: Projection, make_problem: MakeProblem) -> None:
    """Of one pair with one edge, where the polytope is [0, 1], against the formulas."""
    problem = make_problem(n=1, d=2, largest=1, regularization=0.3)
    phi, cost = problem.edges.features[0].astype(float), float(problem.costs[0])
    target, gamma = problem.gold[0], 0.7
    solver = Extragradient(projection, gamma)
    state = solver.init(problem, np.random.default_rng(0))
    w_step, z_step = state.w_step, state.z_step
    assert state.lipschitz == pytest.approx(np.linalg.norm(phi), rel=1e-6)
    assert w_step * z_step * state.lipschitz**2 == pytest.approx(1.0)

    def ball(w: np.ndarray) -> np.ndarray:
        return w * min(1.0, gamma / max(np.linalg.norm(w), 1e-300))

    def nearest(z: float, pull: float) -> float:
        return float(np.clip(z + pull, 0, 1)) if projection is Projection.EUCLIDEAN else min(1.0, z * np.exp(pull))

    sure = float(problem.labels[0] == 2)
    z0 = sure if projection is Projection.EUCLIDEAN else 0.99 * sure + 0.01  # of its one part
    sum_w, sum_z, total = np.zeros(2), 0.0, 0.0
    for _ in range(30):
        solver.sweep(problem, state)
        step = state.total - total  # as long as it is allowed to be
        v_w = ball(-w_step * (sum_z * phi - total * target))
        v_z = nearest(z0, z_step * (sum_w @ phi + total * cost))
        u_w = ball(v_w - step * w_step * (v_z * phi - target))
        u_z = nearest(v_z, step * z_step * (v_w @ phi + cost))
        sum_w, sum_z, total = sum_w + step * u_w, sum_z + step * u_z, state.total
        np.testing.assert_allclose(state.point_w, u_w, atol=1e-9)
        np.testing.assert_allclose(state.of_point[:-1], u_z * phi, atol=1e-9)


@pytest.mark.slow
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
    tolerance = 1e-4 if restarts else 2e-3
    result = solve(problem, Extragradient(projection, radius, restarts), stop=Stop(gap=tolerance, passes=3000))
    trace = result.trace
    assert trace[-1].relative_gap <= tolerance
    assert trace[-1].dual - 1e-6 <= hinge <= trace[-1].primal + 1e-6
    assert min(point.gap for point in trace) >= -1e-12
    assert np.linalg.norm(result.w) <= radius * (1 + 1e-12)


@every_projection
@pytest.mark.parametrize("radius", [None, 0.8])
def test_theory_bounds_the_gap(projection: Projection, radius: float | None, make_problem: MakeProblem) -> None:
    solver = Extragradient(projection, radius)
    trace = solve(make_problem(n=10), solver, stop=Stop(gap=0.0, passes=200)).trace
    bounds = [point.bound for point in trace]
    assert bounds[0] is None
    assert all(bound is not None and point.gap <= bound for point, bound in zip(trace[1:], bounds[1:], strict=True))
    if radius is not None:  # (D_w/ω + ω D_z) L/(τ + 1), or less: no step is shorter than 1/L
        assert all(point.bound * point.passes <= trace[1].bound for point in trace[1:])


@pytest.mark.slow
@pytest.mark.parametrize(
    "projection",
    [Projection.EUCLIDEAN, pytest.param(Projection.ENTROPIC, marks=pytest.mark.slow)],
    ids=lambda p: p.value,
)
def test_restarts_are_faster(projection: Projection, make_problem: MakeProblem) -> None:
    """The gap after as many sweeps."""
    problem = make_problem(n=40, d=6, largest=12)
    stop = Stop(gap=0.0, passes=300)
    plain, restarted = (
        solve(problem, Extragradient(projection, 1.0, restarts), stop=stop).trace[-1].gap for restarts in (False, True)
    )
    assert restarted < 0.1 * plain


@pytest.mark.slow
def test_memory_does_not_grow_with_the_corpus(make_problem: MakeProblem) -> None:
    """Six times the pairs, and no more memory than the scratch of a few threads; the stored form shows the test."""

    def peak(problem: MatchingProblem, solver: Extragradient) -> int:
        solver.sweep(problem, solver.init(problem, np.random.default_rng(0)))  # compiles
        tracemalloc.start()
        state = solver.init(problem, np.random.default_rng(0))
        for _ in range(3):
            solver.sweep(problem, state)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    small, large = (make_problem(n=n, d=8, largest=12) for n in (800, 4800))
    grown = large.edges.features.nbytes - small.edges.features.nbytes
    assert peak(large, Extragradient()) - peak(small, Extragradient()) < 0.02 * grown
    assert peak(large, Extragradient(restarts=True)) - peak(small, Extragradient(restarts=True)) > grown


def test_the_norm_of_the_features_is_that_of_numpy(make_problem: MakeProblem) -> None:
    for seed in range(4):
        problem = make_problem(n=300, d=7, largest=4, seed=seed)  # of several parts for threads
        state = Extragradient().init(problem, np.random.default_rng(seed))
        assert state.norm == pytest.approx(np.linalg.norm(problem.edges.features.astype(float), 2), rel=1e-5)


def test_notes_and_signature(make_problem: MakeProblem) -> None:
    result = solve(make_problem(n=6), Extragradient(radius=2.0, restarts=True), stop=Stop(passes=2))
    norm = np.linalg.norm(make_problem(n=6).edges.features.astype(float), 2)
    assert f"‖F‖₂ = {norm:.6g}" in result.notes[0]
    assert "within ‖w‖ <= γ = 2," in result.notes[1]
    assert "eight numbers in memory" in result.notes[2]
    assert result.signature.startswith("extragradient|projection:euclidean|radius:2|restarts|")


@every_projection
def test_pairs_without_words_or_features(projection: Projection, make_problem: MakeProblem) -> None:
    problem = make_problem(n=5)
    silent = replace(problem, edges=replace(problem.edges, features=np.zeros_like(problem.edges.features)))
    silent = replace(silent, gold=np.zeros_like(problem.gold))
    trace = solve(silent, Extragradient(projection), stop=Stop(gap=1e-6, passes=3000)).trace
    assert trace[-1].relative_gap <= 1e-6
    assert trace[-1].primal == pytest.approx(trace[0].primal)


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf])
def test_a_radius_that_cannot_work_is_refused(radius: float) -> None:
    with pytest.raises(SettingError, match="radius must be"):
        make_solver("extragradient", radius=radius)


def test_a_problem_without_marginals_or_the_projection_is_refused() -> None:
    with pytest.raises(SettingError, match="extragradient needs a problem with corners"):
        solve(Bare(), Extragradient())  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="extragradient needs a problem with marginals in euclidean geometry"):
        solve(chain(), Extragradient())


def chain(n: int = 8, labels: int = 3, seed: int = 0) -> ChainProblem:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, n)
    y = rng.integers(labels, size=lengths.sum())
    return ChainProblem.of(np.eye(labels)[y] + rng.standard_normal((len(y), labels)), y, lengths, regularization=0.1)


def test_distances_of_chains_are_those_of_the_distributions() -> None:
    """KL of the distributions over all labellings, by enumeration; and the nearest to a point's own points is it."""
    problem = chain(n=4)
    marginals = Spans.of(problem, "entropic")
    rng = np.random.default_rng(1)
    points = [rng.standard_normal(problem.parts[-1]) for _ in range(2)]
    everything = slice(None)
    z = [marginals.gather(lambda span, p=p: marginals.nearest(span, p[marginals.rows(span)])) for p in points]
    for one in z:
        again = marginals.nearest((0, 4), marginals.points(one, everything))
        np.testing.assert_allclose(again, one, atol=1e-9)
    expected = 0.0
    for i in range(4):
        T, first = int(np.diff(problem.arrays.offsets)[i]), int(problem.parts[i])
        paths = np.array(list(product(range(3), repeat=T)))
        parts = np.arange(T) * 3 + paths
        edges = T * 3 + np.arange(T - 1) * 9 + paths[:, :-1] * 3 + paths[:, 1:]
        logs = [p[first + parts].sum(axis=1) + p[first + edges].sum(axis=1) for p in points]
        logs = [log - np.logaddexp.reduce(log) for log in logs]
        expected += float(np.exp(logs[0]) @ (logs[0] - logs[1]))
    own = [marginals.points(one, everything) for one in z]
    assert marginals.distance(z[0], own[0], z[1], own[1], everything) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("restarts", [False, True])
def test_what_is_left_out_is_no_loss(restarts: bool, make_problem: MakeProblem) -> None:
    """Most edges of a problem that is learnt well have no share; the certificate is that of all."""
    problem = make_problem(n=30, d=5, largest=12, regularization=0.01)
    solver = Extragradient(restarts=restarts)
    state = solver.init(problem, np.random.default_rng(0))
    for _ in range(200):
        solver.sweep(problem, state)
    audit = solver.audit(problem, state)
    best = solve(problem, make_solver("bcfw-pairwise"), stop=Stop(gap=1e-6, passes=5000))
    assert audit.dual - 1e-9 <= best.primal
    assert best.dual - 1e-9 <= audit.primal
    left = state.present.marginals.parts[-1] / problem.marginals().parts[-1]
    assert left < 0.9 if restarts else left == 1.0
