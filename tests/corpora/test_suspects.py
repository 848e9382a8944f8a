"""Pairs that may be no translations: their support by links, and what plainly differs."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import cases

from corpora.suspects import faults, odd_lengths, support

SIZES = st.integers(1, 5)


@given(SIZES, SIZES, st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.floats(0, 1)))
def test_support_is_the_mean_over_words_of_the_likeliest_link(
    J: int, K: int, links: dict[tuple[int, int], float]
) -> None:
    links = {(j, k): p for (j, k), p in links.items() if j < J and k < K}
    table = np.zeros((J, K))
    for place, p in links.items():
        table[place] = p
    words = [*table.max(axis=1), *table.max(axis=0)]
    assert support(J, K, links) == pytest.approx(np.mean(words))
    assert support(K, J, {(k, j): p for (j, k), p in links.items()}) == pytest.approx(np.mean(words))


@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    cases(
        """
        ¦ ¦ 0 ¦
        a ¦ ¦ 0 ¦ no translation
        a ¦ b ¦ 0 ¦ no links
        a b ¦ b c ¦ 2 ¦
        The same , text ¦ the SAME text . ¦ 3 ¦ same text
        7 , ¦ 7 . ¦ 1 ¦
        1,000.5 in 2024 ¦ 2024 : 1 000 , 5 ¦ 1 ¦
        १२ a ¦ 12 b ¦ 1 ¦
        in 1999 ¦ im Jahr 1998 ¦ 1 ¦ numbers
        two of 3 ¦ zwei ¦ 1 ¦ numbers
        """
    ),
)
def test_faults(source: str, target: str, links: str, expected: str) -> None:
    for sides in ((source, target), (target, source)):
        own = [expected] * bool(expected)
        assert faults(*map(str.split, sides), int(links)) == own
        odd = [*own, "length"] if source and target else own
        assert faults(*map(str.split, sides), int(links), odd_length=True) == odd


def test_lengths_are_odd_beside_those_of_the_text() -> None:
    rng = random.Random(1)
    source = [rng.randint(5, 40) for _ in range(1000)]
    target = [round(1.5 * n + rng.gauss(0, n**0.5 / 2)) for n in source]
    lengths = np.array([source, target]).T
    assert odd_lengths(lengths).mean() < 0.005
    lengths[[10, 20, 30]] = (20, 10), (20, 60), (0, 30)
    found = np.flatnonzero(odd_lengths(lengths))
    assert {10, 20} <= {*found}
    assert 30 not in found, "an empty side is another fault"
    np.testing.assert_array_equal(odd_lengths(lengths[:, ::-1]), odd_lengths(lengths))
    assert not odd_lengths(np.zeros((3, 2), np.int64)).any()
    assert odd_lengths(np.empty((0, 2), np.int64)).shape == (0,)
