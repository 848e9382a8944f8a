"""Corrections of tags by people: a table with a row for each tag, which says where it stands in its target."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.formats.sheets import Sheet, kind_of_sheet
from corpora.inline.carrying import Placed, carry
from corpora.inline.documents import Segment
from corpora.inline.examples import Examples
from corpora.links import Link

_PLACE = "pair", "number", "start", "end"
"""Columns of a correction: which segment, from 1, and which of its tags, from 0; characters of the target."""

UNSURE = "line", "segment", "tag", "source", "target", "confidence", *_PLACE, "text"
"""Columns of a tag that may stand elsewhere."""

_HINT = "give a table of unsure tags, or what their page saves"


def unsure_rows(pair: int, segment: Segment, placed: Sequence[Placed]) -> Iterator[tuple[object, ...]]:
    """The rows of the unsure tags of a segment, with the columns `UNSURE`.  pair: the number of the segment."""
    source, target = segment.source.text, segment.target.text
    for number, one in enumerate(placed):
        if not one.sure:
            words = source[one.tag.start : one.tag.end], target[one.start : one.end]
            known = segment.line, segment.name, one.tag.opening, *words, round(one.confidence, 3)
            yield *known, pair, number, one.start, one.end, target


@dataclass
class _Corrected:
    """The corrections of a segment.  line: of the first of them."""

    line: int
    text: str
    places: dict[int, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Corrections:
    """Corrections of tags, by segments.  path: of their table."""

    path: StrPath = ""
    of: dict[int, _Corrected] = field(default_factory=dict)

    def carry(
        self, pair: int, segment: Segment, links: Mapping[Link, float], examples: Examples | None
    ) -> list[Placed]:
        """Place the tags of a segment, as corrected.  Raises CorpusError where that cannot be, or is of other text."""
        found = self.of.get(pair, _Corrected(0, segment.target.text))
        if found.text.split() != segment.target.text.split():
            what = f"has another target than pair {pair} of the text"
            raise CorpusError(self.path, found.line, what, hint="do the files belong together?")
        try:
            return carry(segment.source, segment.target, links, found.places, examples)
        except ValueError as error:
            hint = "correct one of them, or leave it out"
            raise CorpusError(self.path, found.line, f"cannot be as corrected: {error}", hint=hint) from error

    def check_ended(self, pairs: int) -> None:
        """Raise CorpusError for corrections of later segments than a text has."""
        for pair, found in self.of.items():
            if not 0 < pair <= pairs:
                raise CorpusError(self.path, found.line, f"is of pair {pair}, but the text has {pairs:,}", hint=_HINT)


NO_CORRECTIONS = Corrections()


def read_corrections(path: StrPath) -> Corrections:
    """Read the corrections of a table, in TSV, CSV or a workbook.  Raises CorpusError where a row is none."""
    found = dict[int, _Corrected]()
    for line, (*cells, text) in Sheet(path, kind_of_sheet(path) or "TSV").rows([*_PLACE, "text"], _HINT):
        if not all(cell.isdecimal() and len(cell) < 10 for cell in cells):
            raise CorpusError(path, line, f"has not a number in each of {', '.join(_PLACE)}", hint=_HINT)
        pair, number, start, end = map(int, cells)
        own = found.setdefault(pair, _Corrected(line, text))
        if number in own.places or text != own.text:
            hint = "give a row for each tag of a pair, all with the same text"
            raise CorpusError(path, line, f"does not go with line {own.line}, of the same pair", hint=hint)
        own.places[number] = start, end
    return Corrections(path, found)
