"""Block-coordinate Frank-Wolfe is the coordinate ascent of others where the problem is as simple as theirs."""

from __future__ import annotations

import numpy as np
import pytest

from aligner.solvers import BlockDefaults, Corners, Stop, solve
from aligner.solvers.block import Block
from aligner.solvers.orders import Cyclic


class Binary(BlockDefaults):
    """A binary SVM without a bias: ψ_i = y_i x_i, L = 1, or the target."""

    def __init__(self, points: np.ndarray, signs: np.ndarray, regularization: float) -> None:
        self.psi, self.regularization = points * signs[:, None], regularization
        self.n_blocks, self.n_features = points.shape

    def corners(self, blocks: np.ndarray, w: np.ndarray) -> Corners:
        wrong = self.psi[blocks] @ w < 1.0
        return Corners(self.psi[blocks] * wrong[:, None], wrong.astype(float))


def dual_coordinate_descent(psi: np.ndarray, regularization: float, passes: int) -> np.ndarray:
    """[Hsieh et al. 2008 Alg. 1] with C = 1/(λn): each α_i to the minimum within [0, C], one after the other."""
    upper = 1.0 / (regularization * len(psi))
    alpha, w = np.zeros(len(psi)), np.zeros(psi.shape[1])
    for _ in range(passes):
        for i, row in enumerate(psi):
            better = np.clip(alpha[i] - (row @ w - 1.0) / (row @ row), 0.0, upper)
            w += (better - alpha[i]) * row
            alpha[i] = better
    return w


def sdca(psi: np.ndarray, regularization: float, passes: int) -> np.ndarray:
    """[Shalev-Shwartz and Zhang 2012 Fig. 1], Option II for the hinge: Δ = s (u − α), s the best within [0, 1]."""
    scale = regularization * len(psi)
    alpha, w = np.zeros(len(psi)), np.zeros(psi.shape[1])
    for _ in range(passes):
        for i, row in enumerate(psi):
            score = row @ w
            along = float(score < 1.0) - alpha[i]  # u: minus a subgradient of the loss
            gain = max(0.0, 1.0 - score) - alpha[i] * (1.0 - score)
            size = along**2 * (row @ row) / scale
            step = min(1.0, gain / size) if size > 0.0 else 0.0
            alpha[i] += step * along
            w += step * along * row / scale
    return w


@pytest.mark.parametrize("other", [dual_coordinate_descent, sdca])
@pytest.mark.parametrize("regularization", [0.01, 0.3])
def test_iterates_are_those_of_coordinate_ascent(other: object, regularization: float) -> None:
    rng = np.random.default_rng(0)
    signs = np.sign(rng.standard_normal(40))
    problem = Binary(rng.standard_normal((40, 5)) + 0.4 * signs[:, None], signs, regularization)
    for passes in (1, 3, 20):
        found = solve(problem, Block(order=Cyclic()), stop=Stop(gap=0.0, passes=passes)).dual_point
        assert found is not None
        np.testing.assert_allclose(found.v, other(problem.psi, regularization, passes), atol=1e-12)  # type: ignore[operator]
