"""Pharaoh links: ``i-j`` sure, ``i?j`` or ``ipj`` possible, one line a sentence pair.

An empty line is a pair without links.  TALP files are the same, counted from 1.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO

from corpora.errors import CorpusError, quoted
from corpora.files import StrPath
from corpora.formats import Format
from corpora.links import Link, PairLinks
from corpora.paths import plain_name

NUMBER = rb"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
"""Of a score.  There is one way to read it, so that a line of digits costs no more than its length."""

# Nine digits keep every position within an int32.
_LINK = re.compile(rb"(?<!\S)([0-9]{1,9})([-?p])([0-9]{1,9})(?::(" + NUMBER + rb"))?(?!\S)")
_HINT = "links are i-j (sure), i?j or ipj (possible), separated by spaces"


def parse_links(
    line: bytes | str, path: StrPath, line_number: int, base: int = 0, *, probable: bool = False
) -> PairLinks:
    """The links of one line, whose positions count from ``base``.

    A link that is both sure and possible is sure, and of the scores, as in ``i-j:0.83``, of one that is there twice it
    has the greatest.  probable: scores must be probabilities.  Raises CorpusError naming the token that is not a link.

    >>> sorted(parse_links("0-0 2-1 1?1", "gold.wa", 1).sure)
    [(0, 0), (2, 1)]
    """
    content = line.encode() if isinstance(line, str) else line
    found = _LINK.findall(content)
    tokens = content.split()
    if len(found) != len(tokens):
        token = next(token for token in tokens if not _LINK.fullmatch(token))
        raise CorpusError(path, line_number, f"{quoted(token)} is not a link", hint=_HINT)
    for token, (source, _, target, _) in zip(tokens, found, strict=True) if base else ():
        if int(source) < base or int(target) < base:
            what = f"{quoted(token)} has a position below {base}, where counting starts"
            raise CorpusError(path, line_number, what, hint="is the file counted from 0?")
    sure = frozenset([(int(i) - base, int(j) - base) for i, kind, j, _ in found if kind == b"-"])
    possible = frozenset([(int(i) - base, int(j) - base) for i, kind, j, _ in found if kind != b"-"])
    scores, scored = dict[Link, float](), set[Link]()
    if b":" in content:
        for token, (source, _, target, given) in zip(tokens, found, strict=True):
            score, link = float(given or 1), (int(source) - base, int(target) - base)
            scored |= {link} if given else set()
            if probable and not 0.0 < score <= 1.0:
                what = f"{quoted(token)} has no probability"
                raise CorpusError(path, line_number, what, hint="give i-j:p with p above 0 and at most 1, or i-j alone")
            scores[link] = max(score, scores.get(link, score))
    return PairLinks(sure, possible - sure, {link: scores[link] for link in scored})


def is_links(line: bytes) -> bool:
    """Whether a line holds links, at least one, and nothing else."""
    found = len(_LINK.findall(line))
    return found > 0 and found == len(line.split())


def format_links(links: PairLinks, base: int = 0) -> str:
    """One line without its end: links sorted by (source, target), ``i-j`` sure and ``i?j`` possible.

    >>> format_links(PairLinks(frozenset({(1, 0)}), frozenset({(0, 2)})))
    '0?2 1-0'
    """
    return " ".join(
        f"{source + base}{'-' if (source, target) in links.sure else '?'}{target + base}"
        for source, target in sorted(links.sure | links.possible)
    )


def parse_pharaoh(
    lines: Iterable[bytes], path: StrPath, base: int = 0, *, probable: bool = False, **_: object
) -> Iterator[PairLinks]:
    """The links of each line of a Pharaoh file (base 0) or a TALP file (base 1), see `parse_links`."""
    for number, line in enumerate(lines, 1):
        yield parse_links(line, path, number, base, probable=probable)


def write_pharaoh(stream: BinaryIO, pairs: Iterable[PairLinks], base: int = 0) -> None:
    """Write one line for each pair; base 1 makes a TALP file."""
    for links in pairs:
        stream.write(f"{format_links(links, base)}\n".encode())


FORMATS = [
    Format(
        "pharaoh",
        parse_pharaoh,
        write_pharaoh,
        line=is_links,
        bare=True,
    ),
    Format(
        "talp",
        partial(parse_pharaoh, base=1),
        partial(write_pharaoh, base=1),
        knows=lambda _, path: plain_name(path).endswith(".talp"),
        bare=True,
        base=1,
    ),
]
