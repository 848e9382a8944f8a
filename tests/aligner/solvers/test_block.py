"""Block-coordinate Frank-Wolfe: orders, steps, kept corners."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from aligner.errors import ScoreError
from aligner.losses.hinge import MatchingProblem
from aligner.problem import BlockDefaults, Corners
from aligner.solvers import Average, Status, Stop, solve
from aligner.solvers import _block_kernels as kernels
from aligner.solvers.block import Block
from aligner.solvers.orders import ByGap, Permuted, Uniform
from aligner.solvers.steps import Away, Forward, Pairwise

MakeProblem = Callable[..., MatchingProblem]


@dataclass
class Simplices(BlockDefaults):
    """A block problem with few corners: block i's answers are rows of vectors[i] and losses[i], and ψ = 0, L = 0."""

    vectors: np.ndarray
    losses: np.ndarray
    regularization: float
    calls: int = 0

    n_blocks = property(lambda self: self.vectors.shape[0])
    n_features = property(lambda self: self.vectors.shape[2])

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        self.calls += len(blocks)
        vectors = np.concatenate([np.zeros((len(blocks), 1, self.n_features)), self.vectors[blocks]], axis=1)
        losses = np.concatenate([np.zeros((len(blocks), 1)), self.losses[blocks]], axis=1)
        best = np.argmax(losses - vectors @ w, axis=1)
        every = np.arange(len(blocks))
        return Corners(vectors[every, best], losses[every, best])


def simplices(n: int = 40, corners: int = 5, d: int = 8, seed: int = 0, regularization: float = 0.1) -> Simplices:
    rng = np.random.default_rng(seed)
    return Simplices(rng.standard_normal((n, corners, d)), rng.random((n, corners)), regularization)


def plain_bcfw(problem: MatchingProblem, order: np.ndarray) -> tuple[np.ndarray, float]:
    """[LJSP13 Alg. 4], a line of Python for each of its lines."""
    n, d, regularization = problem.n_blocks, problem.n_features, problem.regularization
    w, block_w, block_loss = np.zeros(d), np.zeros((n, d)), np.zeros(n)
    for i in order:
        corners = problem.corners(np.array([i]), w)
        corner_w, corner_loss = corners.psi[0] / (regularization * n), corners.losses[0] / n
        away = block_w[i] - corner_w
        if away @ away > 0:
            gamma = (regularization * away @ w - block_loss[i] + corner_loss) / (regularization * away @ away)
            gamma = np.clip(gamma, 0, 1)
            w = w - gamma * away
            block_w[i] -= gamma * away
            block_loss[i] += gamma * (corner_loss - block_loss[i])
    return w, float(block_loss.sum())


@pytest.mark.parametrize("order", [Uniform(), Permuted()])
def test_bcfw_is_the_algorithm_of_the_paper(order: Uniform | Permuted, make_problem: MakeProblem) -> None:
    problem = make_problem(n=30, d=6)
    rng = np.random.default_rng(4)
    w, loss = plain_bcfw(problem, np.concatenate([order.draw(30, rng) for _ in range(4)]))
    point = solve(problem, Block(order), stop=Stop(gap=0.0, passes=4), seed=4)
    np.testing.assert_allclose(point.w, w, rtol=1e-9, atol=1e-12)
    assert point.trace[-1].dual == pytest.approx(loss - problem.regularization / 2 * w @ w, rel=1e-9)


def test_weights_that_are_not_finite_are_named(make_problem: MakeProblem) -> None:
    problem, solver = make_problem(n=60, d=4), Block()
    state = solver.init(problem, np.random.default_rng(0))
    state.point.block_w[7, 2] = np.nan
    state.point.w[:] = state.point.block_w.sum(axis=0)
    with pytest.raises(ScoreError, match="not finite"):
        solver.sweep(problem, state)


def test_blocks_are_drawn_in_proportion_to_their_gaps() -> None:
    rng = np.random.default_rng(0)
    gaps = kernels.Gaps(np.full(13, np.inf), np.zeros(1))
    wanted = rng.random(13)
    wanted[3] = 0.0
    for block, gap in enumerate(rng.random(13)):  # other values first: the sum is changed, not only made
        kernels.set_gap(gaps, block, gap)
    for block, gap in enumerate(wanted):
        kernels.set_gap(gaps, block, gap)
    assert gaps.total[0] == pytest.approx(wanted.sum())
    counts = np.bincount(ByGap().redraw(gaps.last, 100_000, rng), minlength=13)
    assert counts[3] == 0
    np.testing.assert_allclose(counts / 100_000, wanted / wanted.sum(), atol=5e-3)


def test_no_gaps_at_all_are_drawn_evenly() -> None:
    counts = np.bincount(ByGap().redraw(np.zeros(4), 4_000, np.random.default_rng(0)), minlength=4)
    np.testing.assert_allclose(counts, 1_000, atol=150)


@pytest.mark.slow
def test_gap_order_needs_fewer_oracle_calls_where_few_blocks_matter() -> None:
    """Nine blocks in ten are settled at once: drawing by gap leaves them alone  [OAD16]."""
    problem = simplices(n=400, seed=3, regularization=0.01)
    problem.losses[40:] = 0.0
    problem.vectors[40:] = 0.01 * np.abs(problem.vectors[40:])
    calls = {
        order.name: solve(problem, Block(order), absolute_gap=1e-4, passes=2000, seed=1).trace[-1].oracle_calls
        for order in (Uniform(), ByGap())
    }
    assert calls["gap"] < 0.5 * calls["uniform"]


def test_shares_in_a_file_are_those_in_memory(make_problem: MakeProblem, tmp_path: Path) -> None:
    problem = make_problem(n=30)
    for solver in (Block(), Block(step=Pairwise(), average=Average.WEIGHTED)):
        kept, stored = (solve(problem, replace(solver, store=store), passes=5) for store in (None, tmp_path))
        assert kept.w.tobytes() == stored.w.tobytes()
        assert pickle.loads(pickle.dumps(stored)).state.point.block_w.tobytes() == kept.state.point.block_w.tobytes()
        assert solve(problem, solver, start=stored, passes=5).status is Status.PASSES
    assert not any(tmp_path.iterdir()), "the file has no name, and goes with the state"
    with pytest.raises(FileNotFoundError, match="nowhere"):
        solve(problem, Block(store=tmp_path / "nowhere"))


@pytest.mark.slow
@pytest.mark.parametrize("step", [Away(), Pairwise()])
def test_away_and_pairwise_steps_converge_linearly(step: Away | Pairwise) -> None:
    """log(gap) falls on a line: the second half of the passes gains as many digits as the first, or nearly."""
    problem = simplices(n=20, d=6, regularization=0.2)
    trace = solve(problem, Block(Uniform(), step), stop=Stop(gap=1e-11, passes=4000, audit_growth=1.0)).trace
    assert trace[-1].relative_gap <= 1e-11
    digits = -np.log10([max(p.relative_gap, 1e-12) for p in trace[1:]])
    passes = np.arange(1, len(trace))
    slope, intercept = np.polyfit(passes, digits, 1)
    explained = 1 - np.var(digits - slope * passes - intercept) / np.var(digits)
    assert slope > 0
    assert explained > 0.9
    forward = solve(problem, Block(Uniform()), stop=Stop(gap=1e-11, passes=len(trace)))
    assert forward.trace[-1].relative_gap > 1e3 * trace[-1].relative_gap


@pytest.mark.parametrize("step", [Forward(), Away(), Pairwise()])
@pytest.mark.parametrize("order", [Permuted(), ByGap()])
def test_kept_corners_save_oracle_calls(
    order: Permuted | ByGap, step: Forward | Away | Pairwise, make_problem: MakeProblem
) -> None:
    problem = make_problem(n=60, d=6, largest=8, regularization=0.01)
    without, kept = (
        solve(problem, Block(order, step, cache=cache), stop=Stop(gap=1e-4, passes=3000)).trace[-1]
        for cache in (False, True)
    )
    assert kept.relative_gap <= 1e-4
    assert kept.oracle_calls < without.oracle_calls
