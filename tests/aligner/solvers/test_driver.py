"""The driver ends when it should, and solvers are made by their names."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from aligner.errors import SettingError
from aligner.solvers import SOLVERS, Result, Status, Stop, TracePoint, make_solver, solve
from aligner.solvers.block import Block
from aligner.solvers.orders import Uniform
from aligner.solvers.steps import Average, Forward
from aligner.svm.hinge import MatchingProblem

MakeProblem = Callable[..., MatchingProblem]


def run(problem: MatchingProblem, **limits: float) -> Result:
    return solve(problem, Block(), stop=Stop(**limits), seed=3)  # type: ignore[arg-type]


def test_stopping_rules(make_problem: MakeProblem) -> None:
    problem = make_problem(n=20)
    assert run(problem, gap=0.5, passes=99).status is Status.CONVERGED
    passes = run(problem, gap=0.0, passes=4)
    assert (passes.status, passes.trace[-1].passes) == (Status.PASSES, 4)
    assert run(problem, gap=0.0, passes=10**9, seconds=0.01).status is Status.SECONDS
    seen: list[TracePoint] = []

    def callback(point: TracePoint, w: np.ndarray) -> bool:
        seen.append(point)
        return len(seen) < 3

    result = solve(problem, Block(), stop=Stop(gap=0.0), callback=callback)
    assert result.status is Status.CALLBACK
    assert result.trace == tuple(seen)


def test_interrupt_keeps_the_last_audit(make_problem: MakeProblem) -> None:
    problem = make_problem(n=20)
    audited: list[np.ndarray] = []
    asked = threading.Event()

    def callback(point: TracePoint, w: np.ndarray) -> None:
        audited.append(w.copy())
        if len(audited) == 3:
            threading.Timer(0.02, asked.set).start()

    result = solve(problem, Block(), stop=Stop(gap=-1.0, passes=10**9, interrupted=asked.is_set), callback=callback)
    assert result.status is Status.INTERRUPTED
    assert len(audited) >= 3
    np.testing.assert_array_equal(result.w, audited[-1])


def test_an_exception_of_ctrl_c_keeps_the_last_audit(make_problem: MakeProblem) -> None:
    """As in a notebook, where Python answers it."""
    audited: list[np.ndarray] = []

    def callback(point: TracePoint, w: np.ndarray) -> None:
        audited.append(w.copy())
        if len(audited) == 3:
            raise KeyboardInterrupt

    result = solve(make_problem(n=20), Block(), stop=Stop(gap=-1.0, passes=10**9), callback=callback)
    assert result.status is Status.INTERRUPTED
    assert len(result.trace) == 3
    np.testing.assert_array_equal(result.w, audited[-1])


def test_solvers_by_name() -> None:
    assert all(make_solver(name).signature for name in SOLVERS)
    assert make_solver("bcfw", order="uniform", average="suffix") == Block(Uniform(), Forward(True), Average.SUFFIX)
    assert make_solver("bcfw", order=None) == Block()
    for wrong in ({"name": "newton"}, {"order": "x"}, {"step": "x"}, {"average": "x"}):
        with pytest.raises(SettingError, match="unknown"):
            make_solver(**wrong)
    with pytest.raises(SettingError, match="frank-wolfe has no option order"):
        make_solver("frank-wolfe", order="uniform")
