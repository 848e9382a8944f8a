"""A journal: a file of JSON lines, each on disk before it takes effect; a process that ends loses none."""

import errno
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from corpora.errors import CorpusError
from corpora.files import write_atomically
from corpora.strict_json import parse_json

Entry = dict[str, Any]


def read_journal(path: Path) -> list[Entry]:
    """The head of a journal and its entries; a last line without a newline is not read.

    Raises CorpusError on a line that is not an entry.
    """
    entries: list[Entry] = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], 1):
        try:
            entries.append(dict(parse_json(line)))
        except (ValueError, TypeError) as error:
            raise CorpusError(path, number, "is not an entry of a journal", hint="take this line out") from error
    return entries


class Journal:
    """A journal that this process alone may add to; a new one begins with the head.

    Raises CorpusError if another process has it open, after `patience` seconds.  hint: what the user can do then.
    """

    def __init__(self, path: Path, head: Mapping[str, Any], hint: str, patience: float = 0.0) -> None:
        if not path.exists():
            with write_atomically(path) as file:
                file.write(_line(head))
        self._path, self._file = path, path.open("r+b", buffering=0)
        try:
            with suppress(ModuleNotFoundError):  # of POSIX
                import fcntl

                give_up = time.monotonic() + patience
                while True:
                    try:
                        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    except BlockingIOError:
                        if time.monotonic() >= give_up:
                            raise
                        time.sleep(0.1)
        except OSError as error:
            self._file.close()
            what = "is being written by another process"
            raise CorpusError(path, 0, what, hint=hint) from error
        self._end = path.read_bytes().rfind(b"\n") + 1

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write an entry to disk; OSError if it cannot be, with nothing written."""
        line = _line(entry)
        try:
            self._cut()  # what an end has left of an entry
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
            os.fsync(self._file.fileno())
        except OSError:
            self._cut()
            raise
        self._end += len(line)

    def close(self) -> None:
        self._file.close()

    def _cut(self) -> None:
        self._file.truncate(self._end)
        self._file.seek(self._end)


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"
