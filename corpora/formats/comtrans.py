"""The NLTK *comtrans* format: three lines for each sentence pair: source, target and Pharaoh links."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import BinaryIO, NamedTuple

from corpora.encodings import marked
from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.formats import Format
from corpora.formats.pharaoh import format_links, is_links, parse_links
from corpora.links import PairLinks, WordPair


class ComtransPair(NamedTuple):
    """A pair of the file, its links parsed."""

    text: tuple[int, bytes, bytes]  # the line of the source, from 1 on, and both sentences
    links: PairLinks


def parse_comtrans(lines: Iterable[bytes], path: StrPath, **_: object) -> Iterator[ComtransPair]:
    """The pairs of a comtrans file; ``path`` is for errors: CorpusError on a broken link or triple."""
    stream = iter(lines)
    number = 1
    while triple := list(islice(stream, 3)):
        if len(triple) < 3:
            hint = "each pair needs three lines: source, target, links"
            raise CorpusError(path, number + len(triple) - 1, "the file ends inside a pair", hint=hint)
        source, target, links = triple
        yield ComtransPair((number, source, target), parse_links(links, path, number + 2))
        number += 3


def _is_comtrans(lines: Sequence[bytes], _: StrPath) -> bool:
    texts, links = [*lines[0::3], *lines[1::3]], [*filter(bytes.strip, lines[2::3])]
    has_both = bool(links) and any(map(bytes.strip, texts))
    return has_both and all(map(is_links, links)) and not any(map(is_links, texts))


def write_comtrans(stream: BinaryIO, pairs: Iterable[WordPair]) -> None:
    """Write (source words, target words, links) as a comtrans file."""
    for number, (source, target, links) in enumerate(pairs):
        lines = f"{' '.join(source)}\n{' '.join(target)}\n{format_links(links)}\n".encode()
        stream.write(lines if number else marked(lines))


FORMATS = [
    Format(
        "comtrans",
        parse_comtrans,
        write_comtrans,
        knows=_is_comtrans,
        corpus="comtrans file of source, target and links",
        shift=1,
    )
]
