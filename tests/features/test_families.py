"""Bias, association, position, competition, neighbours and links: the documented formulas, edge by edge."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import TYPE_CHECKING

import numpy as np
import pytest

from corpora.alignment import Links, PairLinks
from features import association, bias, competition, links, neighbours, position
from features.extractor import FAMILIES

if TYPE_CHECKING:
    from tests.features.conftest import Case

Columns = Callable[..., np.ndarray]

SIGNED = {"margin_row", "margin_column"}


def test_families_and_names() -> None:
    names = [name for family in FAMILIES.values() for name in family.NAMES]
    assert len(names) == len(set(names))
    assert list(FAMILIES) == [family.__name__.removeprefix("features.") for family in FAMILIES.values()]


@pytest.mark.parametrize("name", FAMILIES)
def test_ranges(columns: Columns, name: str) -> None:
    family = FAMILIES[name]
    values = columns(family, len(family.NAMES))
    assert np.isfinite(values).all()
    for column, feature in enumerate(family.NAMES):
        assert values[:, column].min() >= (-1 if feature in SIGNED else 0)
        assert values[:, column].max() <= 1
        assert feature == "bias" or len(set(values[:, column].tolist())) > 1


def test_bias(columns: Columns) -> None:
    assert (columns(bias, 1) == 1).all()


def test_association(case: Case, columns: Columns) -> None:
    expected: list[list[float]] = []
    source, target, _ = case.counts
    scale = log(1 + len(case.counted))
    for es, fs, _ in case.matrices():
        for e in es:
            for f in fs:
                a, b = log(1 + source[e]) / scale, log(1 + target[f]) / scale
                expected.append([float(case.dice(e, f)), a, b, abs(a - b)])
    np.testing.assert_allclose(columns(association, 4), expected, rtol=1e-6, atol=1e-7)


def test_position(case: Case, columns: Columns) -> None:
    expected = []
    for es, fs, _ in case.matrices():
        for j in range(len(es)):
            for k in range(len(fs)):
                distance = abs(j / len(es) - k / len(fs))
                expected.append([distance, distance**0.5, distance**2])
    np.testing.assert_allclose(columns(position, 3), expected, rtol=1e-6)


def standing(line: list[float], x: int) -> tuple[float, float, float]:
    """Rank, margin and share of one edge in its row or column."""
    value, rivals = line[x], line[:x] + line[x + 1 :]
    best = max(line)
    return (
        1 / (1 + sum(rival > value for rival in rivals)),
        value - max(rivals, default=0.0),
        value / best if best > 0 else 0.0,
    )


def test_competition(case: Case, columns: Columns) -> None:
    values = columns(competition, 7)
    for es, fs, rows in case.matrices():
        dice = case.dice_matrix(es, fs).astype(np.float64)
        expected = []
        for j in range(len(es)):
            for k in range(len(fs)):
                row, column = standing(dice[j].tolist(), k), standing(dice[:, k].tolist(), j)
                mutual = dice[j, k] > 0 and max(dice[j].max(), dice[:, k].max()) <= dice[j, k]
                both = zip(row, column, strict=True)
                expected.append([*(part for parts in both for part in parts), float(mutual)])
        np.testing.assert_allclose(values[rows], np.reshape(expected, (-1, 7)), rtol=1e-6, atol=1e-7)


def test_neighbours(case: Case, columns: Columns) -> None:
    values = columns(neighbours, 8)
    for es, fs, rows in case.matrices():
        J, K = len(es), len(fs)
        best = case.batch.mutual_best[rows].reshape(J, K)
        # Outside of the pair there is nothing: a frame of zeros.
        framed = [np.pad(matrix, 1) for matrix in (case.dice_matrix(es, fs), best)]
        expected = [
            [m[j + 1 + dj, k + 1 + dk] for m in framed for dj, dk in ((-1, -1), (1, 1), (-1, 1), (1, -1))]
            for j in range(J)
            for k in range(K)
        ]
        np.testing.assert_array_equal(values[rows], np.reshape(expected, (-1, 8)))


def test_links(case: Case, columns: Columns) -> None:
    rng = np.random.default_rng(5)
    chosen = [{(j, k) for j in range(J) for k in range(K) if rng.random() < 0.3} for J, K in case.batch.shapes.tolist()]
    # What the other aligner calls possible is linked by it too.
    pairs = [
        PairLinks(frozenset(x for x in s if sum(x) % 2), frozenset(x for x in s if not sum(x) % 2)) for s in chosen
    ]
    expected = [
        float((j, k) in linked)
        for linked, (J, K) in zip(chosen, case.batch.shapes.tolist(), strict=True)
        for j in range(J)
        for k in range(K)
    ]
    assert columns(links, 1, Links.from_pairs(pairs))[:, 0].tolist() == expected
    assert sum(expected) > 10
