"""The driver: when it ends, what it returns, and what it certifies."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from scipy.optimize import OptimizeResult
from threadpoolctl import threadpool_info, threadpool_limits

from aligner.errors import OracleError
from aligner.losses.hinge import MatchingProblem
from aligner.matching import linprog_reference
from aligner.problem import BlockDefaults, Corners
from aligner.solvers import SOLVERS, Result, Status, Stop, TracePoint, from_oracle, make_solver, solve
from aligner.solvers.block import Block
from aligner.solvers.records import Audit

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

    def callback(at: Result) -> bool:
        seen.append(at.trace[-1])
        return len(seen) < 3

    result = solve(problem, Block(), stop=Stop(gap=0.0), callback=callback)
    assert result.status is Status.CALLBACK
    assert result.trace == tuple(seen)


@dataclass
class Told:
    """A solver whose audits are told beforehand, (primal, dual) each, of the weights [0], [1], [2]..."""

    values: list[tuple[float, float]]
    signature: str = "told"

    def init(self, problem: object, rng: np.random.Generator) -> list[Audit]:
        return [Audit(np.array([float(i)]), *value) for i, value in enumerate(self.values)]

    def sweep(self, problem: object, state: list[Audit]) -> int:
        state.pop(0)
        return 1

    def audit(self, problem: object, state: list[Audit]) -> Audit:
        return state[0]

    def dual_point(self, problem: object, state: list[Audit]) -> None:
        return None


class Nothing(BlockDefaults):
    """A problem of one block and one feature that nobody looks into."""

    n_blocks, n_features, regularization = 1, 1, 1.0
    corners = None

    def rehearsal(self) -> None:
        return None


def told(*values: tuple[float, float], gap: float = 1e-3) -> Result:
    return solve(Nothing(), Told(list(values)), stop=Stop(gap=gap, passes=len(values) - 1))  # type: ignore[arg-type]


def test_the_answer_is_the_best_iterate_with_the_best_bound() -> None:
    result = told((50.0, 0.0), (13.0, 10.0), (12.0, 2.0), (40.0, 11.0), (30.0, 1.0))
    assert result.w.tolist() == [2.0]
    assert (result.primal, result.dual, result.trace[-1].gap) == (12.0, 11.0, 1.0)
    assert result.trace[-1].relative_gap == 1.0 / 12.0
    assert [point.gap for point in result.trace] == [50.0, 3.0, 2.0, 1.0, 1.0]
    assert [point.primal for point in result.trace] == [50.0, 13.0, 12.0, 40.0, 30.0], "those of the iterates"


def test_the_gap_to_stop_at_is_that_of_the_certificate() -> None:
    """And relative to the least primal: an iterate that is far off makes no gap small."""
    result = told((50.0, 10.0), (10.5, 0.0), (1e9, 10.4), (20.0, 10.45), (20.0, 0.0), gap=0.009)
    assert (result.status, len(result.trace)) == (Status.CONVERGED, 3 + 1)
    assert result.w.tolist() == [1.0]


def test_a_negative_gap_is_no_convergence() -> None:
    assert told((5.0, 5.0 + 1e-8)).status is Status.NEGATIVE_GAP
    assert told((5.0, 5.0 + 1e-12)).status is Status.CONVERGED, "rounding"
    assert told((5.0, 1.0), (9.0, 6.0)).status is Status.NEGATIVE_GAP, "of different audits"


@pytest.mark.parametrize("name", ["bcfw", "bcfw-gap", "randomized-away", "stochastic-subgradient", "cutting-plane"])
def test_what_is_not_finite_names_its_block(name: str) -> None:
    rng = np.random.default_rng(0)
    psi, loss = rng.normal(size=(30, 4)), np.ones(30)

    def corner(i: int, w: np.ndarray) -> tuple[np.ndarray, float]:
        late = i == 12 and abs(w).max() > 0.0
        return (psi[i] * (np.nan if late else 1.0), loss[i]) if loss[i] > psi[i] @ w or late else (0.0 * psi[i], 0.0)

    problem = from_oracle(corner, n_blocks=30, n_features=4, regularization=0.1)
    result = solve(problem, name)
    assert result.status is Status.NOT_FINITE
    assert "block 12 " in repr(result)
    assert result.primal == 1.0, "of the audit before"
    loss[17] = np.inf
    assert "block 17 " in solve(problem, name).notes[-1]
    loss[17], psi[18, 0] = 1.0, np.nan
    with pytest.raises(OracleError, match=r"at block 18 .* not finite"):
        from_oracle(corner, n_blocks=30, n_features=4, regularization=0.1)


class Wrong(BlockDefaults):
    """A problem whose oracle answers worse than the target, which has ψ = 0 and L = 0."""

    n_blocks, n_features, regularization = 3, 2, 0.1

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        return Corners(np.ones((len(blocks), 2)), np.full(len(blocks), -521.0))


@pytest.mark.parametrize("name", [name for name, entry in SOLVERS.items() if entry.weights and not entry.marginals])
def test_a_wrong_oracle_is_told(name: str) -> None:
    result = solve(Wrong(), make_solver(name))
    assert result.trace[-1].gap == -521.0
    assert result.status is Status.NEGATIVE_GAP


def test_a_failed_linear_program_is_told_as_such(make_problem: MakeProblem, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not as weights that grew without bound."""
    problem = make_problem(n=4, oracle="lp")
    failed = OptimizeResult(status=4, message="numerical difficulties", x=None)
    monkeypatch.setattr(linprog_reference, "linprog", lambda *_, **__: failed)
    with pytest.raises(OracleError, match="linear program could not be solved: numerical difficulties"):
        solve(problem, Block())


COLD = """
import numpy as np
from aligner.losses.chain import ChainProblem
from aligner.solvers import Stop, make_solver, solve
tokens = np.random.default_rng(0).random((60, 4))
problem = ChainProblem.of(tokens, np.arange(60) % 3, np.full(20, 3), regularization=0.1)
print(solve(problem, make_solver("frank-wolfe"), stop=Stop(gap=0.0, passes=1000, seconds=2.0)).trace[-1].passes)
"""


@pytest.mark.slow
def test_compilation_is_no_solving_time(tmp_path: Path) -> None:
    """Without any kernel in the cache a thousand small passes take less than two seconds of the clock."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", COLD], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["1000"]


@pytest.mark.parametrize("capacity", [1, 2])
def test_a_rehearsal_has_arrays_of_the_same_types(capacity: int, make_problem: MakeProblem) -> None:
    """So that what it compiles is what the problem needs."""
    problem = make_problem(n=20, capacity=capacity)
    small = problem.rehearsal()
    assert small is not None
    assert (small.n_blocks, small.edges.lists.offsets[-1]) == (1, np.diff(problem.edges.lists.offsets).min())
    assert numba.typeof(small.compiled().arrays) == numba.typeof(problem.compiled().arrays)


def test_interrupt_keeps_the_best_audit(make_problem: MakeProblem) -> None:
    problem = make_problem(n=20)
    audited: list[np.ndarray] = []
    primals: list[float] = []
    asked = threading.Event()

    def callback(at: Result) -> None:
        audited.append(at.w.copy())
        primals.append(at.primal)
        if len(audited) == 3:
            threading.Timer(0.02, asked.set).start()

    result = solve(problem, Block(), stop=Stop(gap=0.0, passes=10**9, interrupted=asked.is_set), callback=callback)
    assert result.status is Status.INTERRUPTED
    assert len(audited) >= 3
    assert result.primal == min(primals)
    assert (result.w == audited[-1]).all()


def test_an_exception_of_ctrl_c_keeps_the_best_audit(make_problem: MakeProblem) -> None:
    """As in a notebook, where Python answers it."""
    audited: list[np.ndarray] = []

    def callback(at: Result) -> None:
        audited.append(at.w.copy())
        if len(audited) == 3:
            raise KeyboardInterrupt

    result = solve(make_problem(n=20), Block(), stop=Stop(gap=0.0, passes=10**9), callback=callback)
    assert result.status is Status.INTERRUPTED
    assert len(result.trace) == 3
    np.testing.assert_array_equal(result.w, audited[-1])


def test_linear_algebra_has_one_thread(make_problem: MakeProblem) -> None:
    """Threads of its own spin while they wait, on the cores that solvers need: once 37 s for 8 s of training."""
    seen: list[dict[str, Any]] = []
    with threadpool_limits(2, user_api="blas"):
        solve(make_problem(n=4), Block(), callback=lambda *_: seen.extend(threadpool_info()))
    assert {library["num_threads"] for library in seen if library["user_api"] == "blas"} == {1}
