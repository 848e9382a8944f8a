"""Errors that a user can mend, as one line: ``file:line: what (what to do)``, or ``file: ...`` for a whole file."""

import os
from functools import partial
from typing import Any

from corpora import AlignerError

NO_UTF8 = "convert it to UTF-8, or name its encoding by `encoding`"
"""What to do with text that is not UTF-8."""


class CorpusError(AlignerError):
    """A file that cannot be used.

    path: as the user wrote it.  line: 1-based; 0 means the file as a whole.
    what: what is wrong.  hint: what to do about it.
    """

    def __init__(self, path: str | os.PathLike[str], line: int, what: str, *, hint: str) -> None:
        self.path = os.fspath(path)
        self.line = line
        self.what = what
        self.hint = hint
        where = f"{self.path or repr('')}:{f'{line}:' if line else ''}"
        super().__init__(printable(f"{where} {what} ({hint})"))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), hint=self.hint), (self.path, self.line, self.what)


class BrokenLine(CorpusError):
    """A line that is wrong by itself: the lines after it can be used."""


class EmptyCorpus(CorpusError):
    """A corpus without a pair: where many files are aligned one after the other, no reason to stop."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, 0, "the corpus is empty", hint="check where it comes from")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path,)


def utf8(content: bytes, path: str | os.PathLike[str], line: int) -> str:
    """The text of a line, or 0 of a file.  Raises CorpusError if it is not UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise CorpusError(path, line, "not valid UTF-8", hint=NO_UTF8) from error


def counted(number: int, noun: str) -> str:
    """Write a number of things: ``1 pair``, ``1,000 pairs``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_LONGEST_QUOTE = 80


def printable(text: str) -> str:
    """The text, such as a file's name, on one line and without characters that control a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def quoted(content: bytes) -> str:
    """Quote a file's content in a message: at most one line, without characters that control a terminal.

    >>> quoted(b"1 2\\x1b[2J"), len(quoted(b"x" * 1000))
    ("'1 2\\\\x1b[2J'", 85)
    """
    text = content[: 4 * _LONGEST_QUOTE].decode(errors="backslashreplace")
    return f"'{printable(text[:_LONGEST_QUOTE])}{'...' if len(text) > _LONGEST_QUOTE else ''}'"
