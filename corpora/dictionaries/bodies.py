"""Texts of entries, as dictd and StarDict have them: read at their places, and taken apart into senses."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from corpora.dictionaries.glosses import NOTES, translations
from corpora.errors import CorpusError
from corpora.files import READ_ERRORS, cannot_read, open_bytes

_LONGEST = 1 << 26  # bytes of an entry
_SENSE = re.compile(r"\d{1,3}[.)](?:\s|$)")
_NOTE = re.compile(r"(?:Synonym|Antonym|Note|see|See)s?:|\"")

DEFINITIONS = "lines of definitions and of examples"


def text_at(path: Path, places: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    """The texts that begin at these bytes, in ascending order, and have these sizes.  Raises CorpusError for others."""
    try:
        with open_bytes(path, text=False) as stream:
            for start, size in places:
                stream.seek(start)
                content = stream.read(size) if size <= _LONGEST else b""
                if len(content) < size:
                    what = f"has no {size:,} bytes at {start:,}, as its index says"
                    raise CorpusError(path, 0, what, hint="get all files of one version")
                yield content
    except READ_ERRORS as error:
        raise cannot_read(path, 0, error) from error


def glosses_of(lines: Iterable[str], left_out: Counter[str], *, every: bool = False) -> Iterator[str]:
    """The translations in the lines of an entry: of each sense in its first line that has some; definitions follow.

    every: whether each line may translate the word where no senses are numbered.
    """
    in_sense = False
    for line in lines:
        gloss = line.lstrip()
        if sense := _SENSE.match(gloss):
            gloss, in_sense, every = gloss[sense.end() :], False, False
        if not gloss:
            continue
        if _NOTE.match(gloss):
            left_out[NOTES] += 1
        elif in_sense and not every:
            left_out[DEFINITIONS] += 1
        elif words := translations(gloss, left_out):
            yield from words
            in_sense = True
