"""Kernels on edge features: their sums equal those of NumPy, edge by edge, however the edges are batched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from solver_configurations import gram

from aligner.errors import SettingError
from aligner.losses.kernel_functions import RBF, Kernel, Linear, Polynomial, expand, kernel_signature, make_kernel
from aligner.matching._price_kernels import exponentials

KERNELS: list[Kernel] = [Linear(), Polynomial(1), Polynomial(2), Polynomial(5), RBF(0.7), RBF()]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def random_sum(m: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """(m, d) support and (m,) coefficients."""
    rng = np.random.default_rng(0)
    return rng.random((m, d), np.float32), rng.standard_normal(m)


@pytest.mark.parametrize("d", [1, 3, 4, 9, 32])
@pytest.mark.parametrize("m", [0, 1, 63, 64, 65, 300])
@every_kernel
def test_sums_equal_those_of_numpy(kernel: Kernel, m: int, d: int) -> None:
    support, coefficients = random_sum(m, d)
    features = np.random.default_rng(1).random((17, d), np.float32)
    expected = gram(kernel, features, support) @ coefficients
    size = np.abs(gram(kernel, features, support)) @ np.abs(coefficients)
    assert (np.abs(expand(kernel, support, coefficients, features) - expected) <= 1e-14 * (1.0 + size)).all()


def test_exponentials() -> None:
    """To the last digits of a float64 over all exponents, and next to nothing beyond."""
    exponents = -np.concatenate([[0.0, 1e-300, 1e-17], np.geomspace(1e-12, 690, 60), np.arange(1, 400) * np.log(2) / 2])
    values = np.empty_like(exponents)
    exponentials(exponents, np.empty_like(exponents), values)
    np.testing.assert_allclose(values, np.exp(exponents), rtol=4e-16 * 2, atol=0)
    far = np.array([[0.0], [1e3], [3e19]], np.float32)
    values = expand(RBF(1.0), far[:1], np.ones(1), far)
    assert values[0] == 1.0
    assert (values[1:] >= 0).all()
    assert (values[1:] < 1e-300).all()


def test_equals_are_as_near_as_can_be() -> None:
    """Rounding never makes K(x, x) more than 1, whatever the size of the features."""
    for scale in (1e-3, 1.0, 1e4):
        features = (scale * np.random.default_rng(0).standard_normal((80, 13))).astype(np.float32)
        for edge in features:
            (value,) = expand(RBF(0.3 * scale), edge[None], np.ones(1), edge[None])
            assert value == pytest.approx(1.0, abs=1e-12)
            assert value <= 1.0


@every_kernel
def test_the_sum_of_an_edge_does_not_depend_on_its_company(kernel: Kernel) -> None:
    features = np.random.default_rng(2).random((101, 6), np.float32)
    support, coefficients = random_sum(150, 6)
    whole = expand(kernel, support, coefficients, features)
    alone = [expand(kernel, support, coefficients, features[e : e + 1]) for e in range(len(features))]
    np.testing.assert_allclose(whole, np.concatenate(alone), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("sigmoid", {}, "unknown kernel 'sigmoid' .*linear, polynomial, rbf"),
        ("linear", {"degree": 2}, "the linear kernel has no degree"),
        ("rbf", {"degree": 2}, "the rbf kernel has no degree"),
        ("polynomial", {"bandwidth": 2.0}, "the polynomial kernel has no bandwidth"),
        ("polynomial", {"degree": 0}, "degree .* above 0, not 0"),
        ("polynomial", {"degree": 1.5}, "degree .* whole number .* not 1.5"),
        ("rbf", {"bandwidth": 0.0}, "bandwidth .* above 0, not 0.0"),
        ("rbf", {"bandwidth": -1.0}, "bandwidth"),
        ("rbf", {"bandwidth": float("nan")}, "bandwidth"),
        ("rbf", {"bandwidth": float("inf")}, "bandwidth"),
    ],
)
def test_kernels_that_cannot_be(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        make_kernel(name, **options)


def test_kernels_by_name() -> None:
    assert make_kernel("polynomial", degree=4) == Polynomial(4)
    assert make_kernel("rbf", bandwidth=0.5) == RBF(0.5)
    assert kernel_signature(make_kernel("linear")) == "kernel:linear"
    assert kernel_signature(RBF(0.5)) == "kernel:rbf|bandwidth:0.5"
