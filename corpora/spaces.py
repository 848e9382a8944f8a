"""Spaces inside words: Python's `str.split` divides at them, and this program, like most, does not."""

import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from corpora.corpus import Corpus, TextLine
from corpora.left_out import OtherSpaces

# Each begins with one byte, for which Python's search looks as fast as memory is read.
_SPACES = [
    re.compile(pattern)
    for pattern in (
        rb"\xc2[\x85\xa0]",
        rb"\xe1\x9a\x80",
        rb"\xe2(?:\x80[\x80-\x8a\xa8\xa9\xaf]|\x81\x9f)",
        rb"\xe3\x80\x80",
        rb"\x1c",
        rb"\x1d",
        rb"\x1e",
        rb"\x1f",
    )
]


def warn_of_spaces(corpus: Corpus, texts: Sequence[TextLine]) -> None:
    """Warn of pairs of a corpus where `str.split` finds other tokens than this program, which costs next to nothing."""
    lines = [line for _, *sides in texts for line in sides]
    joined = b"\n".join(lines)
    found = [match.start() for space in _SPACES for match in space.finditer(joined)]
    if found:
        ends = [*accumulate(len(line) + 1 for line in lines)]
        sides = {bisect_right(ends, place) for place in found}
        numbers = {texts[side // 2][0] for side in sides if _differs(lines[side])}
        if numbers:
            warnings.warn(OtherSpaces(corpus.name, numbers), stacklevel=2)


def noticing_spaces(corpus: Corpus) -> Iterator[TextLine]:
    """The texts of a corpus, with `warn_of_spaces` of each."""
    for text in corpus.texts():
        warn_of_spaces(corpus, [text])
        yield text


def _differs(line: bytes) -> bool:
    return len(line.decode(errors="replace").split()) != len(line.split())
