"""Every solver under the same laws, against an independent quadratic program."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from label_sequences import labellings, random_chains
from scipy.optimize import linprog, minimize
from solver_configurations import (
    ALL,
    CONFIGURATIONS,
    Configuration,
    Foreign,
    MakeKind,
    MakeProblem,
    Multiclass,
    Plain,
    every_solver_of_corners,
    iterates,
    knowing,
    of_corners,
    on_problems,
    run,
)

from aligner.errors import SettingError
from aligner.losses.chain import ChainProblem
from aligner.losses.hinge import MatchingProblem, Prior
from aligner.matching import ORACLES, get_oracle
from aligner.solvers import SOLVERS, Status, make_solver
from aligner.solvers.averages import Average
from aligner.solvers.batch import FrankWolfe
from aligner.solvers.block import Block
from aligner.solvers.gap import ask_all, primal_value
from aligner.solvers.orders import Permuted
from aligner.solvers.steps import Forward


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
        lists = problem.edges.lists
        J, K = lists.shapes[i]
        d, fertility = len(problem.edges.names), problem.fertility
        rows = slice(lists.offsets[i], lists.offsets[i + 1])
        gains = [np.concatenate([x, np.zeros(problem.n_nonpositive)]) for x in problem.edges.features[rows]]
        limits = [np.eye(J)[:, lists.source[rows]], np.eye(K)[:, lists.target[rows]]]
        words: list[int] = []
        if problem.capacity > 1:
            limits.append(np.eye(rows.stop - rows.start))
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
        matrix = np.block([[matrix, slots], [np.zeros((len(words), rows.stop - rows.start)), np.eye(len(words))]])
        costs = np.concatenate([problem.costs[rows], np.zeros(len(words))])
        return cls(np.array(gains, float), costs, matrix)


def mean_hinge(problem: MatchingProblem | Foreign, w: np.ndarray) -> float:
    """Mean of max_z H_i(z; w): of matchings each a linear program over their polytope, else by trying all."""
    if not isinstance(problem, MatchingProblem):
        return float(np.mean([max(loss - psi @ w for psi, loss in corners) for corners in every_corner(problem)]))
    total = 0.0
    for i in range(problem.n_blocks):
        block = Polytope.of(problem, i)
        answer = linprog(-(block.gains @ w + block.costs), A_ub=block.limits, b_ub=np.ones(len(block.limits)))
        total += -answer.fun - problem.gold[i] @ w - problem.target_costs[i]
    return total / problem.n_blocks


def every_corner(problem: Foreign) -> list[list[tuple[np.ndarray, float]]]:
    """ψ and L of all classes of each point, or of all labellings of each sequence."""
    if isinstance(problem, ChainProblem):
        return [labellings(problem, i) for i in range(problem.n_blocks)]
    return [
        [(problem.psi(i, y), float(y != label)) for y in range(problem.classes)]
        for i, label in enumerate(problem.labels)
    ]


def quadratic_program_of_corners(problem: Foreign) -> float:
    """The optimum of P by a general solver: min λ/2 ‖w‖² + 1/n Σ_i ξ_i  s.t.  ξ_i >= L_i(z) − w·ψ_i(z) for all z."""
    d, n = problem.n_features, problem.n_blocks
    corners = [(i, *corner) for i, block in enumerate(every_corner(problem)) for corner in block]
    matrix = np.array([np.concatenate([psi, np.eye(n)[i]]) for i, psi, _ in corners])
    losses = np.array([loss for *_, loss in corners])
    mean = np.concatenate([np.zeros(d), np.full(n, 1.0 / n)])
    answer = minimize(
        lambda x: 0.5 * problem.regularization * x[:d] @ x[:d] + mean @ x,
        np.concatenate([np.zeros(d), np.ones(n)]),
        jac=lambda x: np.concatenate([problem.regularization * x[:d], np.zeros(n)]) + mean,
        constraints={"type": "ineq", "fun": lambda x: matrix @ x - losses, "jac": lambda x: matrix},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert answer.success, answer.message
    return float(answer.fun)


def quadratic_program(problem: MatchingProblem) -> float:
    """The optimum of P by a general solver, on the formulation with duals of the matching as variables.

    min λ/2 ‖w‖² + 1/n Σ_i (1·p_i − w·f_i(y_i) + c(y_i))  s.t.  gains_i w + costs_i ≤ limits_iᵀp_i;  p ≥ 0, w_f ≤ 0.
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
    constant = -problem.target_costs.sum() / n
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


@on_problems(of_corners(ALL))
def test_gaps_are_certificates(configuration: Configuration, kind: str, make: MakeKind) -> None:
    """No audit ever has a dual above any primal, and the audited objective is the true one."""
    problem = make(kind, 20)
    found = run(problem, configuration.solver, gap=0.0, passes=40)
    points = found.trace
    assert len(points) > 10 or found.status is Status.CONVERGED
    assert points[-1].gap >= -1e-12
    assert points[-1].gap == min(p.primal for p in points) - max(p.dual for p in points)
    result = run(problem, configuration.solver, gap=0.0, passes=3)
    assert (result.w[problem.n_features - problem.n_nonpositive :] <= 0).all()
    by_program = mean_hinge(problem, result.w) + problem.regularization / 2 * result.w @ result.w
    assert result.primal == pytest.approx(by_program, rel=1e-6)


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("configuration", knowing(of_corners(ALL), "matchings"), ids=str)
def test_the_optimum_is_that_of_a_quadratic_program(
    configuration: Configuration, seed: int, make_problem: MakeProblem
) -> None:
    judge(make_problem(n=5, d=3, largest=4, seed=seed, listed=0.7), configuration, f"matchings {seed}")


@pytest.mark.parametrize("configuration", knowing(of_corners(ALL), "matchings"), ids=str)
def test_the_optimum_near_known_weights_is_that_of_a_quadratic_program(
    configuration: Configuration, make_problem: MakeProblem
) -> None:
    prior = Prior(np.array([1.0, -2.0, 0.5]))
    judge(make_problem(n=5, d=3, largest=4, seed=1, listed=0.7, prior=prior), configuration, "near known weights")


@pytest.mark.parametrize("seed", [7, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("configuration", knowing(ALL, "b-matchings"), ids=str)
def test_the_optimum_with_several_links_is_that_of_a_quadratic_program(
    configuration: Configuration, seed: int, make_problem: MakeProblem
) -> None:
    """Its rewards may not be above 0, and some of them would be."""
    problem = make_problem(n=4, d=3, largest=4, seed=seed, capacity=2, possible=False, listed=0.7)
    w = judge(problem, configuration, f"b-matchings {seed}")
    assert (w[3:] <= 0).all()
    assert 0 < (w[3:] < -0.03).sum() < 2  # weights are as exact as the gap


@pytest.mark.slow
@pytest.mark.parametrize(
    ("configuration", "kind"), [(c, kind) for kind in ("multiclass", "chains") for c in knowing(ALL, kind)], ids=str
)
def test_the_optimum_of_a_foreign_problem_is_that_of_a_quadratic_program(
    configuration: Configuration, kind: str
) -> None:
    judge(Multiclass.random(30) if kind == "multiclass" else random_chains(10), configuration, kind)


_optima: dict[str, float] = {}


def judge(problem: MatchingProblem | Foreign, configuration: Configuration, key: str) -> np.ndarray:
    """Hold a solver to the optimum of this problem, the only one of this key; its weights."""
    if key not in _optima:
        is_matching = isinstance(problem, MatchingProblem)
        _optima[key] = quadratic_program(problem) if is_matching else quadratic_program_of_corners(problem)
    result = run(problem, configuration.solver, gap=configuration.reachable, passes=5000)
    assert result.status is Status.CONVERGED
    assert result.dual - 1e-6 <= _optima[key] <= result.primal + 1e-6
    return result.w


@pytest.mark.parametrize("name", [name for name, entry in SOLVERS.items() if not entry.weights])
def test_solvers_of_one_link_refuse_several(name: str, make_problem: MakeProblem) -> None:
    with pytest.raises(SettingError, match="one link a word only"):
        run(make_problem(capacity=2), make_solver(name))


@on_problems([c for c in CONFIGURATIONS if c.never_lowers_the_dual])
def test_line_search_never_lowers_the_dual(configuration: Configuration, kind: str, make: MakeKind) -> None:
    trace = run(make(kind, 30), configuration.solver, gap=1e-6, passes=60).trace
    assert all(later.dual >= earlier.dual - 1e-12 for earlier, later in pairwise(trace))
    assert trace[-1].dual > trace[0].dual


@on_problems(CONFIGURATIONS)
def test_same_seed_same_bits_and_untouched_problem(configuration: Configuration, kind: str, make: MakeKind) -> None:
    problem = make(kind, 20)
    before = {name: array.copy() for name, array in arrays_of(problem).items()}
    first, second = (run(problem, configuration.solver, gap=0.0, passes=configuration.passes) for _ in range(2))
    assert first.w.tobytes() == second.w.tobytes()
    assert [(p.primal, p.dual, p.oracle_calls) for p in first.trace] == [
        (p.primal, p.dual, p.oracle_calls) for p in second.trace
    ]
    after = arrays_of(problem)
    for name, copy in before.items():
        np.testing.assert_array_equal(after[name], copy)


def arrays_of(problem: MatchingProblem | Foreign) -> dict[str, np.ndarray]:
    """All arrays that a problem is made of."""
    values = vars(problem) | vars(getattr(problem, "edges", problem))
    if isinstance(problem, ChainProblem):
        values |= problem.arrays._asdict()
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


@on_problems(of_corners(CONFIGURATIONS))
def test_oracle_calls_are_counted(configuration: Configuration, kind: str, make: MakeKind) -> None:
    problem = make(kind, 9)
    counted = problem if isinstance(problem, Multiclass) else Plain(problem)
    result = run(counted, configuration.solver, gap=0.0, passes=configuration.passes)
    assert result.trace[-1].oracle_calls + result.trace[-1].audit_calls == counted.calls


def test_one_block_makes_bcfw_the_batch_method(make_problem: MakeProblem) -> None:
    problem = make_problem(n=1, d=4, largest=8, regularization=0.5)
    for step in (Forward(True), Forward(False)):
        block, batch = iterates(problem, Block(Permuted(), step), 9), iterates(problem, FrankWolfe(step), 9)
        np.testing.assert_allclose(block, batch, rtol=1e-9)


@pytest.mark.parametrize("average", [Average.UNIFORM, Average.WEIGHTED, Average.SUFFIX])
def test_averages_are_those_of_their_definition(average: Average, make_problem: MakeProblem) -> None:
    """Recomputed from all iterates: Σ w_k / K, Σ k w_k / Σ k, and the mean since the last power of 2."""
    problem = make_problem(n=1, d=4, largest=8)
    each = iterates(problem, Block(), 11)
    averaged = iterates(problem, Block(average=average), 11)[-1]
    if average is Average.UNIFORM:
        expected = np.mean(each, axis=0)
    elif average is Average.WEIGHTED:
        expected = np.average(each, axis=0, weights=np.arange(1, 12))
    else:
        expected = np.mean(each[7:], axis=0)
    np.testing.assert_allclose(averaged, expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("oracle", "capacity"), [(oracle, c) for oracle in ORACLES for c in (1, 2) if c == 1 or get_oracle(oracle).several]
)
def test_every_oracle_trains(oracle: str, capacity: int, make_problem: MakeProblem) -> None:
    """All but the greedy one reach the optimum; where one is approximate the certificate is exact all the same."""
    exact = make_problem(n=6, d=3, largest=4, capacity=capacity)
    reference = run(exact, Block(), gap=1e-4, passes=2000)
    result = run(make_problem(n=6, d=3, largest=4, capacity=capacity, oracle=oracle), Block(), gap=1e-2, passes=60)
    primal = primal_value(exact, result.w, ask_all(exact, result.w))
    assert reference.dual - 1e-9 <= primal
    assert result.primal == pytest.approx(primal, rel=1e-12)
    if oracle != "greedy":
        assert result.status is Status.CONVERGED
        assert primal <= reference.primal + 2e-2 * max(1.0, reference.primal)
    assert result.trace[-1].gap >= -1e-12
    assert any("certified with exact matchings" in note for note in result.notes) != get_oracle(oracle).exact


@every_solver_of_corners
def test_every_solver_is_certified_exactly_with_the_greedy_oracle(
    configuration: Configuration, make_problem: MakeProblem
) -> None:
    exact, greedy = (make_problem(n=20, oracle=oracle) for oracle in ("assignment", "greedy"))
    result = run(greedy, configuration.solver, gap=0.0, passes=20)
    assert result.trace[-1].gap >= -1e-12
    assert result.primal == pytest.approx(primal_value(exact, result.w, ask_all(exact, result.w)), rel=1e-12)
    assert result.dual <= run(exact, Block(), gap=1e-6, passes=500).primal
    assert any("certified with exact matchings" in note for note in result.notes)
