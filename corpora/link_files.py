"""Open links files of any format, checked against their text.  To add a format: see `corpora.formats`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from pathlib import Path

from corpora.errors import CorpusError, counted
from corpora.files import StrPath, read_lines
from corpora.formats import Format
from corpora.links import Links, PairLinks, check_range
from corpora.paths import HEAD_LINES
from corpora.recognize import FORMATS, form_of, links_format

INDEX_BASES = {row.name: row.base for row in FORMATS.values() if row.links}
"""The number of a sentence's first word, in each format of links."""

LINK_FORMATS = tuple(INDEX_BASES)
WRITTEN_FORMATS = tuple(row.name for row in FORMATS.values() if row.write)

KINDS = "statistical", "neural"
"""Kinds of aligners. A file without a kind is taken for a statistical one's."""

Lengths = Iterable[tuple[int, int]]  # source and target words of each sentence pair


@dataclass(frozen=True, eq=False)
class LinkStream:
    """The links of each pair of a file, read as they are iterated over.  format: one of LINK_FORMATS.

    text: of a file that has three lines for each pair, the line and the sentences of the pair that came last.
    """

    pairs: Iterator[PairLinks]
    format: str
    text: Callable[[], tuple[int, bytes, bytes]] | None = None

    def __iter__(self) -> Iterator[PairLinks]:
        return self.pairs

    def read(self) -> Links:
        """All links, packed."""
        return Links.from_pairs(self.pairs, self.format)


def open_links(
    path: StrPath,
    *,
    format: str | None = None,
    lengths: Lengths | None = None,
    sentences: Sequence[int] | None = None,
    probable: bool = False,
    own_words: bool = False,
) -> LinkStream:
    """The links of each pair of a file (or ``-``).

    format: one of LINK_FORMATS; None: recognised by the first lines, and talp by the name.
    lengths: of the text's sentences, against which the links and their number are checked.
    sentences: in the NAACL format, the numbers of the text's sentences; None: 1, 2, ...
    probable: scores of links, in the formats that have any, must be probabilities.
    own_words: in a file that has the words of its pairs, links need not be of the text's sentences.

    Raises CorpusError on an unknown format, a broken link, and links that disagree with ``lengths``.
    """
    row = None if format is None else known_format(path, format, LINK_FORMATS)
    lines = read_lines(path)
    first_lines = list(islice(lines, HEAD_LINES))
    lines = chain(first_lines, lines)
    row = row or links_format(path, first_lines)
    pairs = row.links(lines, path, probable=probable, sentences=sentences, lengths=lengths)
    text = None
    if row.corpus:
        pairs, text = ((last := pair).links for pair in pairs), lambda: last.text
    if lengths is not None and not row.numbered:
        pairs = _checked(pairs, lengths, path, text, row.base, own_words)
    return LinkStream(pairs, row.name, text)


def known_format(path: StrPath, name: str, names: Sequence[str]) -> Format:
    """The format with this name.  Raises CorpusError if it is not one of these names; path: for errors."""
    if name not in names:
        raise CorpusError(path, 0, f"unknown links format '{name}'", hint=f"known are {', '.join(names)}")
    return FORMATS[name]


def kind_of_links(given: str) -> tuple[str, str]:
    """The kind of an aligner, one of KINDS, and the file of its links, given as FILE or KIND=FILE.

    >>> kind_of_links("neural=test.links"), kind_of_links("test.links")
    (('neural', 'test.links'), ('statistical', 'test.links'))
    """
    kind, _, file = given.partition("=")
    return (kind, file) if kind in KINDS and file else (KINDS[0], given)


def read_links(
    path: StrPath,
    *,
    lengths: Lengths | None = None,
    sentences: Sequence[int] | None = None,
    probable: bool = False,
) -> Links:
    """All links of a file, packed; see ``open_links``."""
    return open_links(path, lengths=lengths, sentences=sentences, probable=probable).read()


def _checked(
    pairs: Iterator[PairLinks],
    lengths: Lengths,
    path: StrPath,
    text: Callable[[], tuple[int, bytes, bytes]] | None,
    base: int,
    own_words: bool,
) -> Iterator[PairLinks]:
    hint = "each pair needs its links, possibly an empty line: do the files belong together?"
    lengths, line = iter(lengths), 0
    for n_before, (links, length) in enumerate(zip_longest(pairs, lengths)):
        if links is None:
            what = f"the links end after {counted(n_before, 'pair')}, but the text goes on"
            raise CorpusError(path, line, what, hint=hint)
        line = n_before + 1 if text is None else text()[0] + 2
        if length is None:
            what = f"the text ends after {counted(n_before, 'pair')}, but the links go on"
            raise CorpusError(path, line, what, hint=hint)
        if own_words and links.words is not None:
            yield links
            continue
        try:
            check_range(links, length[0], length[1], path, line, base)
        except CorpusError as error:
            n_links, n_pairs = (n_before + 1 + sum(1 for _ in rest) for rest in (pairs, lengths))
            if n_links == n_pairs:
                raise
            what = f"{error.what}, and there are links for {counted(n_links, 'pair')}, but {n_pairs:,} of text"
            raise CorpusError(path, line, what, hint=f"is a line missing, here or before? {hint}") from error
        yield links


def holds_links(path: StrPath) -> bool:
    """Whether a file, if it is one, holds links and no text."""
    form = Path(path).is_file() and form_of(path)
    return bool(form and form.links and not form.corpus)
