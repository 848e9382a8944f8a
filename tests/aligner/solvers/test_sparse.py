"""Sparse shares: the same steps as dense ones, whatever the room, the signs and λ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from label_sequences import diameters, random_chains
from solver_configurations import Plain, run

from aligner.solvers import make_solver
from aligner.solvers import sparse as sparse_solver
from aligner.solvers.block import Block, BlockState


@dataclass
class Signed(Plain):
    """With weights that must not be above 0, and corners that are sparse or dense."""

    dense: bool = False

    n_nonpositive = 9
    sparse = property(lambda self: not self.dense)


def shares_of(state: BlockState) -> np.ndarray:
    """(n, d) what each block adds to v."""
    point = state.point
    found = np.zeros((len(point.sizes), len(point.v)))
    for i, (begin, size) in enumerate(zip(point.begins, point.sizes, strict=True)):
        np.add.at(found[i], point.columns[begin : begin + size], point.values[begin : begin + size])
    return found


@pytest.mark.parametrize("average", ["none", "weighted"])
def test_signs_are_those_of_dense_shares(average: str) -> None:
    problem = random_chains(15, longest=4)
    ours, theirs = (
        run(Signed(problem, dense=dense), make_solver("bcfw", average=average), gap=0.0, passes=8)
        for dense in (False, True)
    )
    np.testing.assert_allclose(ours.w, theirs.w, rtol=1e-8, atol=1e-10)
    assert (ours.w[-9:] <= 0).all()
    assert (ours.w[-9:] < 0).any()


@pytest.mark.parametrize("generic", [False, True])
def test_room_makes_no_difference(generic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_chains(20, p=6, longest=6, share=0.5)
    given, results = (Plain(problem) if generic else problem), []
    for room in (1 << 20, 1):
        monkeypatch.setattr(sparse_solver, "_LEAST_ROOM", room)
        results.append(run(given, make_solver("bcfw"), gap=0.0, passes=7))
    assert results[0].w.tobytes() == results[1].w.tobytes()


def test_shares_add_up() -> None:
    """To v and ℓ, block by block, each in the hull of its corners: at most as long as 1/(λn) times the longest."""
    problem, solver = random_chains(20, longest=5), Block()
    state = solver.init(problem, np.random.default_rng(0))
    for _ in range(5):
        solver.sweep(problem, state)
    shares, point = shares_of(state), solver.dual_point(problem, state)
    np.testing.assert_allclose(shares.sum(axis=0), point.v, atol=1e-12)
    assert point.block_losses is not None
    assert point.block_losses.sum() == pytest.approx(point.loss)
    longest = diameters(problem) / (problem.regularization * problem.n_blocks)
    assert (np.linalg.norm(shares, axis=1) <= longest).all()
