"""Scorers: sums of kernel values equal those of NumPy, edge by edge, however the edges are batched."""

from __future__ import annotations

import io
from fractions import Fraction
from itertools import combinations
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from aligner.errors import SettingError
from aligner.matching._price_kernels import exponentials
from aligner.model import _score_kernels as _kernels
from aligner.model.file import read_model, write_model
from aligner.model.scoring import KernelScorer, LinearScorer, Scorer, read_scorer, score_in_threads
from aligner.svm import kernels
from aligner.svm.kernels import RBF, Kernel, Linear, Polynomial, kernel_signature, make_kernel
from features.table import GRID

KERNELS: list[Kernel] = [Linear(), Polynomial(1), Polynomial(2), Polynomial(5), RBF(0.7), RBF()]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def gram(kernel: Kernel, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """K(x, y) of all rows of x and y by the formulas, in float64."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    match kernel:
        case Linear():
            return x @ y.T
        case Polynomial(degree):
            return (1.0 + x @ y.T) ** degree / degree
        case RBF(bandwidth):
            return np.exp(-0.5 * (cdist(x, y) / bandwidth) ** 2)


def make_scorer(kernel: Kernel, m: int, d: int, seed: int = 0) -> KernelScorer:
    rng = np.random.default_rng(seed)
    return KernelScorer(kernel, rng.random((m, d), np.float32), rng.standard_normal(m))


@pytest.mark.parametrize("d", [1, 3, 4, 9, 32])
@pytest.mark.parametrize("m", [0, 1, 63, 64, 65, 300])
@every_kernel
def test_scores_equal_those_of_numpy(kernel: Kernel, m: int, d: int) -> None:
    scorer = make_scorer(kernel, m, d)
    features = np.random.default_rng(1).random((17, d), np.float32)
    expected = gram(kernel, features, scorer.support) @ scorer.coefficients
    size = np.abs(gram(kernel, features, scorer.support)) @ np.abs(scorer.coefficients)
    assert (np.abs(scorer.scores(features) - expected) <= 1e-14 * (1.0 + size)).all()
    norm = np.sqrt(scorer.coefficients @ gram(kernel, scorer.support, scorer.support) @ scorer.coefficients)
    assert scorer.norm == pytest.approx(norm, rel=1e-9)
    assert scorer.n_features == d


def test_linear_scores_equal_those_of_numpy() -> None:
    rng = np.random.default_rng(0)
    features, weights = rng.standard_normal((50, 7)).astype(np.float32), rng.standard_normal(7)
    scorer = LinearScorer(weights)
    expected = features.astype(np.float64) @ weights
    bound = 1e-12 * np.abs(weights).sum() * np.abs(features).sum(axis=1)
    assert (np.abs(scorer.scores(features) - expected) <= bound).all()
    assert scorer.norm == pytest.approx(np.sqrt((weights**2).sum()))
    assert scorer.n_features == 7


@pytest.mark.parametrize("scale", [1e-250, 1.0, 3e7])
def test_linear_scores_do_not_depend_on_the_order_of_sums(scale: float) -> None:
    """To the last bit, for features on the grid."""
    rng = np.random.default_rng(1)
    features = (rng.integers(-GRID, GRID + 1, (600, 40)) / GRID).astype(np.float32)
    weights = scale * rng.standard_normal(40) * 10.0 ** rng.integers(-6, 3, 40)
    scores = LinearScorer(weights).scores(features)
    assert np.array_equal(LinearScorer(weights).scores(np.asfortranarray(features)), scores)
    order = rng.permutation(40)
    shuffled = LinearScorer(weights[order])
    assert np.array_equal(shuffled.scores(np.ascontiguousarray(features[:, order])), scores)
    assert np.array_equal(LinearScorer(np.zeros(40)).scores(features), np.zeros(600))
    exact = LinearScorer(weights)._exact
    assert [sum(map(Fraction, (row * exact).tolist())) for row in features[:50].astype(float)] == scores[:50].tolist()
    parts = np.zeros(600)
    for columns in (slice(0, 13), slice(13, 40)):
        off_the_grid = features[:, columns] + np.float32(0.4 / GRID)
        _kernels.add_rounded_scores(np.ascontiguousarray(off_the_grid.T), exact[columns], parts)
    assert np.array_equal(parts, scores)


def test_exponentials() -> None:
    """To the last digits of a float64 over all exponents, and next to nothing beyond."""
    exponents = -np.concatenate([[0.0, 1e-300, 1e-17], np.geomspace(1e-12, 690, 60), np.arange(1, 400) * np.log(2) / 2])
    values = np.empty_like(exponents)
    exponentials(exponents, np.empty_like(exponents), values)
    np.testing.assert_allclose(values, np.exp(exponents), rtol=4e-16 * 2, atol=0)
    far = np.array([[0.0], [1e3], [3e19]], np.float32)
    values = KernelScorer(RBF(1.0), far[:1], np.ones(1)).scores(far)
    assert values[0] == 1.0
    assert (values[1:] >= 0).all()
    assert (values[1:] < 1e-300).all()


def test_equals_are_as_near_as_can_be() -> None:
    """Rounding never makes K(x, x) more than 1, whatever the size of the features."""
    for scale in (1e-3, 1.0, 1e4):
        features = (scale * np.random.default_rng(0).standard_normal((80, 13))).astype(np.float32)
        for edge in features:
            (value,) = KernelScorer(RBF(0.3 * scale), edge[None], np.ones(1)).scores(edge[None])
            assert value == pytest.approx(1.0, abs=1e-12)
            assert value <= 1.0


@pytest.mark.parametrize(
    "scorer",
    [*(make_scorer(kernel, 150, 6) for kernel in KERNELS), LinearScorer(np.linspace(-1, 1, 6))],
    ids=lambda scorer: str(getattr(scorer, "kernel", "weights")),
)
def test_an_edge_scores_the_same_in_any_company(scorer: Scorer, monkeypatch: pytest.MonkeyPatch) -> None:
    features = np.random.default_rng(2).random((101, 6), np.float32)
    whole = scorer.scores(features)
    alone = np.concatenate([scorer.scores(features[e : e + 1]) for e in range(len(features))])
    assert whole.tobytes() == alone.tobytes()
    for values_at_once in (1, 150 * 7, 150 * 1000):
        monkeypatch.setattr(kernels, "_VALUES_AT_ONCE", values_at_once)
        assert score_in_threads(scorer, features).tobytes() == whole.tobytes()
    assert score_in_threads(scorer, features[:0]).shape == (0,)


def explicit(x: np.ndarray, degree: int) -> np.ndarray:
    """Φ(x) of (1 + x·y)^degree / degree: all products of `degree` out of (1, x), by the multinomial theorem."""
    extended = np.hstack([np.ones((len(x), 1)), x])
    columns = []
    for exponents in _compositions(degree, extended.shape[1]):
        ways = factorial(degree) / np.prod([factorial(e) for e in exponents])
        columns.append(np.sqrt(ways / degree) * np.prod(extended ** np.array(exponents), axis=1))
    return np.stack(columns, axis=1)


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    bars = combinations(range(total + parts - 1), parts - 1)
    return [tuple(np.diff([-1, *places, total + parts - 1]) - 1) for places in bars]


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_a_polynomial_is_linear_in_products_of_features(degree: int) -> None:
    scorer = make_scorer(Polynomial(degree), 20, 4)
    features = np.random.default_rng(3).random((30, 4), np.float32)
    weights = explicit(scorer.support.astype(np.float64), degree).T @ scorer.coefficients
    np.testing.assert_allclose(scorer.scores(features), explicit(features.astype(np.float64), degree) @ weights)
    assert scorer.norm == pytest.approx(np.linalg.norm(weights))


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3), RBF(0.1)], ids=str)
def test_what_is_written_is_what_is_read(kernel: Kernel, tmp_path: Path) -> None:
    features = np.random.default_rng(4).random((40, 5), np.float32)
    for scorer in (make_scorer(kernel, 70, 5), LinearScorer(np.linspace(0, 1, 5))):
        buffer = io.BytesIO()
        write_model(buffer, {"scorer": scorer.describe()}, scorer.to_arrays())
        (tmp_path / "scorer").write_bytes(buffer.getvalue())
        header, arrays = read_model(tmp_path / "scorer")
        read = read_scorer(header["scorer"], arrays)
        assert read.describe() == scorer.describe()
        assert read.scores(features).tobytes() == scorer.scores(features).tobytes()


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


def test_arrays_that_do_not_fit() -> None:
    support, coefficients = np.ones((3, 2), np.float32), np.ones(3)
    KernelScorer(RBF(), support, coefficients)
    for wrong in (support.astype(np.float64), support[:, :1], support.ravel()):
        with pytest.raises(ValueError, match="support must be"):
            KernelScorer(RBF(), wrong, coefficients)
    for wrong in (coefficients[:2], coefficients[:, None], coefficients.astype(np.float32)):
        with pytest.raises(ValueError, match="coefficients must be 3"):
            KernelScorer(RBF(), support, wrong)
    for wrong in (np.ones((2, 2)), np.ones(2, np.float32)):
        with pytest.raises(ValueError, match="weights must be"):
            LinearScorer(wrong)
