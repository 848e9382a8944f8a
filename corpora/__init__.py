"""Text in: bitexts, links, and the formats they come in."""


class AlignerError(Exception):
    """Base of every error that bad input or bad settings cause; anything else is a bug."""


class SettingError(AlignerError):
    """An option with a value that cannot work."""
