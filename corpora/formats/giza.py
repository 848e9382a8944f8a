"""GIZA++ ``A3.final``: three lines for each sentence pair.

A comment with the lengths and the score; the target tokens; and the source tokens, NULL first, each
with the 1-based positions of its target tokens: ``NULL ({ 2 }) house ({ 1 3 })``.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import BinaryIO, NamedTuple

from corpora.alignment import Link, PairLinks
from corpora.errors import NO_UTF8, CorpusError
from corpora.files import StrPath, read_lines

COMMENT = re.compile(rb"# Sentence pair \((\d+)\) source length ([0-9]{1,9}) target length ([0-9]{1,9})(?:\s.*)?")
# Any token may be the word, even "({": what follows it decides.
_ENTRY = re.compile(rb"(\S+)\s+\(\{((?:\s+[0-9]{1,9})*)\s+\}\)(?:\s+|$)")
_NULL = "NULL"
_HINT = "is it a GIZA++ A3.final file, and complete?"


class A3Pair(NamedTuple):
    """A sentence pair with the links GIZA++ found; the source is the side that has the NULL word."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: PairLinks  # all sure; links of NULL are left out
    line: int  # 1-based, of its comment


def parse_a3(lines: Iterable[bytes], path: StrPath) -> Iterator[A3Pair]:
    """The pairs of an A3 file; ``path`` is for errors: CorpusError on anything that does not add up."""
    stream = iter(lines)
    number = 1
    while triple := list(islice(stream, 3)):
        lengths = COMMENT.fullmatch(triple[0].strip())
        if lengths is None:
            raise CorpusError(path, number, "not a '# Sentence pair' comment", hint=_HINT)
        if len(triple) < 3:
            raise CorpusError(path, number + len(triple) - 1, "the file ends inside a pair", hint=_HINT)
        target = _words(triple[1].split(), path, number + 1)
        if len(target) != int(lengths[3]):
            what = f"{len(target)} target words, but the comment says {int(lengths[3])}"
            raise CorpusError(path, number + 1, what, hint=_HINT)
        source, links = _source_line(triple[2], len(target), path, number + 2)
        if len(source) != int(lengths[2]):
            what = f"{len(source)} source words, but the comment says {int(lengths[2])}"
            raise CorpusError(path, number + 2, what, hint=_HINT)
        yield A3Pair(source, target, PairLinks(frozenset(links), frozenset()), number)
        number += 3


def read_a3(path: StrPath) -> Iterator[A3Pair]:
    """The pairs of a GIZA++ A3.final file."""
    return parse_a3(read_lines(path), path)


def _source_line(line: bytes, n_targets: int, path: StrPath, number: int) -> tuple[tuple[str, ...], list[Link]]:
    content = line.strip()
    tokens: list[bytes] = []
    links: list[Link] = []
    position = 0
    while position < len(content):
        entry = _ENTRY.match(content, position)
        if entry is None:
            what = f"no 'word ({{ positions }})' at column {position + 1}"
            raise CorpusError(path, number, what, hint=_HINT)
        for target in map(int, entry[2].split()):
            if not 1 <= target <= n_targets:
                what = f"position {target} is out of range for {n_targets} target words"
                raise CorpusError(path, number, what, hint=_HINT)
            links.append((len(tokens) - 1, target - 1))
        tokens.append(entry[1])
        position = entry.end()
    words = _words(tokens, path, number)
    if not words or words[0] != _NULL:
        raise CorpusError(path, number, "the first word is not NULL", hint=_HINT)
    return words[1:], [link for link in links if link[0] >= 0]


def _words(tokens: list[bytes], path: StrPath, number: int) -> tuple[str, ...]:
    try:
        return tuple(token.decode() for token in tokens)
    except UnicodeDecodeError as error:
        raise CorpusError(path, number, "not valid UTF-8", hint=NO_UTF8) from error


def write_a3(stream: BinaryIO, pairs: Iterable[tuple[Iterable[str], Iterable[str], PairLinks]]) -> None:
    """Write (source words, target words, links) as an A3 file, with 1 for every score.

    Only sure links are written: the format has no other.  Target words without one go to NULL.
    """
    for number, (source, target, links) in enumerate(pairs, 1):
        target_words = tuple(target)
        linked = {position for _, position in links.sure}
        positions = [[position for position in range(len(target_words)) if position not in linked]]
        words = [_NULL, *source]
        positions += [[] for _ in words[1:]]
        for index, position in sorted(links.sure):
            positions[index + 1].append(position)
        entries = " ".join(
            f"{word} ({{ {''.join(f'{j + 1} ' for j in ends)}}})" for word, ends in zip(words, positions, strict=True)
        )
        comment = (
            f"# Sentence pair ({number}) source length {len(words) - 1} target length {len(target_words)}"
            " alignment score : 1"
        )
        stream.write(f"{comment}\n{' '.join(target_words)}\n{entries}\n".encode())
