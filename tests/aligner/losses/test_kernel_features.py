"""Features of a kernel: any problem in them is the kernelised one, by products of corners alone  [LJSP13 App. B.5]."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from label_sequences import labellings
from solver_configurations import Multiclass, gram

from aligner.losses.chain import ChainProblem
from aligner.losses.kernel_functions import RBF, Kernel, Linear, Polynomial
from aligner.solvers import KernelFeatures, Stop, make_solver, solve
from aligner.solvers.block import Block
from aligner.solvers.orders import Cyclic

KERNELS: list[Kernel] = [Linear(), Polynomial(2), RBF(1.5)]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)
N, CLASSES, TAU = 12, 3, 0.1


@every_kernel
def test_products_are_the_kernels_values(kernel: Kernel) -> None:
    """Of any two landmarks, and of a landmark with any other point if the kernel's matrix has full rank."""
    rng = np.random.default_rng(0)
    few, others = rng.standard_normal((8, 3)), rng.standard_normal((5, 3))
    features = KernelFeatures.of(kernel, few)
    np.testing.assert_allclose(features(few) @ features(few).T, gram(kernel, few, few), atol=1e-10)
    np.testing.assert_allclose(features(others) @ features(few).T, gram(kernel, others, few), atol=1e-9)
    assert features(few).shape[1] == np.linalg.matrix_rank(gram(kernel, few, few))


def kernelised(blocks: list[np.ndarray], losses: list[np.ndarray], products: np.ndarray, passes: int) -> np.ndarray:
    """α of all corners after passes of BCFW in order, by line search, from products alone  [LJSP13 Alg. B.1]."""
    alpha = np.zeros(len(products))
    for block, loss in zip(blocks, losses, strict=True):
        alpha[block[np.argmin(loss)]] = 1.0  # the target: L = 0
    for _ in range(passes):
        for block, loss in zip(blocks, losses, strict=True):
            slopes = loss - products[block] @ alpha / (TAU * N)
            to = np.zeros(len(block))
            to[np.argmax(slopes)] = 1.0
            along = to - alpha[block]
            curvature = along @ products[np.ix_(block, block)] @ along / (TAU * N)
            alpha[block] += along * (min(1.0, along @ slopes / curvature) if curvature > 0 else 0.0)
    return alpha


def classes_and_products(x: np.ndarray, y: np.ndarray, kernel: Kernel) -> tuple[Any, Any, Any, Any]:
    """⟨ψ_i(k), ψ_j(l)⟩ = K(x_i, x_j) Σ_c ([y_i = c] − [k = c]) ([y_j = c] − [l = c])."""
    values = gram(kernel, x, x)
    signs = np.eye(CLASSES)[y][:, None] - np.eye(CLASSES)
    products = np.einsum("ij,ikc,jlc->ikjl", values, signs, signs).reshape(N * CLASSES, -1)
    blocks = [np.arange(CLASSES) + i * CLASSES for i in range(N)]
    problem = Multiclass(KernelFeatures.of(kernel, x)(x), y, CLASSES, TAU)
    return problem, blocks, [1.0 - np.eye(CLASSES)[k] for k in y], products


def chains_and_products(x: np.ndarray, y: np.ndarray, kernel: Kernel) -> tuple[Any, Any, Any, Any]:
    """K of tokens with the same label, and 1 for steps with the same labels; sequences of two tokens."""
    x, y = x.reshape(-1, 1)[: 2 * N], np.resize(y, 2 * N)
    paths = list(product(range(CLASSES), repeat=2))

    def phi(i: int, path: tuple[int, ...]) -> np.ndarray:
        """(tokens, label) and (label, label) indicators."""
        own, steps = np.zeros((2 * N, CLASSES)), np.zeros((CLASSES, CLASSES))
        own[[2 * i, 2 * i + 1], path] = 1.0
        steps[path] = 1.0
        return np.concatenate([own.ravel(), steps.ravel()])

    psi = np.array([phi(i, tuple(y[2 * i : 2 * i + 2])) - phi(i, path) for i in range(N) for path in paths])
    metric = np.kron(gram(kernel, x, x), np.eye(CLASSES))
    own, steps = psi[:, : len(metric)], psi[:, len(metric) :]
    blocks = [np.arange(len(paths)) + i * len(paths) for i in range(N)]
    losses = [np.array([np.mean(np.array(path) != y[2 * i : 2 * i + 2]) for path in paths]) for i in range(N)]
    problem = ChainProblem.of(KernelFeatures.of(kernel, x)(x), y, [2] * N, regularization=TAU, n_labels=CLASSES)
    assert len(labellings(problem, 0)) == len(paths)
    return problem, blocks, losses, own @ metric @ own.T + steps @ steps.T


@every_kernel
@pytest.mark.parametrize("make", [classes_and_products, chains_and_products], ids=["classes", "chains"])
def test_iterates_are_those_of_the_kernelised_algorithm(make: Any, kernel: Kernel) -> None:
    """Without features, from α: the dual after each pass; and then the optimum is that of any other solver."""
    rng = np.random.default_rng(4)
    problem, blocks, losses, products = make(rng.standard_normal((N, 2)), rng.integers(CLASSES, size=N), kernel)
    for passes in (1, 2, 5):
        alpha = kernelised(blocks, losses, products, passes)
        dual = np.concatenate(losses) @ alpha / N - 0.5 * alpha @ products @ alpha / (TAU * N**2)
        found = solve(problem, Block(order=Cyclic()), stop=Stop(gap=0.0, passes=passes))
        assert found.trace[-1].dual == pytest.approx(dual, rel=1e-5)  # chains have features in single precision
    best = solve(problem, make_solver("randomized-away"), stop=Stop(gap=1e-5, passes=500))
    assert best.status.name == "CONVERGED"
    assert found.dual <= best.primal


def test_weights_are_an_expansion_that_knows_new_points() -> None:
    """w·Φ(x) = Σ_i c_i K(x_i, x), of the coefficients of w in the landmarks' features."""
    rng = np.random.default_rng(2)
    x, new, y = rng.standard_normal((N, 2)), rng.standard_normal((7, 2)), rng.integers(CLASSES, size=N)
    features = KernelFeatures.of(RBF(), x)
    w = solve(Multiclass(features(x), y, CLASSES, TAU), make_solver("bcfw")).w.reshape(CLASSES, -1)
    coefficients = np.linalg.lstsq(features(x).T, w.T, rcond=None)[0]
    np.testing.assert_allclose(features(new) @ w.T, gram(RBF(), new, x) @ coefficients, atol=1e-8)


def test_landmarks_that_cannot_be() -> None:
    for wrong in ([1.0, 2.0], [[np.nan]], np.zeros((0, 2))):
        with pytest.raises(ValueError, match="landmarks must be a table"):
            KernelFeatures.of(RBF(), wrong)
