"""A dictionary that stands where a model may, for ``aligner info`` and ``aligner priors``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aligner.model.settings import AlignSettings
from corpora import SettingError
from corpora.reading import Reading

if TYPE_CHECKING:
    from features.translation.dictionary import Counts, Fit


def is_dictionary(path: str) -> bool:
    """Whether a file is there that is no model."""
    from aligner.model.file import is_model

    return Path(path).is_file() and not is_model(path)


def count_dictionary(
    path: str, texts: Sequence[str], reading: Reading, settings: AlignSettings = AlignSettings()
) -> "tuple[Counts, Fit]":
    """Count the word pairs of a dictionary for a text of one or two files, or without any; say how it fits.

    settings: how the text is tokenised.  Raises SettingError for more files, CorpusError for what is broken in them.
    """
    from corpora.apostrophes import tokenizing
    from corpora.bitext import BitextBuilder, read_bitext
    from corpora.dictionaries import read_dictionary
    from corpora.normalize import PLAIN
    from corpora.readers import open_text
    from features.translation.dictionary import count_entries

    if len(texts) > 2:
        raise SettingError(f"with a dictionary SRC TGT are a text, or one corpus, not {len(texts)} files")
    bitext, normalizers = BitextBuilder(*PLAIN, reading.source, reading.target).bitext(), PLAIN
    if texts:
        corpus = open_text(texts[0], (*texts, None)[1], reading)
        normalizers = tokenizing(settings.tokenize, settings.keep, [corpus])
        bitext = read_bitext([corpus], *normalizers)
    dictionary = read_dictionary(path, (bitext.source.language, bitext.target.language))
    counts, (fit,) = count_entries([dictionary], bitext, normalizers, whole=not texts)
    return counts, fit
