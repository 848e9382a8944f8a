"""Orthography: how alike two words look."""

from __future__ import annotations

import numba as nb
import numpy as np

from features.edges import EdgeBatch
from features.table import Matrix
from features.words import NUMERIC, PUNCTUATION

NAMES = (
    "hamming",
    "exact",
    "exact_unaccented",
    "prefix",
    "suffix",
    "subsequence",
    "both_short",
    "both_numeric",
    "both_punctuation",
)
SHORT = 3
"""Words of at most so many letters are short."""

_WIDTH = len(NAMES)
_MEMO_BITS = 14


def fill(batch: EdgeBatch, out: Matrix, column: int) -> None:
    """Likeness of the two normalised words e and f, without accents but for the first two; each in [0, 1].

    hamming: differing letters of the words padded to equal length, over that length (the seeds' feature).
    exact: the words are equal.  exact_unaccented: they are equal without accents.
    prefix, suffix, subsequence: length of the longest common one over the length of the longer word  [TLK05 §3].
    both_short: both have at most SHORT letters.  both_numeric: both contain a digit.
    both_punctuation: neither has a letter or a digit.
    """
    source, target = batch.source_words.table, batch.target_words.table
    _fill(
        batch.source_tokens, batch.target_tokens, batch.source_offsets, batch.target_offsets, batch.offsets,
        source.letters, source.offsets, source.plain_letters, source.plain_offsets, source.flags,
        target.letters, target.offsets, target.plain_letters, target.plain_offsets, target.flags,
        out, column,
    )  # fmt: skip


@nb.njit(cache=True, nogil=True)
def _fill(
    source_tokens, target_tokens, source_offsets, target_offsets, offsets,
    source_letters, source_bounds, source_plain, source_plain_bounds, source_flags,
    target_letters, target_bounds, target_plain, target_plain_bounds, target_flags,
    out, column,
):  # fmt: skip
    # The same word pairs come again and again: remember the edge that last showed each (direct-mapped by a hash).
    memo_pair = np.full(1 << _MEMO_BITS, -1, np.int64)
    memo_edge = np.empty(1 << _MEMO_BITS, np.int64)
    longest = 1
    for f in range(len(target_plain_bounds) - 1):
        longest = max(longest, target_plain_bounds[f + 1] - target_plain_bounds[f])
    lengths = np.zeros(longest + 1, np.int64)
    n_target_words = len(target_flags)
    for i in range(len(offsets) - 1):
        edge = offsets[i]
        for j in range(source_offsets[i], source_offsets[i + 1]):
            e = source_tokens[j]
            a = source_letters[source_bounds[e] : source_bounds[e + 1]]
            plain_a = source_plain[source_plain_bounds[e] : source_plain_bounds[e + 1]]
            for k in range(target_offsets[i], target_offsets[i + 1]):
                f = target_tokens[k]
                pair = np.int64(e) * n_target_words + f
                slot = ((pair * 0x9E3779B97F4A7C1) >> 20) & ((1 << _MEMO_BITS) - 1)
                if memo_pair[slot] == pair:
                    known = memo_edge[slot]
                    for c in range(column, column + _WIDTH):
                        out[edge, c] = out[known, c]
                else:
                    b = target_letters[target_bounds[f] : target_bounds[f + 1]]
                    plain_b = target_plain[target_plain_bounds[f] : target_plain_bounds[f + 1]]
                    out[edge, column] = hamming(a, b)
                    out[edge, column + 1] = equal(a, b)
                    out[edge, column + 2] = equal(plain_a, plain_b)
                    longer = max(len(plain_a), len(plain_b), 1)
                    prefix = common_prefix(plain_a, plain_b)
                    out[edge, column + 3] = prefix / longer
                    out[edge, column + 4] = common_suffix(plain_a, plain_b) / longer
                    out[edge, column + 5] = common_subsequence(plain_a, plain_b, prefix, lengths) / longer
                    out[edge, column + 6] = len(a) <= SHORT and len(b) <= SHORT
                    out[edge, column + 7] = (source_flags[e] & target_flags[f] & NUMERIC) != 0
                    out[edge, column + 8] = (source_flags[e] & target_flags[f] & PUNCTUATION) != 0
                    memo_pair[slot] = pair
                    memo_edge[slot] = edge
                edge += 1


@nb.njit(cache=True, nogil=True)
def hamming(a, b):
    """Share of positions at which the words, padded at the end to equal length, differ."""
    same = 0
    for c in range(min(len(a), len(b))):
        same += a[c] == b[c]
    longer = max(len(a), len(b), 1)
    return (longer - same) / longer


@nb.njit(cache=True, nogil=True)
def equal(a, b):
    return len(a) == len(b) and common_prefix(a, b) == len(a)


@nb.njit(cache=True, nogil=True)
def common_prefix(a, b):
    """Length of the longest common prefix."""
    n = min(len(a), len(b))
    c = 0
    while c < n and a[c] == b[c]:
        c += 1
    return c


@nb.njit(cache=True, nogil=True)
def common_suffix(a, b):
    """Length of the longest common suffix."""
    n = min(len(a), len(b))
    c = 0
    while c < n and a[len(a) - 1 - c] == b[len(b) - 1 - c]:
        c += 1
    return c


@nb.njit(cache=True, nogil=True)
def common_subsequence(a, b, prefix, lengths):
    """Length of the longest common subsequence of words that share a prefix of the given length.

    lengths: (len(b) + 1,) zeros, given back as zeros.
    """
    for x in range(prefix, len(a)):
        diagonal = 0
        letter = a[x]
        for y in range(prefix, len(b)):
            above = lengths[y + 1]
            if letter == b[y]:
                lengths[y + 1] = diagonal + 1
            elif lengths[y] > above:
                lengths[y + 1] = lengths[y]
            diagonal = above
    best = lengths[len(b)] if prefix < len(a) and prefix < len(b) else 0
    lengths[prefix : len(b) + 1] = 0
    return prefix + best
