"""Files packed by zstd, with one frame or several: by the standard library, before Python 3.14 by its backport."""

import io
import sys
from importlib import import_module
from typing import Any, BinaryIO, cast

from corpora import SettingError

_LARGEST_WINDOW = 31  # the binary logarithm of its bytes: of `zstd --ultra --long=31`, which is the most


def open_zstd(file: BinaryIO, mode: str) -> io.RawIOBase:
    """Open packed content to read or to write it unpacked, as gzip.GzipFile does.  SettingError without the package."""
    try:
        zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ModuleNotFoundError as error:
        name = "" if mode == "wb" else f"{file.name}: "
        raise SettingError(f"{name}zstd needs a package that is not installed (pip install backports.zstd)") from error
    if mode == "wb":
        writer = zstd.ZstdFile(file, "wb", options={zstd.CompressionParameter.checksum_flag: 1})
        return cast(io.RawIOBase, writer)
    return _Reader(file, zstd)


class _Reader(io.RawIOBase):
    """Reads the content of all frames, and complains of damage as other readers of packed files do."""

    def __init__(self, file: BinaryIO, zstd: Any) -> None:
        limits = {zstd.DecompressionParameter.window_log_max: _LARGEST_WINDOW}
        self._content, self._error = zstd.ZstdFile(file, options=limits), zstd.ZstdError

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return cast(int, self._content.readinto(buffer))
        except self._error as error:
            raise OSError(str(error)) from error
