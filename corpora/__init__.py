"""Text in: bitexts, links, and their file formats."""


class AlignerError(Exception):
    """Base of every error caused by bad input or bad settings; any other exception is a bug."""


class SettingError(AlignerError):
    """An option with a value that cannot work."""
