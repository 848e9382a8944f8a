"""Files of translators' units in several languages: TMX and XLIFF. Recognition of these, and of linguists' files."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from os.path import commonprefix

from corpora.errors import CorpusError
from corpora.files import READ_ERRORS, StrPath, open_bytes
from corpora.formats import Format
from corpora.formats.joint import Columns, groups_of, subtags, two_languages, with_names, within
from corpora.formats.markup import Texts, read_units
from corpora.formats.memories import FORBIDDEN, SIDES, MemoryReader, languages_of_memory, write_tmx
from corpora.formats.pharaoh import parse_links
from corpora.left_out import warn_of_left_out
from corpora.links import PairLinks
from corpora.paths import is_stream, refuse_stream
from corpora.threads import shared_property

_ELEMENT = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z]\w*)")
_KINDS = {b"tmx": "TMX", b"xliff": "XLIFF", b"document": "FLEx", b"ANNOTATION_DOCUMENT": "ELAN"}
_TOOLBOX = re.compile(rb"\\(_sh|id|ref|tx|t)[ \t\r\n]")


def kind_of_units(path: StrPath) -> str | None:
    """The kind of a file of units, by its first element, or by the first field of Toolbox; None for any other file."""
    head = b""
    with suppress(*READ_ERRORS), open_bytes(path, text=False) as stream:  # who reads it tells what is wrong
        head = stream.peek().replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")  # UTF-16 has every second one
    if _TOOLBOX.match(head):
        return "Toolbox"
    found = _ELEMENT.search(head) if head.startswith(b"<") else None
    kind = _KINDS.get(found[1]) if found else None
    return kind if kind != "FLEx" or b"interlinear-text" in head else None


class UnitFile:
    """A file of TMX or XLIFF: units with a text in several languages.

    Inline elements are left out, and blanks are joined: a text is one line.  Reading raises CorpusError on a damaged
    file.  untranslated: whether targets count that an XLIFF file says are not translated yet.
    """

    of_languages = True

    def __init__(self, path: StrPath, kind: str, untranslated: bool = False) -> None:
        self.path, self.kind, self._untranslated = path, kind, untranslated

    @shared_property
    def names(self) -> list[str]:
        """The languages of all units in order of appearance; what the file calls the source is before the others.

        Of several spellings of a language the first one counts.
        """
        found, source, _ = self._appearing
        first = dict[tuple[str, ...], str]()
        for name in found:
            first.setdefault(tuple(subtags(name)), name)
        return sorted(first.values(), key=lambda name: -len(commonprefix([subtags(name), subtags(source)])))

    @shared_property
    def _appearing(self) -> tuple[list[str], str, list[str]]:
        """The languages of all units, what the file calls the source, and languages of targets."""
        if self.kind == "TMX":  # its texts need not be read for that
            return *languages_of_memory(self.path), []
        names, targets = dict[str, None](), dict[str, None]()
        for unit in self.units():
            names |= dict.fromkeys(name for name, _ in unit.named)
            targets |= dict.fromkeys(name for name, _ in unit.named[1:])
        if names and not targets:
            names[SIDES[1]] = None
        return [*names], "", [*targets]

    def columns(self, source: str | None, target: str | None) -> Columns:
        """The languages asked for, or the only two.  Raises CorpusError where that leaves a choice.

        Where only sources of XLIFF are in several languages, they are sources, whatever their languages.
        """
        if not (source or target) and len(groups_of(self.names)) > 2 and len(groups_of(self._appearing[2])) == 1:
            return SIDES
        return self._two((source, target))

    def _two(self, wanted: tuple[str | None, str | None]) -> Columns:
        if self.kind == "XLIFF" and {*wanted} == {*SIDES}:
            return wanted[0] or "", wanted[1] or ""
        return two_languages(self.path, self.names, wanted, joined=True)

    def count(self, columns: Columns) -> int:
        return sum(1 for _ in self.parse(columns))

    def parse(self, columns: Columns, start: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """The number, source and target of each unit in one of two languages, from 1 on; the other side may be empty.

        start: pairs to pass over.  columns: languages, or their numbers from 1 on, or elements of XLIFF.
        Raises CorpusError for others.  Warns at the end of what is left out.
        """
        return islice(self._pairs(self._two(with_names(columns, self.names))), start, None)

    def _pairs(self, chosen: Columns) -> Iterator[tuple[int, bytes, bytes]]:
        by_element, counts = self.kind == "XLIFF" and {*chosen} == {*SIDES}, Counter[str]()
        other = "units in other languages than" if self.kind == "XLIFF" else "units without text in"
        place = cache(partial(side_of, chosen, self.names))
        for number, unit in enumerate(self.units(), 1):
            found, texts = dict[int | None, bytes](), 0
            for name, text in unit.named:
                side = place(SIDES[len(found)] if by_element else name)
                found[side] = found.get(side) or text
                texts += bool(text) and side is not None
            if found.keys() <= {None} or (None in found and self.kind == "XLIFF"):
                counts[f"{other} {chosen[0]} and {chosen[1]}"] += 1
                continue
            source, target = (next(filter(None, map(found.get, range(side, 6, 2))), b"") for side in (0, 1))
            again = texts - bool(source) - bool(target)
            counts.update(unit.left_out)
            if again:
                counts["second texts of a language in a unit"] += again
            yield number, source, target
        warn_of_left_out(self.path, counts)

    def links(self) -> Iterator[PairLinks]:
        """The links of each unit.  Raises CorpusError if it has none that were written as such, or a broken one."""
        refuse_stream(self.path)
        for number, unit in enumerate(self.units(), 1):
            if unit.links is None:
                raise CorpusError(self.path, number, "has no links", hint="give what aligner convert writes as TMX")
            yield parse_links(unit.links, self.path, number)

    def units(self) -> Iterator[Texts]:
        """Read all units."""
        return read_units(self.path, self.kind, partial(MemoryReader, self._untranslated))


def side_of(chosen: Columns, names: Sequence[str], name: str) -> int | None:
    """0 for the source and 1 for the target, 2 and 3 for variants of their languages, None for others.

    4 and 5 are for a language that has no other variant than theirs among the names: en is en-US if there is no en-GB.
    """
    parts = [within(name, language) for language in chosen]
    side = parts.index(max(parts))
    if parts[side]:
        return side + 2 * (parts[side] < len(subtags(name)))
    general = [side for side, language in enumerate(chosen) if within(language, name)]
    alone = general and all(within(one, chosen[general[0]]) or within(name, one) for one in names if within(one, name))
    return general[0] + 4 if alone and len(general) == 1 else None


FORMATS = [
    Format(
        "tmx",
        lambda _lines, path, **_: UnitFile(path, "TMX").links(),
        write_tmx,
        knows=lambda _, path: not is_stream(path) and kind_of_units(path) == "TMX",
        languages=True,
        unwritable=(FORBIDDEN, "a control character"),
    )
]
