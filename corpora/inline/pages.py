"""Pages of HTML: a segment is what stands between elements that are no part of a sentence."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from corpora.errors import CorpusError, counted
from corpora.files import StrPath, open_bytes
from corpora.inline.documents import Piece, Segment, decoded
from corpora.inline.kinds import TAG, Marked, read_marked, read_target

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img input ins kbd label mark meter output "
    "picture q rb rp rt ruby s samp small source span strike strong sub sup time tt u var wbr".split()
)
_OPAQUE = frozenset("script style pre textarea title svg math template noscript".split())
"""Elements that are left as they are, with all that is in them."""


class _Block(NamedTuple):
    """A text of a page, what is before it, and the line where it begins; at last only what is after all texts."""

    before: str
    text: str
    line: int


def is_page(path: StrPath) -> bool:
    """Whether a file begins as HTML does."""
    with open_bytes(path) as stream:
        return stream.peek()[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html"))


def _blocks(path: StrPath) -> Iterator[_Block]:
    with open_bytes(path) as stream:
        page = decoded(stream.read(), path, 0)
    written, start, line = 0, 0, 1
    while start < len(page):
        end, after, name = _boundary(page, start)
        if read_marked(page[start:end], "html").tokens:
            line += page.count("\n", written, start)
            yield _Block(page[written:start], page[start:end], line)
            line += page.count("\n", start, end)
            written = end
        start = after
        if name in _OPAQUE:
            ends = re.compile(f"</{name}", re.IGNORECASE).search(page, start)
            start = ends.start() if ends else start
    yield _Block(page[written:], "", line)


def _boundary(page: str, start: int) -> tuple[int, int, str]:
    """Where the next element that is no part of a sentence begins and ends, and the name of one that begins."""
    for found in TAG.finditer(page, start):
        name = (found["name"] or "").lower()
        if name not in _INLINE and not found[0].startswith("<!--"):
            return found.start(), found.end(), "" if found["end"] else name
    return len(page), len(page), ""


@dataclass(frozen=True)
class Pages:
    """Two pages of HTML with the same segments, of which the second is to get the tags of the first."""

    files: tuple[StrPath, StrPath]
    languages: tuple[str | None, str | None] = (None, None)

    def gold(self, path: StrPath) -> Iterator[Marked]:
        return (read_marked(block.text, "html") for block in _blocks(path) if block.text)

    def pieces(self) -> Iterator[Piece]:
        """Read the pages.  Raises CorpusError unless there are as many segments in both."""
        source, target = ([*_blocks(path)] for path in self.files)
        if len(source) != len(target):
            what = f"has {counted(len(target) - 1, 'segment')}, but {self.files[0]} has {len(source) - 1:,}"
            raise CorpusError(self.files[1], 0, what, hint="pages are paired segment by segment: give two of one form")
        for ours, theirs in zip(source[:-1], target[:-1], strict=True):
            marked = read_marked(ours.text, "html")
            segment = Segment(theirs.line, "", marked, read_target(theirs.text, "html", marked))
            yield Piece(theirs.before.encode(), segment, theirs.text.encode())
        yield Piece(target[-1].before.encode())
