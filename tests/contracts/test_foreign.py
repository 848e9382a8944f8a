"""Problems of one's own in any type of number, states at any λ, and arguments that are none."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from solver_configurations import CONFIGURATIONS, Configuration, Multiclass, iterates, knowing, of_corners, run

from aligner.errors import AlignerError, SettingError
from aligner.solvers import SOLVERS, BlockDefaults, Corners, Status, Stop, make_solver, solve

OF_CORNERS = [c for c in knowing(of_corners(CONFIGURATIONS), "multiclass") if not SOLVERS[c.name].marginals]


@dataclass
class Given(Multiclass):
    """Corners of whole numbers, in the type that `give` makes of their float64 arrays, whose copies are compared."""

    give: Callable[[np.ndarray], Any] = np.asarray
    table: Any = None

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        found = super().corners(blocks, w)
        psi = self.give(found.psi)
        self.table = (psi, np.array(psi, float))
        return Corners(psi, found.losses)


def frozen(psi: np.ndarray) -> np.ndarray:
    psi.flags.writeable = False
    return psi


TYPES: dict[str, Callable[[np.ndarray], Any]] = {
    "int": lambda psi: psi.astype(int), "float32": lambda psi: psi.astype(np.float32), "read-only": frozen,
    "Fortran": np.asfortranarray, "lists": lambda psi: psi.tolist(),
    "view": lambda psi: np.repeat(psi, 2, axis=1)[:, ::2],
}  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("configuration", OF_CORNERS, ids=str)
def test_the_type_of_numbers_makes_no_difference(configuration: Configuration, kind: str) -> None:
    made = Multiclass.random(12)
    whole = Given(np.round(3.0 * made.points), made.labels, made.classes)
    other = replace(whole, give=TYPES[kind])
    expected, found = (np.array(iterates(p, configuration.solver, 4)) for p in (whole, other))
    assert found.tobytes() == expected.tobytes()
    assert np.any(found != 0.0)
    assert np.array_equal(np.asarray(other.table[0], float), other.table[1]), "what was returned is not written to"


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("name", ["cutting-plane", "stochastic-subgradient", "bcfw-pairwise", "randomized-away"])
def test_badly_scaled_columns_come_to_an_end(name: str, scale: float) -> None:
    made = Multiclass.random()
    problem = replace(made, points=made.points * np.array([scale, 1.0]))
    result = run(problem, make_solver(name), gap=0.0, passes=30, seconds=1.0)
    exact = result.gap <= 1e-12 * result.primal
    assert result.status in ([Status.CONVERGED] if exact else [Status.PASSES, Status.SECONDS])


@pytest.mark.parametrize(("before", "after"), [(0.2, 0.1), (0.1, 0.2), (1.0, 0.05)])
@pytest.mark.parametrize("configuration", knowing(CONFIGURATIONS, "multiclass"), ids=str)
def test_a_state_goes_on_at_another_strength_or_is_refused(
    configuration: Configuration, before: float, after: float
) -> None:
    problem, solver = Multiclass.random(12).at(before), configuration.solver
    first = solve(problem, solver, gap=1e-2, passes=20)
    kept = deepcopy(first.dual_point)
    best = run(problem.at(after), make_solver("cutting-plane"), gap=1e-9, passes=500)
    try:
        result = solve(problem.at(after), solver, gap=1e-2, passes=20, start=first)
    except SettingError:
        assert not hasattr(solver, "resume")
        return
    assert (first.dual_point is None) == (kept is None)
    if kept is not None:
        np.testing.assert_array_equal(first.dual_point.v, kept.v)
    assert result.dual <= best.primal + 1e-9
    assert result.primal - best.dual <= result.trace[-1].gap + 1e-9
    assert result.status is not Status.NEGATIVE_GAP


def test_a_state_of_another_solver_or_problem_is_refused() -> None:
    problem, solver = Multiclass.random(12), make_solver("bcfw")
    state = solver.init(problem, np.random.default_rng(0))
    for other, changed in [(make_solver("cutting-plane"), problem), (solver, Multiclass.random(12, seed=1))]:
        with pytest.raises(SettingError, match="cannot go on from bcfw"):
            solve(changed, other, start=state)
    assert (
        run(replace(problem), solver, passes=3).dual
        == solve(replace(problem), solver, seed=3, stop=Stop(passes=3)).dual
    )


class Bare:
    n_blocks, n_features, regularization = 1, 1, 1.0

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        raise AssertionError


class Empty(BlockDefaults):
    n_blocks, n_features, regularization = 1, 1, 1.0


@dataclass
class Pairs(Multiclass):
    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Any:
        found = super().corners(blocks, w)
        return found.psi, found.losses


MADE = Multiclass.random(12)
ARGUMENTS: dict[str, tuple[Any, Any, Any, str]] = {
    "a name": (MADE, "bfcw", Stop(), "unknown solver 'bfcw'"),
    "a number": (MADE, make_solver("bcfw"), 1e-3, "Stop"),
    "λ 0": (replace(MADE, regularization=0.0), make_solver("bcfw"), Stop(), "regularization is 0.0"),
    "λ nan": (replace(MADE, regularization=np.nan), make_solver("bcfw"), Stop(), "regularization is nan"),
    "no defaults": (Bare(), make_solver("bcfw"), Stop(), "lacks .*BlockDefaults"),
    "no corners": (Empty(), make_solver("bcfw"), Stop(), "lacks corners"),
    "a tuple": (Pairs(MADE.points, MADE.labels, 4), make_solver("bcfw"), Stop(), "returns tuple"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_are_none_are_one_line(name: str) -> None:
    problem, solver, stop, message = ARGUMENTS[name]
    with pytest.raises(AlignerError, match=message) as error:
        solve(problem, solver, stop=stop)
    assert "\n" not in str(error.value)
