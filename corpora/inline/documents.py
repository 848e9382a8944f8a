"""Texts with inline markup and their translations, segment by segment: lines side by side."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol
from xml.parsers import expat

from corpora.corpus import Corpus, TextLine
from corpora.errors import NO_UTF8, BrokenLine
from corpora.files import StrPath, read_lines
from corpora.inline.carrying import Placed, write
from corpora.inline.kinds import KINDS, Marked, read_marked, read_plain
from corpora.parallel import side_by_side


class Segment(NamedTuple):
    """A text with markup and its translation, which is to get it.

    line: of the file.  name: what the file calls it; "" of lines.
    """

    line: int
    name: str
    source: Marked
    target: Marked


class Piece(NamedTuple):
    """A part of a file: what is before the target of a segment, if there is one, and the target as it is written."""

    before: bytes
    segment: Segment | None = None
    content: bytes = b""
    encoding: str = "utf-8"

    def written(self, placed: Sequence[Placed]) -> bytes:
        """The piece with tags in its target; without any, every byte is as it was."""
        if self.segment is None or not placed:
            return self.before + self.content
        return self.before + write(self.segment.target, placed).encode(self.encoding, "xmlcharrefreplace")


class Document(Protocol):
    """Segments that can be read again and again.  files: of source and target.  languages: of these."""

    @property
    def files(self) -> tuple[StrPath, StrPath]: ...

    @property
    def languages(self) -> tuple[str | None, str | None]: ...

    def pieces(self) -> Iterator[Piece]:
        """Read the target in pieces.  Raises CorpusError."""

    def gold(self, path: StrPath) -> Iterator[Marked]:
        """The targets of all segments in another file like this one, with their tags."""


def segments_of(document: Document) -> Iterator[Segment]:
    """The segments of a document.  Raises CorpusError."""
    return (piece.segment for piece in document.pieces() if piece.segment is not None)


def is_partly_tagged(segment: Segment) -> bool:
    """Whether a target has tags around words of its own, but not all tags of its source: nobody adds to these."""
    keys = [Counter(tag.key for tag in side.tags) for side in (segment.source, segment.target)]
    return any(tag.is_pair for tag in segment.target.tags) and bool(keys[0] - keys[1])


@dataclass(frozen=True)
class Lines:
    """Lines with markup of a kind, one of `corpora.inline.kinds.KINDS`, beside lines without.

    on_broken: called with each line whose markup is broken, which has no tags then; None: such a line is an error.
    """

    files: tuple[StrPath, StrPath]
    kind: str
    languages: tuple[str | None, str | None] = (None, None)
    on_broken: Callable[[BrokenLine], object] | None = None
    _told: set[int] = field(default_factory=set)

    def pieces(self) -> Iterator[Piece]:
        """Read all lines.  Raises CorpusError where one text ends sooner, and BrokenLine for broken markup."""
        end = b""
        for line, *sides in side_by_side(self.files):
            target = decoded(sides[1], self.files[1], line)
            try:
                source = read_line(decoded(sides[0], self.files[0], line), self.kind, self.files[0], line)
            except BrokenLine as error:
                if self.on_broken is None:
                    raise
                if line not in self._told:
                    self.on_broken(error)
                self._told.add(line)
                source = read_marked("", self.kind)
            segment = Segment(line, "", source, read_plain(target, self.kind, source))
            yield Piece(end, segment, write(segment.target, []).encode())
            end = b"\n"
        yield Piece(end)

    def gold(self, path: StrPath) -> Iterator[Marked]:
        for line, content in enumerate(read_lines(path), 1):
            yield read_line(decoded(content, path, line), self.kind, path, line)


def decoded(content: bytes, path: StrPath, line: int) -> str:
    """A line as text.  Raises BrokenLine."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise BrokenLine(path, line, "not valid UTF-8", hint=NO_UTF8) from error


def read_line(content: str, kind: str, path: StrPath, line: int) -> Marked:
    """`read_marked`, of a line of a file.  Raises BrokenLine where it is no XML, if the kind is."""
    if KINDS[kind].is_xml:
        try:
            expat.ParserCreate("utf-8").Parse(f"<seg>{content}</seg>", True)
        except expat.ExpatError as error:
            what = f"has broken markup: {expat.ErrorString(error.code)}"
            raise BrokenLine(path, line, what, hint=f"is it {kind}? close each tag, write & as &amp;") from None
    return read_marked(content, kind)


def corpus_of(document: Document) -> Corpus:
    """The words of a document as a corpus, which is aligned like any other: pair n is segment n."""

    def texts() -> Iterator[TextLine]:
        for segment in segments_of(document):
            yield segment.line, " ".join(segment.source.words).encode(), " ".join(segment.target.words).encode()

    files = str(document.files[0]), str(document.files[1])
    return Corpus(" ".join(dict.fromkeys(files)), "text with inline markup", *document.languages, *files, texts, None)
