"""Fertility: rewards of further links, and the columns that are linear in their weights."""

from __future__ import annotations

import numpy as np
import pytest

from aligner.svm.prices import Fertility, fertility_names


def random_fertility(seed: int, source_capacity: int, target_capacity: int) -> Fertility:
    rng = np.random.default_rng(seed)
    shapes = rng.integers(0, 6, (7, 2))
    rows, columns = shapes.sum(axis=0)
    source, target = rng.random((rows, 3)), rng.random((columns, 2))
    return Fertility(source, target, shapes, source_capacity, target_capacity, tuple("abc"), tuple("ab"))


@pytest.mark.parametrize("capacities", [(2, 2), (4, 1), (1, 3), (1, 1)])
def test_weights_times_columns_are_the_rewards(capacities: tuple[int, int]) -> None:
    """v · Σ_j g(j) max(0, deg − u + 1) = Σ_j Σ_{t=2..deg} ρ_t(j), with ρ_t = Σ_{u=2..t} v_u·g summed here anew."""
    fertility = random_fertility(0, *capacities)
    rng = np.random.default_rng(1)
    weights = -rng.random(len(fertility.names))
    named = dict(zip(fertility.names, weights, strict=True))
    source_links = rng.integers(0, capacities[0] + 1, len(fertility.source))
    target_links = rng.integers(0, capacities[1] + 1, len(fertility.target))
    columns = fertility.features(source_links, target_links)
    rewards = fertility.rewards(weights)
    offsets = fertility.word_offsets
    for pair in range(7):
        total = by_rewards = 0.0
        for side, (name, matrix, features, links) in enumerate(
            [
                ("source", fertility.source, "abc", source_links),
                ("target", fertility.target, "ab", target_links),
            ]
        ):
            for word in range(offsets[pair, side], offsets[pair + 1, side]):
                by_rewards += rewards[side][word, : max(0, links[word] - 1)].sum()
                for t in range(2, links[word] + 1):
                    for u in range(2, t + 1):
                        total += sum(
                            named[f"{name}:{u}:{c}"] * matrix[word, position] for position, c in enumerate(features)
                        )
        assert columns[pair] @ weights == pytest.approx(total, abs=1e-12)
        assert by_rewards == pytest.approx(total, abs=1e-12)
    for side, capacity in zip(rewards, capacities, strict=True):
        assert side.shape[1] == capacity - 1
        assert (np.diff(side, axis=1, prepend=0.0) <= 0).all()


def test_a_part_is_that_of_its_pairs() -> None:
    fertility = random_fertility(2, 2, 3)
    chosen = np.array([4, 0, 4])
    part, offsets = fertility.take(chosen), fertility.word_offsets
    np.testing.assert_array_equal(part.shapes, fertility.shapes[chosen])
    for ours, whole, side in ((part.source, fertility.source, 0), (part.target, fertility.target, 1)):
        np.testing.assert_array_equal(
            ours, np.concatenate([whole[offsets[i, side] : offsets[i + 1, side]] for i in chosen])
        )
    assert part.names == fertility.names


def test_constant_features() -> None:
    fertility = Fertility.constant(np.array([[2, 1], [0, 3]]), 3, 2)
    assert fertility.names == fertility_names(3, 2, ["constant"], ["constant"])
    assert fertility.names == ("source:2:constant", "source:3:constant", "target:2:constant")
    source, target = fertility.rewards(np.array([-1.0, -0.5, -2.0]))
    np.testing.assert_array_equal(source, [[-1.0, -1.5]] * 2)
    np.testing.assert_array_equal(target, [[-2.0]] * 4)


def test_what_does_not_fit_is_named() -> None:
    shapes, one = np.array([[2, 1]]), ("x",)
    with pytest.raises(ValueError, match="source features must be a C-contiguous float64"):
        Fertility(np.ones((1, 1)), np.ones((1, 1)), shapes, 2, 2, one, one)
    with pytest.raises(ValueError, match="target features of fertility must be from 0 to 1"):
        Fertility(np.ones((2, 1)), np.full((1, 1), np.nan), shapes, 2, 2, one, one)
    with pytest.raises(ValueError, match="capacity of at least 1"):
        Fertility(2, 0)
    for bad in ([0.5, -1.0], [np.nan, -1.0], [-1.0]):
        with pytest.raises(ValueError, match="2 numbers that are at most 0"):
            Fertility(2, 2).rewards(np.array(bad))
