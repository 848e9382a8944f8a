"""What solvers keep, under the same laws for all: dual points, states at another λ, compiled and generic passes."""

from __future__ import annotations

import numpy as np
import pytest
from label_sequences import random_chains
from solver_configurations import (
    CONFIGURATIONS,
    Configuration,
    Foreign,
    MakeKind,
    MakeProblem,
    Plain,
    knowing,
    of_corners,
    on_problems,
    run,
)

from aligner.errors import SettingError
from aligner.losses.hinge import MatchingProblem
from aligner.solvers import SOLVERS, DualPoint, Status, make_solver, solve
from aligner.solvers.gap import clip, dual_value


@on_problems(of_corners(CONFIGURATIONS))
def test_the_dual_point_is_one(configuration: Configuration, kind: str, make: MakeKind) -> None:
    """Feasible, by the parts that it is told in, and with the dual value of the last audit where that is its own."""
    problem = make(kind, 12)
    result = run(problem, configuration.solver, gap=0.0, passes=6)
    value = check_dual_point(problem, result.dual_point)
    assert value <= result.primal + 1e-9
    if configuration.never_lowers_the_dual:
        assert value == pytest.approx(result.trace[-1].dual, rel=1e-9)
    point = result.dual_point
    if point is not None and point.marginals is not None and isinstance(problem, MatchingProblem):
        lists = problem.edges.lists
        edges = point.marginals if kind == "matchings" else np.zeros(len(lists.pairs))
        for words in (lists.source, lists.target):
            assert np.bincount(lists.pairs * 100 + words, edges).max() <= 1 + 1e-9


@pytest.mark.parametrize("name", ["bcfw-away", "bcfw-pairwise", "bcfw-gap", "randomized-away"])
def test_the_dual_point_is_one_where_many_corners_are_in_use(name: str, make_problem: MakeProblem) -> None:
    problem = make_problem(n=6, d=12, largest=7, regularization=0.0005)
    point = run(problem, make_solver(name), gap=0.0, passes=200).dual_point
    check_dual_point(problem, point)
    assert point is not None
    assert point.active is not None
    assert np.bincount(point.active.blocks).max() > 8, "the problem is too easy to fill the first pool"


def check_dual_point(problem: MatchingProblem | Foreign, point: DualPoint | None) -> float:
    """Hold a dual point to what it is a mixture of; returns its dual value."""
    assert point is not None
    n = problem.n_blocks
    if point.active is not None:
        active = point.active
        assert (active.weights > 0).all()
        sums = np.bincount(active.blocks + 1, active.weights)
        assert sums[sums > 0] == pytest.approx(1.0)
        assert len(set(active.blocks.tolist())) == (1 if active.blocks[0] < 0 else n)
        distinct = np.unique(np.column_stack([active.blocks, active.losses, active.v]), axis=0)
        assert len(distinct) == len(active.weights)
        np.testing.assert_allclose(active.weights @ active.v, point.v, atol=1e-9)
        assert active.weights @ active.losses == pytest.approx(point.loss)
    if point.block_v is not None and point.block_losses is not None:
        np.testing.assert_allclose(point.block_v.sum(axis=0), point.v, atol=1e-9)
        assert point.block_losses.sum() == pytest.approx(point.loss)
    if point.marginals is not None:
        assert point.marginals.min() >= 0
        marginals = problem.marginals()
        moved = marginals.moments(np.arange(n), marginals.target - point.marginals)
        np.testing.assert_allclose(point.v, moved[:-1] / (problem.regularization * n), atol=1e-9)
        assert point.loss == pytest.approx(-moved[-1] / n)
    return dual_value(problem, clip(point.v, problem.n_nonpositive), point.loss)


@pytest.mark.parametrize("kind", ["b-matchings", "chains"])
@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "kernel-bcfw"])
def test_another_regularization_keeps_the_dual_point(name: str, kind: str, make: MakeKind) -> None:
    """The loss stays, w is scaled, and from there the optimum is that of a start from nothing; or it is refused."""
    problem, solver = make(kind, 20), make_solver(name)
    weaker = problem.at(0.5 * problem.regularization)
    if configuration_of(name) not in knowing(CONFIGURATIONS, kind):
        pytest.skip("it does not know these problems")
    first = run(problem, solver, gap=1e-2, passes=300)
    if not hasattr(solver, "resume"):
        with pytest.raises(SettingError, match="another λ if the solver has resume"):
            solve(weaker, solver, start=first)
        return
    warm, cold = (solve(weaker, solver, start=start, gap=1e-2, passes=1000, seed=3) for start in (first, None))
    point = first.dual_point
    assert point is not None
    same = point.loss - weaker.regularization / 2 * np.sum(clip(2.0 * point.v, problem.n_nonpositive) ** 2)
    assert warm.trace[0].dual == pytest.approx(same, rel=1e-9)
    assert warm.trace[0].gap < cold.trace[0].gap
    assert max(warm.dual, cold.dual) <= min(warm.primal, cold.primal) + 1e-12
    assert warm.status is cold.status is Status.CONVERGED


def configuration_of(name: str) -> Configuration:
    """The configuration that is this solver by default."""
    return next(c for c in CONFIGURATIONS if c.solver == make_solver(name))


COMPILED = [c for c in of_corners(CONFIGURATIONS) if not SOLVERS[c.name].marginals]
COMPILED.append(Configuration("bcfw", (("order", "cyclic"), ("repeats", 3))))
COMPILED.append(Configuration("bcfw", (("step", "decreasing"), ("average", "weighted"))))


@pytest.mark.parametrize("kind", ["matchings", "b-matchings", "chains"])
@pytest.mark.parametrize("configuration", COMPILED, ids=str)
def test_compiled_and_generic_passes_are_equal(
    configuration: Configuration, kind: str, make_problem: MakeProblem
) -> None:
    capacity = 1 if kind == "matchings" else 2
    problem = random_chains(25, longest=4) if kind == "chains" else make_problem(n=25, d=7, capacity=capacity)
    # Later than this a step may take another corner by the last bit of a sum, which differs between processors.
    compiled, generic = (run(each, configuration.solver, gap=0.0, passes=3) for each in (problem, Plain(problem)))
    np.testing.assert_allclose(compiled.w, generic.w, rtol=1e-8, atol=1e-10)
    for ours, theirs in zip(compiled.trace, generic.trace, strict=True):
        assert ours.primal == pytest.approx(theirs.primal, rel=1e-10)
        assert ours.dual == pytest.approx(theirs.dual, rel=1e-10, abs=1e-12)
        assert (ours.oracle_calls, ours.audit_calls) == (theirs.oracle_calls, theirs.audit_calls)
