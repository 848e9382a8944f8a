"""Source and target on one line: ``source ||| target``, or with a tab between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count

from corpora.errors import BrokenLine
from corpora.files import StrPath

_SEPARATOR = re.compile(rb"(?<!\S)\|\|\|(?!\S)|\t")


def split_joint(line: bytes) -> list[bytes]:
    """The parts of a line between its ``|||`` tokens and tabs: two of a good line."""
    return [part.strip() for part in _SEPARATOR.split(line)]


def parse_joints(lines: Iterable[bytes], path: StrPath, first: int = 1) -> Iterator[tuple[int, bytes, bytes]]:
    """The number, source and target of each line, numbered from the first on; a blank line is an empty pair.

    Raises BrokenLine unless there is exactly one ``|||`` or one tab; the lines after it can still be taken.
    """

    def parse(number: int, line: bytes) -> tuple[int, bytes, bytes]:
        if not line.strip():
            return number, b"", b""
        parts = split_joint(line)
        if len(parts) != 2:
            what = "no ||| or tab between source and target" if len(parts) < 2 else "more than one ||| or tab"
            raise BrokenLine(path, number, what, hint="each line must be: source ||| target, or source TAB target")
        return number, parts[0], parts[1]

    return map(parse, count(first), lines)
