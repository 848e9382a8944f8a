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
from corpora.errors import CorpusError
from corpora.files import StrPath, read_lines
from corpora.formats.comtrans import parse_comtrans
from corpora.formats.giza import parse_a3
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
    """The links of each pair of a file, read as they are iterated over.  format: one of LINK_FORMATS."""

    pairs: Iterator[PairLinks]
    format: str

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
    format = format or recognize.links_format(path, first_lines)
    match format:
        case "naacl":
            all_lengths = None if lengths is None else list(lengths)
            return LinkStream(gather_naacl(parse_naacl(lines, path), path, sentences, all_lengths), format)
        case "giza" | "comtrans":
            parse = parse_a3 if format == "giza" else parse_comtrans
            pairs, step = (pair.links for pair in parse(lines, path)), 3
        case "jsonl":
            pairs, step = parse_jsonl(lines, path, probable=probable), 1
        case "tsv":
            pairs, step = parse_tsv(lines, path), 1
        case "tmx":
            if recognize.is_stream(path):
                raise CorpusError(path, 0, "is read more than once, as no pipe can be", hint="write it to a file first")
            pairs, step = UnitFile(path, "TMX").links(), 1
        case "pharaoh" | "talp":
            pairs, step = parse_pharaoh(lines, path, base=INDEX_BASES[format], probable=probable), 1
    return LinkStream(pairs if lengths is None else _checked(pairs, lengths, path, step), format)


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


def _checked(pairs: Iterator[PairLinks], lengths: Lengths, path: StrPath, step: int) -> Iterator[PairLinks]:
    hint = "each pair needs its links, possibly an empty line: do the files belong together?"
    lengths = iter(lengths)
    for n_before, (links, length) in enumerate(zip_longest(pairs, lengths)):
        if links is None:
            what = f"the links end after {n_before} pairs, but the text goes on"
            raise CorpusError(path, n_before * step, what, hint=hint)
        line = (n_before + 1) * step
        if length is None:
            what = f"the text ends after {n_before} pairs, but the links go on"
            raise CorpusError(path, line, what, hint=hint)
        try:
            check_range(links, length[0], length[1], path, line)
        except CorpusError as error:
            n_links, n_pairs = (n_before + 1 + sum(1 for _ in rest) for rest in (pairs, lengths))
            if n_links == n_pairs:
                raise
            what = f"{error.what}, and there are links for {n_links} pairs, but {n_pairs} pairs of text"
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
