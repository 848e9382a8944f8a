"""Orthography: how alike two words look."""

from __future__ import annotations

import numba as nb
import numpy as np

from features.batch import EdgeBatch
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
        batch.word_pairs.source, batch.word_pairs.target,
        source.letters, source.offsets, source.plain_letters, source.plain_offsets, source.flags,
        target.letters, target.offsets, target.plain_letters, target.plain_offsets, target.flags,
        source.accented, target.accented, target.longest, out, column,
    )  # fmt: skip


@nb.njit(cache=True, nogil=True, error_model="numpy")
def _fill(
    source, target,
    source_letters, source_bounds, source_plain, source_plain_bounds, source_flags,
    target_letters, target_bounds, target_plain, target_plain_bounds, target_flags,
    source_accented, target_accented, longest, out, column,
):  # fmt: skip
    lengths = np.zeros(longest + 1, np.int64)
    masks = np.zeros(256, np.uint64)
    owners = np.zeros(256, np.int32)
    first = 0
    while first < len(source):
        e = source[first]
        plain_a = source_plain[source_plain_bounds[e] : source_plain_bounds[e + 1]]
        n = len(plain_a)
        n_accented = source_bounds[e + 1] - source_bounds[e]
        masked = set_masks(plain_a, masks, owners)
        pair = first
        while pair < len(source) and source[pair] == e:
            f = target[pair]
            start, stop = target_plain_bounds[f], target_plain_bounds[f + 1]
            m = stop - start
            m_accented = target_bounds[f + 1] - target_bounds[f]
            if masked and m < _LETTERS:
                same, prefix, suffix, subsequence = masked_likeness(masks, owners, n, target_plain, start, stop)
            else:
                plain_b = target_plain[start:stop]
                same = same_places(plain_a, plain_b)
                prefix = common_prefix(plain_a, plain_b)
                suffix = common_suffix(plain_a, plain_b)
                subsequence = common_subsequence(plain_a, plain_b, lengths)
            longer = max(n, m, 1)
            out[pair, column] = (longer - same) / longer
            out[pair, column + 1] = out[pair, column + 2] = n == m and prefix == n
            out[pair, column + 3] = prefix / longer
            out[pair, column + 4] = suffix / longer
            out[pair, column + 5] = subsequence / longer
            out[pair, column + 6] = n_accented <= SHORT and m_accented <= SHORT
            out[pair, column + 7] = (source_flags[e] & target_flags[f] & NUMERIC) != 0
            out[pair, column + 8] = (source_flags[e] & target_flags[f] & PUNCTUATION) != 0
            if source_accented[e] or target_accented[f]:
                a = source_letters[source_bounds[e] : source_bounds[e + 1]]
                b = target_letters[target_bounds[f] : target_bounds[f + 1]]
                longer = max(n_accented, m_accented, 1)
                out[pair, column] = (longer - same_places(a, b)) / longer
                out[pair, column + 1] = equal(a, b)
            pair += 1
        if masked:
            clear_masks(plain_a, masks)
        first = pair


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
def masked_likeness(masks, owners, n, letters, start, stop):
    """What two words of fewer than 64 letters share, in one walk over the second, letters[start:stop].

    masks, owners: of the first word, which has n letters.  Returns what `same_places`, `common_prefix`, `common_suffix`
    and `common_subsequence` do. The last goes a row of its table at a time  [Hyyrö 2004]: zero bits of `row` are the
    places of the first word at which the length grows.
    """
    one = np.uint64(1)
    row = ~np.uint64(0)
    places = np.uint64(0)  # bit c: both have the same letter at place c
    ends = np.uint64(0)  # bit c: the same at place c of the second, where the words stand side by side at their ends
    bit = one
    shift_up = np.uint64(max(stop - start - n, 0))
    shift_down = np.uint64(max(n - stop + start, 0))
    for c in range(start, stop):
        letter = letters[c]
        slot = letter & 255
        at = masks[slot] if owners[slot] == letter else np.uint64(0)
        matches = row & at
        row = (row + matches) | (row - matches)
        places |= at & bit
        ends |= (at << shift_up >> shift_down) & bit
        bit <<= one
    prefix = count_bits((~places & (places + one)) - one)  # the bits below the lowest that is not set
    return count_bits(places), prefix, stop - start - _bit_length(~ends & (bit - one)), count_bits(~row)


@nb.njit(cache=True, nogil=True)
def _bit_length(bits):
    """The place of the highest bit that is set, from 1; 0 of none."""
    for distance in (1, 2, 4, 8, 16, 32):
        bits |= bits >> np.uint64(distance)
    return count_bits(bits)


@nb.njit(cache=True, nogil=True)
def count_bits(bits):
    count = 0
    while bits != 0:
        bits &= bits - np.uint64(1)
        count += 1
    return count
