"""Columns of tables: which of them are source and target, and whether a first row has their names."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.formats.joint import LANGUAGES, NAME, Columns, are_numbers, listed

_LONGEST_NAME, _LETTERS = 3, 40  # words and letters of a name
_NO_NAME = re.compile(r"[0-9]|[^\w)]$")


def place_of(path: StrPath, names: Sequence[str], column: str) -> int:
    """The place of a column among the names, in whatever case.  CorpusError for one that is not there, or twice."""
    place = find_column(names, column)
    if place is None:
        what = f"has {'more than one' if column in names else 'no'} column '{column}', but {listed(names) or 'none'}"
        raise CorpusError(path, 0, what, hint="choose others with `columns`, or, if that is text, 1,2")
    return place


def named_columns(
    path: StrPath, source: str | None, target: str | None, names: Sequence[str], *, numbered: bool = True
) -> Columns:
    """The columns of these languages, or ``source`` and ``target``, or the only two.

    numbered: they may be chosen by number, too.  Raises CorpusError where that leaves a choice.
    """
    wanted = (source, target)
    found = [find_column(names, one) if one else None for one in wanted]
    usual = [find_column(names, one) for one in ("source", "target")]
    if None in found and None not in usual:
        found = usual
    if None in found and len(names) == 2:
        rest = [place for place in (0, 1) if place not in found]
        found = [rest.pop(0) if place is None else place for place in found]
        for place, one in enumerate(wanted):  # of another language than is asked for?
            if one and len({_code(names[found[place] or 0]), _code(one)} - {None}) > 1:
                found = [None, None]
                break
    first, second = found
    if first is None or second is None or first == second:
        hint = "choose those of source and target with `columns`"
        hint += ", or by number, like 1,2, if these are text" if numbered else ""
        raise CorpusError(path, 0, f"has the columns {listed(names) or '(none)'}", hint=hint)
    return names[first], names[second]


def fields_of(path: StrPath, source: str | None, target: str | None, lines: Iterable[bytes]) -> Columns:
    """`named_columns` of JSON objects, whose fields are those of the first one that are texts or tokens."""
    for line in lines:
        with suppress(RecursionError, ValueError):
            if names := [*_fields(json.loads(line))]:
                return named_columns(path, source, target, names, numbered=False)
    return "source", "target"


def _fields(values: Any, outer: str = "") -> Iterator[str]:
    for name, value in values.items() if isinstance(values, dict) else ():
        if isinstance(value, str) or (isinstance(value, list) and value and all(isinstance(one, str) for one in value)):
            yield outer + name
        elif not outer:
            yield from _fields(value, f"{name}.")


def have_names(lines: Sequence[bytes], columns: Columns | None) -> bool:
    """Whether columns of tab-separated lines are to be chosen by the names above them, or of more than two."""
    cells = [line.split(b"\t") for line in lines]
    if columns is not None:
        return len(cells[0]) > 1 and not are_numbers(columns)
    return len(cells[0]) > 2 and 2 * sum(len(row) > 2 for row in cells) > len(cells)


def are_names(row: Sequence[str]) -> bool | None:
    """Whether two cells are names of columns, as `NAME` knows them, or text, or (None) may be either."""
    if all(NAME.fullmatch(cell.encode()) for cell in row) and row[0].lower() != row[1].lower():
        return True
    long = any(len(cell.split()) > _LONGEST_NAME or len(cell) > _LETTERS for cell in row)
    return False if long or any(not cell or _NO_NAME.search(cell) for cell in row) else None


def find_column(names: Sequence[str], wanted: str) -> int | None:
    """The place of the one name that is this, or this in another case, or of an inner field, or the same language."""
    for same in (str, str.casefold, _inner, _code):
        found = [place for place, name in enumerate(names) if same(name) == same(wanted) is not None]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _inner(name: str) -> str:
    return name.rpartition(".")[2].casefold()


def _code(name: str) -> str | None:
    """The code of a language, by its code or its English name, perhaps with a region or a script after it."""
    first = re.split("[-_ (]", _inner(name), maxsplit=1)[0]
    return LANGUAGES.get(first, first if first in LANGUAGES.values() else None)
