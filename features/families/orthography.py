"""Orthography: how alike two words look; also whether both are short, numbers or punctuation."""

import numpy as np

from corpora.compiled import compiled
from corpora.ragged import Array
from features.batch import EdgeBatch
from features.table import Matrix
from features.words import NUMERIC, PUNCTUATION, WordTable

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
OF_WORD_PAIRS = True
SHORT = 3
"""Words with at most this many letters are short."""
LONGEST = 1000
"""Of longer words only so many letters are searched for a common subsequence."""


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """How alike the two normalised words are, in Latin letters without accents except for exact; each in [0, 1].

    hamming: differing letters of the words padded to equal length, over that length (the seeds' feature).
    exact: the words are equal.  exact_unaccented: they are equal in Latin letters without accents.
    prefix, suffix, subsequence: length of the longest common one over the length of the longer word  [TLK05 §3].
    both_short: both have at most SHORT letters.  both_numeric: both contain a digit.
    both_punctuation: neither has a letter or a digit.
    """
    pairs, source, target = batch.word_pairs, batch.text.source_words.table, batch.text.target_words.table
    _fill(pairs.source, pairs.target, _spelling(source), _spelling(target), out.T)


def _spelling(table: WordTable) -> tuple[Array, ...]:
    return table.letters, table.offsets, table.plain_letters, table.plain_offsets, table.flags, table.accented


@compiled
def _fill(sources, targets, source, target, out):
    e_letters, e_bounds, e_plain, e_plain_bounds, e_flags, e_accented = source
    f_letters, f_bounds, f_plain, f_plain_bounds, f_flags, f_accented = target
    for pair in range(len(sources)):
        e, f = sources[pair], targets[pair]
        a = e_plain[e_plain_bounds[e] : e_plain_bounds[e + 1]]
        b = f_plain[f_plain_bounds[f] : f_plain_bounds[f + 1]]
        same, prefix, suffix = shared_letters(a, b)
        longer = max(len(a), len(b), 1)
        out[0, pair] = (longer - same) / longer
        out[1, pair] = out[2, pair] = len(a) == len(b) and same == len(a)
        out[3, pair] = prefix / longer
        out[4, pair] = suffix / longer
        out[5, pair] = common_subsequence(a, b, prefix, suffix) / longer
        a = e_letters[e_bounds[e] : e_bounds[e + 1]]
        b = f_letters[f_bounds[f] : f_bounds[f + 1]]
        out[6, pair] = len(a) <= SHORT and len(b) <= SHORT
        out[7, pair] = (e_flags[e] & f_flags[f] & NUMERIC) != 0
        out[8, pair] = (e_flags[e] & f_flags[f] & PUNCTUATION) != 0
        if e_accented[e] or f_accented[f]:
            same, prefix, suffix = shared_letters(a, b)
            longer = max(len(a), len(b), 1)
            out[0, pair] = (longer - same) / longer
            out[1, pair] = len(a) == len(b) and same == len(a)


@compiled
def shared_letters(a, b):
    """Places at which both words have the same letter, and lengths of the longest common prefix and suffix."""
    n = min(len(a), len(b))
    same = 0
    for c in range(n):
        same += a[c] == b[c]
    prefix = 0
    while prefix < n and a[prefix] == b[prefix]:
        prefix += 1
    suffix = 0
    while suffix < n and a[len(a) - 1 - suffix] == b[len(b) - 1 - suffix]:
        suffix += 1
    return same, prefix, suffix


@compiled(inline="always")
def common_subsequence(a, b, prefix, suffix):
    """Length of the longest common subsequence.  prefix, suffix: lengths of the common prefix and suffix.

    Between these it is that of at most 64 letters of `a` and LONGEST of `b`: the row of the textbook's table for `a` is
    the bits of a number, and the length grows at its zero bits  [Hyyrö 2004].
    """
    suffix = min(suffix, min(len(a), len(b)) - prefix)
    last = min(len(a) - suffix, prefix + 64)
    row = ~np.uint64(0)
    for y in range(prefix, min(len(b) - suffix, prefix + LONGEST)):
        places = np.uint64(0)
        for x in range(prefix, last):
            places |= np.uint64(a[x] == b[y]) << np.uint64(x - prefix)
        matches = row & places
        row = (row + matches) | (row - matches)
    longest = prefix + suffix
    for x in range(last - prefix):
        longest += ((row >> np.uint64(x)) & np.uint64(1)) == 0
    return longest
