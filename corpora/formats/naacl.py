"""The format of the NAACL 2003 and ACL 2005 shared tasks (Mihalcea and Pedersen 2003).

Links: ``sentence source target [S|P] [confidence]``, counted from 1, where 0 is the NULL word.
Text: one sentence a line, plain or as ``<s snum=0001> ... </s>``.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import BinaryIO

from corpora.errors import CorpusError, quoted
from corpora.files import StrPath
from corpora.formats import Format
from corpora.formats.pharaoh import NUMBER
from corpora.links import NO_LINKS, Link, PairLinks, check_range

LINK_LINE = re.compile(rb"\s*([0-9]{1,9})\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([SP]))?(?:\s+(?:" + NUMBER + rb"))?\s*")
_SENTENCE = re.compile(rb"\s*<s snum=\"?([0-9]{1,18})\"?\s*>(.*)</s>\s*")


_MOST_SENTENCES = 10_000_000
"""A greater number is a slip, where no text says how many sentences there are."""


def parse_naacl(
    lines: Iterable[bytes],
    path: StrPath,
    sentences: Sequence[int] | None = None,
    lengths: Iterable[tuple[int, int]] | None = None,
    **_: object,
) -> Iterator[PairLinks]:
    """The links of each sentence; a sentence that is not named has none, and links of NULL and blank lines are dropped.

    sentences: the numbers of the sentences of the text, in its order; None: 1 to the greatest in the file.
    lengths: source and target words of each sentence of the text, numbered from 1 on without `sentences`.
    Raises CorpusError on a line that is not a link, and on a link of a sentence that the text has not, or that leaves
    its sentence.
    """
    if lengths is not None:
        lengths = list(lengths)
        sentences = sentences or range(1, len(lengths) + 1)
    known = None if sentences is None else dict(zip(sentences, lengths or repeat(None), strict=lengths is not None))
    gathered: dict[int, tuple[set[Link], set[Link]]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match = LINK_LINE.fullmatch(line)
        if match is None:
            what = f"{quoted(line)} is not a link"
            raise CorpusError(path, number, what, hint="lines are: sentence source target [S|P] [confidence]")
        sentence, link = int(match[1]), (int(match[2]) - 1, int(match[3]) - 1)  # -1 is the NULL word
        if sentence == 0 or (sentence > _MOST_SENTENCES if known is None else sentence not in known):
            what = f"there is no sentence {sentence} in the text"
            raise CorpusError(path, number, what, hint="sentences count from 1: does the file belong to the text?")
        if known is not None and (length := known[sentence]) is not None:
            check_range(PairLinks(frozenset([link])), *length, path, number, base=1)
        sure, possible = gathered.setdefault(sentence, (set(), set()))
        if min(link) >= 0:
            (possible if match[4] == b"P" else sure).add(link)
    order = range(1, max(gathered, default=0) + 1) if sentences is None else sentences
    pairs = {n: PairLinks(frozenset(sure), frozenset(possible - sure)) for n, (sure, possible) in gathered.items()}
    return (pairs.get(sentence, NO_LINKS) for sentence in order)


def write_naacl(stream: BinaryIO, pairs: Iterable[PairLinks]) -> None:
    """Write the links of sentences 1, 2, ... sorted by (sentence, source, target)."""
    for number, pair in enumerate(pairs, 1):
        for source, target in sorted(pair.sure | pair.possible):
            kind = "S" if (source, target) in pair.sure else "P"
            stream.write(f"{number} {source + 1} {target + 1} {kind}\n".encode())


def is_marked_up(line: bytes) -> bool:
    """Whether a line is ``<s snum=...> ... </s>``."""
    return _SENTENCE.fullmatch(line) is not None


def parse_sentence(line: bytes, path: StrPath, line_number: int) -> tuple[int, bytes]:
    """The number and text of ``<s snum=0001> text </s>``.  CorpusError on any other line."""
    match = _SENTENCE.fullmatch(line)
    if match is None:
        hint = "each line must be one whole sentence"
        raise CorpusError(path, line_number, "not a line '<s snum=...> ... </s>'", hint=hint)
    return int(match[1]), match[2].strip()


FORMATS = [Format("naacl", parse_naacl, write_naacl, line=LINK_LINE.fullmatch, bare=True, base=1, numbered=True)]
