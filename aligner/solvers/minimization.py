"""Frank-Wolfe for any smooth function, over a compact convex set that is known by its linear minimisation oracle.

[Jag13] Jaggi 2013, Revisiting Frank-Wolfe: projection-free sparse convex optimization.  [LJ15], [TTP22]: see `steps`.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count, islice
from math import inf
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from aligner.errors import OracleError, SettingError
from aligner.solvers.certificate import Certificate
from aligner.solvers.records import Limits, Status, Stop, Trace, TracePoint
from aligner.solvers.steps import Away, Blended, Forward, Pairwise
from corpora.ragged import F64

_ROUNDING = 1e-9
"""What is further below 0 than this share is no rounding error."""

_WORSE = 1e-7
"""The oracle does not find the best vertex if another point has a lower ⟨g, s⟩, by this share of the terms."""

_FAR = 1e-6
"""A start is outside the set if its distance from the set is this share of the length of its points."""

SEARCHED = 50
"""Most steps by which a start is looked for in the set."""

_KNOWN = 100
"""How many vertices are kept to compare the oracle's last ones with: the latest."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The solution x, of the least value of all steps; value = f(x), at most the gap above the minimum.

    x: an array; of `minimize_blocks` a list of them, one a block.
    trace: a point for each step: its `primal` is f, and its `dual` the lower bound, f minus the Frank-Wolfe gap there.
    """

    x: Any
    value: float
    gap: float
    status: Status
    trace: Trace = field(repr=False)


def minimize(
    f: Callable[[F64], Any],
    gradient: Callable[[F64], npt.ArrayLike],
    oracle: Callable[[F64], npt.ArrayLike],
    *,
    start: npt.ArrayLike,
    step: Forward | Away | Pairwise | Blended = Forward(),  # noqa: B008 - frozen
    lipschitz: float | None = None,
    callback: Callable[[Minimum], bool | None] | None = None,
    **limits: Unpack[Limits],
) -> Minimum:
    """Minimise a smooth convex f over a compact convex set, by Frank-Wolfe steps  [Jag13 Alg. 1; LJ15 Alg. 1, 2].

    gradient: ∇f, of x's shape.  oracle: argmin_s ⟨g, s⟩ over the set, a vertex, at any g of x's shape.
    start: a point of the set, of any shape.  step: towards the vertex, by line search or by γ = 2/(k + 2), or also away
    from the worst vertex in use.  lipschitz: of the gradient, for short steps in place of line search; it is doubled
    where it is too small.
    limits: gap, relative to |f|, and absolute_gap, both 1e-6, as f may be 0 at its minimum; if one is given, only that
    holds. passes, which are steps; seconds.
    callback: called at each step with the result so far; it ends there if it returns False.
    Guarantee: f is at most 2C/(k + 2) above the minimum after k forward steps, C the curvature of f over the set, and
    the gap of one of them at most 27/8 times that  [Jag13 Thm. 1, 2]; over a polytope other steps converge linearly if
    f is strongly convex  [LJ15 Thm. 1]. A step takes one gradient for each point that it tries.
    The start is looked for in the set by up to 58 oracle calls, ten or fewer where it is a vertex; if it is neither
    found nor shown to be outside, by as many as there were steps, at the end. There four more tell whether the oracle
    still finds the best points that are known: if not, the status is NOT_THE_BEST.
    Raises OracleError for values that are not finite or of another shape, SettingError for an impossible lipschitz and
    for a start that is found to be outside the set.
    """
    if not isinstance(step, Forward | Away | Pairwise | Blended):
        raise SettingError(f"step is {step!r} (Forward, Away, Pairwise or Blended)")
    if lipschitz is not None and not (step.line_search and 0 < lipschitz < inf):
        raise SettingError(f"lipschitz is {lipschitz!r} (a number above 0, for steps that are not fixed in advance)")
    stop = Stop(gap=1e-6, absolute_gap=1e-6).within(limits)
    x = checked("start", start, np.shape(start))
    if x.size == 0:
        raise SettingError("start has no numbers (give a point of the set)")
    asked, slopes = Asked(oracle, x), checked("gradient", gradient(x), x.shape)
    search = search_start(asked, x, slopes)
    deque(islice(search, SEARCHED), 0)

    def confirmed(best: Minimum) -> bool:
        deque(islice(search, len(best.trace)), 0)
        return asked.is_best(best.x, (checked("gradient", gradient(best.x), x.shape), slopes))

    return until(stop, callback, _iterates(f, gradient, asked, x, slopes, step, lipschitz), confirmed)


def until(
    stop: Stop,
    callback: Callable[[Minimum], bool | None] | None,
    iterates: Iterator[tuple[Minimum, Certificate]],
    confirmed: Callable[[Minimum], bool],
) -> Minimum:
    """The first result at which something ends.  confirmed: whether oracles found the best, of one that converged."""
    best = None
    try:
        for best, found in iterates:
            point = best.trace[-1]
            go_on = callback(best) if callback is not None else None
            ends = {
                found.ends(stop): True,
                Status.CALLBACK: go_on is False,
                Status.PASSES: point.passes >= stop.passes,
                Status.SECONDS: point.seconds >= stop.seconds,
            }
            status = next((end for end, reached in ends.items() if end is not None and reached), None)
            if status is Status.CONVERGED and not confirmed(best):
                status = Status.NOT_THE_BEST
            if status is not None:
                return replace(best, status=status)
    except KeyboardInterrupt:
        if best is None:
            raise
    assert best is not None
    return replace(best, status=Status.INTERRUPTED)


class Asked:
    """The oracle, checked, and the points of the set that are known: the start and the latest vertices."""

    def __init__(self, oracle: Callable[[F64], npt.ArrayLike], start: F64) -> None:
        self.oracle, self.start, self.known, self.calls = oracle, start, dict[bytes, F64](), 0

    def __call__(self, slopes: F64) -> F64:
        vertex = checked("oracle", self.oracle(slopes), self.start.shape)
        self.calls += 1
        self.known[vertex.tobytes()] = vertex
        if len(self.known) > _KNOWN:
            del self.known[next(iter(self.known))]
        return vertex

    def is_best(self, x: F64, slopes: tuple[F64, ...]) -> bool:
        """Whether no known point, nor x, is better than the oracle's vertices at these slopes and at random signs."""
        signs = np.sign(np.random.default_rng(0).standard_normal(x.shape))
        ways = *slopes, signs, -signs
        vertices = [self(way) for way in ways]
        points = [x, self.start, *self.known.values()]
        return not any(
            _gain(way, point, vertex) > _WORSE for way, vertex in zip(ways, vertices, strict=True) for point in points
        )


def _gain(way: F64, point: F64, vertex: F64) -> float:
    """How much less ⟨way, point⟩ is than ⟨way, vertex⟩, as a share of their terms."""
    terms = float(np.vdot(np.abs(way), np.maximum(np.abs(point), np.abs(vertex))))
    return float(np.vdot(way, vertex - point)) / terms if terms > 0.0 else 0.0


def search_start(asked: Asked, x: F64, slopes: F64) -> Iterator[None]:
    """Look for x in the hull of the oracle's vertices, step by step until it is found.

    Raises SettingError if it is outside, OracleError for a vertex that is worse than another.  slopes: ∇f at x.
    """
    far, near = asked(-slopes), asked(slopes)
    if float(np.vdot(slopes, far - near)) < -_ROUNDING * float(np.abs(slopes).sum()):
        raise OracleError("oracle returns a vertex of greater ⟨g, s⟩ than another has (is a sign wrong?)")
    # What sets often bound: sums, single numbers, lengths.
    ones, lowest, highest = np.ones(x.shape), np.zeros(x.shape), np.zeros(x.shape)
    lowest.flat[np.argmin(x)], highest.flat[np.argmax(x)] = 1.0, -1.0
    ways = ones, -ones, lowest, highest, -np.sign(x)
    outside = any(
        _gain(way, x, vertex) > _FAR for way, vertex in [(slopes, near), *((way, asked(way)) for way in ways)]
    )
    # Frank-Wolfe steps on the squared distance, whose lower bound is above 0 only outside.
    least = 0.5 * (_FAR * max(float(np.linalg.norm(point)) for point in (x, near, far))) ** 2
    steps = _iterates(
        lambda p: 0.5 * float(np.vdot(p - x, p - x)), lambda p: p - x, asked, near, near - x, Pairwise(), 1.0
    )
    for at, _ in steps:
        if outside or at.value - at.gap > least:
            raise SettingError("start is outside the set, or the oracle does not return vertices of least ⟨g, s⟩")
        if at.value <= least:
            return
        yield


def _iterates(
    f: Callable[[F64], Any],
    gradient: Callable[[F64], npt.ArrayLike],
    asked: Asked,
    x: F64,
    slopes: F64,
    step: Forward | Away | Pairwise | Blended,
    lipschitz: float | None,
) -> Iterator[tuple[Minimum, Certificate]]:
    """The result after each step from x, without end, and what it certifies.  slopes: ∇f there."""
    best_x, begin, best, lower = x, time.perf_counter(), inf, -inf
    weights = {x.tobytes(): 1.0}  # of the vertices in use, by their bytes
    trace: list[TracePoint] = []
    for k in count():
        vertex = asked(slopes)
        value, gap = float(checked("f", f(x), ())), float(np.vdot(slopes, x - vertex))
        best, best_x, lower = min(best, value), x if value < best else best_x, max(lower, value - gap)
        found, seconds = Certificate(best, lower), time.perf_counter() - begin
        calls = k + 1, asked.calls - k - 1
        trace.append(TracePoint(k, *calls, seconds, value, value - gap, found.gap, found.relative))
        yield Minimum(best_x.copy(), best, found.gap, Status.RUNNING, Trace(trace)), found
        plus, minus, most = choose(step, slopes, x, vertex, weights)
        ahead, back = (x if key is None else np.frombuffer(key).reshape(x.shape) for key in (plus, minus))
        at, slope = along(gradient, x, ahead - back), float(np.vdot(slopes, ahead - back))
        if not step.line_search:
            length = 2.0 / (k + 2.0)
        elif slope >= 0.0:  # rounding is all that is left of it
            length = 0.0
        elif lipschitz is not None:
            squared = max(float(np.vdot(ahead - back, ahead - back)), 1e-300)
            while at(length := min(most, -slope / (lipschitz * squared)))[2] > -_ROUNDING * slope:
                lipschitz *= 2.0
        else:
            length = best_along(at, most)
        x, slopes, _ = at(length)
        if not isinstance(step, Forward):
            weights = moved(weights, plus, minus, length)


def checked(name: str, found: Any, shape: tuple[int, ...]) -> F64:
    """A copy of what a function returned.  Raises OracleError if it has another shape, or is not finite."""
    array = np.array(found, np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        wrong = "is not finite" if array.shape == shape else f"has shape {array.shape} (not {shape})"
        raise OracleError(f"{name} {wrong}")
    array += 0.0  # no −0.0: equal vertices have equal bytes
    array.flags.writeable = False  # for functions of the caller's own, which see it again
    return array


def along(gradient: Callable[[F64], npt.ArrayLike], x: F64, line: F64) -> Callable[[float], tuple[F64, F64, float]]:
    """A function of the length along a line: the point there, its gradient and the slope."""

    @cache
    def at(length: float) -> tuple[F64, F64, float]:
        point = checked("the next point", x + length * line, x.shape)
        slopes = checked("gradient", gradient(point), x.shape)
        return point, slopes, float(np.vdot(slopes, line))

    return at


def best_along(at: Callable[[float], tuple[F64, F64, float]], most: float) -> float:
    """The best length, up to the most, along a line of `along` that leads down."""
    if at(most)[2] <= 0.0:
        return most
    return float(brentq(lambda t: at(t)[2], 0.0, most, xtol=1e-15 * most, rtol=1e-13, disp=False))


def moved(weights: dict[bytes, float], plus: bytes | None, minus: bytes | None, length: float) -> dict[bytes, float]:
    """The weights of the vertices in use after a step that `choose` has chosen, of a length."""
    kept = 1.0 + length * ((plus is None) - (minus is None))
    weights = {key: kept * weight for key, weight in weights.items()}
    for key, change in ((plus, length), (minus, -length)):
        if key is not None:
            weights[key] = weights.get(key, 0.0) + change
    return {key: weight for key, weight in weights.items() if weight > 1e-15}  # but for rounding, above 0


def choose(step: Any, slopes: F64, x: F64, vertex: F64, weights: dict[bytes, float]) -> tuple[Any, Any, float]:
    """The vertices that a step leads towards and away from, None for x, and its greatest length."""
    forward, here, gap = vertex.tobytes(), float(np.vdot(slopes, x)), float(np.vdot(slopes, x - vertex))
    if not isinstance(step, Forward):
        scores = {key: float(np.frombuffer(key) @ slopes.ravel()) for key in weights}
        worst, best = (extreme(scores, key=scores.__getitem__) for extreme in (max, min))
        share = weights[worst]
        if isinstance(step, Pairwise):
            return forward, worst, share
        if isinstance(step, Blended) and scores[worst] - scores[best] >= gap:
            return best, worst, share
        # From a single vertex nothing leads away, though by rounding its weight may be below 1.
        if isinstance(step, Away) and len(weights) > 1 and scores[worst] - here > gap and share < 1.0:
            return None, worst, share / (1.0 - share)
    return forward, None, 1.0
