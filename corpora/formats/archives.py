"""Two texts in a zip archive, as OPUS packs them beside a README and a licence; they are read where they are."""

import io
import os
import re
import struct
from collections.abc import Iterator
from itertools import zip_longest
from typing import cast
from zipfile import BadZipFile, ZipFile

from corpora.encodings import as_utf8
from corpora.errors import CorpusError
from corpora.files import READ_ERRORS, StrPath, arriving_lines
from corpora.formats.joint import Columns, listed, two_languages, with_names
from corpora.paths import language_of

_DAMAGES = (*READ_ERRORS, BadZipFile, IndexError, NotImplementedError, RuntimeError, ValueError, struct.error)
"""Raised by zipfile where an archive is damaged or encrypted, packed oddly, or names its files in no encoding."""


class Archive:
    """A zip archive with texts of one prefix, a language each.  names: the languages.

    Raises CorpusError for an archive of anything else, with what is in it.
    """

    of_languages, kind = True, "zip archive"

    def __init__(self, path: StrPath) -> None:
        self.path, self._members = path, _texts_in(path)
        self.names = [*self._members]
        if not self.names:
            what = f"is a zip archive, but not of two texts like x.en and x.fr: {listed(_members(path))}"
            raise CorpusError(path, 0, what, hint="unpack it, and give what is to be read")

    def columns(self, source: str | None, target: str | None) -> Columns:
        return two_languages(self.path, self.names, (source, target))

    def count(self, columns: Columns) -> int:
        return sum(1 for _ in self.parse(columns))

    def parse(self, columns: Columns, start: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """The number, source and target of each line.  Raises CorpusError if one text is shorter."""
        chosen = two_languages(self.path, self.names, with_names(columns, self.names))
        names = [self._members[language] for language in chosen]
        lines = (_lines(self.path, name) for name in names)
        for number, (source, target) in enumerate(zip_longest(*lines), 1):
            if source is None or target is None:
                shorter, longer = names if source is None else names[::-1]
                what = f"{shorter} ends here, but {longer} goes on"
                raise CorpusError(self.path, number - 1, what, hint="line n of both must be one pair")
            if number > start:
                yield number, source, target


def is_archive(path: StrPath) -> bool:
    """Whether a file is a zip archive, and no document, which is an archive, too."""
    names = _members(path)
    return bool(names) and not {"mimetype", "[Content_Types].xml"} & {*names}


def _members(path: StrPath) -> list[str]:
    """The files in an archive but those in which macOS and others keep what is no content; [] of any other file."""
    try:
        with ZipFile(path) as archive:
            names = [one.filename for one in archive.infolist() if not one.is_dir()]
    except _DAMAGES:
        return []
    return [name for name in names if not re.search(r"(^|/)(__MACOSX/|\.|Thumbs\.db$|desktop\.ini$)", name)]


def _texts_in(path: StrPath) -> dict[str, str]:
    """The texts in an archive by language, where they have one prefix; {} without."""
    found: dict[str, dict[str, str]] = {}
    for name in _members(path):
        language = language_of(name)
        if language:
            found.setdefault(name.removesuffix(language), {})[language] = name
    several = [texts for texts in found.values() if len(texts) > 1]
    return several[0] if len(several) == 1 else {}


def _lines(path: StrPath, name: str) -> Iterator[bytes]:
    """The lines of a file in an archive, as of a file by itself.  Raises CorpusError if it is damaged or encrypted."""
    number = 0
    try:
        with ZipFile(path) as archive, archive.open(name) as member:
            stream = cast(io.BufferedReader, io.BufferedReader(cast(io.RawIOBase, member)))
            for lines in arriving_lines(as_utf8(stream, os.fspath(path), stream.peek()), path):
                yield from lines
                number += len(lines)
    except _DAMAGES as error:
        raise CorpusError(
            path, number, f"{name} cannot be read: {error}", hint="unpack it, or make it again"
        ) from error
