"""A journal: a file of JSON lines, each on disk before it is acted upon; the end of a process loses none."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpora.errors import CorpusError
from corpora.files import write_atomically

Entry = dict[str, Any]


def read_journal(path: Path) -> list[Entry]:
    """The entries of a journal, the first of which says what it is of; a last line without its end is none.

    Raises CorpusError on a line that is not an entry.
    """
    lines = path.read_bytes().split(b"\n")
    entries: list[Entry] = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            entries.append(dict(json.loads(line)))
        except (ValueError, TypeError) as error:
            raise CorpusError(path, number, "is not an entry of a journal", hint="take this line out") from error
    return entries


class Journal:
    """A journal that is open for this process alone.  Raises CorpusError if it is open elsewhere.

    head: what a new one begins with.
    """

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        self.path = path
        if not path.exists():
            with write_atomically(path) as file:
                file.write(_line(head))
        self._file = path.open("r+b", buffering=0)
        try:
            self._lock()
        except OSError as error:
            self._file.close()
            what = "is being written by another process"
            raise CorpusError(self.path, 0, what, hint="end that one, or give another annotator") from error

    def read(self) -> list[Entry]:
        """The head and the entries that there are; what is left of an unfinished one is cut off."""
        entries = read_journal(self.path)
        whole = self.path.read_bytes().rfind(b"\n") + 1
        self._file.truncate(whole)
        self._file.seek(whole)
        return entries

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write an entry to disk; OSError if it cannot be, with nothing written."""
        line, end = _line(entry), self._file.tell()
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(end)
            self._file.seek(end)
            raise

    def close(self) -> None:
        self._file.close()

    def _lock(self) -> None:
        try:
            import fcntl
        except ModuleNotFoundError:  # Windows
            return
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"
