"""The file of a model: an .npz archive, not compressed, with a header in JSON beside the arrays; nothing is executed.

`Model.save` and `load` in `model.py` decide what is in it; `CorpusStatistics.from_arrays` checks that arrays fit.
The first member, `aligner.json`, is the header, with the number of the format and the name, dtype and shape of each
array; NAME.npy is an array as NumPy writes it, whose own header need not be parsed.
"""

import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo, is_zipfile

import numpy as np

from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.ragged import Array, Arrays

FORMAT_VERSION = 5

_HEADER = "aligner.json"
_START = re.compile(rb"PK\x03\x04.{26}aligner\.json", re.DOTALL)
_OLDER_START = b"ALIGNER\x1a"  # of formats up to 4
_DTYPES = ("<f4", "<f8", "<i4", "<i8", "|u1")
_BYTES_AT_ONCE = 1 << 18

_DAMAGE = (
    AttributeError, BadZipFile, EOFError, LookupError, OSError, OverflowError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""What it leads to if an archive is read that was not written here, or not so."""


class ModelError(CorpusError):
    """A model file that cannot be used: truncated, damaged, not a model, or of another format."""


def write_model(file: BinaryIO, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a header of JSON values and some arrays; `read_model` gives both back, bit for bit.

    The bytes follow from the content alone.
    Raises ValueError on arrays of other types than float32, float64, int32, int64 and uint8.
    """
    stored = {name: np.asarray(array, array.dtype.newbyteorder("<"), order="C") for name, array in arrays.items()}
    table = {name: (array.dtype.str, array.shape) for name, array in stored.items()}
    for name, (dtype, _) in table.items():
        if dtype not in _DTYPES:
            raise ValueError(f"{name} is an array of {dtype}, which a model file cannot hold")
    about = {**header, "format": FORMAT_VERSION, "arrays": table}
    with ZipFile(file, "w") as archive:
        archive.writestr(ZipInfo(_HEADER), json.dumps(about, ensure_ascii=False))  # ZipInfo: of 1980, not of now
        for name, array in stored.items():
            with archive.open(ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def is_model(path: StrPath) -> bool:
    """Whether a path is a file that begins as model files do, or did."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        head = file.read(64)
    return head.startswith(_OLDER_START) or _START.match(head) is not None


def read_model(path: StrPath) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read header and arrays of a model file; all contents are checked against their checksums.

    Raises ModelError, a line for the user, on anything that is not a whole and undamaged model of this format.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a path of any kind
            head, size = file.read(64), file.seek(0, os.SEEK_END)
            if _START.match(head) and is_zipfile(file):
                return _read_archive(path, file, size)
    except FileNotFoundError as error:
        raise ModelError(path, 0, "no such file", hint="check the name, or make it with: aligner train") from error
    except OSError as error:
        raise ModelError(path, 0, f"cannot be opened: {error.strerror or error}", hint="check the name") from error
    if not head:
        raise ModelError(path, 0, "the file is empty", hint="train the model again")
    if head.startswith(_OLDER_START):
        raise _other_format(path)
    if not _START.match(head):
        raise ModelError(path, 0, "not a model file", hint="give a file that aligner train has written")
    raise _damaged(path, "cut off")  # what is at the end of an archive is not there


def _read_archive(path: StrPath, file: BinaryIO, size: int) -> tuple[dict[str, Any], dict[str, Array]]:
    try:
        with ZipFile(file) as archive:
            members = archive.infolist()
            if any(member.compress_type != ZIP_STORED for member in members):
                raise BadZipFile("something is compressed")
            if sum(member.file_size for member in members) > size:  # before memory is taken for it
                raise BadZipFile("more is claimed than the file has")
            header = json.loads(archive.read(_HEADER))
            if header.pop("format") != FORMAT_VERSION:
                raise _other_format(path)
            table = header.pop("arrays")
            if len(table) + 1 != len(members):
                raise BadZipFile("its directory is not whole, or there is more than arrays")
            return header, {name: _read_array(archive, f"{name}.npy", *kind) for name, kind in table.items()}
    except _DAMAGE as error:
        raise _damaged(path, "damaged") from error


def _read_array(archive: ZipFile, name: str, dtype: str, shape: list[int]) -> Array:
    size, member = np.dtype(dtype).itemsize * math.prod(shape), archive.getinfo(name)
    if dtype not in _DTYPES or not 0 <= size < member.file_size:
        raise ValueError(f"{name} is no array of a model")
    array = np.empty(shape, dtype)
    content = array.reshape(-1).view(np.uint8).data
    with archive.open(member) as stream:
        stream.read(member.file_size - size)  # what NumPy says of it, as the header does
        for start in range(0, size, _BYTES_AT_ONCE):
            part = content[start : start + _BYTES_AT_ONCE]
            part[:] = stream.read(len(part))
        stream.read()  # of an empty array, too: the checksum is compared at the end
    return array


def _other_format(path: StrPath) -> ModelError:
    what = f"is a model of another format than this program's, {FORMAT_VERSION}"
    return ModelError(path, 0, what, hint="train the model again, or use the version of aligner that wrote it")


def _damaged(path: StrPath, how: str) -> ModelError:
    return ModelError(path, 0, f"the model file is {how}", hint="copy it again, or train the model again")
