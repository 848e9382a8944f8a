"""Kinds of words: frequent, punctuation, numeric, unknown, repeated in the sentence (more in `orthography`)."""

import numpy as np

from corpora.ragged import I32, I64, Bools
from features.batch import EdgeBatch, Words
from features.table import Matrix
from features.translation.lexicon import KINDS
from features.word_pairs import list_occurrences
from features.words import NUMERIC, PUNCTUATION

SHARES = (0.02, 0.1, 0.3)
"""A word is frequent, to three degrees, in at least this share of the corpus's sentence pairs."""

_PER_WORD = (*(f"frequent_{share:g}" for share in SHARES), "punctuation", "numeric", "unknown", "repeated")

NAMES = (
    *(f"{kind}_source" for kind in _PER_WORD),
    *(f"{kind}_target" for kind in _PER_WORD),
    *("both_frequent", "one_frequent", "one_punctuation", "one_numeric"),
    *("soft_frequent_source", "soft_frequent_target", "soft_rare", "repeated_distance"),
)
LEXICONS = tuple(KINDS)


def fill(batch: EdgeBatch, out: Matrix) -> None:
    """Indicators of the kinds of both words, and the posterior s (`families.hmm`) for some kinds alone.

    frequent_x: the word is in at least a share x of the corpus's sentence pairs.  punctuation: it has no letter or
    digit.  numeric: it has a digit.  unknown: the corpus does not have it.  repeated: it stands in its sentence again.
    both_frequent, one_frequent, one_punctuation, one_numeric: both words are of the kind, or just one of them.
    soft_frequent: s where the word is frequent.  soft_rare: s where neither is.
    repeated_distance: |j/J - k/K| where either word is repeated.
    """
    tokens, text, pairs = batch.tokens, batch.text, max(batch.text.statistics.cooccurrence.pairs, 1)
    of_source = _kinds(tokens.source, tokens.source_offsets, text.source_words, pairs).take(batch.source_at, axis=1)
    of_target = _kinds(tokens.target, tokens.target_offsets, text.target_words, pairs).take(batch.target_at, axis=1)
    soft, frequent, (punctuation, numeric, _, repeated) = batch.soft.take(batch.cells), 1, range(-4, 0)
    columns = (
        *of_source,
        *of_target,
        of_source[frequent] & of_target[frequent],
        *(of_source[kind] != of_target[kind] for kind in (frequent, punctuation, numeric)),
        soft * of_source[frequent],
        soft * of_target[frequent],
        soft * ~(of_source[frequent] | of_target[frequent]),
        batch.off_diagonal * (of_source[repeated] | of_target[repeated]),
    )
    for column, values in enumerate(columns):
        out[:, column] = values


def _kinds(tokens: I32, offsets: I64, words: Words, pairs: int) -> Bools:
    """Return the kinds of T tokens, (_PER_WORD, T), of a corpus of so many sentence pairs."""
    counts, flags = words.counts[tokens], words.table.flags[tokens]
    _, sentences, places = list_occurrences(tokens, offsets, len(words.counts))
    again = np.flatnonzero(sentences[1:] == sentences[:-1]) + 1  # beside an occurrence before, maybe of another word
    repeated = np.zeros(len(tokens), np.bool_)
    where = offsets[sentences] + places
    again = again[tokens[where[again]] == tokens[where[again - 1]]]
    repeated[where[again]] = repeated[where[again - 1]] = True
    frequent = [counts / pairs >= least for least in SHARES]
    return np.stack([*frequent, flags & PUNCTUATION > 0, flags & NUMERIC > 0, counts == 0, repeated])
