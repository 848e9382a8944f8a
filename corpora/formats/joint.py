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
    """A file of rows with a text in each column.  of_languages: whether they are languages."""

    path: StrPath
    kind: str
    of_languages: bool

    @property
    def names(self) -> list[str]:
        """Of its columns."""

    def columns(self, source: str | None, target: str | None) -> Columns:
        """The columns of these languages, or the usual ones."""

    def count(self, columns: Columns) -> int:
        """How many rows are pairs."""

    def parse(self, columns: Columns, start: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """The number, source and target of each row.  start: rows to pass over."""


Parser = Callable[[Iterable[bytes], StrPath, int], Iterator[tuple[int, bytes, bytes]]]

_LANGUAGES = (
    "arabic ar bulgarian bg czech cs danish da german de greek el english en spanish es estonian et persian fa finnish "
    "fi french fr hebrew he hindi hi croatian hr hungarian hu indonesian id italian it japanese ja korean ko "
    "lithuanian lt latvian lv dutch nl polish pl portuguese pt romanian ro russian ru slovak sk slovenian sl swedish "
    "sv swahili sw turkish tr ukrainian uk vietnamese vi chinese zh"
).split()
LANGUAGES = dict(zip(_LANGUAGES[::2], _LANGUAGES[1::2], strict=True))
"""Codes of languages by their names."""

_NAMES, _CODES = "|".join(LANGUAGES).encode(), "|".join(LANGUAGES.values()).encode()
NAME = re.compile(
    rb"(?i:(source|target|src|tgt|trg)([ _-]\w+)?|(%b)([-_]\w{2,8})?|[a-z]{3}_[a-z]{4}|(%b)( ?\(\w+\))?)"
    % (_CODES, _NAMES)
)
"""The name of a column of text, in the first row of a table, where another such name is beside it."""

_MOST_NAMES, _LONGEST_NAME = 8, 80
"""Names that a message lists, and their characters."""

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
                hint = "delete the line, or choose `columns` by its names; if it is a pair, put ||| in place of the tab"
                raise _WrongError(what, hint)
            return number, source, target
        except _WrongError as error:
            what, hint = error.args
            raise BrokenLine(path, number, what, hint=hint) from None

    return map(parse, count(first), lines)


def two_languages(
    path: StrPath,
    names: Sequence[str],
    wanted: tuple[str | None, str | None],
    what: str = "languages",
    *,
    joined: bool = False,
) -> Columns:
    """Source and target of a file, as it names them: those that are wanted, or the only two, the first as the source.

    Tags of languages have no case, and - is _ in them. en is also en-US, and en-US also en or en-GB where there is no
    other English. what: the names are of. joined: whether en may be several, each of which `within` finds in it.
    Raises CorpusError for others, for one language twice, and where that leaves a choice.
    """
    known = [_language(path, names, language, joined) if language else None for language in wanted]
    rest = [name for name in names if not any(one and (within(name, one) if joined else name == one) for one in known)]
    missing, groups = known.count(None), groups_of(rest) if joined else rest
    found = next((found for found in ([], groups, rest) if len(found) == missing), None)
    if found is None and len(rest) > missing:
        some = iter([*groups, *rest])
        hint = f"choose two with `columns`, like {','.join(name or next(some) for name in known)}"
        raise CorpusError(path, 0, f"has {len(names):,} {what}, {listed(names)}", hint=hint)
    if found is None:
        what = f"has text in {listed(names)} alone" if names else "has no text"
        raise CorpusError(path, 0, what, hint="a corpus has two")
    source, target = (name or found.pop(0) for name in known)
    if source == target or (joined and subtags(source) == subtags(target)):
        raise CorpusError(path, 0, f"source and target are both {source}", hint="name two languages")
    return source, target


def subtags(name: str) -> list[str]:
    """The parts of a tag of a language  [RFC 5646]."""
    return name.lower().replace("_", "-").split("-")


def within(name: str, wanted: str) -> int:
    """How many parts a tag has that a name begins with: en-US has en and en-US.  0 for one that is not within it."""
    parts, tag = subtags(name), subtags(wanted)
    return len(tag) if parts[: len(tag)] == tag else 0


def listed(names: Sequence[str]) -> str:
    """Some names, for a message."""
    some, more = ", ".join(map(quoted_name, names[:_MOST_NAMES])), len(names) - _MOST_NAMES
    return some if more <= 0 else f"{some} and {more:,} more"


def quoted_name(name: str) -> str:
    """A name as `columns` takes it: with a comma it has quotes."""
    return f'"{name[:_LONGEST_NAME]}"' if "," in name else name[:_LONGEST_NAME]


def groups_of(names: Sequence[str]) -> list[str]:
    """Languages with all their variants: the name that is the only one of its language, or else the language."""
    groups: dict[str, list[str]] = {}
    for name in names:
        first, *others = subtags(name)
        groups.setdefault("-".join([first, *others[: len(first) == 1]]), []).append(name)  # x-a is no variant of x-b
    return [
        found[0] if len(found) == 1 else next((name for name in found if "-".join(subtags(name)) == group), group)
        for group, found in groups.items()
    ]


def _language(path: StrPath, names: Sequence[str], wanted: str, joined: bool) -> str:
    if wanted in names and not joined:
        return wanted
    tag = subtags(wanted)
    for size in range(len(tag), 0, -1):
        if size < len(tag) and len(tag[size - 1]) == 1:  # of x-a nothing is left but x, which is no language
            break
        found = [name for name in names if within(name, "-".join(tag[:size]))]
        same = [name for name in found if len(subtags(name)) == size]
        if len(found) == 1 or (size == len(tag) and len(same) == 1):
            return [*same, *found][0]
        if found and size == len(tag) and joined:
            return wanted
        if found:
            break
    hint = "choose others with `columns`"
    raise CorpusError(path, 0, f"has no '{wanted}', but {listed(names) or 'no text'}", hint=hint)


def are_numbers(columns: Columns) -> bool:
    """Whether columns are given by number, of nine digits at most, not by name."""
    return all(column.isdecimal() and len(column) < 10 for column in columns)


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
