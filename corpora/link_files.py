"""Open links files of any format, checked against their text.  To add a format: see `corpora.formats`."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat, zip_longest
from pathlib import Path
from typing import NamedTuple

from corpora import recognize
from corpora.alignment import Link, Links, PairLinks, check_range
from corpora.errors import CorpusError, counted
from corpora.files import StrPath, read_lines
from corpora.formats.comtrans import ComtransPair, parse_comtrans
from corpora.formats.giza import A3Pair, parse_a3
from corpora.formats.jsonl import parse_jsonl
from corpora.formats.naacl import gather_naacl, parse_naacl
from corpora.formats.pharaoh import parse_pharaoh
from corpora.formats.tsv import parse_tsv
from corpora.formats.units import UnitFile

INDEX_BASES = {"pharaoh": 0, "talp": 1, "naacl": 1, "giza": 1, "comtrans": 0, "jsonl": 0, "tsv": 0, "tmx": 0}
"""The number of a sentence's first word, in each format of links."""

LINK_FORMATS = tuple(INDEX_BASES)
WRITTEN_FORMATS = *(name for name in LINK_FORMATS if name != "tsv"), "csv", "xlsx", "conllu", "clearaligner"

KINDS = "statistical", "neural"
"""Kinds of aligners. A file without a kind is taken for a statistical one's."""

_SCORED = re.compile(rb"(\d+)[-?p](\d+):(\S+)")

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
) -> LinkStream:
    """The links of each pair of a file (or ``-``).

    format: one of LINK_FORMATS; None: recognised by the first lines, and talp by the name.
    lengths: of the text's sentences, against which the links and their number are checked.
    sentences: in the NAACL format, the numbers of the text's sentences; None: 1, 2, ...
    probable: scores of links, in the formats that have any, are probabilities; otherwise they are ignored.

    Raises CorpusError on an unknown format, a broken link, and links that disagree with ``lengths``.
    """
    if format is not None and format not in LINK_FORMATS:
        known = ", ".join(LINK_FORMATS)
        raise CorpusError(path, 0, f"unknown links format '{format}'", hint=f"known are {known}")
    lines = read_lines(path)
    first_lines = list(islice(lines, recognize.HEAD_LINES))
    lines = chain(first_lines, lines)
    pairs: Iterator[PairLinks]
    text = None
    format = format or recognize.links_format(path, first_lines)
    match format:
        case "naacl":
            all_lengths = None if lengths is None else list(lengths)
            return LinkStream(gather_naacl(parse_naacl(lines, path), path, sentences, all_lengths), format)
        case "giza" | "comtrans":
            triples = _Triples((parse_a3 if format == "giza" else parse_comtrans)(lines, path))
            pairs, text = iter(triples), triples.text
        case "jsonl":
            pairs = parse_jsonl(lines, path, probable=probable)
        case "tsv":
            pairs = parse_tsv(lines, path)
        case "tmx":
            if recognize.is_stream(path):
                raise CorpusError(path, 0, "is read more than once, as no pipe can be", hint="write it to a file first")
            pairs = UnitFile(path, "TMX").links()
        case "pharaoh" | "talp":
            pairs = parse_pharaoh(lines, path, base=INDEX_BASES[format], probable=probable)
    pairs = pairs if lengths is None else _checked(pairs, lengths, path, text, INDEX_BASES[format])
    return LinkStream(pairs, format, text)


class _Triples:
    """The links of pairs that have three lines each, and the text of the one that came last."""

    def __init__(self, pairs: Iterable[A3Pair | ComtransPair]) -> None:
        self._pairs = pairs

    def __iter__(self) -> Iterator[PairLinks]:
        for pair in self._pairs:
            self._last = pair
            yield pair.links

    def text(self) -> tuple[int, bytes, bytes]:
        return self._last.text


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
        try:
            check_range(links, length[0], length[1], path, line, base)
        except CorpusError as error:
            n_links, n_pairs = (n_before + 1 + sum(1 for _ in rest) for rest in (pairs, lengths))
            if n_links == n_pairs:
                raise
            what = f"{error.what}, and there are links for {counted(n_links, 'pair')}, but {n_pairs:,} of text"
            raise CorpusError(path, line, what, hint=f"is a line missing, here or before? {hint}") from error
        yield links


class ScoredLinks(NamedTuple):
    """The links of one pair.  scores: of the links that have one.  words: of both sides, if the file has them."""

    links: PairLinks
    scores: dict[Link, float]
    words: tuple[list[str], list[str]] | None


class ScoredStream(NamedTuple):
    """The scored links of each pair of a file, read as they are iterated over.  format: one of LINK_FORMATS."""

    pairs: Iterator[ScoredLinks]
    format: str


def open_scored_links(path: StrPath, lengths: Callable[[], Lengths]) -> ScoredStream:
    """The scored links of a file, checked against these lengths unless it has words; links of a stream have no scores.

    Raises CorpusError on a broken link, and links that disagree with the lengths.
    """
    with_words = recognize.links_format(path, recognize.head(path)) == "jsonl"
    return with_scores(open_links(path, lengths=None if with_words else lengths()), path)


def with_scores(stream: LinkStream, path: StrPath) -> ScoredStream:
    """The links of a file that has been opened, with the scores that it has, which may be no probabilities."""
    scored = stream.format in ("pharaoh", "jsonl") and not recognize.is_stream(path)
    pairs = _scored(stream, read_lines(path) if scored else repeat(b""), stream.format == "jsonl")
    return ScoredStream(pairs, stream.format)


def _scored(stream: LinkStream, lines: Iterator[bytes], with_words: bool) -> Iterator[ScoredLinks]:
    for links, line in zip(stream, lines, strict=False):
        words, scored = None, _SCORED.findall(line)
        if with_words and line:
            entry = json.loads(line)
            words = [*entry["source"]], [*entry["target"]]
            scored = [link[:3] for link in entry["links"] if len(link) > 2]
        yield ScoredLinks(links, {(int(j), int(k)): float(score) for j, k, score in scored}, words)


def holds_links(path: StrPath) -> bool:
    """Whether a file, if it is one, holds links and no text."""
    if recognize.is_stream(path) or not Path(path).is_file():
        return False
    return recognize.file_form(recognize.head(path)) in ("naacl", "jsonl", "pharaoh", "tsv")
