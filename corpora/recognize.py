"""Recognition of paths: the form of a file by its first lines, the files of a prefix by their names."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path

from corpora.errors import CorpusError
from corpora.files import StrPath, read_lines
from corpora.formats import Format
from corpora.formats.joint import OBJECT, split_joint
from corpora.paths import is_stream, plain_name

HEAD_LINES = 30
LINK_SUFFIXES = ("wa", "giza", "links", "align", "talp", "naacl", "pharaoh")
_NO_LANGUAGE = (  # ends of names that look like codes of languages: where one is, it can be chosen
    "bak|bin|cfg|cpp|csv|dat|db|doc|err|fwd|gz|htm|ids|idx|ini|jpg|js|lck|log|md|np[yz]|old|out|pdf|pid|pkl|png|py|rev|rs|"
    "sql|svg|swp|tab|tar|tbx|tex|tgz|tmp|tmx|tsv|txt|wal|xlf|xls|xml|yml|zip"
)
_LANGUAGE = re.compile(rf"(?!(?i:{_NO_LANGUAGE})$)[A-Za-z]{{1,3}}([-_][A-Za-z0-9]{{2,8}})*|source|target")
_MODULES = "standoff docbin label_studio pharaoh naacl giza comtrans jsonl tsv units sheets conll clearaligner"

FORMATS: dict[str, Format] = {
    row.name: row for name in _MODULES.split() for row in import_module(f"corpora.formats.{name}").FORMATS
}
"""What stands at the ends of modules of `corpora.formats`, by name, in the order in which formats are recognised."""

JOINT, OBJECTS, TEXT = Format("joint"), Format("objects", objects=True), Format("text", bare=True)


def head(path: StrPath) -> list[bytes]:
    """The first lines of a file; no lines of a pipe or standard input, which can be read only once."""
    return [] if is_stream(path) else list(islice(read_lines(path), HEAD_LINES))


def form_of(path: StrPath) -> Format:
    """The format of a file, by its first lines."""
    return file_form(head(path))


def file_form(lines: Sequence[bytes]) -> Format:
    """The format of a file that begins with these lines."""
    content = [line for line in lines if line.strip()]
    for row in FORMATS.values():
        if row.knows(lines, "-") or (content and all(map(row.line, content))):
            return row
    are_objects = content and all(map(OBJECT.fullmatch, content))
    if any(b"|||" in line.split() for line in lines) and not (are_objects and any(map(_is_object, content))):
        return JOINT
    if are_objects:
        return OBJECTS
    # Tabs may be blanks of a text, too, or be missing where a line is broken.
    return JOINT if 2 * sum(len(split_joint(line)) == 2 for line in content) > len(content) else TEXT


def _is_object(line: bytes) -> bool:
    with suppress(ValueError, RecursionError):
        return bool(json.loads(line))
    return False


def links_format(path: StrPath, lines: Sequence[bytes] | None = None) -> Format:
    """The format of a links file, from its name or first element, else from its first lines, which may be given."""
    lines = head(path) if lines is None else lines
    first = next(filter(bytes.strip, lines), b"")
    rows = [row for row in FORMATS.values() if row.links]
    # A broken file is left to the parser, which names the line and the token.
    found = [row for row in rows if row.knows(lines, path)] + [row for row in rows if row.line(first)]
    return found[0] if found else FORMATS["pharaoh"]


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
