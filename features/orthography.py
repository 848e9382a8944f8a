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

_LETTERS = 64
"""Words of fewer letters have a bit for each."""


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
        batch.twins, source.letters, source.offsets, source.plain_letters, source.plain_offsets, source.flags,
        target.letters, target.offsets, target.plain_letters, target.plain_offsets, target.flags,
        out, column,
    )  # fmt: skip


@nb.njit(cache=True, nogil=True)
def _fill(
    source_tokens, target_tokens, source_offsets, target_offsets, offsets, twins,
    source_letters, source_bounds, source_plain, source_plain_bounds, source_flags,
    target_letters, target_bounds, target_plain, target_plain_bounds, target_flags,
    out, column,
):  # fmt: skip
    longest = 1
    for f in range(len(target_plain_bounds) - 1):
        longest = max(longest, target_plain_bounds[f + 1] - target_plain_bounds[f])
    lengths = np.zeros(longest + 1, np.int64)
    masks = np.zeros(256, np.uint64)
    owners = np.zeros(256, np.int32)
    widest = 0
    for i in range(len(offsets) - 1):
        widest = max(widest, target_offsets[i + 1] - target_offsets[i])
    accented_b = np.empty(widest, np.bool_)
    for i in range(len(offsets) - 1):
        edge = offsets[i]
        start = target_offsets[i]
        for k in range(start, target_offsets[i + 1]):
            f = target_tokens[k]
            b = target_letters[target_bounds[f] : target_bounds[f + 1]]
            accented_b[k - start] = not equal(b, target_plain[target_plain_bounds[f] : target_plain_bounds[f + 1]])
        for j in range(source_offsets[i], source_offsets[i + 1]):
            e = source_tokens[j]
            a = source_letters[source_bounds[e] : source_bounds[e + 1]]
            plain_a = source_plain[source_plain_bounds[e] : source_plain_bounds[e + 1]]
            accented = not equal(a, plain_a)
            masked = set_masks(plain_a, masks, owners)
            for k in range(start, target_offsets[i + 1]):
                twin = twins[edge]
                if twin >= 0:
                    for c in range(column, column + _WIDTH):
                        out[edge, c] = out[twin, c]
                    edge += 1
                    continue
                f = target_tokens[k]
                b = target_letters[target_bounds[f] : target_bounds[f + 1]]
                plain_b = target_plain[target_plain_bounds[f] : target_plain_bounds[f + 1]]
                if masked and len(plain_b) < _LETTERS:
                    same, prefix, suffix, subsequence = masked_likeness(masks, owners, len(plain_a), plain_b)
                else:
                    same = same_places(plain_a, plain_b)
                    prefix = common_prefix(plain_a, plain_b)
                    suffix = common_suffix(plain_a, plain_b)
                    subsequence = common_subsequence(plain_a, plain_b, lengths)
                longer = max(len(plain_a), len(plain_b), 1)
                equal_plain = len(plain_a) == len(plain_b) and prefix == len(plain_a)
                if accented or accented_b[k - start]:
                    longer_accented = max(len(a), len(b), 1)
                    out[edge, column] = (longer_accented - same_places(a, b)) / longer_accented
                    out[edge, column + 1] = equal(a, b)
                else:
                    out[edge, column] = (longer - same) / longer
                    out[edge, column + 1] = equal_plain
                out[edge, column + 2] = equal_plain
                out[edge, column + 3] = prefix / longer
                out[edge, column + 4] = suffix / longer
                out[edge, column + 5] = subsequence / longer
                out[edge, column + 6] = len(a) <= SHORT and len(b) <= SHORT
                out[edge, column + 7] = (source_flags[e] & target_flags[f] & NUMERIC) != 0
                out[edge, column + 8] = (source_flags[e] & target_flags[f] & PUNCTUATION) != 0
                edge += 1
            if masked:
                clear_masks(plain_a, masks)


@nb.njit(cache=True, nogil=True)
def same_places(a, b):
    """The number of places at which both words have the same letter."""
    same = 0
    for c in range(min(len(a), len(b))):
        same += a[c] == b[c]
    return same


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
def common_subsequence(a, b, lengths):
    """Length of the longest common subsequence, by the textbook recurrence.

    lengths: at least len(b) + 1 zeros, given back as zeros.
    """
    for letter in a:
        diagonal = 0
        for y in range(len(b)):
            above = lengths[y + 1]
            if letter == b[y]:
                lengths[y + 1] = diagonal + 1
            elif lengths[y] > above:
                lengths[y + 1] = lengths[y]
            diagonal = above
    length = lengths[len(b)]
    lengths[: len(b) + 1] = 0
    return length


@nb.njit(cache=True, nogil=True)
def set_masks(a, masks, owners):
    """For each letter of a word the bits of its places; False if the word is too long or letters share a slot."""
    if len(a) >= _LETTERS:
        return False
    for x in range(len(a)):
        slot = a[x] & 255
        if masks[slot] != 0 and owners[slot] != a[x]:
            clear_masks(a, masks)
            return False
        owners[slot] = a[x]
        masks[slot] |= np.uint64(1) << np.uint64(x)
    return True


@nb.njit(cache=True, nogil=True)
def clear_masks(a, masks):
    for letter in a:
        masks[letter & 255] = 0


@nb.njit(cache=True, nogil=True)
def masked_likeness(masks, owners, n, b):
    """What two words of fewer than 64 letters share, in one walk over the second, without branches.

    masks, owners: of the first word, which has n letters.  Returns what `same_places`, `common_prefix`, `common_suffix`
    and `common_subsequence` do. The last goes a row of its table at a time  [Hyyrö 2004]: zero bits of `row` are the
    places of the first word at which the length grows.
    """
    one = np.uint64(1)
    row = ~np.uint64(0)
    places = np.uint64(0)  # bit c: both have the same letter at place c
    ends = np.uint64(0)  # bit c: the same at c, where the words stand side by side at their ends, the first at 0 on
    m = len(b)
    for c in range(m):
        letter = b[c]
        slot = letter & 255
        at = masks[slot] if owners[slot] == letter else np.uint64(0)
        matches = row & at
        row = (row + matches) | (row - matches)
        places |= at & (one << np.uint64(c))
        end = c + n - m
        ends |= at & (one << np.uint64(end)) if end >= 0 else np.uint64(0)
    prefix = 0
    while (places >> np.uint64(prefix)) & one:
        prefix += 1
    suffix = 0
    while suffix < n and (ends >> np.uint64(n - 1 - suffix)) & one:
        suffix += 1
    return count_bits(places), prefix, suffix, count_bits(~row)


@nb.njit(cache=True, nogil=True)
def count_bits(bits):
    count = 0
    while bits != 0:
        bits &= bits - np.uint64(1)
        count += 1
    return count
