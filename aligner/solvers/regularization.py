"""The whole regularisation path, to within a known error at every λ  [OAD16 §4, App. E]."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from aligner.errors import SettingError
from aligner.problem import BlockProblem
from aligner.solvers.driver import solve
from aligner.solvers.gap import clip, dual_value
from aligner.solvers.records import Stop
from aligner.solvers.solver import Solver
from corpora.ragged import F64


@dataclass(frozen=True, eq=False)
class Piece:
    """Weights (d,) that are good enough for all λ from smallest to largest.  passes: needed to find them."""

    largest: float
    smallest: float
    w: F64
    passes: float


def regularization_path(
    problem: Any,
    solver: Solver[BlockProblem, Any],
    *,
    largest: float,
    smallest: float,
    error: float,
    share: float = 0.5,
    stop: Stop = Stop(passes=1000),  # noqa: B008 - frozen
    seed: int = 0,
) -> Iterator[Piece]:
    """Yield pieces from the largest λ down to the smallest, each with P_λ(w) − P_λ* <= error at all its λ.

    A solution at λ, w with the dual point (v, ℓ), is kept at λ' < λ, where α shrinks to (λ'/λ) α, the rest of each
    block on its target. There v is the same and the loss is (λ'/λ) ℓ, so that the gap grows linearly,

        gap(λ') = gap(λ) + (λ − λ') (ℓ/λ − (‖w‖² + ‖clip(v)‖²)/2),

    and the next piece begins where it has reached the error. Each is solved to `share` of the error: a small one makes
    few long pieces, a large one many cheap ones.

    problem: with `at`, as of `BlockDefaults`.
    error: not relative, in the units of the losses.
    stop: limits of each piece.  A solver with ``resume`` goes on from the dual point of the piece before.
    Raises SettingError for impossible numbers, for solvers that keep no dual point or return an average, and if a
    piece is not solved within `stop`.
    """
    if not (0 < smallest <= largest < inf and error > 0 and 0 < share < 1):
        raise SettingError("smallest and largest must be ordered and above 0, error above 0, and share between 0 and 1")
    regularization, state = largest, None
    while True:
        present = problem.at(regularization)
        if state is not None and hasattr(solver, "resume"):
            solver.resume(present, state)
        else:
            state = solver.init(present, np.random.default_rng(seed))
        limits = replace(stop, gap=0.0, absolute_gap=share * error)
        result = solve(present, solver, stop=limits, seed=seed, start=state)
        point = result.dual_point
        if point is None:
            raise SettingError(f"{solver.signature} keeps no dual point to follow (choose bcfw, for instance)")
        w, v = result.w, clip(point.v, present.n_nonpositive)
        squares = 0.5 * float(w @ w + v @ v)
        gap = result.primal - dual_value(present, v, point.loss)
        if gap > error:
            raise SettingError(
                f"λ {regularization:.4g}: {result.status.value}, with a gap of {gap:.3g} (allow more passes)"
            )
        growth = point.loss / regularization - squares
        end = smallest if growth <= 0 else max(smallest, regularization - (error - gap) / growth)
        yield Piece(regularization, end, w, result.trace[-1].passes)
        if end <= smallest:
            return
        regularization = end
