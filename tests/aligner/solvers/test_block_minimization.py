"""Block-coordinate Frank-Wolfe for any smooth function: minima over the product, rates of theory, other writings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from solver_configurations import Multiclass

from aligner.errors import OracleError, SettingError
from aligner.solvers import (
    Away,
    Blended,
    Block,
    ByGap,
    Cyclic,
    Forward,
    Pairwise,
    Permuted,
    Uniform,
    minimize,
    minimize_blocks,
    solve,
)

Array = np.ndarray[Any, Any]
STEPS = [Forward(), Forward(line_search=False), Away(), Pairwise(), Blended()]
every_step = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)


class Quadratic:
    """½ ‖Σ_i A_i x_i − b‖² over a product of simplices of different sizes."""

    def __init__(self, n: int, seed: int = 0, rows: int = 6) -> None:
        rng = np.random.default_rng(seed)
        self.sizes = rng.integers(2, 6, n)
        self.parts = [rng.normal(size=(rows, size)) for size in self.sizes]
        self.b = rng.normal(size=rows)
        self.start = [np.eye(size)[0] for size in self.sizes]

    def off(self, x: list[Array]) -> Array:
        return sum(part @ point for part, point in zip(self.parts, x, strict=True)) - self.b

    def f(self, x: list[Array]) -> float:
        return 0.5 * float(self.off(x) @ self.off(x))

    def gradient(self, x: list[Array], i: int) -> Array:
        return self.parts[i].T @ self.off(x)

    def oracle(self, i: int, slopes: Array) -> Array:
        return np.eye(self.sizes[i])[np.argmin(slopes)]

    @property
    def given(self) -> tuple[Callable[..., Any], ...]:
        return self.f, self.gradient, self.oracle

    def over_the_product(self, **limits: Any) -> Any:
        """By `minimize`, whose oracle is of all blocks at once."""
        cuts = np.cumsum(self.sizes)[:-1]

        def gradient(x: Array) -> Array:
            return np.concatenate([part.T @ self.off(np.split(x, cuts)) for part in self.parts])

        def oracle(slopes: Array) -> Array:
            return np.concatenate([self.oracle(i, part) for i, part in enumerate(np.split(slopes, cuts))])

        start = np.concatenate(self.start)
        return minimize(lambda x: self.f(np.split(x, cuts)), gradient, oracle, start=start, step=Pairwise(), **limits)

    @property
    def curvature(self) -> float:
        """An upper bound: of each block the greatest eigenvalue times the squared diameter of a simplex, 2."""
        return sum(2.0 * float(np.linalg.norm(part, 2)) ** 2 for part in self.parts)


@every_step
@pytest.mark.parametrize("order", [Uniform(), Permuted(), Cyclic()], ids=lambda order: order.name)
def test_the_minimum_is_that_over_the_product(step: Any, order: Any) -> None:
    problem = Quadratic(7, seed=3)
    best = problem.over_the_product(absolute_gap=1e-9, passes=10_000)
    asked = 1e-2 if isinstance(step, Forward) else 1e-5  # plain steps zig-zag
    found = minimize_blocks(
        *problem.given, start=problem.start, step=step, order=order, absolute_gap=asked, passes=4_000
    )
    assert found.status.name == "CONVERGED"
    assert found.value - best.value + best.gap >= -1e-9
    assert found.value - best.value <= found.gap <= asked
    assert found.value == problem.f(found.x)
    assert all(abs(point.sum() - 1) < 1e-12 and point.min() >= -1e-15 for point in found.x)
    for point in found.trace:
        assert point.dual <= best.value + 1e-9
        assert point.oracle_calls == 7 * point.passes
        assert point.audit_calls >= 7 * (point.passes + 1)


@every_step
def test_of_a_single_block_it_is_the_other_function(step: Any) -> None:
    problem = Quadratic(1, seed=1)
    one = minimize_blocks(*problem.given, start=problem.start, step=step, gap=0.0, passes=15)
    other = minimize(
        lambda x: problem.f([x]),
        lambda x: problem.gradient([x], 0),
        lambda g: problem.oracle(0, g),
        start=problem.start[0],
        step=step,
        gap=0.0,
        passes=15,
    )
    assert [point.primal for point in one.trace] == [point.primal for point in other.trace]
    assert [point.dual for point in one.trace] == [point.dual for point in other.trace]


@pytest.mark.parametrize("step", [Forward(), Forward(line_search=False)], ids=lambda step: step.name)
def test_the_expected_error_is_within_the_bound(step: Forward) -> None:
    """2n (C + h) / (k + 2n) after k steps in uniform order  [LJSP13 Thm. C.1]."""
    problem, n, passes = Quadratic(8, seed=5), 8, 12
    least = problem.over_the_product(absolute_gap=1e-10, passes=20_000).value
    runs = [
        minimize_blocks(
            *problem.given, start=problem.start, step=step, order=Uniform(), seed=seed, gap=0, passes=passes
        )
        for seed in range(60)
    ]
    errors = np.mean([[point.primal - least for point in run.trace] for run in runs], axis=0)
    start = problem.f(problem.start) - least
    for number, error in enumerate(errors):
        assert error <= 2 * n * (problem.curvature + start) / (n * number + 2 * n)
    assert errors[-1] < 0.1 * errors[0]


def test_the_dual_of_a_structured_svm_is_one_of_its_functions() -> None:
    """f = λ/2 ‖w‖² − ℓ over n simplices, w = Σ α_i(y) ψ_i(y) / (λn): its least value is minus the greatest dual."""
    problem = Multiclass.random(12)
    n, lam, labels = problem.n_blocks, problem.regularization, range(problem.classes)
    psi = [np.array([problem.psi(i, y) for y in labels]) for i in range(n)]
    losses = [np.array([float(y != right) for y in labels]) for right in problem.labels]

    def w(x: list[Array]) -> Array:
        return sum(point @ part for point, part in zip(x, psi, strict=True)) / (lam * n)

    found = minimize_blocks(
        lambda x: lam / 2 * w(x) @ w(x) - sum(map(np.dot, x, losses)) / n,
        lambda x, i: (psi[i] @ w(x) - losses[i]) / n,
        lambda i, slopes: np.eye(len(labels))[np.argmin(slopes)],
        start=[np.eye(len(labels))[y] for y in problem.labels],
        step=Pairwise(),
        absolute_gap=1e-7,
        passes=3000,
    )
    certified = solve(problem, Block(Permuted(), Pairwise()), gap=1e-7, passes=3000)
    assert found.value == pytest.approx(-certified.dual, abs=2e-6)
    np.testing.assert_allclose(w(found.x), certified.w, atol=2e-2)


def test_what_cannot_be_is_refused_in_a_line() -> None:
    problem = Quadratic(3)
    f, gradient, oracle = problem.given
    start = problem.start
    outside = [*start[:2], np.full(problem.sizes[2], 2.0)]
    wrong: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (SettingError, "step is", {"step": "away"}),
        (SettingError, "as gaps of blocks are not kept", {"order": ByGap()}),
        (SettingError, "start has no numbers", {"start": []}),
        (SettingError, "start has no numbers", {"start": [*start[:2], []]}),
        (SettingError, "start is outside the set", {"start": outside}),
        (SettingError, "unknown limit", {"patience": 3}),
        (OracleError, "gradient of block 0 has shape", {"gradient": lambda x, i: np.zeros(9)}),
        (OracleError, "oracle is not finite", {"oracle": lambda i, g: g * np.nan}),
        (OracleError, "is a sign wrong", {"oracle": lambda i, g: oracle(i, -g)}),
        (OracleError, "f is not finite", {"f": lambda x: np.inf}),
    ]
    for kind, message, change in wrong:
        given = {"f": f, "gradient": gradient, "oracle": oracle, "start": start} | change
        functions = [given.pop(name) for name in ("f", "gradient", "oracle")]
        with pytest.raises(kind, match=re.escape(message)):
            minimize_blocks(*functions, **given)


def test_an_oracle_that_forgets_vertices_certifies_nothing() -> None:
    problem, asked = Quadratic(4, seed=2), []

    def forgetful(i: int, slopes: Array) -> Array:
        asked.append(i)
        return problem.oracle(i, slopes) if len(asked) < 200 else problem.start[i]

    f, gradient, _ = problem.given
    found = minimize_blocks(f, gradient, forgetful, start=problem.start, passes=500)
    assert found.status.name != "CONVERGED"


def test_the_callback_ends_it() -> None:
    problem, seen = Quadratic(3), []
    found = minimize_blocks(
        *problem.given, start=problem.start, gap=0.0, callback=lambda now: seen.append(now.value) or len(seen) < 4
    )
    assert (found.status.name, len(seen), found.trace[-1].passes) == ("CALLBACK", 4, 3)
