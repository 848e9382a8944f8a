"""The NLTK *comtrans* format: three lines for each sentence pair: source, target and Pharaoh links."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import BinaryIO, NamedTuple

from corpora.alignment import PairLinks
from corpora.encodings import marked
from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.formats.pharaoh import format_links, parse_links


class ComtransPair(NamedTuple):
    """A pair of the file, its links parsed."""

    source: bytes
    target: bytes
    links: PairLinks
    line: int  # 1-based, of the source

    @property
    def text(self) -> tuple[int, bytes, bytes]:
        """The line, and the sentences."""
        return self.line, self.source, self.target


def parse_comtrans(lines: Iterable[bytes], path: StrPath) -> Iterator[ComtransPair]:
    """The pairs of a comtrans file; ``path`` is for errors: CorpusError on a broken link or triple."""
    stream = iter(lines)
    number = 1
    while triple := list(islice(stream, 3)):
        if len(triple) < 3:
            hint = "each pair needs three lines: source, target, links"
            raise CorpusError(path, number + len(triple) - 1, "the file ends inside a pair", hint=hint)
        source, target, links = triple
        yield ComtransPair(source, target, parse_links(links, path, number + 2), number)
        number += 3


def write_comtrans(stream: BinaryIO, pairs: Iterable[tuple[Iterable[str], Iterable[str], PairLinks]]) -> None:
    """Write (source words, target words, links) as a comtrans file."""
    for number, (source, target, links) in enumerate(pairs):
        lines = f"{' '.join(source)}\n{' '.join(target)}\n{format_links(links)}\n".encode()
        stream.write(lines if number else marked(lines))
