"""Source and target on one line: ``source ||| target``, with a tab between them, in columns, or in a JSON object."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any, Protocol

from corpora.errors import BrokenLine, CorpusError, quoted
from corpora.files import StrPath

OBJECT = re.compile(rb'\s*\{\s*".*\}\s*', re.DOTALL)

Columns = tuple[str, str]  # of source and target: numbers from 1 on, or names


class Tabular(Protocol):
    """A file of rows with a text in each column.  names: of its columns.  of_languages: whether they are languages."""

    path: StrPath
    kind: str
    names: list[str]
    of_languages: bool

    def columns(self, source: str | None, target: str | None) -> Columns:
        """The columns of these languages, or the usual ones."""

    def count(self, columns: Columns) -> int:
        """How many rows are pairs."""

    def parse(self, columns: Columns, start: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """The number, source and target of each row.  start: rows to pass over."""


Parser = Callable[[Iterable[bytes], StrPath, int], Iterator[tuple[int, bytes, bytes]]]

_CODES = b"ar|bg|cs|da|de|el|en|es|et|fa|fi|fr|he|hi|hr|hu|id|it|ja|ko|lt|lv|nl|pl|pt|ro|ru|sk|sl|sv|sw|tr|uk|vi|zh"
NAME = re.compile(rb"(?i:(source|target|src|tgt|trg)([ _-]\w+)?|(%b)([-_]\w{2,8})?|[a-z]{3}_[a-z]{4})" % _CODES)
"""The name of a column of text, in the first row of a table, where another such name is beside it."""

_SEPARATOR = re.compile(rb"(?<!\S)\|\|\|(?!\S)|\t")


def split_joint(line: bytes) -> list[bytes]:
    """The parts of a line between its ``|||`` tokens and tabs; a good line has two."""
    return [part.strip() for part in _SEPARATOR.split(line)]


def parse_joints(
    lines: Iterable[bytes], path: StrPath, first: int = 1, columns: Columns | None = None
) -> Iterator[tuple[int, bytes, bytes]]:
    """The number, source and target of each line, numbered from the first on; a blank line is an empty pair.

    columns: of tab-separated lines, or of JSON objects, where ``outer.inner`` is a field within a field.
    Raises BrokenLine unless a line has exactly one ``|||`` or one tab, or has the columns; the iterator can still be
    used for the lines after it.
    """
    split: Callable[[bytes], tuple[bytes, bytes]] = _halves
    if columns is not None:
        split = partial(_numbered if are_numbers(columns) else _named, columns)

    def parse(number: int, line: bytes) -> tuple[int, bytes, bytes]:
        if not line.strip():
            return number, b"", b""
        try:
            source, target = split(line)
            if number == 1 and b"\t" in line and source != target and all(map(NAME.fullmatch, (source, target))):
                what = f"{quoted(source)} and {quoted(target)} are names of columns, not text"
                raise _WrongError(what, "delete the line; if it is a pair, divide it by ||| in place of the tab")
            return number, source, target
        except _WrongError as error:
            what, hint = error.args
            raise BrokenLine(path, number, what, hint=hint) from None

    return map(parse, count(first), lines)


def named_columns(source: str | None, target: str | None, names: Sequence[str]) -> Columns:
    """The columns named like the languages if both exist, else ``source`` and ``target``."""
    return (source, target) if source in names and target in names and source and target else ("source", "target")


def two_languages(
    path: StrPath, names: Sequence[str], wanted: tuple[str | None, str | None], what: str = "languages"
) -> Columns:
    """Source and target of a file, as it names them: those that are wanted, or the only two.

    en is also en-US, where there is no en, and no other such language.  what: the names are of.  Raises CorpusError
    for others, for one language twice, and where that leaves a choice.
    """
    known = [_language(path, names, language) if language else None for language in wanted]
    rest = [name for name in names if name not in known]
    if None in known and len(rest) > known.count(None):
        hint = f"choose two with `columns`, like {','.join(names[:2])}"
        raise CorpusError(path, 0, f"has {len(names)} {what}, {', '.join(names)}", hint=hint)
    if len(rest) < known.count(None):
        raise CorpusError(path, 0, f"has text in {names[0]} alone" if names else "has no text", hint="a corpus has two")
    source, target = (name or rest.pop(0) for name in known)
    if source == target:
        raise CorpusError(path, 0, f"source and target are both {source}", hint="name two languages")
    return source, target


def _language(path: StrPath, names: Sequence[str], wanted: str) -> str:
    for part in (wanted.lower(), wanted.lower().replace("_", "-").partition("-")[0]):
        found = [name for name in names if name.lower() == part]
        found = found or [name for name in names if re.split("[-_]", name.lower())[0] == part]
        if len(found) == 1:
            return found[0]
    hint = "choose others with `columns`"
    raise CorpusError(path, 0, f"has no '{wanted}', but {', '.join(names) or 'no text'}", hint=hint)


def are_numbers(columns: Columns) -> bool:
    """Whether columns are given by number, not by name."""
    return all(map(str.isdecimal, columns))


def with_names(columns: Columns, names: Sequence[str]) -> Columns:
    """The columns by name, where they are given by number; a number that no column has stays."""
    if not are_numbers(columns):
        return columns
    named = {str(number): name for number, name in enumerate(names, 1)}
    return named.get(columns[0], columns[0]), named.get(columns[1], columns[1])


class _WrongError(Exception):
    """What is wrong with a line, and a hint."""


def _halves(line: bytes) -> tuple[bytes, bytes]:
    parts = split_joint(line)
    if len(parts) != 2:
        what = "no ||| or tab between source and target" if len(parts) < 2 else "more than one ||| or tab"
        raise _WrongError(what, "each line must be: source ||| target, or source TAB target")
    return parts[0], parts[1]


def _numbered(columns: Columns, line: bytes) -> tuple[bytes, bytes]:
    parts = line.split(b"\t")
    source, target = map(int, columns)
    if max(source, target) > len(parts):
        raise _WrongError(f"has no column {max(source, target)}, only {len(parts)}", "choose others with `columns`")
    return parts[source - 1].strip(), parts[target - 1].strip()


def _named(columns: Columns, line: bytes) -> tuple[bytes, bytes]:
    try:
        values = json.loads(line)
        source, target = (_text(values, name) for name in columns)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        what = f"{quoted(line)} is no JSON object with texts or tokens '{columns[0]}' and '{columns[1]}'"
        raise _WrongError(what, "choose other fields with `columns`") from error
    return source, target


def _text(values: Any, name: str) -> bytes:
    outer, _, inner = name.partition(".")
    if name not in values and inner:
        return _text(values[outer], inner)
    text = " ".join(values[name]) if isinstance(values[name], list) else values[name]
    return bytes(text.replace("\n", " ").encode())
