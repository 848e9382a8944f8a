"""Every solver under the same laws, against an independent quadratic program."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from solver_configurations import (
    CONFIGURATIONS,
    ONE_LINK_ONLY,
    SEVERAL_LINKS,
    Configuration,
    MakeProblem,
    Plain,
    every_solver_of_corners,
    run,
)

from aligner.errors import SettingError
from aligner.matching import ORACLES
from aligner.solvers import Status, make_solver
from aligner.solvers.audit import ask_all, primal_value
from aligner.solvers.block import Block
from aligner.solvers.frank_wolfe import FrankWolfe
from aligner.solvers.orders import Permuted
from aligner.solvers.steps import Average, Forward
from aligner.svm.hinge import MatchingProblem


@dataclass(frozen=True)
class Polytope:
    """The b-matchings of a block as a linear program: max (gains w + costs)·x, limits x <= 1, x >= 0.

    x: an edge each, then the second and further links of each word, whose rewards count in full if they are allowed.
    """

    gains: np.ndarray
    costs: np.ndarray
    limits: np.ndarray

    @classmethod
    def of(cls, problem: MatchingProblem, i: int) -> Polytope:
        J, K = problem.edges.shapes[i]
        d, fertility = len(problem.edges.names), problem.fertility
        rows = slice(problem.edges.offsets[i], problem.edges.offsets[i + 1])
        gains = [np.concatenate([x, np.zeros(problem.n_nonpositive)]) for x in problem.edges.features[rows]]
        limits = [np.kron(np.eye(J), np.ones(K)), np.kron(np.ones(J), np.eye(K))]
        words: list[int] = []
        if problem.capacity > 1:
            limits.append(np.eye(J * K))
            capacities = [fertility.source_capacity] * J + [fertility.target_capacity] * K
            for word, capacity in enumerate(capacities):
                first = d if word < J else d + fertility.source_capacity - 1
                for t in range(2, capacity + 1):
                    gains.append(np.zeros(problem.n_features))
                    gains[-1][first : first + t - 1] = 1.0
                    words.append(word)
        matrix = np.concatenate(limits)
        slots = np.zeros((len(matrix), len(words)))
        slots[words, range(len(words))] = -1.0
        matrix = np.block([[matrix, slots], [np.zeros((len(words), J * K)), np.eye(len(words))]])
        costs = np.concatenate([problem.costs[problem.labels[rows]], np.zeros(len(words))])
        return cls(np.array(gains, float), costs, matrix)


def hinge_by_linear_program(problem: MatchingProblem, w: np.ndarray) -> float:
    """Mean of max_z H_i(z; w), each a linear program over the matching polytope."""
    total = 0.0
    for i in range(problem.n_blocks):
        block = Polytope.of(problem, i)
        answer = linprog(-(block.gains @ w + block.costs), A_ub=block.limits, b_ub=np.ones(len(block.limits)))
        total += -answer.fun - problem.gold[i] @ w + problem.miss_cost * problem.sure[i]
    return total / problem.n_blocks


def quadratic_program(problem: MatchingProblem) -> float:
    """The optimum of P by a general solver, on the formulation with duals of the matching as variables.

    min λ/2 ‖w‖² + 1/n Σ_i (1·p_i − w·f_i(y_i) + c⁺|S_i|)  s.t.  gains_i w + costs_i ≤ limits_iᵀp_i;  p ≥ 0, w_f ≤ 0.
    """
    n, d = problem.n_blocks, problem.n_features
    blocks = [Polytope.of(problem, i) for i in range(n)]
    size = d + sum(len(block.limits) for block in blocks)
    constraints, first = [], d
    for block in blocks:
        rows = np.zeros((len(block.costs), size))
        rows[:, :d] = -block.gains
        rows[:, first : first + len(block.limits)] = block.limits.T
        constraints.append(rows)
        first += len(block.limits)
    matrix, right = np.concatenate(constraints), -np.concatenate([block.costs for block in blocks])
    linear = np.full(size, 1.0 / n)
    linear[:d] = -problem.gold.sum(axis=0) / n
    constant = problem.miss_cost * problem.sure.sum() / n
    start = np.zeros(size)
    start[d:] = problem.miss_cost + problem.false_cost
    free = d - problem.n_nonpositive
    answer = minimize(
        lambda x: 0.5 * problem.regularization * x[:d] @ x[:d] + linear @ x + constant,
        start,
        jac=lambda x: np.concatenate([problem.regularization * x[:d], np.zeros(size - d)]) + linear,
        bounds=[(None, None)] * free + [(None, 0)] * problem.n_nonpositive + [(0, None)] * (size - d),
        constraints={"type": "ineq", "fun": lambda x: matrix @ x + right, "jac": lambda x: matrix},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert answer.success, answer.message
    return float(answer.fun)


def with_capacities(one: list[Configuration], several: list[Configuration]) -> pytest.MarkDecorator:
    """The configurations for problems of one link a word, and those for two."""
    cases = [(c, 1) for c in one] + [(c, 2) for c in several]
    return pytest.mark.parametrize(("configuration", "capacity"), cases, ids=[f"{c}-{links}" for c, links in cases])


@with_capacities([c for c in CONFIGURATIONS if c.name != "kernel-bcfw"], SEVERAL_LINKS)
def test_gaps_are_certificates(configuration: Configuration, capacity: int, make_problem: MakeProblem) -> None:
    """No audit ever has a negative gap, or a dual above any primal; and the audited objective is the true one."""
    problem = make_problem(n=20, capacity=capacity)
    points = run(problem, configuration.solver, gap=0.0, passes=40).trace
    assert len(points) > 10
    assert min(p.gap for p in points) >= -1e-12
    assert max(p.dual for p in points) <= min(p.primal for p in points) + 1e-12
    result = run(problem, configuration.solver, gap=0.0, passes=3)
    assert (result.w[problem.n_features - problem.n_nonpositive :] <= 0).all()
    by_program = hinge_by_linear_program(problem, result.w) + 0.05 * result.w @ result.w
    assert result.trace[-1].primal == pytest.approx(by_program, rel=1e-6)


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1, pytest.param(2, marks=pytest.mark.slow)])
@every_solver_of_corners
def test_the_optimum_is_that_of_a_quadratic_program(
    configuration: Configuration, seed: int, make_problem: MakeProblem
) -> None:
    judge(make_problem(n=5, d=3, largest=4, seed=seed), configuration, seed)


@pytest.mark.parametrize("seed", [7, 10])
@pytest.mark.parametrize("configuration", SEVERAL_LINKS, ids=str)
def test_the_optimum_with_several_links_is_that_of_a_quadratic_program(
    configuration: Configuration, seed: int, make_problem: MakeProblem
) -> None:
    """Its rewards may not be above 0, and some of them would be."""
    w = judge(make_problem(n=4, d=3, largest=4, seed=seed, capacity=2, possible=False), configuration, seed)
    assert (w[3:] <= 0).all()
    assert 0 < (w[3:] < 0).sum() < 2


_optima: dict[tuple[int, int], float] = {}


def judge(problem: MatchingProblem, configuration: Configuration, seed: int) -> np.ndarray:
    """Hold a solver to the optimum of this problem, the only one of its size with this seed; its weights."""
    key = problem.n_blocks, seed
    if key not in _optima:
        _optima[key] = quadratic_program(problem)
    result = run(problem, configuration.solver, gap=configuration.reachable, passes=5000)
    point, best = result.trace[-1], _optima[key]
    assert point.relative_gap <= configuration.reachable
    assert point.dual - 1e-6 <= best <= point.primal + 1e-6
    return result.w


@pytest.mark.parametrize("name", ONE_LINK_ONLY)
def test_solvers_of_marginals_refuse_several_links(name: str, make_problem: MakeProblem) -> None:
    with pytest.raises(SettingError, match="one link a word only"):
        run(make_problem(capacity=2), make_solver(name))


@with_capacities(
    [c for c in CONFIGURATIONS if c.never_lowers_the_dual], [c for c in SEVERAL_LINKS if c.never_lowers_the_dual]
)
def test_line_search_never_lowers_the_dual(
    configuration: Configuration, capacity: int, make_problem: MakeProblem
) -> None:
    trace = run(make_problem(n=30, capacity=capacity), configuration.solver, gap=1e-6, passes=60).trace
    assert all(later.dual >= earlier.dual - 1e-12 for earlier, later in pairwise(trace))
    assert trace[-1].dual > trace[0].dual


@with_capacities(CONFIGURATIONS, SEVERAL_LINKS)
def test_same_seed_same_bits_and_untouched_problem(
    configuration: Configuration, capacity: int, make_problem: MakeProblem
) -> None:
    problem = make_problem(n=20, capacity=capacity)
    before = [array.copy() for array in arrays_of(problem)]
    first, second = (run(problem, configuration.solver, gap=0.0, passes=configuration.passes) for _ in range(2))
    assert first.w.tobytes() == second.w.tobytes()
    assert [(p.primal, p.dual, p.oracle_calls) for p in first.trace] == [
        (p.primal, p.dual, p.oracle_calls) for p in second.trace
    ]
    for array, copy in zip(arrays_of(problem), before, strict=True):
        np.testing.assert_array_equal(array, copy)


def arrays_of(problem: MatchingProblem) -> list[np.ndarray]:
    """All arrays that a problem is made of."""
    values = [*vars(problem).values(), *vars(problem.edges).values()]
    return [value for value in values if isinstance(value, np.ndarray)]


@with_capacities(*[[c for c in CONFIGURATIONS if c.name.startswith("bcfw")]] * 2)
def test_compiled_and_generic_passes_are_equal(
    configuration: Configuration, capacity: int, make_problem: MakeProblem
) -> None:
    problem = make_problem(n=25, d=7, capacity=capacity)
    compiled, generic = (
        run(problem, configuration.solver, gap=0.0, passes=6),
        run(Plain(problem), configuration.solver, gap=0.0, passes=6),
    )
    np.testing.assert_allclose(compiled.w, generic.w, rtol=1e-10, atol=1e-12)
    for ours, theirs in zip(compiled.trace, generic.trace, strict=True):
        assert ours.primal == pytest.approx(theirs.primal, rel=1e-10)
        assert ours.dual == pytest.approx(theirs.dual, rel=1e-10, abs=1e-12)
        assert (ours.oracle_calls, ours.audit_calls) == (theirs.oracle_calls, theirs.audit_calls)


@every_solver_of_corners
def test_oracle_calls_are_counted(configuration: Configuration, make_problem: MakeProblem) -> None:
    counted = Plain(make_problem(n=9))
    result = run(counted, configuration.solver, gap=0.0, passes=configuration.passes)
    assert result.trace[-1].oracle_calls + result.trace[-1].audit_calls == counted.calls


def test_one_block_makes_bcfw_the_batch_method(make_problem: MakeProblem) -> None:
    problem = make_problem(n=1, d=4, largest=8, regularization=0.5)
    for step in (Forward(True), Forward(False)):
        block = run(problem, Block(Permuted(), step), gap=0.0, passes=9)
        batch = run(problem, FrankWolfe(step), gap=0.0, passes=9)
        np.testing.assert_allclose(block.w, batch.w, rtol=1e-9)


@pytest.mark.parametrize("average", [Average.UNIFORM, Average.WEIGHTED, Average.SUFFIX])
def test_averages_are_those_of_their_definition(average: Average, make_problem: MakeProblem) -> None:
    """Recomputed from all iterates: Σ w_k / K, Σ k w_k / Σ k, and the mean since the last power of 2."""
    problem = make_problem(n=1, d=4, largest=8)
    iterates = [run(problem, Block(), gap=-1.0, passes=k).w for k in range(1, 12)]
    averaged = run(problem, Block(average=average), gap=-1.0, passes=11).w
    if average is Average.UNIFORM:
        expected = np.mean(iterates, axis=0)
    elif average is Average.WEIGHTED:
        expected = np.average(iterates, axis=0, weights=np.arange(1, 12))
    else:
        expected = np.mean(iterates[7:], axis=0)
    np.testing.assert_allclose(averaged, expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("oracle", "capacity"), [(oracle, c) for oracle in ORACLES for c in (1, 2) if (oracle, c) != ("scipy", 2)]
)
def test_every_oracle_trains(oracle: str, capacity: int, make_problem: MakeProblem) -> None:
    """Exact oracles reach the optimum; with the approximate one the certificate is exact all the same."""
    exact = make_problem(n=6, d=3, largest=4, capacity=capacity)
    reference = run(exact, Block(), gap=1e-4, passes=2000).trace[-1]
    result = run(make_problem(n=6, d=3, largest=4, capacity=capacity, oracle=oracle), Block(), gap=1e-2, passes=60)
    primal = primal_value(exact, result.w, ask_all(exact, result.w))
    assert reference.dual - 1e-9 <= primal
    if oracle != "greedy":
        assert result.status is Status.CONVERGED
        assert primal <= reference.primal + 2e-2 * max(1.0, reference.primal)
    assert result.trace[-1].primal == pytest.approx(primal, rel=1e-12)
    assert min(point.gap for point in result.trace) >= -1e-12
    assert any("certified with exact matchings" in note for note in result.notes) == (oracle == "greedy")


@every_solver_of_corners
def test_every_solver_is_certified_exactly_with_the_greedy_oracle(
    configuration: Configuration, make_problem: MakeProblem
) -> None:
    exact, greedy = (make_problem(n=20, oracle=oracle) for oracle in ("assignment", "greedy"))
    result = run(greedy, configuration.solver, gap=0.0, passes=20)
    assert min(point.gap for point in result.trace) >= -1e-12
    assert result.trace[-1].primal == pytest.approx(primal_value(exact, result.w, ask_all(exact, result.w)), rel=1e-12)
    assert result.trace[-1].dual <= min(point.primal for point in run(exact, Block(), gap=1e-6, passes=500).trace)
    assert any("certified with exact matchings" in note for note in result.notes)
