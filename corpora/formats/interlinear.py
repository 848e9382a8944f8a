"""Interlinear text of linguists: FLEx, ELAN and Toolbox. A pair is a phrase: its words, and its free translation."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from corpora.errors import BrokenLine
from corpora.files import StrPath
from corpora.formats import toolbox
from corpora.formats.elan import ElanReader
from corpora.formats.flex import TRANSLATION, FlexReader
from corpora.formats.joint import Columns, two_languages, with_names
from corpora.formats.markup import read_units
from corpora.left_out import warn_of_left_out

_WHAT = {"FLEx": ("languages", "phrases"), "ELAN": ("tiers", ""), "Toolbox": ("fields", "records")}
"""What columns are, and what a pair is made of."""

KINDS = tuple(_WHAT)

_USUAL: dict[str, tuple[Columns, ...]] = {"Toolbox": (("tx", "ft"), ("t", "f"))}
"""Fields that are taken where none are asked for."""

Pair = tuple[int, bytes, bytes] | BrokenLine


class InterlinearFile:
    """A file of interlinear text.  kind: one of KINDS.  names: of its columns, those of words before translations.

    They are languages of FLEx, tiers of ELAN, and fields of Toolbox, as the file names them. In FLEx a translation into
    a language that the file also has words in is ``en.gls``. Only what has text in one of two columns is a pair.
    Raises CorpusError on a damaged file.
    """

    of_languages = True

    def __init__(self, path: StrPath, kind: str) -> None:
        self.path, self.kind = path, kind
        if kind == "Toolbox":
            self.names = list(toolbox.field_names(path))
        elif kind == "ELAN":
            elan = ElanReader()
            list(read_units(path, kind, lambda: elan))
            self.names = list(elan.tiers)
        else:
            found = list(dict.fromkeys(name for unit in read_units(path, kind, FlexReader) for name in unit))
            words = [name for name in found if not name.endswith(TRANSLATION)]
            translations = {name: name.removesuffix(TRANSLATION) for name in found if name.endswith(TRANSLATION)}
            own = {name if plain in words else plain: name for name, plain in translations.items()}
            self._names_of_flex = {**dict(zip(words, words, strict=True)), **own}
            self.names = list(self._names_of_flex)

    def columns(self, source: str | None, target: str | None) -> Columns:
        """The columns asked for, or the usual or only two.  Raises CorpusError where that leaves a choice."""
        for usual in () if source or target else _USUAL.get(self.kind, ()):
            if {*usual} <= {*self.names}:
                return usual
        return two_languages(self.path, self.names, (source, target), _WHAT[self.kind][0])

    def count(self, columns: Columns) -> int:
        return sum(1 for _ in self._pairs(columns))

    def parse(self, columns: Columns, start: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """The number, source and target of each pair; in Toolbox the number is the line where its record begins.

        start: pairs to pass over.  columns: names, or their numbers from 1 on.  Raises CorpusError for others,
        BrokenLine for a record of Toolbox with text that is not UTF-8, but goes on with the next.
        """

        def pair(found: Pair) -> tuple[int, bytes, bytes]:
            if isinstance(found, BrokenLine):
                raise found
            return found

        return map(pair, islice(self._pairs(columns), start, None))

    def _pairs(self, columns: Columns) -> Iterator[Pair]:
        names, (what, unit) = with_names(columns, self.names), _WHAT[self.kind]
        chosen = two_languages(self.path, self.names, names, what)
        left_out, number = Counter[str](), 0
        for found in self._units(chosen, left_out):
            if isinstance(found, BrokenLine):
                yield found
                continue
            line, source, target, has_others = found
            if source or target:
                number += 1
                yield line or number, source, target
            elif has_others:
                left_out[f"{unit} without text in {chosen[0]} and {chosen[1]}"] += 1
        warn_of_left_out(self.path, left_out)

    def _units(self, columns: Columns, left_out: Counter[str]) -> Iterator[tuple[int, bytes, bytes, bool] | BrokenLine]:
        """The line of each unit, if it has one, its texts in two columns, and whether it has text in others."""
        if self.kind == "Toolbox":
            yield from toolbox.records(self.path, columns)
            return
        source, target = columns
        if self.kind == "FLEx":
            source, target = self._names_of_flex[source], self._names_of_flex[target]
            for unit in read_units(self.path, self.kind, lambda: FlexReader((source, target))):
                yield 0, unit.get(source, b""), unit.get(target, b""), bool(unit)
            return
        elan = ElanReader(columns)
        for unit in read_units(self.path, self.kind, lambda: elan):
            yield 0, unit.get(source, b""), unit.get(target, b""), False
        left_out.update(elan.left_out)
