"""The errors a user can mend; every one is an `AlignerError`."""

from __future__ import annotations

from corpora.errors import AlignerError, CorpusError, SettingError

__all__ = ["AlignerError", "CorpusError", "ModelError", "ScoreError", "SettingError"]


class ModelError(CorpusError):
    """A model file that cannot be used: truncated, damaged, not a model, or of a newer format."""


class ScoreError(AlignerError):
    """Scores that are NaN or +inf, for which no best matching exists."""
