"""What is read of a dictionary, and what a format is: one row, in the file of its parser."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from corpora.corpus import Languages
from corpora.files import StrPath


class Entry(NamedTuple):
    """Words or phrases of one language, each of which each of the translations may translate."""

    headwords: Sequence[str]
    translations: Sequence[str]
    weight: float = 1.0


@dataclass(frozen=True)
class Dictionary:
    """A dictionary, whose entries can be iterated once, and are read meanwhile.

    form: the name of its format.  languages: of the headwords and of the translations, or None where neither the file
    nor its name has them.
    """

    path: StrPath
    form: str
    languages: Languages
    entries: Iterable[Entry]


Found = tuple[Languages, Iterator[Entry]]


class Format(NamedTuple):
    """A format of dictionaries.

    knows: whether a file has it, by its first bytes, decompressed, and by its name where these cannot tell.  read: the
    languages and the entries, of a path and the languages of the user's text; it counts what it leaves out, by reason.
    """

    name: str
    knows: Callable[[bytes, StrPath], bool]
    read: Callable[[StrPath, Languages, Counter[str]], Found]


NO_TRANSLATION = "entries without a translation"
NO_HEADWORD = "entries without a headword"


def entry_of(headwords: Iterable[str], translations: Iterable[str], left_out: Counter[str]) -> Iterator[Entry]:
    """The entry, each word once; none, which is counted, where one side is empty."""
    sides = [*dict.fromkeys(headwords)], [*dict.fromkeys(translations)]
    if sides[0] and sides[1]:
        yield Entry(*sides)
    else:
        left_out[NO_TRANSLATION if sides[0] else NO_HEADWORD] += 1
