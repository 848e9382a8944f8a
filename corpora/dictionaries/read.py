"""Read a dictionary that a user has, in whatever format of bilingual dictionaries it is."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from corpora.corpus import Languages
from corpora.dictionaries import (
    apertium,
    dictd,
    edict,
    glossary,
    jmdict,
    lift,
    lines,
    mdf,
    stardict,
    wiktionary,
    wordlists,
)
from corpora.dictionaries.entries import Dictionary, Entry, Format
from corpora.errors import CorpusError
from corpora.files import READ_ERRORS, StrPath, open_bytes
from corpora.left_out import warn_of_left_out
from corpora.paths import is_stream

FORMATS: tuple[Format, ...] = (
    stardict.FORMAT,
    dictd.FORMAT,
    jmdict.FORMAT,
    apertium.FORMAT,
    lift.FORMAT,
    mdf.FORMAT,
    wiktionary.FORMAT,
    *edict.FORMATS,
    *wordlists.FORMATS,
    glossary.FORMAT,
    *lines.FORMATS,
)
"""In the order in which they are tried; the last one takes whatever is left."""

_HEAD = 1 << 16  # bytes


def read_dictionary(path: StrPath, languages: Languages = (None, None)) -> Dictionary:
    """Open a dictionary, whose format its first bytes show.

    languages: of the user's text; they choose among the languages and columns of a file that has several.
    A pipe has lines of source and target.  Raises CorpusError, also while the entries are read: for a broken line, and
    for a file without an entry.  At their end warns of what was left out.
    """
    row, left_out = _format(path), Counter[str]()
    found, entries = row.read(path, languages, left_out)
    return Dictionary(path, row.name, found, _all(path, entries, left_out))


def _format(path: StrPath) -> Format:
    if is_stream(path):
        return FORMATS[-1]
    head = b""
    with suppress(*READ_ERRORS), open_bytes(path, text=False) as stream:  # who reads it tells what is wrong
        head = stream.peek()[:_HEAD]
    return next(row for row in FORMATS if row.knows(head, path))


def _all(path: StrPath, entries: Iterator[Entry], left_out: Counter[str]) -> Iterator[Entry]:
    found = False
    for entry in entries:
        found = True
        yield entry
    warn_of_left_out(path, +left_out)
    if not found:
        raise CorpusError(
            path, 0, "has no entry of a dictionary", hint=f"formats: {', '.join(row.name for row in FORMATS)}"
        )
