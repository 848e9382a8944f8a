"""The one way of a text: its parts, what aligns them, and their alignments, in order and on all cores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, repeat
from typing import BinaryIO, NamedTuple, Protocol

from aligner.model.decoding import Alignments
from corpora.bitext import Bitext, BitextBuilder
from corpora.corpus import Corpus, TextLine
from corpora.errors import CorpusError
from corpora.files import arriving_lines
from corpora.link_files import kind_of_links, open_links, read_links
from corpora.links import Links, PairLinks, check_range
from corpora.threads import map_threads

PAIRS_AT_ONCE = 1 << 15
"""Pairs whose words are looked up at once, in a text that is aligned as it is read: with fewer, frequent words would be
looked up again and again."""

Task = Callable[[], Alignments]
"""Aligns a batch, on any core."""


class Aligner(Protocol):
    """What aligns pairs: a model, the posteriors of a text, or a model that scores given links."""

    def tasks(self, bitext: Bitext, links: Sequence[Links] = ()) -> Mapping[tuple[int, int], Task]:
        """Return a task for each batch of a bitext, by its first pair and the last + 1, in order.

        links: other aligners' links of the bitext.
        """


class Part(NamedTuple):
    """A run of pairs: of a bitext, of a file, or of what has just arrived.

    lines: its pairs as they were read, or nothing again and again.  links: other aligners' links of it.
    """

    bitext: Bitext
    lines: Iterator[TextLine] = repeat((0, b"", b""))
    links: Sequence[Links] = ()


Aligned = tuple[list[TextLine], Alignments]
"""Some pairs: their lines, which are empty where the text was not kept, and their alignments."""


def align(parts: Iterable[Part], aligner: Aligner) -> Iterator[Aligned]:
    """Align parts of a text, in order, on all cores; few alignments are held."""
    jobs = (
        (list(islice(part.lines, last - first)), task)
        for part in parts
        for (first, last), task in aligner.tasks(part.bitext, part.links).items()
    )
    return map_threads(lambda job: (job[0], job[1]()), jobs)


class LinksFile(NamedTuple):
    """Another aligner's links as they are read.  path: for errors.  pairs: a stream, one item for each pair."""

    path: str
    pairs: Iterator[PairLinks]

    @classmethod
    def open(cls, path: str, lengths: Iterable[tuple[int, int]] | None = None, *, probable: bool = True) -> "LinksFile":
        """Open a file of links.  lengths: of the sentences, if they can be read beforehand, as NAACL links need.

        probable: scores of links are probabilities.
        """
        return cls(path, open_links(path, lengths=lengths, probable=probable).pairs)

    def take(self, lines: list[TextLine]) -> Links:
        """Read the links of these lines.  Raises CorpusError if they end, or leave the sentences."""
        pairs = list(islice(self.pairs, len(lines)))
        if len(pairs) < len(lines):
            line = lines[len(pairs)][0] - 1
            raise CorpusError(self.path, line, "the links end here, but the text goes on", hint=_ONE_EACH)
        for (number, source, target), links in zip(lines, pairs, strict=True):
            check_range(links, len(source.split()), len(target.split()), self.path, number)
        return Links.from_pairs(pairs)

    def check_end(self, lines: int) -> None:
        """Raise CorpusError if there are links after those of the last line."""
        if next(self.pairs, None) is not None:
            raise CorpusError(self.path, lines + 1, "the links go on, but the text has ended", hint=_ONE_EACH)


_ONE_EACH = "give one line for each pair, empty ones too"


def read_others(given: Iterable[str], bitext: Bitext) -> tuple[Links, ...]:
    """Read other aligners' links of a bitext, whose scores are probabilities.  given: files, see `kind_of_links`."""
    lengths = list(zip(bitext.source.lengths.tolist(), bitext.target.lengths.tolist(), strict=True))
    return tuple(read_links(kind_of_links(one)[1], lengths=lengths, probable=True) for one in given)


def parts_of_text(
    corpus: Corpus, builder: Callable[[], BitextBuilder], texts: Iterable[TextLine], links: Sequence[LinksFile] = ()
) -> Iterator[Part]:
    """Yield lines of a corpus in parts, with other aligners' links.

    builder: makes empty bitexts.  Raises CorpusError on text that is not UTF-8.
    """
    rest = iter(texts)
    while lines := list(islice(rest, PAIRS_AT_ONCE)):
        others = [file.take(lines) for file in links]
        part = builder()
        part.add_texts(corpus, lines)
        yield Part(part.bitext(), iter(lines), others)


def parts_arriving(
    corpus: Corpus,
    builder: Callable[[], BitextBuilder],
    stream: BinaryIO,
    links: Sequence[LinksFile] = (),
    *,
    watched: Callable[[Iterable[TextLine]], Iterator[TextLine]] = iter,
    skipping: Callable[[Corpus], Corpus] = lambda corpus: corpus,
) -> Iterator[Part]:
    """Yield lines of standard input in parts, as they arrive: align one before the next is taken, and none waits.

    corpus: parses the lines.  watched: passes them on unchanged, see `acquaintance.Acquaintance`.
    Raises CorpusError on a line that is no pair, or not UTF-8, after the parts of all lines before it.
    """
    number = 0
    for arrived in arriving_lines(stream, "-"):
        for texts in _sound(corpus, arrived, number + 1, skipping):
            yield from parts_of_text(corpus, builder, watched(texts), links)
        number += len(arrived)
    for file in links:
        file.check_end(number)


def _sound(
    corpus: Corpus, lines: Sequence[bytes], first: int, skipping: Callable[[Corpus], Corpus]
) -> Iterator[list[TextLine]]:
    """Yield the texts of lines, up to a broken line, which raises its CorpusError.  first: number of the first line."""
    try:
        texts = list(skipping(replace(corpus, texts=lambda: corpus.parse(lines, "-", first))).texts())
        corpus.check_utf8(texts)
        corpus.check_lengths(texts)
    except CorpusError as error:
        yield from _sound(corpus, lines[: error.line - first], first, skipping)
        raise
    if texts:
        yield texts
