"""Every solver ends when it should, and with what it had."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from solver_configurations import Configuration, MakeProblem, Plain, every_solver_of_corners, knowing, run

from aligner.problem import Corners
from aligner.solvers import SOLVERS, Result, Status, Stop, TracePoint, solve

ALONE = [Configuration(name, ()) for name in SOLVERS] + [Configuration("extragradient", (("restarts", True),))]
ALONE = knowing(ALONE, "matchings")


@pytest.mark.parametrize("configuration", ALONE, ids=str)
def test_every_solver_ends_when_it_should(configuration: Configuration, make_problem: MakeProblem) -> None:
    problem, solver = make_problem(n=20), configuration.solver
    converged = run(problem, solver, gap=0.5, passes=5000)
    assert converged.status is Status.CONVERGED
    assert converged.trace[-1].relative_gap <= 0.5 < converged.trace[0].relative_gap
    passes = run(problem, solver, gap=0.0, passes=4)
    assert (passes.status, passes.trace[-1].passes) == (Status.PASSES, 4)
    assert run(problem, solver, gap=0.0, passes=10**9, seconds=0.01).status is Status.SECONDS
    seen: list[TracePoint] = []

    def third(at: Result) -> bool:
        seen.append(at.trace[-1])
        return len(seen) < 3

    result = solve(problem, solver, stop=Stop(gap=0.0), callback=third)
    assert result.status is Status.CALLBACK
    assert result.trace == tuple(seen)


@dataclass
class Interrupted(Plain):
    """A problem during whose corners Ctrl-C is met, after some calls."""

    after: int = 75

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        if self.calls > self.after:
            raise KeyboardInterrupt
        return super().corners(blocks, w)


@every_solver_of_corners
def test_ctrl_c_amid_a_pass_keeps_the_best_audit(configuration: Configuration, make_problem: MakeProblem) -> None:
    audited: list[np.ndarray] = []
    problem = Interrupted(make_problem(n=20))
    result = solve(problem, configuration.solver, stop=Stop(gap=0.0), measure=lambda w: audited.append(w.copy()) or 0.0)
    assert result.status is Status.INTERRUPTED
    assert 0 < len(result.trace) == len(audited)
    best = min(point.primal for point in result.trace)
    assert any((result.w == w).all() for w, p in zip(audited, result.trace, strict=True) if p.primal == best)


@dataclass
class Poisoned(Plain):
    """A problem whose corners stop being numbers after some calls."""

    after: int = 60

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        corners = super().corners(blocks, w)
        psi = corners.psi * np.nan if self.calls > self.after else corners.psi
        return Corners(psi, corners.losses)


@every_solver_of_corners
def test_not_a_number_ends_it_with_finite_weights(configuration: Configuration, make_problem: MakeProblem) -> None:
    result = run(Poisoned(make_problem(n=10)), configuration.solver, gap=0.0, passes=50)
    assert result.status is Status.NOT_FINITE
    assert np.isfinite(result.w).all()
