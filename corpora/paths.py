"""Paths of files: what their names say, what is read only once, and the first lines."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from corpora.errors import CorpusError
from corpora.files import PACKINGS, StrPath, read_lines

HEAD_LINES = 30
LINK_SUFFIXES = ("wa", "giza", "links", "align", "talp", "naacl", "pharaoh")
OF_ALIGNERS = "links", "align", "pharaoh"  # so what `aligner align` writes is named, too
_NO_LANGUAGE = (  # ends of names that look like codes of languages: where one is, it can be chosen
    "bak|bin|cfg|cpp|csv|dat|db|doc|err|fwd|gz|htm|ids|idx|ini|jpg|js|lck|log|md|np[yz]|old|out|pdf|pid|pkl|png|py|rev|rs|"
    "sql|svg|swp|tab|tar|tbx|tex|tgz|tmp|tmx|tsv|txt|wal|xlf|xls|xml|yml|zip"
)
_LANGUAGE = re.compile(rf"(?!(?i:{_NO_LANGUAGE})$)[A-Za-z]{{1,3}}([-_][A-Za-z0-9]{{2,8}})*|source|target")


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


def head(path: StrPath) -> list[bytes]:
    """The first lines of a file; no lines of a pipe or standard input, which can be read only once."""
    return [] if is_stream(path) else list(islice(read_lines(path), HEAD_LINES))


def language_of(path: StrPath) -> str | None:
    """The language that the suffix of a text file names, or None."""
    suffix = plain_name(path).rpartition(".")[2]
    is_language = "." in plain_name(path) and _LANGUAGE.fullmatch(suffix) and suffix not in LINK_SUFFIXES
    return suffix if is_language else None


@dataclass(frozen=True)
class PrefixFiles:
    """The files that share a prefix: texts by language, in alphabetical order, and the links beside them."""

    texts: dict[str, Path]
    links: Path | None


def prefixes(folder: Path, wanted: Sequence[str] = ()) -> dict[str, PrefixFiles]:
    """The prefixes in a folder: ``prefix.LANGUAGE`` and ``prefix.wa`` or the like, plain or packed.

    If a file is there both plain and packed, the plain one is taken.  wanted: suffixes that are languages,
    whatever their form.  Raises CorpusError if the folder cannot be read.
    """
    try:
        files = sorted(file for file in folder.iterdir() if not file.is_dir())
    except OSError as error:
        raise CorpusError(folder, 0, f"cannot be read: {error.strerror}", hint="check the folder") from error
    by_prefix: dict[str, dict[str, Path]] = {}
    for file in files:
        prefix, _, suffix = plain_name(file).rpartition(".")
        if prefix and (suffix in LINK_SUFFIXES or suffix in wanted or _LANGUAGE.fullmatch(suffix)):
            by_prefix.setdefault(prefix, {}).setdefault(suffix, file)
    return {
        prefix: PrefixFiles(
            {suffix: file for suffix, file in sorted(found.items()) if suffix not in LINK_SUFFIXES},
            next((found[suffix] for suffix in LINK_SUFFIXES if suffix in found), None),
        )
        for prefix, found in by_prefix.items()
    }


def only_prefix(folder: Path, wanted: Sequence[str] = ()) -> Path:
    """The one prefix in a folder that has texts in two languages.  CorpusError if there is none, or more."""
    found = sorted(name for name, files in prefixes(folder, wanted).items() if len(files.texts) > 1)
    match found:
        case [prefix]:
            return folder / prefix
        case []:
            hint = "name the files like train.en and train.fr"
            raise CorpusError(folder, 0, "no texts in two languages in this folder", hint=hint)
        case _:
            hint = f"name one of them, like {folder / found[0]}"
            raise CorpusError(folder, 0, f"more than one corpus: {', '.join(found)}", hint=hint)
