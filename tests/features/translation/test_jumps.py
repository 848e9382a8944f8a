"""Weights of jumps: of words that have jumped, of those that have not, and as a model keeps them."""

import numpy as np

from features.translation.expected_counts import Direction, DirectionCounts
from features.translation.jumps import (
    INSIDE,
    LEAVING,
    WIDTHS,
    WINDOW,
    Jumps,
    JumpWeights,
    first_jumps,
    fit_jumps,
    group_words,
    new_jumps,
    with_groups,
)

ONE = np.zeros(1, np.int32)
GROUPS = np.array([2, 0, 1, 0], np.int32)


def test_jumps_that_were_never_seen_stay_possible() -> None:
    jumps = new_jumps(ONE)
    for smoothing in (0.0, 1.0):
        for mine, even in zip(fit_jumps(jumps, first_jumps(ONE), smoothing), first_jumps(ONE), strict=True):
            np.testing.assert_allclose(mine, even)
    jumps.counts[INSIDE + WINDOW + 1] = jumps.inside[:, 0, WINDOW + 1] = 5.0
    jumps.contexts[1, WINDOW, WINDOW] = 5.0
    jumps.needs[:] = 5.0
    weights = fit_jumps(jumps, first_jumps(ONE), 0.0)
    assert all((part > 0.0).all() for part in weights[:2])
    assert weights.shared[INSIDE : INSIDE + WIDTHS].argmax() == WINDOW + 1
    assert (weights.inside.argmax(axis=2) == WINDOW + 1).all()


def test_a_group_that_never_jumped_jumps_as_all_do() -> None:
    jumps, weights = new_jumps(ONE), first_jumps(ONE)
    jumps.inside[:], jumps.needs[:] = np.arange(WIDTHS), 1.0
    weights = fit_jumps(jumps, weights._replace(shared=np.random.default_rng(0).random(len(weights.shared))), 1.0)
    mean = weights.shared[INSIDE : INSIDE + WIDTHS] / weights.shared[INSIDE : INSIDE + WIDTHS].sum()
    more, even = with_groups(jumps, weights, GROUPS)
    np.testing.assert_allclose(even.inside[:, 1:], np.stack([[mean, mean], np.ones((2, WIDTHS))]))
    assert (even.inside[:, 0] == weights.inside[:, 0]).all()
    assert (more.inside[:, 1:] == 0.0).all()
    for smoothing in (0.0, 1.0):
        np.testing.assert_allclose(fit_jumps(more, even, smoothing).inside[:, 1:], even.inside[:, 1:])


def test_weights_that_are_kept_and_their_jumps_make_the_same_weights() -> None:
    rng = np.random.default_rng(0)
    jumps = Jumps(*(rng.random(array.shape) + 0.1 for array in new_jumps(GROUPS)))
    weights = JumpWeights(first_jumps(GROUPS).shared, rng.random((2, 3, WIDTHS)) + 0.1, GROUPS)
    weights.inside[LEAVING] /= weights.inside[LEAVING].sum(axis=1, keepdims=True)
    direction = Direction.from_counts(DirectionCounts(np.ones(2), jumps), weights)
    assert direction.frequent.tolist() == [2, 0]
    kept = direction.jump_weights(len(GROUPS))
    assert kept.groups.tolist() == GROUPS.tolist()
    np.testing.assert_allclose(kept.inside, weights.inside, rtol=1e-6)
    again = direction.counts(3, kept)
    assert again.null.tolist() == [1.0, 1.0, 0.0]
    np.testing.assert_allclose(fit_jumps(again.jumps, kept, 0.0).inside, kept.inside, rtol=1e-6)


def test_words_that_are_frequent_stay_groups_of_their_own() -> None:
    occurrences = np.array([100.0, 1.0, 10.0, 0.0, 9.0])
    assert group_words(occurrences).tolist() == [1, 0, 2, 0, 0]
    assert group_words(occurrences, np.array([0, 1], np.int32)).tolist() == [2, 1, 3, 0, 0]
