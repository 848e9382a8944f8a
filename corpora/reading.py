"""How a corpus is read."""

import csv
import re
from dataclasses import dataclass
from functools import partial

from corpora import SettingError
from corpora.settings import setting

_data = partial(setting, panel="Data")


def parse_columns(columns: str) -> tuple[str, str]:
    """Parse numbers or names of the columns of source and target, like 3,4; a name with a comma has quotes.

    Raises SettingError.
    """
    names = next(csv.reader([columns], skipinitialspace=True), [])
    if (
        len(names) != 2
        or not all(names)
        or (any(map(str.isdecimal, names)) and not re.fullmatch("[1-9][0-9]*,[1-9][0-9]*", columns))
    ):
        raise SettingError(f"{columns!r} is not S,T (give two numbers from 1 on, like 3,4, or two names)")
    return names[0], names[1]


@dataclass(frozen=True)
class Reading:
    """How a corpus is read: the keyword arguments of `corpora.readers.open_corpus`, where they are explained."""

    source: str | None = _data(
        None, "Source language: chooses the file or column, else names it, as in TMX.", metavar="L"
    )
    target: str | None = _data(None, "Target language, likewise.", metavar="L")
    columns: tuple[str, str] | None = _data(
        None,
        "Source and target in one file: of JSON lines and tables names, of lines with tabs numbers from 1 on, of TMX "
        "and XLIFF languages.",
        metavar="S,T",
        parser=parse_columns,
    )
    untranslated: bool = _data(False, "Take targets that XLIFF calls untranslated.", hidden=True)

    def swaps(self, own: tuple[str | None, str | None]) -> bool:
        """Whether a chosen language is that of the other side.  own: of the files."""
        chosen = zip((self.source, self.target), own[::-1], strict=True)
        return own[0] != own[1] and any(one is not None and one == other for one, other in chosen)

    def refuse(self, what: str, hint: str) -> None:
        """Raise SettingError for the first that is given."""
        for name in (name for name, value in vars(self).items() if value):
            raise SettingError(f"`{name}` {what} ({hint})")

    def refuse_choice(self) -> None:
        """Raise SettingError for what chooses among the texts of one file, where there are two files."""
        alone = Reading(columns=self.columns, untranslated=self.untranslated)
        alone.refuse("is of one file, which has source and target", "leave it out, or give one file")


AS_IT_IS = Reading()
