"""A problem that hands over its own kernel: as a user writes it, as quick as ours, and kept for the next process."""

from __future__ import annotations

import subprocess
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from aligner.errors import ScoreError
from aligner.solvers import SOLVERS, Status, Stop, make_solver, solve

OWN = """
import numba
import numpy as np
from collections import namedtuple
from aligner.solvers import BlockDefaults, Compiled, Corners

Points = namedtuple("Points", "x y classes")

@numba.njit(cache=True)
def scratch(points):
    return np.empty(points.classes)

@numba.njit(cache=True)
def corner(i, points, w, scores, psi):
    x, y, p = points.x[i], points.y[i], points.x.shape[1]
    for k in range(points.classes):
        scores[k] = (0.0 if k == y else 1.0) + np.dot(x, w[k * p : (k + 1) * p])
    best = np.argmax(scores)
    if not np.isfinite(scores[best]):
        return 2, 0.0, 0.0
    psi[:] = 0.0
    psi[y * p : (y + 1) * p] += x
    psi[best * p : (best + 1) * p] -= x
    return 0, (0.0 if best == y else 1.0), scores[best] - np.dot(x, w[y * p : (y + 1) * p])

class Multiclass(BlockDefaults):
    def __init__(self, x, y, regularization):
        self.points, self.regularization = Points(x, y, int(y.max()) + 1), regularization
        self.n_blocks, self.n_features = len(x), self.points.classes * x.shape[1]
    def compiled(self):
        return Compiled(self.points, scratch, corner)

class InPython(Multiclass):
    def compiled(self):
        return None
    def corners(self, blocks, w):
        found = [(corner.py_func(i, self.points, w, np.empty(self.points.classes), psi), psi)
                 for i, psi in zip(blocks, np.empty((len(blocks), len(w))))]
        return Corners(np.array([psi for _, psi in found]), np.array([loss for (_, loss, _), _ in found]))

rng = np.random.default_rng(0)
y = rng.integers(5, size=2000)
x = rng.standard_normal((2000, 8)) + 2.0 * rng.standard_normal((5, 8))[y]
"""

RUN = """
from aligner.solvers import Average, Block, Stop, check_problem, make_solver, solve
from corpora.compiled import compilations
problem = Multiclass(x, y, 0.01)
check_problem(problem)
for solver in (Block(), Block(average=Average.WEIGHTED), make_solver("bcfw-pairwise"), make_solver("subgradient")):
    result = solve(problem, solver, stop=Stop(gap=0.0, passes=2))
print(sum(event.is_start for _, event in compilations.buffer), result.primal)
"""


@pytest.fixture
def own(tmp_path: Path) -> ModuleType:
    path = tmp_path / "own_kernels.py"
    path.write_text(OWN)
    spec = spec_from_file_location("own_kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["own_kernels"] = module  # where pickle and numba look for it
    spec.loader.exec_module(module)
    return module


def test_it_takes_forty_lines() -> None:
    assert OWN[: OWN.index("class InPython")].strip().count("\n") <= 40


@pytest.mark.slow
def test_all_solvers_take_the_steps_of_the_python_path(own: ModuleType) -> None:
    ours, python = (kind(own.x[:60], own.y[:60], 0.05) for kind in (own.Multiclass, own.InPython))
    names = [name for name, entry in SOLVERS.items() if entry.weights and not entry.marginals]
    assert len(names) > 8
    for name in names:
        one, other = (solve(each, make_solver(name), stop=Stop(gap=0.0, passes=3)) for each in (ours, python))
        np.testing.assert_allclose(one.w, other.w, rtol=1e-9, atol=1e-12, err_msg=name)
    best = solve(ours, make_solver("bcfw-pairwise"), stop=Stop(gap=1e-6, passes=2000))
    assert best.status is Status.CONVERGED


@pytest.mark.slow
def test_a_compiled_pass_is_ten_times_as_quick(own: ModuleType) -> None:
    """Processor time, and the least of five."""

    def seconds(problem: object) -> float:
        solver = make_solver("bcfw")
        state = solver.init(problem, np.random.default_rng(0))  # type: ignore[arg-type]
        solver.sweep(problem, state)  # type: ignore[arg-type]
        times = []
        for _ in range(5):
            start = time.process_time()
            solver.sweep(problem, state)  # type: ignore[arg-type]
            times.append(time.process_time() - start)
        return min(times)

    ours, python = (seconds(kind(own.x, own.y, 0.01)) for kind in (own.Multiclass, own.InPython))
    assert python > 10 * ours


@pytest.mark.slow
def test_a_second_process_compiles_nothing_and_a_changed_kernel_is_compiled(tmp_path: Path) -> None:
    def run(script: str) -> tuple[int, float]:
        (tmp_path / "own_kernels.py").write_text(script)
        code = "from own_kernels import *" + RUN
        command = [sys.executable, "-B", "-c", code]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        compiled, primal = done.stdout.split()
        return int(compiled), float(primal)

    own = f"{OWN}# {tmp_path}"  # as no process has compiled it
    first, primal = run(own)
    assert run(own) == (0, primal)
    assert first > 0
    other = own.replace("else 1.0) + np.dot", "else 0.5) + np.dot").replace(
        "== y else 1.0), scores", "== y else 0.5), scores"
    )
    assert other != own
    compiled, changed = run(other)
    assert compiled > 0
    assert changed < primal


def test_a_plain_function_is_compiled_too_and_its_code_is_raised(own: ModuleType) -> None:
    class Plain(own.Multiclass):  # type: ignore[name-defined, misc]
        def compiled(self) -> object:
            return super().compiled()._replace(corner=own.corner.py_func)

    problem = Plain(own.x[:50], own.y[:50], 0.1)
    w = np.random.default_rng(0).standard_normal(problem.n_features)
    plain, python = problem.corners(np.arange(50), w), own.InPython(own.x, own.y, 0.1).corners(np.arange(50), w)
    np.testing.assert_array_equal(plain.psi, python.psi)
    with pytest.raises(ScoreError, match=r"at block 0 .* are not finite"):
        problem.corners(np.arange(50), np.full(problem.n_features, np.nan))
