"""What a file of links says of each pair: links, their probabilities where it has some, and words where it has them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import NamedTuple

from corpora.alignment import Link, PairLinks
from corpora.files import StrPath, read_lines
from corpora.link_files import Lengths, LinkStream, open_links
from corpora.recognize import head, is_stream, links_format

_SCORED = re.compile(rb"(\d+)[-?p](\d+):(\S+)")


class ScoredLinks(NamedTuple):
    """Of one pair.  scores: of those links that have one.  words: of both sides, where they are in the file."""

    links: PairLinks
    scores: dict[Link, float]
    words: tuple[list[str], list[str]] | None


class ScoredStream(NamedTuple):
    """Those of each pair of a file, read as they are asked for.  format: one of `link_files.LINK_FORMATS`."""

    pairs: Iterator[ScoredLinks]
    format: str


def open_scored_links(path: StrPath, lengths: Callable[[], Lengths]) -> ScoredStream:
    """The answers of a file for pairs of these lengths, unless it has its own words; of a stream without scores.

    Raises CorpusError on a broken link, and whatever disagrees with the lengths.
    """
    with_words = links_format(path, head(path)) == "jsonl"
    stream = open_links(path, lengths=None if with_words else lengths())
    scored = stream.format in ("pharaoh", "jsonl") and not is_stream(path)
    return ScoredStream(_scored(stream, read_lines(path) if scored else repeat(b""), with_words), stream.format)


def _scored(stream: LinkStream, lines: Iterator[bytes], with_words: bool) -> Iterator[ScoredLinks]:
    for links, line in zip(stream, lines, strict=False):
        words, scored = None, _SCORED.findall(line)
        if with_words and line:
            entry = json.loads(line)
            words = [*entry["source"]], [*entry["target"]]
            scored = [link[:3] for link in entry["links"] if len(link) > 2]
        yield ScoredLinks(links, {(int(j), int(k)): float(score) for j, k, score in scored}, words)
