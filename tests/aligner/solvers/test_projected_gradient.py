"""Block-coordinate projected gradient: gradients and steps against finite differences and a quadratic program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import minimize

from aligner.errors import ScoreError, SettingError
from aligner.losses._corner_kernels import SURE
from aligner.losses.hinge import MatchingProblem
from aligner.matching import get_oracle
from aligner.problem import BlockDefaults, Corners
from aligner.solvers import Stop, solve
from aligner.solvers.block import Block
from aligner.solvers.orders import Uniform
from aligner.solvers.projected_gradient import GradientStep, ProjectedGradient
from aligner.solvers.saddle import Projection
from corpora.links import Links, PairLinks
from corpora.ragged import Lists
from features.table import EdgeTable

MakeProblem = Callable[..., MatchingProblem]

LIPSCHITZ = ProjectedGradient(Uniform(), GradientStep.LIPSCHITZ)


def dual(problem: MatchingProblem, z: np.ndarray) -> float:
    """D at marginals z, from its definition: losses of links and missed links, and w of the features."""
    n, gold = problem.n_blocks, problem.labels == SURE
    loss = problem.false_cost * z[problem.labels == 0].sum() + problem.miss_cost * (1 - z[gold]).sum()
    w = problem.edges.features.T.astype(float) @ (gold - z) / (problem.regularization * n)
    return float(loss / n - problem.regularization / 2 * w @ w)


def rows_of(problem: MatchingProblem, block: int) -> slice:
    return slice(problem.edges.lists.offsets[block], problem.edges.lists.offsets[block + 1])


def project(values: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """The nearest point of the matching polytope, by a general solver."""
    J, K = shape
    limits = np.concatenate([np.kron(np.eye(J), np.ones(K)), np.kron(np.ones(J), np.eye(K))])
    answer = minimize(
        lambda z: 0.5 * np.sum((z - values) ** 2),
        np.zeros(J * K),
        jac=lambda z: z - values,
        bounds=[(0, None)] * (J * K),
        constraints={"type": "ineq", "fun": lambda z: 1 - limits @ z, "jac": lambda z: -limits},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-15},
    )
    return np.asarray(answer.x)


def test_steps_are_projections_along_the_gradient(make_problem: MakeProblem) -> None:
    """z_i ← Π(z_i + ∇_i/L_i), the gradient by differences of D, which are exact as D is quadratic."""
    problem = make_problem(n=5, d=3, largest=4, regularization=0.05)
    n = problem.n_blocks
    state = LIPSCHITZ.init(problem, np.random.default_rng(1))
    z = (problem.labels == SURE).astype(float)
    np.testing.assert_array_equal(state.point.z, z)
    replay = np.random.default_rng(1)
    for _ in range(6):
        for block in Uniform().draw(n, replay):
            rows = rows_of(problem, block)
            step = np.zeros(len(z))
            gradient = np.zeros(rows.stop - rows.start)
            for e in range(rows.start, rows.stop):
                step[:] = 0
                step[e] = 0.5
                gradient[e - rows.start] = dual(problem, z + step) - dual(problem, z - step)
            lipschitz = np.sum(problem.edges.features[rows].astype(float) ** 2) / (problem.regularization * n**2)
            z[rows] = project(z[rows] + gradient / lipschitz, problem.edges.lists.shapes[block])
        LIPSCHITZ.sweep(problem, state)
        np.testing.assert_allclose(state.point.z, z, atol=1e-5)
    assert LIPSCHITZ.audit(problem, state).dual == pytest.approx(dual(problem, state.point.z), rel=1e-12)


@pytest.mark.parametrize("step", GradientStep)
def test_marginals_stay_in_the_polytope_and_make_the_weights(step: GradientStep, make_problem: MakeProblem) -> None:
    problem = make_problem(n=20, d=6, largest=9, regularization=0.003)
    solver = ProjectedGradient(step=step)
    state = solver.init(problem, np.random.default_rng(0))
    dual_before = 0.0
    for _ in range(30):
        assert solver.sweep(problem, state) == 0
        for block in range(20):
            z = state.point.z[rows_of(problem, block)].reshape(problem.edges.lists.shapes[block])
            assert z.min() >= 0
            assert max(z.sum(axis=0).max(), z.sum(axis=1).max()) <= 1 + 1e-12
        audit = solver.audit(problem, state)
        moved = (problem.labels == SURE) - state.point.z
        scale = problem.regularization * problem.n_blocks
        np.testing.assert_allclose(audit.w, problem.edges.features.T.astype(float) @ moved / scale, atol=1e-9)
        assert audit.dual == pytest.approx(dual(problem, state.point.z), rel=1e-9)
        assert audit.dual >= dual_before - 1e-12
        dual_before = audit.dual


def test_bounds_of_curvature_hold(make_problem: MakeProblem) -> None:
    """‖F_i‖² is at least the largest eigenvalue, and no step ever meets more."""
    problem = make_problem(n=20, d=6)
    edges = problem.edges
    solver = ProjectedGradient()
    state = solver.init(problem, np.random.default_rng(0))
    largest = np.array([np.linalg.norm(edges.features[rows_of(problem, i)], 2) ** 2 for i in range(20)])
    assert (largest <= state.point.bounds * (1 + 1e-6)).all()
    for _ in range(10):
        solver.sweep(problem, state)
    stepped = state.point.curvatures != state.point.bounds
    assert stepped.any()
    assert (
        state.point.curvatures[stepped] <= np.maximum(largest, 0.1 * state.point.bounds)[stepped] * (1 + 1e-6)
    ).all()


@pytest.mark.slow
def test_spectral_steps_need_fewer_passes(make_problem: MakeProblem) -> None:
    problem = make_problem(n=40, d=6, largest=9, regularization=0.02)
    spectral, lipschitz = (
        solve(problem, ProjectedGradient(step=step), stop=Stop(1e-4, 20_000)).trace[-1]
        for step in (GradientStep.SPECTRAL, GradientStep.LIPSCHITZ)
    )
    assert spectral.relative_gap <= 1e-4
    assert spectral.passes < 0.5 * lipschitz.passes


def test_the_rate_is_within_its_bound(make_problem: MakeProblem) -> None:
    """The mean over seeds of D* − D(z) after k uniform steps  [Lu and Xiao 2015 Thm. 1]."""
    problem = make_problem(n=8, d=3, largest=4)
    n = problem.n_blocks
    exact = ProjectedGradient()
    best = exact.init(problem, np.random.default_rng(0))
    top = solve(problem, exact, stop=Stop(1e-10, 50_000), start=best).trace[-1].primal
    start = (problem.labels == SURE).astype(float)
    distance = np.add.reduceat((best.point.z - start) ** 2, problem.edges.lists.offsets[:-1])
    constants = best.point.bounds / (problem.regularization * n**2)
    missing = np.zeros(12)
    for seed in range(40):
        state = LIPSCHITZ.init(problem, np.random.default_rng(seed))
        for passes in range(12):
            LIPSCHITZ.sweep(problem, state)
            missing[passes] += (top - dual(problem, state.point.z)) / 40
    steps = n * np.arange(1, 13)
    assert (missing <= n / (n + steps) * (top - dual(problem, start) + 0.5 * constants @ distance)).all()


def test_pairs_without_words_or_features(make_problem: MakeProblem) -> None:
    shapes = np.array([[0, 3], [2, 2], [3, 0], [2, 3]])
    lists = Lists.of_all(shapes)
    offsets = lists.offsets
    features = np.random.default_rng(0).standard_normal((offsets[-1], 2)).astype(np.float32)
    features[offsets[1] : offsets[2]] = 0
    links = [PairLinks(frozenset(sure)) for sure in ((), ((0, 1),), (), ((0, 0), (1, 2)))]
    problem = MatchingProblem.from_links(
        EdgeTable(features, lists, ("a", "b")), Links.from_pairs(links), regularization=0.1
    )
    for step in GradientStep:
        ours = solve(problem, ProjectedGradient(step=step), stop=Stop(1e-6, 5000)).trace[-1]
        theirs = solve(problem, Block(), stop=Stop(1e-6, 5000)).trace[-1]
        assert ours.relative_gap <= 1e-6
        assert ours.primal == pytest.approx(theirs.primal, abs=2e-6)


def test_the_oracle_of_training_is_for_others(make_problem: MakeProblem) -> None:
    results = [
        solve(replace(make_problem(n=9), oracle=get_oracle(oracle)), ProjectedGradient(), stop=Stop(0.0, 5))
        for oracle in ("assignment", "greedy")
    ]
    assert results[0].w.tobytes() == results[1].w.tobytes()
    assert [point.oracle_calls for point in results[0].trace] == [0] * 6


def test_weights_that_are_not_finite_are_refused(make_problem: MakeProblem) -> None:
    problem = make_problem(n=4)
    state = ProjectedGradient().init(problem, np.random.default_rng(0))
    state.point.v[0] = np.nan
    with pytest.raises(ScoreError):
        ProjectedGradient().sweep(problem, state)


@pytest.mark.parametrize("projection", Projection)
@pytest.mark.parametrize("capacity", [1, 2])
def test_compiled_steps_are_those_in_python(projection: Projection, capacity: int, make_problem: MakeProblem) -> None:
    problem = make_problem(n=20, d=5, capacity=capacity, listed=0.7)
    solver = ProjectedGradient(step=GradientStep.LIPSCHITZ, projection=projection)
    states = [solver.init(problem, np.random.default_rng(0)) for _ in range(2)]
    for _ in range(5):
        solver.sweep(problem, states[0])
        for i in solver.order.draw(20, states[1].rng).tolist():
            solver._step(problem, states[1], i, problem.regularization * 20)
        np.testing.assert_allclose(states[0].point.z, states[1].point.z, atol=1e-8)
        np.testing.assert_allclose(states[0].point.v, states[1].point.v, atol=1e-7)


@dataclass
class CornersOnly(BlockDefaults):
    """A problem that knows nothing of edges."""

    n_blocks: int = 1
    n_features: int = 2
    regularization: float = 1.0

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        return Corners(np.zeros((len(blocks), 2)), np.zeros(len(blocks)))


def test_other_problems_are_refused() -> None:
    with pytest.raises(SettingError, match="projected-gradient needs a problem with marginals"):
        solve(CornersOnly(), ProjectedGradient())
