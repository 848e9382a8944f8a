"""The errors a user can mend; every one is an `AlignerError`."""

from __future__ import annotations

from corpora import AlignerError, SettingError

__all__ = ["AlignerError", "ScoreError", "SettingError"]


class ScoreError(AlignerError):
    """Scores that are NaN or +inf, for which no best matching exists."""
