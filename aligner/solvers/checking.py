"""check_problem(): test on some blocks of a problem what solvers rely on."""

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from aligner.errors import OracleError, ScoreError
from aligner.problem import BlockProblem, Marginals, check_sizes
from aligner.solvers.gap import ask, ask_all, clip
from corpora.ragged import F64, I64, Bools

_ROUNDING = 1e-7
"""Differences of H_i that count as rounding, relative to the largest terms of H_i."""

_MARGINAL_ROUNDING = 1e-5
"""`_ROUNDING` for marginals, which projections compute less exactly."""

_SHARP = 1e3
"""Factor of scores with which marginals are near a corner."""

_MOST_NUMBERS = 1 << 22


class _Met(NamedTuple):
    """The corners of some blocks at w: psi (m, d) and losses (m,)."""

    w: F64
    psi: F64
    losses: F64

    def hinges(self, w: F64) -> F64:
        hinges: F64 = self.losses - self.psi @ w
        return hinges

    def rounding(self, w: F64) -> F64:
        """The rounding error (m,) of H at w, at most."""
        terms: F64 = np.abs(self.losses) + np.abs(self.psi) @ np.abs(w)
        return _ROUNDING * np.maximum(1.0, terms)


def check_problem(problem: BlockProblem, *, blocks: int = 20, seed: int = 0) -> None:
    """Test what solvers rely on in a problem; to be called once, when a problem has been written.

    blocks: how many, drawn at random, are tested, at five weights; fewer if there are millions of features.
    Raises OracleError, with one line, if

    - sizes, λ, or the shapes and types of corners are wrong, or corners are not finite;
    - a block's corner depends on which other blocks are asked for, or on earlier calls, or arguments are changed;
    - H_i(z) = L_i(z) − w·ψ_i(z) of a corner of `exact_corners` is below 0, the target's value, or below that of a
      corner found at other weights: a sign is wrong, or something else than H_i is maximised;
    - a corner of `corners` is better than the one of `exact_corners`;
    - compiled passes find other corners;
    - `Marginals` have wrong shapes, or `scores` is not the gradient of `moments`, or a point of `nearest` has a
      greater H_i than the best corner.
    """
    check_sizes(problem)
    n, d = problem.n_blocks, problem.n_features
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(n, min(n, blocks, max(2, _MOST_NUMBERS // d)), replace=False))
    directions = rng.standard_normal((2, d))
    first = _ask(problem, chosen, clip(directions[0], problem.n_nonpositive), exact=True)
    size = max(1.0, float(first.losses.max())) / max(1e-300, float(np.abs(first.psi @ first.w).max()))
    weights = [clip(scale * w, problem.n_nonpositive) for w in directions for scale in (size, -0.1 * size)]
    met = [_ask(problem, chosen, w, exact=True) for w in [np.zeros(d), *weights]]
    for one in met:
        _check_best(chosen, one, met)
        near = _ask(problem, chosen, one.w, exact=False)
        worse = near.hinges(one.w) > one.hinges(one.w) + one.rounding(one.w)
        _require(not worse.any(), f"corners() answers better than exact_corners() at block {_first(chosen, worse)}")
        if problem.compiled() is not None:
            compiled = ask_all(problem, one.w).hinges[chosen]
            other = np.abs(compiled - one.hinges(one.w)) > one.rounding(one.w)
            _require(not other.any(), f"compiled() has another best corner of block {_first(chosen, other)}")
    marginals = problem.marginals()
    if marginals is not None:
        _check_marginals(marginals, problem.n_blocks, chosen, met)


def answers_are_best(problem: BlockProblem, w: F64, blocks: int = 16) -> bool:
    """Whether the first blocks' exact corners at w are as good there as the targets and their corners at −w, 0, ±1."""
    chosen = np.arange(min(problem.n_blocks, blocks, max(2, _MOST_NUMBERS // len(w))))
    signs = np.sign(np.random.default_rng(0).standard_normal(len(w)))
    ways = [w, *(clip(way, problem.n_nonpositive) for way in (-w, 0.0 * w, signs, -signs))]
    found = [ask(problem, chosen, way, exact=True) for way in ways]
    met = [_Met(way, corners.dense, corners.losses) for way, corners in zip(ways, found, strict=True)]
    try:
        _check_best(chosen, met[0], met)
    except OracleError:
        return False
    return True


def differ_in_strength(one: Any, other: Any) -> bool:
    """Whether two problems differ in λ at most: the losses at some w, which do not depend on λ, are the same."""
    w = clip(np.random.default_rng(0).standard_normal(one.n_features), getattr(one, "n_nonpositive", 0))
    smooth = hasattr(one, "sums")
    first, second = (np.array(each.sums(w).value) if smooth else ask_all(each, w).hinges for each in (one, other))
    return bool(np.abs(first - second).max() <= _ROUNDING * max(1.0, np.abs(first).max()))


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise OracleError(what)


def _first(chosen: I64, wrong: Bools) -> int:
    return int(chosen[int(np.argmax(wrong))])


def _ask(problem: BlockProblem, chosen: I64, w: F64, *, exact: bool) -> _Met:
    """The corners of these blocks, after a check that repeated and single calls find the same."""
    name = "exact_corners()" if exact else "corners()"
    given, asked = chosen.copy(), w.copy()
    try:
        together = ask(problem, given, asked, exact=exact)
    except ScoreError as error:
        raise OracleError(f"{name}: {error}") from None
    psi, losses = together.dense, together.losses
    met = _Met(w, psi, losses)
    again = ask(problem, given, asked, exact=exact)
    same = np.array_equal(again.dense, psi) and np.array_equal(again.losses, losses)
    _require(same, f"{name} answers otherwise when asked again (an oracle must be deterministic)")
    _require(np.array_equal(given, chosen) and np.array_equal(asked, w), f"{name} changes its arguments")
    alone = [ask(problem, np.array([block]), asked, exact=exact) for block in chosen.tolist()]
    hinges = np.array([one.losses[0] - one.dense[0] @ w for one in alone])
    other = np.abs(hinges - met.hinges(w)) > met.rounding(w)
    _require(not other.any(), f"{name} answers otherwise when block {_first(chosen, other)} is asked alone")
    return met


def _check_marginals(marginals: Marginals, n_blocks: int, chosen: I64, met: list[_Met]) -> None:
    parts = np.asarray(marginals.parts)
    _require(parts.shape == (n_blocks + 1,), f"parts has shape {parts.shape} for {n_blocks} blocks")
    _require(marginals.target.shape == (parts[-1],), f"target has shape {marginals.target.shape} for {parts[-1]} parts")
    target = np.concatenate([marginals.target[slice(*parts[i : i + 2])] for i in chosen.tolist()])
    begins = np.append(0, np.cumsum(np.diff(parts)[chosen])[:-1])
    for one, geometry in product(met, marginals.geometries):
        scores = marginals.scores(chosen, one.w)
        _require(scores.shape == target.shape, f"scores() has shape {scores.shape} for {len(target)} parts")
        for sharpness in (0.0, 1.0, _SHARP):
            z = marginals.nearest(chosen, sharpness * scores, geometry)
            _require(z.shape == target.shape, f"nearest() has shape {z.shape} for {len(target)} parts")
            moved, rows = marginals.moments(chosen, z - target), scores * (z - target)
            _require(moved.shape == (len(one.w) + 1,), f"moments() has shape {moved.shape} (not ({len(one.w) + 1},))")
            values, sums = np.add.reduceat(rows, begins), float(moved @ np.append(one.w, 1.0))
            near = _MARGINAL_ROUNDING * (1.0 + np.add.reduceat(np.abs(rows), begins))
            what = f"moments() and scores() do not fit: Σ z·scores is {values.sum():.6g}, (w, 1)·moments {sums:.6g}"
            _require(abs(values.sum() - sums) <= near.sum(), what)
            more = values > one.hinges(one.w) + one.rounding(one.w) + near
            what = f"block {_first(chosen, more)} has {geometry} marginals with a greater L − w·ψ than its best corner"
            _require(not more.any(), f"{what} (scores, moments or nearest are wrong)")


def _check_best(chosen: I64, one: _Met, met: list[_Met]) -> None:
    best, rounding = one.hinges(one.w), one.rounding(one.w)
    below = best < -rounding
    what = f"H = L − w·ψ is {best.min():.3g} at block {_first(chosen, below)}, below the target's 0"
    _require(not below.any(), f"{what} (ψ is the target's features less the answer's; losses are not negative)")
    for other in met:
        worse = other.hinges(one.w) > best + rounding + other.rounding(one.w)
        what = f"the answer for block {_first(chosen, worse)} is not the best: another corner has a greater L − w·ψ"
        _require(not worse.any(), f"{what} (the oracle must maximise that; is a sign wrong?)")
