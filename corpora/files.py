"""Files as streams of lines, plain, packed or standard input; files written whole or not at all; spill files."""

import bz2
import gzip
import io
import lzma
import os
import re
import secrets
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, cast

from corpora.encodings import BUFFER_BYTES, as_utf8
from corpora.errors import CorpusError
from corpora.formats.zstd import open_zstd
from corpora.placing import keep_mode, put_in_place

StrPath = str | os.PathLike[str]

UTF8_BOM = b"\xef\xbb\xbf"
LONGEST_LINE = 1 << 26  # bytes: what goes on for longer, as a device or a damaged file may, is no text

PACKINGS: dict[str, tuple[bytes, Callable[..., Any]]] = {
    ".gz": (rb"\x1f\x8b", lambda file, mode: gzip.GzipFile("", mode, 6, file, mtime=0)),  # equal content, equal bytes
    ".xz": (rb"\xfd7zXZ\x00", lzma.LZMAFile),
    ".bz2": (rb"BZh[1-9](1A|\x17r)", bz2.BZ2File),
    ".zst": (rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", open_zstd),
}
"""By the suffix of packed files: a pattern of their first bytes, and what opens them packed."""

_NO_TEXT = {
    rb"PK\x03\x04": ("a zip archive or a document such as .docx", "unpack it, or save it as plain text in UTF-8"),
    rb"%PDF-|\xd0\xcf\x11\xe0|\{\\rtf": ("a document such as .pdf or .doc", "save it as plain text in UTF-8"),
}
"""By a pattern of the first bytes: what such a file is, and what to do."""

READ_ERRORS = EOFError, zlib.error, lzma.LZMAError, OSError  # of a file that is damaged, cut off or out of reach
_LONGEST_PART = 50  # characters, of at most 4 bytes; file systems allow 255 bytes in all

_unfinished: set[Path] = set()
"""Files that are being written, to be renamed when they are whole, and temporary folders."""

_spill_folder: Path | None = None


def _cannot_open(path: StrPath, error: OSError) -> CorpusError:
    match error:
        case FileNotFoundError():
            return CorpusError(path, 0, "no such file", hint="check the name")
        case IsADirectoryError():
            return CorpusError(path, 0, "is a folder, not a file", hint="name a file inside it")
        case PermissionError():
            return CorpusError(path, 0, "permission denied", hint="change the permissions")
        case _:
            return CorpusError(path, 0, f"cannot be opened: {error.strerror}", hint="check the name")


@contextmanager
def open_bytes(path: StrPath, *, text: bool = True) -> Iterator[io.BufferedReader]:
    """A buffered binary reader of the content, decompressed; ``-`` is standard input, which is not closed.

    gzip, xz, bzip2 and zstd are known by their first bytes, never by the name, and the file is opened once, so that
    pipes work.  text: in UTF-8, whatever its encoding, see `corpora.encodings`.  Raises CorpusError if the file cannot
    be opened, or, with `text`, begins as no text does.
    """
    with ExitStack() as stack:
        if os.fspath(path) == "-":
            stream = cast(io.BufferedReader, sys.stdin.buffer)
            if not hasattr(stream, "peek"):  # a double of standard input
                stream = io.BufferedReader(stream)
        else:
            try:
                file = io.FileIO(path)
            except OSError as error:
                raise _cannot_open(path, error) from error
            stream = stack.enter_context(io.BufferedReader(file, BUFFER_BYTES))
        head = stream.peek()  # once: on a terminal the end of input would have to be typed twice
        for magic, packing in PACKINGS.values():
            if re.match(magic, head):
                unpacked = stack.enter_context(packing(stream, "rb"))
                # The inner readers are Python code: the outer buffer hands out bytes at the speed of C.
                stream = stack.enter_context(io.BufferedReader(unpacked, BUFFER_BYTES))
                try:
                    head = stream.peek()
                except READ_ERRORS as error:
                    raise cannot_read(path, 0, error) from error
                break
        for magic, (what, hint) in _NO_TEXT.items() if text else ():
            if re.match(magic, head):
                raise CorpusError(path, 0, f"is {what}, not plain text", hint=hint)
        yield as_utf8(stream, os.fspath(path), head) if text else stream


def read_lines(path: StrPath, start: int = 0) -> Iterator[bytes]:
    r"""The lines of a file without their ends, split at ``\n`` only.  start: lines to pass over, unread.

    ``\r`` at the end of a line and a UTF-8 byte order mark at the start of the file are dropped; the
    last line counts with or without its ``\n``.  Raises CorpusError, with the number of whole lines
    read before, if the file cannot be opened, or its compressed data is damaged or cut off.
    """
    try:
        with open_bytes(path) as stream:
            for lines in arriving_lines(stream, path, _pass_over(stream, start)):
                yield from lines
    except READ_ERRORS as error:
        raise cannot_read(path, 0, error) from error


def read_whole(path: StrPath, *, text: bool = True) -> bytes:
    """The content of a file, as `open_bytes` gives it.  Raises CorpusError as `read_lines`."""
    try:
        with open_bytes(path, text=text) as stream:
            return stream.read()
    except READ_ERRORS as error:
        raise cannot_read(path, 0, error) from error


def arriving_lines(stream: BinaryIO, path: StrPath, number: int = 0) -> Iterator[list[bytes]]:
    """The lines of each read as it comes, as `read_lines` gives them; signals are handled between reads.

    path, number of lines before: for errors.  Raises CorpusError for damage, and lines of more than LONGEST_LINE bytes.
    """
    try:
        read = stream.read1 if isinstance(stream, io.BufferedReader) else stream.read
        parts, size = [b""], 0
        while chunk := read(BUFFER_BYTES):
            lines = chunk.split(b"\n")
            parts.append(lines[0])
            size += len(lines[0])
            if size > LONGEST_LINE:
                hint = "is it text? Put each sentence on a line"
                raise CorpusError(path, number + 1, f"has more than {LONGEST_LINE >> 20} MiB without an end", hint=hint)
            if len(lines) > 1:
                lines[0] = b"".join(parts)
                parts = [lines.pop()]
                size = len(parts[0])
                if number == 0:  # not sooner: the mark itself may come in pieces
                    lines[0] = lines[0].removeprefix(UTF8_BOM)
                yield [line.rstrip(b"\r") for line in lines] if b"\r" in chunk or b"\r" in lines[0] else lines
                number += len(lines)
        if last := b"".join(parts).removeprefix(b"" if number else UTF8_BOM):  # nothing but the mark: an empty file
            yield [last.rstrip(b"\r")]
    except READ_ERRORS as error:
        raise cannot_read(path, number, error) from error


def count_lines(path: StrPath) -> int:
    """Count the lines that `read_lines` gives, much faster; it raises the same errors."""
    try:
        with open_bytes(path) as stream:
            return _pass_over(stream, sys.maxsize)
    except READ_ERRORS as error:
        raise cannot_read(path, 0, error) from error


def _pass_over(stream: io.BufferedReader, most: int) -> int:
    """Read at most so many lines without parsing them; returns how many there were."""
    passed, size, chunk = 0, 0, b"\n"
    while passed < most and (peeked := stream.peek()):
        found = peeked.count(b"\n")
        if passed + found >= most:
            return passed + sum(1 for _ in islice(stream, most - passed))
        chunk = stream.read(len(peeked))
        passed, size = passed + found, size + len(chunk)
    is_empty = size == len(UTF8_BOM) and chunk == UTF8_BOM
    return passed + (not (is_empty or chunk.endswith(b"\n")))


def cannot_read(path: StrPath, number: int, error: Exception) -> CorpusError:
    """The error for a file that cannot be read on.  number: of the last whole line."""
    if isinstance(error, EOFError):
        return CorpusError(path, number, "the compressed data ends too early", hint="copy or make the file again")
    if isinstance(error, OSError) and error.errno is not None:  # gzip and bz2 complain without a number
        return CorpusError(path, number, f"cannot be read: {error.strerror}", hint="check the disk")
    return CorpusError(path, number, f"the compressed data is damaged: {error}", hint="copy or make the file again")


def write_atomically(path: StrPath, *, force: bool = False) -> AbstractContextManager[BinaryIO]:
    """A binary file that appears under its name only when the ``with`` block ends without an exception.

    ``-`` is standard output; devices and pipes are written directly.  Raises CorpusError at the call, before any work,
    if the file exists (unless ``force``; also at the end), is a folder, or cannot be made in its folder.
    """
    if os.fspath(path) == "-":
        return _standard_output()
    if os.fspath(path).startswith("-."):
        raise CorpusError(path, 0, "several files cannot go to standard output", hint="give a PREFIX in place of -")
    resolved = Path(path).resolve()  # a symbolic link stays one: its target is replaced
    try:
        exists = Path(path).exists()  # /dev/stdout is there where what it leads to has no name
    except OSError as error:
        raise _cannot_open(path, error) from error
    if resolved.is_dir():
        raise CorpusError(path, 0, "is a folder, not a file", hint="name a file inside it")
    if exists and not Path(path).is_file():
        if not os.access(path, os.W_OK):
            raise _cannot_open(path, PermissionError())
        return _opened(path, Path(path), "wb")
    if exists and not force:
        raise CorpusError(path, 0, "file exists", hint="choose another name or pass `force`")
    if not resolved.parent.is_dir():
        raise CorpusError(path, 0, "its folder does not exist", hint=f"create {resolved.parent} first")
    try:  # what the permissions say is not the whole truth: of root, of file systems that are read-only
        tempfile.TemporaryFile(dir=resolved.parent).close()
    except OSError as error:
        what = f"no file can be made in its folder: {error.strerror}"
        raise CorpusError(path, 0, what, hint="choose another folder") from error
    return _placed(path, resolved, force)


def write_packed(path: StrPath, *, force: bool = False) -> AbstractContextManager[BinaryIO]:
    """`write_atomically`, packed if the name ends in one of PACKINGS.  CorpusError if it ends in ``.zip``, too."""
    suffix = Path(path).suffix
    if suffix == ".zip":
        hint = f"name it {Path(path).stem} or {Path(path).stem}.gz, or write into a pipe"
        raise CorpusError(path, 0, "cannot be packed as .zip", hint=hint)
    pack(suffix, b"")  # raises now, where a package is missing
    return _packed(suffix, write_atomically(path, force=force))


def pack(suffix: str, content: bytes) -> bytes:
    """The content packed like a whole file with this suffix; a file may consist of several packed contents."""
    packed = io.BytesIO()
    with _packed(suffix, nullcontext(packed)) as file:
        file.write(content)
    return packed.getvalue()


@contextmanager
def _packed(suffix: str, file: AbstractContextManager[BinaryIO]) -> Iterator[BinaryIO]:
    with file as stream:
        if suffix not in PACKINGS:
            yield stream
        else:
            with io.BufferedWriter(PACKINGS[suffix][1](stream, "wb"), BUFFER_BYTES) as packed:
                yield cast(BinaryIO, packed)


def refuse_inputs(output: StrPath, inputs: Iterable[StrPath | None]) -> None:
    """Raise CorpusError if an output would replace one of these inputs."""
    for path in inputs:
        if path is not None and Path(output).is_file() and Path(path).is_file() and Path(output).samefile(path):
            raise CorpusError(output, 0, "is read here, and would be replaced", hint="choose another name")


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


@contextmanager
def _opened(path: StrPath, resolved: Path, mode: Literal["wb", "xb"]) -> Iterator[BinaryIO]:
    try:
        stream = resolved.open(mode)
    except OSError as error:
        raise _cannot_open(path, error) from error
    with stream:
        yield stream


@contextmanager
def _placed(path: StrPath, resolved: Path, force: bool) -> Iterator[BinaryIO]:
    # Whose it is, should a killed process leave it; a random part, as process numbers come again in containers.
    name = f".{resolved.name[:_LONGEST_PART]}.aligner-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    temporary = resolved.parent / name
    _unfinished.add(temporary)
    try:
        with _opened(path, temporary, "xb") as stream:
            keep_mode(resolved, temporary)  # before there is anything to read in it
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # else a crash of the system may leave the new name on an empty file
        put_in_place(temporary, resolved, path, replace=force)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    finally:
        _unfinished.discard(temporary)


@contextmanager
def spilling_beside(path: StrPath) -> Iterator[None]:
    """Make spill files, of all threads, in the folder of this output within the ``with`` block.

    Otherwise, and if the output is ``-`` or a device, the system's temporary folder has them, often held in memory.
    """
    global _spill_folder
    before, resolved = _spill_folder, Path(path).resolve()
    if os.fspath(path) != "-" and (resolved.is_file() or not resolved.exists()):
        _spill_folder = resolved.parent
    try:
        yield
    finally:
        _spill_folder = before


def spill_folder() -> str:
    """The folder where the next spill file will be made."""
    return tempfile.gettempdir() if _spill_folder is None else str(_spill_folder)


def spill_file(content: str) -> IO[bytes]:
    """A new file without a name, gone when it is closed and no longer mapped: for data too large for memory.

    content: a word for its name, on systems where open files keep one.
    """
    return tempfile.TemporaryFile(prefix=f".aligner-{content}-", dir=spill_folder())


@contextmanager
def spill_directory(content: str) -> Iterator[Path]:
    """A new folder beside the spill files, for files that other processes open; removed with its content at the end.

    content: a word for its name.
    """
    with tempfile.TemporaryDirectory(
        prefix=f".aligner-{content}-", dir=spill_folder(), ignore_cleanup_errors=True
    ) as folder:
        _unfinished.add(Path(folder))
        try:
            yield Path(folder)
        finally:
            _unfinished.discard(Path(folder))


def remove_unfinished() -> None:
    """Remove unfinished files of `write_atomically` and folders of `spill_directory`, before a process ends at once."""
    for path in [*_unfinished]:
        if path.is_dir():
            with suppress(OSError):  # workers that have not ended yet find it no more, and cannot fill it again
                path = path.rename(f"{path}.gone")
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            path.unlink()
