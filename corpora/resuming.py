"""Outputs written in blocks, each on disk for good: however a process ends, the next one goes on after its blocks."""

import errno
import io
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from corpora import SettingError
from corpora.errors import CorpusError
from corpora.files import StrPath, count_lines, pack, write_atomically
from corpora.journal import Journal, read_journal
from corpora.placing import keep_mode, put_in_place

PARTS_A_BLOCK = 64

unfinished: set[Path] = set()
"""Files of blocks of outputs that are being written; they stay when the process ends."""


@dataclass(frozen=True)
class _Block:
    """An entry of the journal: where a block is, and the counts so far when it was written."""

    start: int
    end: int
    crc32: int
    counts: Sequence[int]  # first of lines


class PartialOutput:
    """An output in blocks in PATH.partial, renamed when it is whole; PATH.partial.journal has a line for each block.

    A block is on disk before its line is, and content without a line is cut off. Blocks are packed one by one if the
    name ends in ``.gz`` or the like. The journal of a whole output is PATH.finished, by which it is known again.

    patience: seconds to wait until another process that writes it ends.
    Raises SettingError if the output cannot be a file, CorpusError if the file exists, unless ``force``.
    """

    def __init__(self, path: StrPath, *, force: bool, patience: float = 0.0) -> None:
        self._path, self._force, self._patience = path, force, patience
        self._output = Path(path).resolve()
        if os.fspath(path) == "-" or (self._output.exists() and not self._output.is_file()):
            raise SettingError("`resume` needs a file to write into (name it with `output`)")
        self._partial, self._journal_file = self._names()
        self._record = Path(f"{self._output}.finished")
        if self._output.exists() and not self._partial.exists():
            if self._journal_file.exists():  # ended before this was renamed
                self._partial = self._output
            elif self._record.exists():
                self._partial, self._journal_file = self._output, self._record
        write_atomically(path, force=force or self.is_finished)  # raises now
        pack(self._output.suffix, b"")
        if (
            not self.is_finished
            and self._partial.exists()
            and self._partial.stat().st_size
            and not self._journal_file.exists()
        ):
            raise CorpusError(self._partial, 0, "file exists, without its journal", hint="delete it, or move it away")
        self._content, self._parts, self._size = io.BytesIO(), 0, 0
        self.counts: Sequence[int] = ()

    def _names(self) -> tuple[Path, Path]:
        return Path(f"{self._output}.partial"), Path(f"{self._output}.partial.journal")

    @property
    def is_finished(self) -> bool:
        """Whether the output is whole already."""
        return self._partial == self._output

    def begin(self, head: Mapping[str, Any]) -> None:
        """Begin the output, or go on after the blocks that are there.  head: JSON values that say what it is made of.

        Raises CorpusError if another process writes it, or it was begun with another head; a whole output that was
        is replaced with `force`.
        """
        with ExitStack() as opened:
            if not self._journal_file.exists():
                self._partial.touch()  # before there is a journal
                keep_mode(self._output, self._partial, least=0o600)  # as it is to be opened again
            journal = Journal(self._journal_file, head, "wait for its end", self._patience)
            self._journal = opened.enter_context(closing(journal))
            try:
                self._take_up(head, opened)
            except CorpusError:
                if not (self.is_finished and self._force):
                    raise
            else:
                self._opened = opened.pop_all()
                return
        self._journal_file.unlink()
        self._partial, self._journal_file = self._names()
        self._size, self.counts = 0, ()
        self.begin(head)

    def _take_up(self, head: Mapping[str, Any], opened: ExitStack) -> None:
        anew = f"{'pass `force`' if self.is_finished else f'delete it and {self._partial.name}'} to begin anew"
        begun, *entries = read_journal(self._journal_file) or [{}]
        for name, value in head.items():
            if begun.get(name) != value:
                hint = f"give the one it was begun with, or {anew}"
                raise CorpusError(self._journal_file, 0, f"was begun with another {name}", hint=hint)
        try:
            self._file = opened.enter_context(self._partial.open("r+b", buffering=0))
            size = self._partial.stat().st_size
            blocks = {entry["start"]: _Block(**entry) for entry in entries}  # the last from each place on
            while (block := blocks.pop(self._size, None)) is not None:
                numbers = block.end - block.start, *block.counts
                if {*map(type, numbers)} != {int} or not all(0 <= number < 1 << 63 for number in numbers):
                    raise ValueError
                if block.end > size or zlib.crc32(self._file.read(block.end - block.start)) != block.crc32:
                    break
                self._size, self.counts = block.end, block.counts
            if self.is_finished and self._size != size:
                what = f"is not of {self._output.name}"
                raise CorpusError(self._journal_file, 0, what, hint=anew)
            if self._size < size:  # a finished output stays as it is
                self._file.truncate(self._size)
            if count_lines(self._partial) != sum(self.counts[:1]):
                raise ValueError
        except (FileNotFoundError, LookupError, TypeError, ValueError) as error:
            raise CorpusError(self._journal_file, 0, "is not of a file that is here", hint=anew) from error
        self._file.seek(self._size)
        unfinished.add(self._partial)

    @contextmanager
    def written(self) -> Iterator[BinaryIO]:
        """A file for the content after the blocks that are there; if no exception ends it, the output is whole."""
        with self._opened:
            yield self._content
            if self._content.tell() or not self._size:
                self._end_block()
            if not self.is_finished:
                keep_mode(self._output, self._partial)
                put_in_place(self._partial, self._output, self._path, replace=self._force)
            unfinished.discard(self._partial)
            self._journal_file.replace(self._record)

    def part_ends(self, counts: Sequence[int]) -> None:
        """Note that a part of the content is written, and the counts so far; some parts make a block."""
        self.counts, self._parts = counts, self._parts + 1
        if self._parts % PARTS_A_BLOCK == 0:
            self._end_block()

    def _end_block(self) -> None:
        packed = pack(self._output.suffix, self._content.getvalue())
        if self._file.write(packed) != len(packed):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._partial))
        os.fsync(self._file.fileno())
        block = _Block(self._size, self._size + len(packed), zlib.crc32(packed), self.counts)
        self._journal.append(asdict(block))
        self._content.seek(0)
        self._content.truncate()
        self._size = block.end
