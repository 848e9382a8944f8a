"""Frank-Wolfe for any smooth function: optima by other means, the bounds and the sparsity of theory, zig-zags."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.optimize import minimize as by_scipy

from aligner.errors import OracleError, SettingError
from aligner.solvers import Away, Blended, Forward, Pairwise, minimize

Array = np.ndarray[Any, Any]
STEPS = [Forward(), Forward(line_search=False), Away(), Pairwise(), Blended()]
every_step = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)

TRIANGLE = np.array([[0.0, 1.0], [-1.0, 0.0], [1.0, 0.0]])
ON_A_SIDE = np.array([0.15, 0.0])


def vertex_of(vertices: Array) -> Callable[[Array], Array]:
    return lambda slopes: vertices[np.argmin(vertices @ slopes)]


def distance(goal: Array) -> tuple[Callable[[Array], float], Callable[[Array], Array]]:
    """½ ‖x − goal‖², and its gradient."""
    return lambda x: 0.5 * float(((x - goal) ** 2).sum()), lambda x: x - goal


def on_simplex(goal: Array, radius: float = 1.0) -> Array:
    """The nearest point of the simplex  [Held, Wolfe and Crowder 1974]."""
    ordered = np.sort(goal)[::-1]
    levels = (np.cumsum(ordered) - radius) / np.arange(1, len(goal) + 1)
    return np.maximum(goal - levels[np.flatnonzero(ordered > levels)[-1]], 0.0)


def on_ball(goal: Array, radius: float) -> Array:
    return np.sign(goal) * on_simplex(np.abs(goal), radius)


def corner_of_ball(slopes: Array) -> Array:
    corner = np.zeros_like(slopes)
    place = np.argmax(np.abs(slopes))
    corner[place] = -1.5 * np.sign(slopes[place])
    return corner


def permutation(slopes: Array) -> Array:
    matrix = np.zeros_like(slopes)
    matrix[linear_sum_assignment(slopes)] = 1.0
    return matrix


def of_rank_one(slopes: Array) -> Array:
    left, _, right = np.linalg.svd(slopes)
    return -2.0 * np.outer(left[:, 0], right[0])


def nearest_bistochastic(goal: Array) -> Array:
    n = len(goal)
    sums = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])[:-1]
    f, gradient = distance(goal.ravel())
    within = {"type": "eq", "fun": lambda x: sums @ x - 1.0, "jac": lambda x: sums}
    options = {"ftol": 1e-14, "maxiter": 500}
    start, bounds = np.full(n * n, 1.0 / n), [(0.0, 1.0)] * (n * n)
    found = by_scipy(f, start, jac=gradient, method="SLSQP", bounds=bounds, constraints=within, options=options)
    return np.asarray(found.x).reshape(n, n)


def nearest_of_trace_norm(goal: Array) -> Array:
    left, sizes, right = np.linalg.svd(goal, full_matrices=False)
    return np.asarray(left * on_simplex(sizes, 2.0) @ right)


@every_step
@pytest.mark.parametrize(
    ("shape", "oracle", "nearest"),
    [
        ((6,), lambda slopes: np.eye(6)[np.argmin(slopes)], on_simplex),
        ((6,), corner_of_ball, lambda goal: on_ball(goal, 1.5)),
        ((4, 4), permutation, nearest_bistochastic),
        ((3, 5), of_rank_one, nearest_of_trace_norm),
    ],
    ids=["simplex", "l1-ball", "permutations", "trace-norm-ball"],
)
def test_the_optimum_is_that_of_other_methods(step: Any, shape: Any, oracle: Any, nearest: Any) -> None:
    rng = np.random.default_rng(3)
    goal = rng.standard_normal(shape)
    f, gradient = distance(goal)
    found = minimize(f, gradient, oracle, start=oracle(goal), step=step, gap=1e-6, passes=2000)
    least = f(nearest(goal))
    assert found.value - found.gap - 1e-7 <= least <= found.value + 1e-7
    assert found.gap <= (1e-5 if step in STEPS[2:] else 1e-2) * max(1.0, found.value)
    assert found.value == f(found.x)
    lower = [point.dual for point in found.trace]
    assert max(lower) == pytest.approx(found.value - found.gap)
    if step.line_search:
        values = [point.primal for point in found.trace]
        assert all(after <= before + 1e-12 for before, after in pairwise(values))


@pytest.mark.parametrize("lipschitz", [None, 30.0, 1e-3])
@pytest.mark.parametrize("step", [STEPS[0], *STEPS[2:]], ids=lambda step: step.name)
def test_of_logistic_regression(step: Any, lipschitz: float | None) -> None:
    """Not a quadratic: line search looks for the root of a slope, short steps for a constant; scipy knows neither."""
    rng = np.random.default_rng(0)
    features, signs = rng.standard_normal((40, 5)), np.sign(rng.standard_normal(40))

    def f(x: Array) -> float:
        return float(np.logaddexp(0.0, -signs * (features @ x)).mean())

    def gradient(x: Array) -> Array:
        return np.asarray(-(signs / (1.0 + np.exp(signs * (features @ x)))) @ features / 40)

    # Not to be written to, and of another type than f's: the boundary copies.
    frozen = np.eye(5, dtype=np.float32)
    frozen.setflags(write=False)
    limits = {"gap": 1e-4, "passes": 4000}
    found = minimize(
        f, gradient, lambda g: frozen[np.argmin(g)], start=[1, 0, 0, 0, 0], step=step, lipschitz=lipschitz, **limits
    )
    total = {"type": "eq", "fun": lambda x: x.sum() - 1.0}
    best = by_scipy(f, np.full(5, 0.2), jac=gradient, method="SLSQP", bounds=[(0, 1)] * 5, constraints=total)
    assert found.status.name == "CONVERGED"
    assert found.value == pytest.approx(best.fun, abs=1e-4)


@pytest.mark.parametrize("lipschitz", [None, 2.0])
def test_sparsity_of_the_iterates_is_the_best_possible(lipschitz: float | None) -> None:
    """f = ‖x‖² on the simplex: k + 1 vertices reach 1/(k + 1) at best, and a gap of 2/(k + 1)  [Jag13]."""
    n, sizes = 30, list[int]()
    limits = {"gap": 1e-12, "passes": 100}
    found = minimize(
        lambda x: x @ x,
        lambda x: 2.0 * x,
        vertex_of(np.eye(n)),
        start=np.eye(n)[0],
        lipschitz=lipschitz,
        **limits,
        callback=lambda at: sizes.append(np.count_nonzero(at.x)),
    )
    assert found.status.name == "CONVERGED"
    assert sizes == [*range(1, n + 1)]
    np.testing.assert_allclose(found.x, 1.0 / n, rtol=1e-12)
    for k, point in enumerate(found.trace[:-1]):
        assert point.primal == pytest.approx(1.0 / (k + 1), rel=1e-12)
        assert point.primal - point.dual == pytest.approx(2.0 / (k + 1), rel=1e-12)


@pytest.mark.parametrize("step", STEPS[:2], ids=lambda step: step.name)
def test_errors_and_gaps_stay_within_the_bounds(step: Any) -> None:
    """f − f* ≤ 2C/(k + 2) at every step, the gap ≤ 27/8 of that at one of them  [Jag13 Thm. 1 and 2]."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        matrix, target = rng.standard_normal((4, 8)), rng.standard_normal(4)
        columns = matrix.T[:, None] - matrix.T
        curvature = float((columns**2).sum(axis=2).max())  # C of ½‖Ax − b‖²: the diameter of A's columns, squared

        def f(x: Array, matrix: Array = matrix, target: Array = target) -> float:
            return 0.5 * float(((matrix @ x - target) ** 2).sum())

        def gradient(x: Array, matrix: Array = matrix, target: Array = target) -> Array:
            return np.asarray(matrix.T @ (matrix @ x - target))

        common: dict[str, Any] = {"f": f, "gradient": gradient, "oracle": vertex_of(np.eye(8)), "start": np.eye(8)[0]}
        best = minimize(**common, step=Away(), gap=1e-12, passes=3000)
        trace = minimize(**common, step=step, gap=0.0, passes=200).trace
        for k, point in enumerate(trace[1:], 1):
            assert point.primal - best.value <= 2.0 * curvature / (k + 2)
            least = min(one.primal - one.dual for one in trace[1 : k + 1])
            assert k < 2 or least <= 27 / 8 * 2.0 * curvature / (k + 2)


@pytest.mark.parametrize("step", STEPS[2:], ids=lambda step: step.name)
def test_steps_away_end_the_zig_zag(step: Any) -> None:
    """Towards a point on a side plain steps alternate between its ends, and take O(1/ε)  [GM86; LJ15 Fig. 1]."""
    f, gradient = distance(ON_A_SIDE)
    limits = {"absolute_gap": 1e-10, "passes": 2000}  # the optimum is 0
    plain, other = (
        minimize(f, gradient, vertex_of(TRIANGLE), start=TRIANGLE[0], step=one, **limits) for one in (Forward(), step)
    )
    assert other.status.name == "CONVERGED"
    assert len(other.trace) < 20
    assert plain.status.name == "PASSES"
    assert plain.gap > 1e-5


def test_linear_convergence() -> None:
    """Over the cube in many dimensions: the logarithm of the gap falls along a line; without steps away it does not."""
    rng = np.random.default_rng(2)
    goal = rng.uniform(-1.5, 1.5, 15)
    f, gradient = distance(goal)
    start, limits = np.ones(15), {"gap": 1e-10, "passes": 1500}
    away, plain = (
        minimize(f, gradient, lambda g: -np.sign(g), start=start, step=step, **limits) for step in (Away(), Forward())
    )
    assert away.status.name == "CONVERGED"
    np.testing.assert_allclose(away.x, np.clip(goal, -1, 1), atol=1e-5)
    steps = [next(k for k, point in enumerate(away.trace) if point.gap <= 10.0**-e) for e in (2, 4, 6, 8)]
    assert steps[3] - steps[2] < 3 * (steps[1] - steps[0]) + 30
    assert plain.gap > 1e3 * away.gap


def test_a_linear_function_takes_one_step() -> None:
    slopes = np.array([3.0, -1.0, 2.0])
    found = minimize(lambda x: slopes @ x, lambda x: slopes, vertex_of(np.eye(3)), start=[1.0, 0.0, 0.0])
    assert len(found.trace) == 2
    np.testing.assert_array_equal(found.x, [0.0, 1.0, 0.0])


def test_what_is_wrong_is_told_in_a_line() -> None:
    f, gradient = distance(np.zeros(2))
    good: dict[str, Any] = {"f": f, "gradient": gradient, "oracle": vertex_of(np.eye(2)), "start": [1.0, 0.0]}
    for name, function, message in [
        ("f", lambda x: x, r"f has shape \(2,\) \(not \(\)\)"),
        ("f", lambda x: np.nan, "f is not finite"),
        ("gradient", lambda x: x[:1], r"gradient has shape \(1,\) \(not \(2,\)\)"),
        ("oracle", lambda g: g[:, None], r"oracle has shape \(2, 1\) \(not \(2,\)\)"),
        ("oracle", lambda g: np.full(2, np.inf * np.sign(g.sum() + 1e9)), "oracle is not finite"),
        ("oracle", lambda g: np.eye(2)[np.argmax(g)], "is a sign wrong"),
    ]:
        with pytest.raises(OracleError, match=message):
            minimize(**{**good, name: function})
    with pytest.raises(OracleError, match="start is not finite"):
        minimize(**{**good, "start": [np.nan, 0.0]})
    for lipschitz, step in ((0.0, Forward()), (-1.0, Away()), (1.0, Forward(line_search=False))):
        with pytest.raises(SettingError, match="lipschitz is"):
            minimize(**good, lipschitz=lipschitz, step=step)
    with pytest.raises(SettingError, match=r"step is 'away' \(Forward, Away, "):
        minimize(**good, step="away")
    wrong = minimize(**{**good, "gradient": lambda x: -gradient(x), "start": [0.6, 0.4]})  # f rises: a wrong gradient
    assert wrong.status.name == "NEGATIVE_GAP"


def ball(slopes: Array) -> Array:
    return np.asarray(-slopes / max(float(np.linalg.norm(slopes)), 1e-300))


SETS: dict[str, tuple[Callable[[Array], Array], list[Any], list[Any]]] = {  # oracle, points in the set, points outside
    "simplex": (
        lambda g: np.eye(len(g))[np.argmin(g)],
        [np.eye(4)[2], np.full(4, 0.25), [0.5, 0.5, 0.0, 0.0], np.full(300, 1 / 300)],
        [np.zeros(4), np.full(4, 0.3), [0.7, 0.4, 0.0, -0.1], np.zeros(300), np.ones(3)],
    ),
    "l1-ball": (corner_of_ball, [np.zeros(3), [1.0, -0.5, 0.0], [0.0, 0.0, 1.5]], [[1.0, -0.6, 0.0], [1.51, 0.0, 0.0]]),
    "ball": (ball, [np.zeros(5), np.eye(5)[0], np.full(5, 0.4)], [np.full(5, 0.5), -1.001 * np.eye(5)[3]]),
    "cube": (
        lambda g: -np.sign(g) + (g == 0),
        [np.zeros(20), np.ones(20)],
        [1.1 * np.eye(20)[4], -1.01 * np.eye(20)[0]],
    ),
    "triangle": (vertex_of(TRIANGLE), [*TRIANGLE, ON_A_SIDE], [[0.0, -0.01], [0.6, 0.5], [-3.0, 0.0]]),
    "permutations": (permutation, [np.eye(5), np.full((5, 5), 0.2)], [np.zeros((5, 5)), np.eye(5)[[0] * 5]]),
    "trace norm": (
        of_rank_one,
        [np.zeros((3, 4)), 0.6 * np.eye(3, 4)],
        [np.eye(3, 4), 2.1 * np.eye(1, 3).T @ np.eye(1, 4)],
    ),
}


@pytest.mark.parametrize("name", SETS)
def test_a_start_outside_the_set_is_refused(name: str) -> None:
    """A point outside could be the minimum of f with a gap of 0; the set is only known by its oracle."""
    oracle, inside, outside = SETS[name]
    for start in inside:
        f, gradient = distance(np.asarray(start, float))
        found = minimize(f, gradient, oracle, start=start, passes=50)
        assert (found.status.name, found.value) == ("CONVERGED", 0.0)
        assert len(found.trace) == 1
    for start in outside:
        f, gradient = distance(np.asarray(start, float))
        with pytest.raises(SettingError, match="start is outside the set"):
            minimize(f, gradient, oracle, start=start)


def test_a_start_that_is_not_found_at_once_is_looked_for_at_the_end() -> None:
    """The hull of 400 points, and a point little outside: fifty steps do not tell."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((400, 30))
    mean, direction = points[:200].mean(axis=0), rng.standard_normal(30)
    far = points @ direction
    edge = points[far.argsort()[-30:]].mean(axis=0)
    start = edge + (far.max() - edge @ direction + 0.05) * direction / (direction @ direction)
    f, gradient = distance(start + 0.2 * (mean - start))
    with pytest.raises(SettingError, match="start is outside the set"):
        minimize(f, gradient, vertex_of(points), start=start, gap=1e-3, passes=5000)


@every_step
@pytest.mark.parametrize("good", [2, 3, 7, 9, 12, 20])
def test_an_oracle_that_gets_worse_certifies_nothing(step: Any, good: int) -> None:
    """Whenever it begins to: it returns its last vertex again, or always the first one."""
    f, gradient = distance(np.array([0.1, 0.2, 0.3, 0.4]))
    for stale in (lambda last: last, lambda last: np.eye(4)[0]):
        vertices = [np.eye(4)[0]]

        def oracle(slopes: Array, vertices: list[Array] = vertices, stale: Any = stale) -> Array:
            vertices.append(np.eye(4)[np.argmin(slopes)] if len(vertices) <= good else stale(vertices[-1]))
            return vertices[-1]

        try:
            found = minimize(f, gradient, oracle, start=np.eye(4)[0], step=step, gap=1e-3, passes=300)
        except (OracleError, SettingError):
            continue
        assert found.status.name != "CONVERGED" or found.value <= 1e-6


def test_of_a_minimum_of_zero() -> None:
    """No relative gap can be reached but by rounding; the absolute one is there by default, and alone on demand."""
    f, gradient = distance(np.array([0.2, 0.3, 0.5]))
    common: dict[str, Any] = {"f": f, "gradient": gradient, "oracle": vertex_of(np.eye(3)), "start": np.eye(3)[0]}
    found = minimize(**common, step=Away())
    assert (found.status.name, found.gap <= 1e-6) == ("CONVERGED", True)
    coarse = minimize(**common, step=Away(), absolute_gap=1e-2)
    assert 1e-6 < coarse.gap <= 1e-2
    assert coarse.trace[-1].relative_gap > 1e-2
    assert minimize(**common, gap=1e-3, passes=20).status.name == "PASSES", "plain steps"


def test_what_functions_see_cannot_be_written_to() -> None:
    """An oracle that changed the gradient would certify what is no minimum."""
    f, gradient = distance(ON_A_SIDE)
    with pytest.raises(ValueError, match="read-only"):
        minimize(f, gradient, lambda g: g.fill(0.0) or TRIANGLE[0], start=TRIANGLE[0])


def interrupt(at: object) -> None:
    raise KeyboardInterrupt


@every_step
def test_limits(step: Any) -> None:
    f, gradient = distance(ON_A_SIDE)
    common: dict[str, Any] = {
        "f": f,
        "gradient": gradient,
        "oracle": vertex_of(TRIANGLE),
        "start": TRIANGLE[0],
        "step": step,
    }
    assert minimize(**common, callback=lambda at: len(at.trace) < 2).status.name == "CALLBACK"
    assert minimize(**common, gap=0.0, passes=1).status.name == "PASSES"
    assert minimize(**common, gap=0.0, seconds=0.0).status.name == "SECONDS"
    assert minimize(**common, callback=interrupt).status.name == "INTERRUPTED"
    exact = minimize(**common, gap=0.0, passes=50)  # at the optimum nothing but rounding is left
    assert exact.gap >= 0.0
