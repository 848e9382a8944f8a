"""A problem that is wrong is found out, by `check_problem` in one line and by `solve`, which never certifies it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from solver_configurations import CONFIGURATIONS, Configuration, MakeProblem, Multiclass, Plain, knowing, run

from aligner.errors import OracleError
from aligner.matching import ORACLES, get_oracle
from aligner.problem import Corners
from aligner.solvers import Status, check_problem, make_solver
from aligner.solvers.constrained_least_squares import Domain, LeastSquares


@dataclass
class Changed(Multiclass):
    """Multiclass with corners that are changed before they are returned."""

    change: Callable[[Any, Corners, np.ndarray], Any] = lambda problem, corners, w: corners
    sign: float = 1.0

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        changed: Corners = self.change(self, super().corners(blocks, self.sign * w), w)
        return changed


def changed(change: Callable[[Any, Corners, np.ndarray], Any], sign: float = 1.0) -> Changed:
    made = Multiclass.random()
    return Changed(made.points, made.labels, made.classes, change=change, sign=sign)


def spoil(problem: Changed, corners: Corners, w: np.ndarray) -> Corners:
    w += 1.0
    return corners


def reuse(problem: Changed, corners: Corners, w: np.ndarray) -> Corners:
    """The same array for every answer."""
    shared = problem.__dict__.setdefault("shared", np.zeros_like(corners.psi))
    if shared.shape == corners.psi.shape:
        shared[:] = corners.psi * (1.0 + problem.calls)
        return replace(corners, psi=shared)
    return corners


WRONG: dict[str, tuple[Changed, str]] = {
    "features of the other sign": (changed(lambda _, c, w: replace(c, psi=-c.psi)), "w·ψ"),
    "least for greatest": (changed(lambda _, c, w: c, sign=-1.0), "w·ψ"),
    "no losses": (changed(lambda _, c, w: replace(c, losses=0.0 * c.losses)), "w·ψ"),
    "negative losses": (changed(lambda _, c, w: replace(c, losses=c.losses - 2.0)), "below the target's 0"),
    "not a number": (changed(lambda _, c, w: replace(c, psi=c.psi * np.nan)), "not finite"),
    "a column too few": (changed(lambda _, c, w: replace(c, psi=c.psi[:, 1:])), r"psi \(20, 7\)"),
    "one loss for all": (changed(lambda _, c, w: replace(c, losses=c.losses[0])), r"losses \(\)"),
    "a pair": (changed(lambda _, c, w: (c.psi, c.losses)), "returns tuple"),
    "chance": (changed(lambda p, c, w: replace(c, losses=c.losses + p.calls)), "asked again"),
    "company": (changed(lambda _, c, w: replace(c, losses=c.losses + len(c.losses))), "asked alone"),
    "another w": (changed(spoil), "arguments"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_in_one_line(name: str) -> None:
    problem, message = WRONG[name]
    with pytest.raises(OracleError, match=message) as error:
        check_problem(problem)
    assert "\n" not in str(error.value)


def test_an_array_that_is_used_again_is_found() -> None:
    with pytest.raises(OracleError, match=r"asked again|earlier one"):
        check_problem(changed(reuse))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"regularization": 0.0}, "regularization is 0.0"),
        ({"regularization": np.nan}, "regularization is nan"),
        ({"points": np.zeros((0, 2)), "labels": np.zeros(0, int)}, "n_blocks is 0"),
    ],
)
def test_sizes_that_cannot_be_are_told(values: dict[str, Any], message: str) -> None:
    with pytest.raises(OracleError, match=message):
        check_problem(replace(Multiclass.random(), **values))


@pytest.mark.parametrize("name", ["features of the other sign", "least for greatest", "not a number"])
@pytest.mark.parametrize("configuration", knowing(CONFIGURATIONS, "multiclass"), ids=str)
def test_a_wrong_oracle_never_converges(configuration: Configuration, name: str) -> None:
    try:
        status = run(WRONG[name][0], configuration.solver, gap=1e-2, passes=200).status
    except OracleError:
        return
    assert status is not Status.CONVERGED


SPOILED: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "scores of the other sign": ("scores", lambda scores: -scores, "do not fit"),
    "moments of the other sign": ("moments", lambda moments: -moments, "do not fit"),
    "moments without losses": ("moments", lambda moments: moments[:-1], r"moments\(\) has shape \(8,\)"),
    "marginals that are not": ("nearest", lambda z: 2.0 * z, "marginals with a greater"),
    "marginals not a number": ("nearest", lambda z: np.nan * z, "do not fit"),
    "marginals of fewer parts": ("nearest", lambda z: z[1:], r"nearest\(\) has shape"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_marginals_that_are_wrong_are_told(name: str) -> None:
    problem, (method, change, message) = Multiclass.random(), SPOILED[name]
    right = getattr(problem, method)
    setattr(problem, method, lambda *arguments: change(right(*arguments)))
    with pytest.raises(OracleError, match=message):
        check_problem(problem)
    if "shape" not in message:
        assert run(problem, make_solver("excessive-gap"), gap=1e-2, passes=50).status is not Status.CONVERGED
        with suppress(OracleError):
            result = run(problem, make_solver("exponentiated-gradient"), gap=1e-2, passes=50)
            assert result.status is not Status.CONVERGED


@pytest.mark.parametrize("oracle", ORACLES)
def test_matchings_pass(oracle: str, make_problem: MakeProblem) -> None:
    """A greedy answer may be worse than the target; `exact_corners` certifies."""
    check_problem(make_problem(n=25, oracle=oracle))
    if get_oracle(oracle).several:
        check_problem(make_problem(n=25, capacity=2, oracle=oracle))


def test_problems_that_are_no_matchings_pass(make_problem: MakeProblem) -> None:
    rng = np.random.default_rng(0)
    check_problem(Multiclass.random())
    check_problem(Plain(make_problem()))
    for domain in Domain:
        check_problem(LeastSquares.of(rng.standard_normal((9, 5)), rng.standard_normal(9), domain, 2.0))


def test_an_attribute_of_the_name_of_another_interface_does_no_harm() -> None:
    problem = Multiclass.random()
    problem.blocks = problem.edges = "mine"  # type: ignore[attr-defined]
    check_problem(problem)
    assert run(problem, CONFIGURATIONS[0].solver, gap=0.1, passes=500).status is Status.CONVERGED
