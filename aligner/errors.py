"""Errors that a user can mend; every one is an `AlignerError`."""

from corpora import AlignerError, SettingError

__all__ = ["AlignerError", "OracleError", "ScoreError", "SettingError"]


class ScoreError(AlignerError):
    """Scores that are NaN or +inf, for which no best matching exists."""


class OracleError(AlignerError):
    """A problem or an oracle that does not do what solvers rely on, or an oracle that fails."""
