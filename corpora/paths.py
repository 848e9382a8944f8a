"""Paths of files: what is read only once, and names without the suffix of packed files."""

import os
from pathlib import Path

from corpora.errors import CorpusError
from corpora.files import PACKINGS, StrPath


def is_stream(path: StrPath) -> bool:
    """Whether a path is standard input, a pipe or a device."""
    return os.fspath(path) == "-" or (Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()))


def refuse_stream(path: StrPath) -> None:
    """Raise CorpusError for what can be read only once."""
    if is_stream(path):
        raise CorpusError(path, 0, "is read more than once, as no pipe can be", hint="write it to a file first")


def plain_name(path: StrPath) -> str:
    """The name of a file without its folder and without the suffix of packed files, such as ``.gz``."""
    name = Path(path)
    return name.stem if name.suffix in PACKINGS else name.name
