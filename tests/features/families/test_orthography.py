"""Likeness of words, against plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.normalize import romanized
from features.families import orthography
from features.families.orthography import common_subsequence, shared_letters

if TYPE_CHECKING:
    from tests.features.conftest import Case

# Letters of many scripts, with several that are equal mod 256: a, š, Ѣ…
LETTERS = ["a", "b", "c", "\u0161", "\u0461", "\u0462", "\u4e61", "\u4e62", "\U00010061", "\U0001f661", "\xe9"]
spelled = st.text(st.sampled_from(LETTERS), max_size=64) | st.text(st.sampled_from("ab"), max_size=64)


def letters(word: str) -> np.ndarray:
    return np.array([ord(c) for c in word], np.int32)


def shared_start(a: str, b: str) -> int:
    return max(n for n in range(len(a) + 1) if b.startswith(a[:n]))


def longest_subsequence(a: str, b: str) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for x in range(len(a)):
        for y in range(len(b)):
            same = a[x] == b[y]
            table[x + 1][y + 1] = table[x][y] + 1 if same else max(table[x][y + 1], table[x + 1][y])
    return table[-1][-1]


def likeness(a: str, b: str) -> tuple[int, int, int, int]:
    same, prefix, suffix = shared_letters(letters(a), letters(b))
    return same, prefix, suffix, int(common_subsequence(letters(a), letters(b), prefix, suffix))


def shared_places(a: str, b: str) -> int:
    return sum(c == d for c, d in zip(a, b, strict=False))


def by_definition(a: str, b: str) -> tuple[int, int, int, int]:
    return shared_places(a, b), shared_start(a, b), shared_start(a[::-1], b[::-1]), longest_subsequence(a, b)


def test_the_time_for_very_long_words_is_bounded() -> None:
    """Of equal words, and of what differs within the first 64 letters, the length is the true one."""
    n = 200_000
    assert likeness("ab" * n, "ab" * n)[3] == 2 * n
    assert likeness("x" + "ab" * n + "y", "z" + "ab" * n + "z")[3] == 63  # of 64 letters, one of which differs
    assert likeness("x" * n + "a", "y" * n + "a")[3] == 1


@settings(deadline=None, max_examples=300)
@given(spelled, spelled)
def test_likeness(a: str, b: str) -> None:
    assert likeness(a, b) == by_definition(a, b)
    assert likeness(a, a) == (len(a),) * 4


def test_every_column(case: Case, columns: Callable[..., np.ndarray]) -> None:
    expected = []
    for es, fs, _ in case.matrices():
        for e in es:
            for f in fs:
                a, b = romanized(e), romanized(f)
                longer, plain_longer = max(len(e), len(f)), max(len(a), len(b))
                same = sum(c == d for c, d in zip(e, f, strict=False))
                digits = [any(c.isdigit() for c in word) for word in (e, f)]
                marks = [not any(c.isalnum() for c in word) for word in (e, f)]
                expected.append(
                    [
                        (longer - same) / longer,
                        e == f,
                        a == b,
                        shared_start(a, b) / plain_longer,
                        shared_start(a[::-1], b[::-1]) / plain_longer,
                        longest_subsequence(a, b) / plain_longer,
                        len(e) <= 3 and len(f) <= 3,
                        all(digits),
                        all(marks),
                    ]
                )
    np.testing.assert_allclose(columns(orthography, 9), expected, rtol=1e-6)
