"""Block-coordinate Frank-Wolfe for any smooth function over a product of sets, one block a step  [LJSP13 Alg. 3].

[LJSP13] Lacoste-Julien, Jaggi, Schmidt and Pletscher 2013, Block-coordinate Frank-Wolfe for structural SVMs.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from math import inf
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from aligner.errors import SettingError
from aligner.solvers.certificate import Certificate
from aligner.solvers.minimization import (
    SEARCHED,
    Asked,
    Minimum,
    along,
    best_along,
    checked,
    choose,
    moved,
    search_start,
    until,
)
from aligner.solvers.orders import Permuted, Visiting, draw_blocks
from aligner.solvers.records import Limits, Status, Stop, Trace, TracePoint
from aligner.solvers.steps import Away, Blended, Forward, Pairwise
from corpora.ragged import F64

Blocks = list[F64]


def minimize_blocks(
    f: Callable[[Blocks], Any],
    gradient: Callable[[Blocks, int], npt.ArrayLike],
    oracle: Callable[[int, F64], npt.ArrayLike],
    *,
    start: Sequence[npt.ArrayLike],
    order: Visiting = Permuted(),  # noqa: B008 - frozen
    step: Forward | Away | Pairwise | Blended = Forward(),  # noqa: B008 - frozen
    seed: int = 0,
    callback: Callable[[Minimum], bool | None] | None = None,
    **limits: Unpack[Limits],
) -> Minimum:
    """Minimise a smooth convex f over a product of n compact convex sets, one block a step  [LJSP13 Alg. 3].

    f: of all blocks, a list.  gradient: (x, i) -> ∇_i f at x, of the shape of block i.
    oracle: (i, g) -> argmin_s ⟨g, s⟩ over the set of block i, a vertex.
    start: a point of each set, of any shape.  order: of the blocks of a pass.  step: within a block, by line search, by
    γ = 2n/(k + 2n) at step k, or also away from the worst of the block's vertices in use.
    limits: as in `minimize`; a pass has n steps. After each all partial gradients are computed for the certificate.
    callback: called after each pass with the result so far; solving ends there if it returns False.
    Guarantee: f is in expectation at most 2n (C + h)/(k + 2n) above the minimum after k forward steps of `Uniform`
    order, C the sum of the curvatures of f over single blocks and h the error of the start  [LJSP13 Thm. C.1].
    Raises OracleError and SettingError as `minimize` does, whose checks of starts and vertices hold for each block.
    """
    if not isinstance(step, Forward | Away | Pairwise | Blended):
        raise SettingError(f"step is {step!r} (Forward, Away, Pairwise or Blended)")
    if not isinstance(order, Visiting):
        raise SettingError(f"order is {order!r} (Uniform, Permuted or Cyclic, as gaps of blocks are not kept)")
    stop = Stop(gap=1e-6, absolute_gap=1e-6).within(limits)
    x = [checked(f"start of block {i}", point, np.shape(point)) for i, point in enumerate(start)]
    if not x or not all(point.size for point in x):
        raise SettingError("start has no numbers (give a point of each block's set)")
    asked = [Asked(partial(oracle, i), point) for i, point in enumerate(x)]
    first = [_partial(gradient, x, i) for i in range(len(x))]
    searches = [search_start(*of_block) for of_block in zip(asked, x, first, strict=True)]
    for search in searches:
        deque(islice(search, SEARCHED), 0)

    def confirmed(best: Minimum) -> bool:
        for search in searches:
            deque(islice(search, len(best.trace)), 0)
        return all(of.is_best(best.x[i], (_partial(gradient, best.x, i), first[i])) for i, of in enumerate(asked))

    return until(stop, callback, _passes(f, gradient, asked, x, order, step, np.random.default_rng(seed)), confirmed)


def _partial(gradient: Callable[[Blocks, int], npt.ArrayLike], x: Blocks, i: int) -> F64:
    return checked(f"gradient of block {i}", gradient(x, i), x[i].shape)


def _gradient_at(gradient: Callable[[Blocks, int], npt.ArrayLike], x: Blocks, i: int, point: F64) -> npt.ArrayLike:
    """∇_i f where block i is another point."""
    return gradient([*x[:i], point, *x[i + 1 :]], i)


def _passes(
    f: Callable[[Blocks], Any],
    gradient: Callable[[Blocks, int], npt.ArrayLike],
    asked: Sequence[Asked],
    x: Blocks,
    order: Visiting,
    step: Forward | Away | Pairwise | Blended,
    rng: np.random.Generator,
) -> Iterator[tuple[Minimum, Certificate]]:
    """The result after each pass from x, without end, and what it certifies."""
    n, begin, best, best_x, lower = len(x), time.perf_counter(), inf, x, -inf
    weights = [{point.tobytes(): 1.0} for point in x]
    trace: list[TracePoint] = []
    taken = 0
    for number in count():
        value, gap = float(checked("f", f(x), ())), 0.0
        for i in range(n):
            slopes = _partial(gradient, x, i)
            gap += float(np.vdot(slopes, x[i] - asked[i](slopes)))
        best, best_x, lower = min(best, value), list(x) if value < best else best_x, max(lower, value - gap)
        found, seconds = Certificate(best, lower), time.perf_counter() - begin
        calls = taken, sum(one.calls for one in asked) - taken
        trace.append(TracePoint(number, *calls, seconds, value, value - gap, found.gap, found.relative))
        yield Minimum(best_x, best, found.gap, Status.RUNNING, Trace(trace)), found
        for i in draw_blocks(order, n, rng).tolist():
            slopes = _partial(gradient, x, i)
            plus, minus, most = choose(step, slopes, x[i], asked[i](slopes), weights[i])
            ahead, back = (x[i] if key is None else np.frombuffer(key).reshape(x[i].shape) for key in (plus, minus))
            at = along(partial(_gradient_at, gradient, x, i), x[i], ahead - back)
            if not step.line_search:
                length = 2.0 * n / (taken + 2.0 * n)
            elif float(np.vdot(slopes, ahead - back)) >= 0.0:  # rounding is all that is left of it
                length = 0.0
            else:
                length = best_along(at, most)
            x = [*x[:i], at(length)[0], *x[i + 1 :]]
            if not isinstance(step, Forward):
                weights[i] = moved(weights[i], plus, minus, length)
            taken += 1
