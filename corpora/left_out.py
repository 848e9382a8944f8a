"""What is told in one line when a file has been read: what reading leaves out of it, by reason, and odd spaces."""

import os
import warnings
from collections.abc import Iterable, Mapping

from corpora.errors import printable
from corpora.files import StrPath

_MOST_LINES = 1000


class LeftOut(UserWarning):
    """Text or links of a file that reading left out.  counts: how many, by reason.

    A reason names, in the plural, what was left out and why, such as ``units without text in en and de``. What to do
    may follow, with options as in errors: ``targets not yet translated, which `untranslated` takes``.
    """

    def __init__(self, path: StrPath, counts: Mapping[str, int]) -> None:
        self.path, self.counts = os.fspath(path), dict(counts)
        listed = "; ".join(f"{count:,} {reason}" for reason, count in self.counts.items())
        super().__init__(printable(f"{self.path}: left out: {listed}"))

    def joined(self, other: "LeftOut") -> "LeftOut":
        """What two passes over one file left out; what one of them did not reach, the other one counts."""
        counts = {reason: max(self.counts.get(reason, 0), n) for reason, n in other.counts.items()}
        return LeftOut(self.path, {**self.counts, **counts})


class OtherSpaces(UserWarning):
    """Lines of a corpus with spaces at which `str.split` divides and this program does not.

    lines: their numbers, or the first of many.
    """

    def __init__(self, path: str, lines: Iterable[int]) -> None:
        self.path, self.lines = path, frozenset(lines)
        super().__init__(path)  # the same for all lines: Python shows it once

    def __str__(self) -> str:
        number, more = len(self.lines), " or more" * (len(self.lines) >= _MOST_LINES)
        what = f"{number:,}{more} line{'s have' if number > 1 else ' has'} no-break or other spaces inside words"
        why = "Python's split() divides there, and this program does not: replace them, if yours splits so"
        return printable(f"{self.path}: {what} ({why})")

    def joined(self, other: "OtherSpaces") -> "OtherSpaces":
        """What two passes, or two parts of a corpus, have."""
        every = self.lines | other.lines if len(self.lines) < _MOST_LINES else self.lines
        return OtherSpaces(self.path, sorted(every)[:_MOST_LINES])


def warn_of_left_out(path: StrPath, counts: Mapping[str, int]) -> None:
    """Warn of what a whole pass over a file left out, if anything.  To be called where the pass has reached the end."""
    if counts:
        warnings.warn(LeftOut(path, counts), stacklevel=2)
