"""The path over all λ keeps its error between the λ that were solved for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from solver_configurations import Configuration, MakeProblem, Multiclass, knowing, of_corners, run

from aligner.errors import SettingError
from aligner.problem import BlockProblem
from aligner.solvers import SOLVERS, Stop, make_solver, solve
from aligner.solvers.gap import ask_all, primal_value
from aligner.solvers.regularization import regularization_path

KINDS = "matchings", "b-matchings", "multiclass"

MATCHINGS = knowing([Configuration(name, ()) for name in SOLVERS], "matchings")


@pytest.fixture
def family(request: pytest.FixtureRequest, make_problem: MakeProblem) -> Callable[[float], BlockProblem]:
    if request.param == "multiclass":
        return lambda regularization: replace(Multiclass.random(), regularization=regularization)
    problem = make_problem(n=15, d=4, capacity=1 if request.param == "matchings" else 2)
    return lambda regularization: replace(problem, regularization=regularization)


@pytest.mark.parametrize("family", KINDS, indirect=True)
@pytest.mark.parametrize("name", ["bcfw-pairwise", "cutting-plane"])
def test_the_error_is_kept_at_every_regularization(family: Callable[[float], BlockProblem], name: str) -> None:
    problem, none = family(1.0), np.zeros(family(1.0).n_features)
    error = 0.1 * primal_value(problem, none, ask_all(problem, none))
    pieces = list(regularization_path(family(1.0), make_solver(name), largest=1.0, smallest=0.05, error=error))
    assert (pieces[0].largest, pieces[-1].smallest) == (1.0, 0.05)
    assert all(piece.smallest == following.largest for piece, following in pairwise(pieces))
    assert 1 < len(pieces) < 100
    for piece in pieces[:: max(1, len(pieces) // 4)]:
        for regularization in (piece.smallest, (piece.smallest + piece.largest) / 2):
            problem = family(float(regularization))
            best = run(problem, make_solver("bcfw-pairwise"), gap=1e-3, passes=3000)
            excess = primal_value(problem, piece.w, ask_all(problem, piece.w)) - best.primal
            assert excess <= error + 1e-6


@pytest.mark.parametrize("family", ["matchings"], indirect=True)
def test_what_cannot_be_followed_is_told(family: Callable[[float], BlockProblem]) -> None:
    with pytest.raises(SettingError, match="must be ordered"):
        next(regularization_path(family(1.0), make_solver("bcfw"), largest=0.1, smallest=0.2, error=0.1))
    with pytest.raises(SettingError, match="allow more passes"):
        next(regularization_path(family(1.0), make_solver("subgradient"), largest=1e-3, smallest=1e-4, error=1e-9))


@pytest.mark.parametrize("name", [one.name for one in of_corners(MATCHINGS) if hasattr(one.solver, "resume")])
def test_resuming_keeps_the_dual_point(make_problem: MakeProblem, name: str) -> None:
    """D = ℓ - λ/2 ‖w‖² with the same ℓ, and w in proportion to 1/λ."""
    solver, problem, stop = make_solver(name), make_problem(n=20, regularization=1.0), Stop(gap=0.0, passes=3)
    state, last = solver.init(problem, np.random.default_rng(0)), list[np.ndarray]()
    first = solve(problem, solver, stop=stop, start=state, measure=lambda w: last.append(w) or 0.0)
    second = solve(replace(problem, regularization=0.2), solver, stop=stop, start=state)
    norm = np.linalg.norm(last[-1])
    loss = first.trace[-1].dual + 0.5 * norm**2
    assert norm > 0
    assert second.trace[0].passes == 0
    assert second.trace[0].dual == pytest.approx(loss - 0.5 * 0.2 * (5 * norm) ** 2, rel=1e-9)
    assert second.trace[-1].gap >= -1e-12
