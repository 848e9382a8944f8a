"""The container of a model: one file with a checked JSON header and memory-mapped arrays; nothing is executed.

`Model.save` and `load` in `model.py` decide what is in it; `CorpusStatistics.from_arrays` checks that arrays fit.

Layout, little-endian: 8 bytes MAGIC · uint32 format version · uint32 bytes of header · uint32 CRC-32 of header ·
the header (JSON, UTF-8) · the arrays, each starting at a multiple of 64 bytes. The header says of each array its
dtype, shape, place and CRC-32, and the size of the whole file.
"""

import json
import math
import mmap
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.threads import map_threads

MAGIC = b"ALIGNER\x1a"
FORMAT_VERSION = 4

_PREFIX = struct.Struct("<8sIII")
_ALIGNMENT = 64
_DTYPES = ("<f4", "<f8", "<i4", "<i8", "|u1")


class ModelError(CorpusError):
    """A model file that cannot be used: truncated, damaged, not a model, or of a newer format."""


def write_model(file: BinaryIO, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write a header of JSON values and some arrays; `read_model` gives both back, bit for bit.

    Raises ValueError on arrays of other types than float32, float64, int32, int64 and uint8.
    """
    stored = {name: np.asarray(array, array.dtype.newbyteorder("<"), order="C") for name, array in arrays.items()}
    # Places are relative to the first array, because the header's own length depends on what they are.
    table, place = {}, 0
    for name, array in stored.items():
        if array.dtype.str not in _DTYPES:
            raise ValueError(f"{name} is an array of {array.dtype}, which a model file cannot hold")
        table[name] = {
            "dtype": array.dtype.str,
            "shape": array.shape,
            "place": place,
            "crc32": zlib.crc32(array.reshape(-1).view(np.uint8).data),
        }
        place = _aligned(place + array.nbytes)
    encoded = json.dumps({**header, "arrays": table, "size_of_arrays": place}, ensure_ascii=False).encode()
    file.write(_PREFIX.pack(MAGIC, FORMAT_VERSION, len(encoded), zlib.crc32(encoded)))
    file.write(encoded)
    end = _PREFIX.size + len(encoded)
    file.write(bytes(_aligned(end) - end))
    for array in stored.values():
        file.write(array.reshape(-1).view(np.uint8).data)
        file.write(bytes(_aligned(array.nbytes) - array.nbytes))


def is_model(path: StrPath) -> bool:
    """Whether a path is a file that begins as model files do."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_model(path: StrPath, *, copy: bool = False) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Read header and arrays of a model file; the arrays are read-only maps of the file, or of a copy in memory.

    All contents are checked against their checksums, which also brings the pages in before the first use.
    Raises ModelError, a line for the user, on anything that is not a whole and undamaged model of a known format.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a path of any kind
            if not file.peek(1):
                raise ModelError(path, 0, "the file is empty", hint="train the model again")
            data = file.read() if copy else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError as error:
        raise ModelError(path, 0, "no such file", hint="check the name, or make it with: aligner train") from error
    except OSError as error:
        raise ModelError(path, 0, f"cannot be opened: {error.strerror}", hint="check the name") from error
    if len(data) < _PREFIX.size or data[: len(MAGIC)] != MAGIC:
        if MAGIC.startswith(data[: len(MAGIC)]):
            raise _truncated(path)
        raise ModelError(path, 0, "not a model file", hint="give a file that aligner train has written")
    _, version, length, checksum = _PREFIX.unpack_from(data)
    if version > FORMAT_VERSION:
        what = f"model format {version} is newer than this program's {FORMAT_VERSION}"
        raise ModelError(path, 0, what, hint="open it with the version of aligner that wrote it, or a later one")
    if 0 < version < FORMAT_VERSION:
        what = f"model format {version} is older than this program's {FORMAT_VERSION}"
        raise ModelError(path, 0, what, hint="train the model again, or use the version of aligner that wrote it")
    encoded = data[_PREFIX.size : _PREFIX.size + length]
    if len(encoded) < length:
        raise _truncated(path)
    if version < 1 or zlib.crc32(encoded) != checksum:
        raise _damaged(path)
    try:
        header = json.loads(encoded)
        expected = _aligned(_PREFIX.size + length) + header["size_of_arrays"]
        if len(data) < expected:
            raise _truncated(path)
        if len(data) > expected:
            raise _damaged(path)
        arrays = _read_arrays(data, _PREFIX.size + length, header.pop("arrays"))
        del header["size_of_arrays"]
        return header, arrays
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _damaged(path) from error


def _read_arrays(data: bytes | mmap.mmap, end: int, table: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """The arrays behind a header that ends at `end`.  Raises ValueError, or what a table that is none leads to."""
    first = _aligned(end)
    arrays = {}
    with memoryview(data) as view:
        for name, entry in table.items():
            if entry["dtype"] not in _DTYPES:
                raise ValueError(f"array {name} has dtype {entry['dtype']}")
            dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
            start = first + entry["place"]
            size = dtype.itemsize * math.prod(shape)
            if not 0 <= start - end < _ALIGNMENT or any(view[end:start]):
                raise ValueError(f"there is something between the arrays, before {name}")
            arrays[name] = np.frombuffer(data, dtype, math.prod(shape), start).reshape(shape)
            end = start + size
        if len(view) - end >= _ALIGNMENT or any(view[end:]):
            raise ValueError("there is something after the last array")
    # All of them, before any complaint: the file may be written over afterwards, and a thread still reading would end.
    checksums = [*map_threads(lambda array: zlib.crc32(array.reshape(-1).view(np.uint8).data), arrays.values())]
    for name, checksum in zip(arrays, checksums, strict=True):
        if checksum != table[name]["crc32"]:
            raise ValueError(f"array {name} does not have its checksum")
    return arrays


def _aligned(place: int) -> int:
    return -(-place // _ALIGNMENT) * _ALIGNMENT


def _truncated(path: StrPath) -> CorpusError:
    return ModelError(path, 0, "the model file is cut off", hint="copy it again, or train the model again")


def _damaged(path: StrPath) -> CorpusError:
    return ModelError(path, 0, "the model file is damaged", hint="copy it again, or train the model again")
