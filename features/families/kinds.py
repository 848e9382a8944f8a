"""Kinds of words: frequent, short, punctuation, numbers, and words that stand more than once in the sentence."""

from __future__ import annotations

import numpy as np

from corpora.ragged import I32, I64, Bools
from features.batch import EdgeBatch, Encoded, Words
from features.table import Matrix
from features.translation.lexicon import KINDS
from features.words import NUMERIC, PUNCTUATION

SHARES = (0.02, 0.1, 0.3)
"""Words in at least so large a share of the sentence pairs of the corpus are frequent, ever more so."""

_PER_WORD = (*(f"frequent_{share:g}" for share in SHARES), "punctuation", "numeric", "unknown", "repeated")

NAMES = (
    *(f"{kind}_source" for kind in _PER_WORD),
    *(f"{kind}_target" for kind in _PER_WORD),
    *("both_frequent", "one_frequent", "one_punctuation", "one_numeric"),
    *("soft_frequent_source", "soft_frequent_target", "soft_rare", "repeated_distance"),
)
LEXICONS = tuple(KINDS)


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Indicators of the kinds of both words, and what the posterior s (`families.hmm`) is worth for some kinds.

    frequent_x: the word is in at least a share x of the corpus's sentence pairs.  punctuation: it has no letter or
    digit.  numeric: it has a digit.  unknown: the corpus does not have it.  repeated: it stands in its sentence again.
    both_frequent, one_frequent, one_punctuation, one_numeric: both words are of the kind, or just one of them.
    soft_frequent: s where the word is frequent.  soft_rare: s where neither is.
    repeated_distance: |j/J - k/K| where either word is repeated.
    """
    tokens, kinds = batch.tokens, batch.text.once(_kinds)
    source, target = kinds[0][tokens.source], kinds[1][tokens.target]
    source[:, -1] = _repeated(tokens.source, tokens.source_offsets)
    target[:, -1] = _repeated(tokens.target, tokens.target_offsets)
    j, k = batch.ends
    of_source, of_target = source.T.take(j, axis=1), target.T.take(k, axis=1)
    soft, frequent, (punctuation, numeric, _, repeated) = batch.soft.take(batch.listed.cells), 1, range(-4, 0)
    columns = (
        *of_source, *of_target,
        of_source[frequent] & of_target[frequent],
        *(of_source[kind] != of_target[kind] for kind in (frequent, punctuation, numeric)),
        soft * of_source[frequent], soft * of_target[frequent], soft * ~(of_source[frequent] | of_target[frequent]),
        batch.off_diagonal * (of_source[repeated] | of_target[repeated]),
    )  # fmt: skip
    for column, values in enumerate(columns):
        out[:, column] = values


def _kinds(text: Encoded) -> tuple[Bools, Bools]:
    """(V, kinds) of each source and each target word, with none repeated."""
    pairs = max(text.statistics.cooccurrence.pairs, 1)
    return _kinds_of(text.source_words, pairs), _kinds_of(text.target_words, pairs)


def _kinds_of(words: Words, pairs: int) -> Bools:
    share = words.counts / pairs
    flags = words.table.flags
    columns = [share >= least for least in SHARES]
    columns += [flags & PUNCTUATION > 0, flags & NUMERIC > 0, words.counts == 0, np.zeros(len(flags), np.bool_)]
    return np.stack(columns, axis=1)


def _repeated(words: I32, offsets: I64) -> Bools:
    """(T,) whether a word stands again in its sentence."""
    sentences = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    _, group, sizes = np.unique(sentences << 32 | words, return_inverse=True, return_counts=True)
    return np.asarray(sizes[group] > 1)
