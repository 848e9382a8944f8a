"""Files packed by zstd, with one frame or several, through the package zstandard."""

import io
from typing import Any, BinaryIO, cast

from corpora import SettingError

_PACKED_BYTES = 1 << 12  # at once: they may be 32,000 times as many unpacked


def open_zstd(file: BinaryIO, mode: str) -> io.RawIOBase:
    """Open packed content to read or to write it unpacked, as gzip.GzipFile does.  SettingError without the package."""
    try:
        import zstandard
    except ModuleNotFoundError as error:
        name = "" if mode == "wb" else f"{file.name}: "
        raise SettingError(f"{name}zstd needs a package that is not installed (pip install zstandard)") from error
    if mode == "wb":
        writer = zstandard.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False)
        return cast(io.RawIOBase, writer)
    return _Reader(file, zstandard)


class _Reader(io.RawIOBase):
    """Reads the content of all frames; the package's own readers take a file that was cut off for a whole one."""

    def __init__(self, file: BinaryIO, package: Any) -> None:
        self._file, self._error = file, package.ZstdError
        self._new_frame = package.ZstdDecompressor(max_window_size=1 << 31).decompressobj
        self._frame, self._content = self._new_frame(), memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._content:
            packed = self._frame.unused_data or self._file.read(_PACKED_BYTES)
            if not packed and self._frame.eof:
                return 0
            if not packed:
                raise EOFError
            if self._frame.eof:
                self._frame = self._new_frame()
            try:
                self._content = memoryview(self._frame.decompress(packed))
            except self._error as error:
                raise OSError(str(error)) from error
        size = min(len(buffer), len(self._content))
        buffer[:size] = self._content[:size]
        self._content = self._content[size:]
        return size
