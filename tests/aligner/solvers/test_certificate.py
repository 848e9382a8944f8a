"""The relative gap is (P − D) / |P|, whatever the size of P: what that ends, and what it does not."""

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from aligner.errors import SettingError
from aligner.solvers import ChainProblem, Status, Stop, from_oracle, make_solver, minimize, regularization_path, solve
from aligner.solvers.certificate import Certificate
from aligner.solvers.gap import ask_all, primal_value


def scaled(factor: float) -> Any:
    """Forty points of three classes; losses, features and λ times a factor: so is the objective, at the same w."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=40)
    x = rng.normal(size=(40, 2)) + np.array([[0, 1], [1, -1], [-1, -1]])[y]

    def corner(i: int, w: Any) -> tuple[Any, float]:
        wrong = (np.arange(3) != y[i]) * factor
        best = int(np.argmax(wrong + factor * (w.reshape(3, 2) @ x[i])))
        psi = np.zeros((3, 2))
        psi[y[i]] += factor * x[i]
        psi[best] -= factor * x[i]
        return psi.ravel(), float(wrong[best])

    return from_oracle(corner, n_blocks=40, n_features=6, regularization=0.05 * factor)


@pytest.mark.parametrize("name", ["bcfw", "randomized-away", "cutting-plane"])
def test_the_units_of_the_objective_change_nothing(name: str) -> None:
    plain, *others = (solve(scaled(factor), name, gap=1e-3) for factor in (1.0, 2.0**-30, 2.0**10))
    assert plain.status is Status.CONVERGED
    for other in others:
        assert [point.passes for point in other.trace] == [point.passes for point in plain.trace]
        assert other.trace[-1].relative_gap == pytest.approx(plain.trace[-1].relative_gap, rel=1e-6)
        np.testing.assert_allclose(other.w, plain.w, rtol=1e-6)


@pytest.mark.parametrize("strength", [1e-3, 1e-6, 1e-9])
def test_a_tiny_optimum_is_certified_to_its_own_share(strength: float) -> None:
    """Of separable points it is about λ: a gap far below 1 says nothing."""
    y = np.repeat([0, 1, 2], 20)
    x = 0.1 * np.random.default_rng(0).normal(size=(60, 2)) + 3.0 * np.array([[0, 1], [1, -1], [-1, -1]])[y]
    problem = ChainProblem.of(x, y, [1] * 60, regularization=strength)
    result = solve(problem, "bcfw-pairwise", gap=1e-3, passes=3000)
    assert result.status is Status.CONVERGED
    assert result.gap <= 1e-3 * result.primal < 1e-2 * strength * 10
    early = solve(problem, "bcfw-pairwise", absolute_gap=0.5, passes=3000)
    assert early.status is Status.CONVERGED
    assert early.gap <= 0.5
    assert early.trace[-1].passes < result.trace[-1].passes
    again = solve(problem, "bcfw-pairwise", gap=1e-3, start=result)  # whose first audit is at the optimum
    assert again.status is Status.CONVERGED
    assert len(again.trace) == 1
    far = solve(problem, "stochastic-subgradient", gap=1e-3, passes=50)  # whose first primal values are about 1/λ
    assert far.status is Status.PASSES or far.gap <= 1e-3 * far.primal


def test_where_the_value_is_zero() -> None:
    assert Certificate(0.0, 0.0).relative == 0.0
    assert Certificate(0.0, -1e-16, 1.0).relative == 0.0, "rounding of terms of 1"
    assert Certificate(0.0, -1e-16).relative == inf
    assert Certificate(0.0, 1e-3, 1.0).relative == -inf
    assert Certificate(-2.0, -2.5).relative == 0.25
    tiny = Certificate(1e-9, 0.9e-9, 1.0)
    assert tiny.relative == pytest.approx(0.1)
    assert tiny.ends(Stop(gap=1e-3)) is None
    assert tiny.ends(Stop(gap=0.11)) is Status.CONVERGED
    assert tiny.ends(Stop(gap=0.0, absolute_gap=1e-9)) is Status.CONVERGED
    assert Certificate(1e-9, 1.1e-9, 1.0).ends(Stop(gap=1e-3)) is Status.NEGATIVE_GAP, "a tenth of the value"
    assert Certificate(1e-9, 1e-9 + 1e-15, 1.0).ends(Stop(gap=0.0)) is Status.CONVERGED, "rounding of terms of 1"


def test_one_gap_alone_leaves_the_other_out() -> None:
    stop = Stop(gap=1e-2, absolute_gap=1e-4)
    assert (stop.within({"gap": 0.5}).gap, stop.within({"gap": 0.5}).absolute_gap) == (0.5, 0.0)
    assert (stop.within({"absolute_gap": 0.5}).gap, stop.within({"absolute_gap": 0.5}).absolute_gap) == (0.0, 0.5)
    both = stop.within({"gap": 0.5, "absolute_gap": 0.25})
    assert (both.gap, both.absolute_gap) == (0.5, 0.25)
    assert stop.within({"passes": 3}) == Stop(gap=1e-2, absolute_gap=1e-4, passes=3)


@pytest.mark.parametrize("limit", ["gap", "absolute_gap", "passes", "seconds"])
@pytest.mark.parametrize("value", [-1, -1e-9, nan, "1", None])
def test_what_is_no_limit_is_refused(limit: str, value: Any) -> None:
    problem = scaled(1.0)
    for use in (
        lambda: Stop(**{limit: value}),
        lambda: solve(problem, **{limit: value}),
        lambda: minimize(np.sum, np.ones_like, np.zeros_like, start=[0.0], **{limit: value}),
    ):
        with pytest.raises(SettingError, match=rf"the limit {limit} is {value!r} \(a number from 0 on\)"):
            use()


def test_a_path_is_held_to_an_absolute_error() -> None:
    """In the units of the losses, however small these are."""
    ends = []
    for factor in (1.0, 2.0**-30):
        problem, error = scaled(factor), 0.1 * factor
        pieces = regularization_path(
            problem, make_solver("bcfw-pairwise"), largest=0.05 * factor, smallest=0.02 * factor, error=error
        )
        *_, last = pieces
        ends.append(last.largest / factor)
        at = problem.at(last.smallest)
        least = solve(at, "bcfw-pairwise", absolute_gap=0.02 * error).dual
        assert primal_value(at, last.w, ask_all(at, last.w)) - least <= 1.02 * error
    assert ends[0] == pytest.approx(ends[1])
