"""Recognition of paths: the form of a file by its first lines, the files of a prefix by their names."""

import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from corpora.errors import CorpusError
from corpora.files import PACKINGS, StrPath, read_lines
from corpora.formats import conll, docbin, giza, joint, jsonl, label_studio, naacl, pharaoh, tsv, units

HEAD_LINES = 30
LINK_SUFFIXES = ("wa", "giza", "links", "align", "talp", "naacl", "pharaoh")

OF_ALIGNERS = "links", "align", "pharaoh"  # such names are given to what `aligner align` writes, too
_NO_LANGUAGE = (  # ends of names that look like codes of languages: where one is, it can be chosen
    "bak|bin|cfg|cpp|csv|dat|db|doc|err|fwd|gz|htm|ids|idx|ini|jpg|js|lck|log|md|np[yz]|old|out|pdf|pid|pkl|png|py|rev|rs|"
    "sql|svg|swp|tab|tar|tbx|tex|tgz|tmp|tmx|tsv|txt|wal|xlf|xls|xml|yml|zip"
)
_LANGUAGE = re.compile(rf"(?!(?i:{_NO_LANGUAGE})$)[A-Za-z]{{1,3}}([-_][A-Za-z0-9]{{2,8}})*|source|target")
_LINES_OF: dict[str, Callable[[bytes], object]] = {
    "naacl": naacl.LINK_LINE.fullmatch, "jsonl": jsonl.LINE.fullmatch, "pharaoh": pharaoh.is_links,
    "tsv": tsv.LINE.fullmatch,
}  # fmt: skip


def head(path: StrPath) -> list[bytes]:
    """The first lines of a file; no lines of a pipe or standard input, which can be read only once."""
    if is_stream(path):
        return []
    return list(islice(read_lines(path), HEAD_LINES))


def is_stream(path: StrPath) -> bool:
    """Whether a path is standard input, a pipe or a device."""
    return os.fspath(path) == "-" or (Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()))


def file_form(lines: Sequence[bytes]) -> str:
    """The form of a file, from its first lines.

    'giza', 'comtrans', 'joint', 'naacl', 'jsonl', 'pharaoh' or 'tsv' links, JSON 'objects', sentences of 'conll',
    'tasks' of Label Studio, 'docbin' of spaCy, or 'text'.
    """
    if lines and lines[0].startswith(docbin.MAGIC):
        return "docbin"
    if label_studio.BEGINS.match(b"\n".join(lines)):
        return "tasks"
    triples = _triples(lines)
    if triples is not None:
        return triples
    if conll.is_conll(lines):
        return "conll"
    content = [line for line in lines if line.strip()]
    are_objects = content and all(map(joint.OBJECT.fullmatch, content))
    if any(b"|||" in line.split() for line in lines) and not (are_objects and any(map(_is_object, content))):
        return "joint"
    for name, is_of in _LINES_OF.items():
        if content and all(map(is_of, content)):
            return name
    if are_objects:
        return "objects"
    # Tabs may be blanks of a text, too, or be missing where a line is broken.
    return "joint" if 2 * sum(len(joint.split_joint(line)) == 2 for line in content) > len(content) else "text"


def _is_object(line: bytes) -> bool:
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(line), dict)
    return False


def links_format(path: StrPath, lines: Sequence[bytes]) -> str:
    """The format of a links file, from its name if it ends in ``.talp``, else from its first lines, or element."""
    if plain_name(path).endswith(".talp"):
        return "talp"
    if not is_stream(path) and units.kind_of_units(path) == "TMX":
        return "tmx"
    first = next(filter(bytes.strip, lines), b"")
    # A broken file is left to the parser, which names the line and the token.
    return _triples(lines) or next((name for name, is_of in _LINES_OF.items() if is_of(first)), "pharaoh")


def _triples(lines: Sequence[bytes]) -> str | None:
    """The format of a file if it has three lines for each pair, else None."""
    if lines and giza.COMMENT.fullmatch(lines[0].strip()):
        return "giza"
    links = [line for line in lines[2::3] if line.strip()]
    texts = [line for line in (*lines[0::3], *lines[1::3]) if line.strip()]
    right = links and texts and all(map(pharaoh.is_links, links)) and not any(map(pharaoh.is_links, texts))
    return "comtrans" if right else None


def plain_name(path: StrPath) -> str:
    """The name of a file without its folder and without the suffix of packed files, such as ``.gz``."""
    name = Path(path)
    return name.stem if name.suffix in PACKINGS else name.name


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
