"""Subgradient methods: in batch a case of Frank-Wolfe; stochastic, with certificates by definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from aligner.losses.chain import ChainProblem
from aligner.losses.hinge import MatchingProblem
from aligner.problem import BlockDefaults, Corners
from aligner.solvers import CuttingPlane, PerCoordinate, Stop, solve
from aligner.solvers.averages import Average
from aligner.solvers.gap import ask_all, dual_value
from aligner.solvers.orders import Permuted, Uniform
from aligner.solvers.registry import make_solver
from aligner.solvers.subgradient import StochasticSubgradient, block_weights, iterate

MakeProblem = Callable[..., MatchingProblem]

every_order = pytest.mark.parametrize("order", [Uniform(), Permuted()], ids=lambda order: order.name)
every_average = pytest.mark.parametrize("average", Average, ids=lambda average: average.value)


@dataclass
class Recorded(BlockDefaults):
    """A problem without compiled steps that writes down which corner it gave when."""

    problem: MatchingProblem
    visits: list[tuple[int, np.ndarray, float]] = field(default_factory=list)

    n_blocks = property(lambda self: self.problem.n_blocks)
    n_features = property(lambda self: self.problem.n_features)
    regularization = property(lambda self: self.problem.regularization)

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        corners = self.problem.corners(blocks, w)
        self.visits += zip(blocks.tolist(), corners.psi, corners.losses.tolist(), strict=True)
        return corners


def test_batch_subgradient_descends_by_subgradients(make_problem: MakeProblem) -> None:
    """w ← w − β_t (λw − 1/n Σ_i ψ_i(z_i)) with β_t = 2/(λ(t + 2)), which is Frank-Wolfe's step  [LJSP13 §4]."""
    problem = make_problem(n=20)
    solver = make_solver("subgradient")
    state = solver.init(problem, np.random.default_rng(0))
    w = np.zeros(problem.n_features)
    for t in range(30):
        corners = problem.corners(np.arange(20), w)
        w = w - 2 / (problem.regularization * (t + 2)) * (problem.regularization * w - corners.psi.mean(axis=0))
        solver.sweep(problem, state)
        np.testing.assert_allclose(solver.audit(problem, state).w, w, rtol=1e-9, atol=1e-12)


def weights_of_visits(average: Average, steps: int) -> np.ndarray:
    """How much of each visit is in the answer after so many steps, by the definition of its average."""
    iterates = np.tril(np.ones((steps, steps))) / np.arange(1, steps + 1)[:, None]  # row k: the mean of visits 1…k
    chosen = {
        Average.NONE: np.eye(steps)[-1],
        Average.UNIFORM: np.ones(steps),
        Average.WEIGHTED: np.arange(1.0, steps + 1),
        Average.SUFFIX: np.arange(1, steps + 1) >= 2 ** int(np.log2(steps)),
    }[average]
    return np.average(iterates, axis=0, weights=chosen)


@every_order
@every_average
def test_answer_is_the_sum_of_its_visits(
    order: Uniform | Permuted, average: Average, make_problem: MakeProblem
) -> None:
    """w = Σ_t a_t ψ_t/λ, ℓ = Σ_t a_t L_t, and block i has the weight n Σ_{t of i} a_t, with a_t by definition."""
    recorded = Recorded(make_problem(n=7))
    solver = StochasticSubgradient(order, average)
    state = solver.init(recorded, np.random.default_rng(5))
    averaged = average is not Average.NONE
    for _ in range(9):
        solver.sweep(recorded, state)
        shares = weights_of_visits(average, len(recorded.visits))
        blocks, psi, losses = (np.array(part) for part in zip(*recorded.visits, strict=True))
        w, loss = iterate(state.walk, averaged=averaged)
        np.testing.assert_allclose(w, shares @ psi / recorded.regularization, rtol=1e-9, atol=1e-12)
        assert loss == pytest.approx(shares @ losses, rel=1e-10)
        expected = 7 * np.bincount(blocks, shares, minlength=7)
        np.testing.assert_allclose(block_weights(state.walk, averaged=averaged), expected, rtol=1e-9, atol=1e-12)


@every_order
@every_average
def test_compiled_passes_equal_generic_ones(
    order: Uniform | Permuted, average: Average, make_problem: MakeProblem
) -> None:
    problem = make_problem(n=25, d=7)
    solver = StochasticSubgradient(order, average)
    one, other = (solver.init(problem, np.random.default_rng(2)) for _ in range(2))
    for _ in range(6):
        assert solver.sweep(problem, one) == solver.sweep(Recorded(problem), other) == 25
        for compiled, generic in zip(one.walk, other.walk, strict=True):
            np.testing.assert_allclose(compiled, generic, rtol=1e-10, atol=1e-12)


@every_order
@every_average
def test_lower_values_are_of_dual_points(
    order: Uniform | Permuted, average: Average, make_problem: MakeProblem
) -> None:
    """(w, ℓ) is a dual point, or below one, if and only if ℓ − λ w·v ≤ 1/n Σ_i max_z H_i(z; v) for every v."""
    problem = make_problem(n=12)
    solver = StochasticSubgradient(order, average)
    state = solver.init(problem, np.random.default_rng(1))
    rng = np.random.default_rng(0)
    for _ in range(12):
        solver.sweep(problem, state)
        audit = solver.audit(problem, state)
        lower = state.lower
        assert audit.dual == pytest.approx(dual_value(problem, lower.w, lower.loss), rel=1e-12)
        for v in (
            audit.w,
            lower.w,
            *(rng.standard_normal((20, problem.n_features)) * 10.0 ** rng.uniform(-2, 2, (20, 1))),
        ):
            support = ask_all(problem, v).hinges.mean()
            values = lower.losses - problem.regularization * lower.points @ v
            assert values.max() <= support + 1e-9 * max(1.0, abs(support))


@dataclass(frozen=True, eq=False)
class Intervals(BlockDefaults):
    """Block i may stay at its target or go to ψ_i = e_i, so that its weight there can be read off w.  losses: (n,)."""

    losses: np.ndarray
    regularization: float = 1.0

    n_blocks = n_features = property(lambda self: len(self.losses))

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        goes = self.losses[blocks] > w[blocks]
        psi = np.eye(len(self.losses))[blocks] * goes[:, None]
        return Corners(psi, self.losses[blocks] * goes)


@every_order
@every_average
def test_points_of_the_certificate_have_feasible_blocks(order: Uniform | Permuted, average: Average) -> None:
    """Where blocks do not share features: the weight of each corner is within [0, 1], and ℓ goes with it."""
    n = 8
    problem = Intervals(np.random.default_rng(0).uniform(0.05, 0.3, n))
    solver = StochasticSubgradient(order, average)
    state = solver.init(problem, np.random.default_rng(1))
    for _ in range(20):
        solver.sweep(problem, state)
        solver.audit(problem, state)
        weights = n * problem.regularization * state.lower.points
        assert weights.min() >= -1e-12
        assert weights.max() <= 1 + 1e-12
        np.testing.assert_allclose(state.lower.losses, weights @ problem.losses / n, rtol=1e-10)


def test_whole_permuted_passes_give_a_dual_point(make_problem: MakeProblem) -> None:
    """Each block visited equally often: the last iterate is a dual point, whose value is reported or a better one."""
    problem = make_problem(n=12)
    solver = StochasticSubgradient(Permuted(), Average.NONE)
    state = solver.init(problem, np.random.default_rng(1))
    for _ in range(5):
        solver.sweep(problem, state)
        np.testing.assert_allclose(block_weights(state.walk, averaged=False), 1.0, rtol=1e-12)
        own = dual_value(problem, state.walk.w, iterate(state.walk, averaged=False)[1])
        assert solver.audit(problem, state).dual >= own - 1e-12


@every_average
def test_certificates_never_fall_and_close(average: Average, make_problem: MakeProblem) -> None:
    """The reported dual never falls, and with the objective of the average encloses the optimum ever more tightly."""
    problem = make_problem(n=40)
    best = solve(problem, CuttingPlane(), stop=Stop(gap=1e-8, passes=500)).trace[-1]
    trace = solve(problem, StochasticSubgradient(average=average), stop=Stop(gap=0.0, passes=400)).trace
    assert all(later.dual >= earlier.dual - 1e-12 for earlier, later in pairwise(trace))
    assert all(point.dual <= best.primal + 1e-9 and best.dual - 1e-9 <= point.primal for point in trace)
    assert trace[-1].gap < 0.02 * trace[1].gap


def test_memory_of_the_certificate_is_bounded(make_problem: MakeProblem) -> None:
    """Points without weight are forgotten: those that stay are about as many as features."""
    problem = make_problem(n=20, d=4)
    solver = StochasticSubgradient()
    state = solver.init(problem, np.random.default_rng(0))
    for _ in range(200):
        solver.sweep(problem, state)
        solver.audit(problem, state)
    assert len(state.lower.weights) <= 2 * (problem.n_features + 2)


@every_average
def test_sequences_are_visited_alike_in_time_of_what_is_not_zero(average: Average) -> None:
    """The compiled visits of sparse corners against those of the oracle called from Python."""
    rng = np.random.default_rng(0)
    lengths, features = rng.integers(1, 6, 12), rng.normal(size=(60, 3))
    problem = ChainProblem.of(
        features[: lengths.sum()], rng.integers(3, size=lengths.sum()), lengths, regularization=0.1, biases=True
    )
    generic = PerCoordinate(problem)  # without signs, in Python
    found = [solve(p, StochasticSubgradient(average=average), stop=Stop(gap=0.0, passes=9)) for p in (problem, generic)]
    np.testing.assert_allclose(found[0].w, found[1].w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose([p.dual for p in found[0].trace], [p.dual for p in found[1].trace], rtol=1e-9)
