"""Sentence pairs and posteriors of whole texts."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from corpora.bitext import Bitext
from corpora.ragged import I32
from features.translation.model import TranslationModel
from features.translation.posteriors import Decoder, Posteriors


def posteriors(model: TranslationModel, bitext: Bitext) -> Posteriors:
    """Those of all pairs at once."""
    return Decoder(bitext, model).posteriors(0, len(bitext))


class SentencePair(NamedTuple):
    """One pair of a bitext: its ids (J,) and (K,), and its words as normalised."""

    source: I32
    target: I32
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]


def sentence_pairs(bitext: Bitext) -> list[SentencePair]:
    """All pairs, in order."""
    ids, words = [], []
    for text in (bitext.source, bitext.target):
        ids.append([text.ids[first:last] for first, last in pairwise(text.offsets.tolist())])
        words.append([tuple(text.vocabulary.words[i] for i in sentence.tolist()) for sentence in ids[-1]])
    return [SentencePair(*pair) for pair in zip(*ids, *words, strict=True)]
