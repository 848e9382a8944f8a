"""Posteriors of whole texts."""

from __future__ import annotations

from corpora.bitext import Bitext
from features.translation.model import TranslationModel
from features.translation.posteriors import Decoder, Posteriors


def posteriors(model: TranslationModel, bitext: Bitext) -> Posteriors:
    """Those of all pairs at once."""
    return Decoder(bitext, model).posteriors(0, len(bitext))
