"""GIZA++ ``A3.final``: three lines for each sentence pair.

A comment with the lengths and the score; the target tokens; and the source tokens, NULL first, each
with the 1-based positions of its target tokens: ``NULL ({ 2 }) house ({ 1 3 })``.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from heapq import merge
from itertools import chain, islice, repeat
from typing import IO, BinaryIO, NamedTuple

from corpora.errors import NO_UTF8, CorpusError
from corpora.files import StrPath, read_lines, spill_file
from corpora.formats import Format
from corpora.left_out import warn_of_left_out
from corpora.links import NO_LINKS, Link, PairLinks, WordPair

COMMENT = re.compile(
    rb"# Sentence pair \(([0-9]{1,18})\) source length ([0-9]{1,9}) target length ([0-9]{1,9})(?:\s.*)?"
)
# Any token may be the word, even "({": what follows it decides.
_ENTRY = re.compile(rb"(\S+)\s+\(\{((?:\s+[0-9]{1,9})*)\s+\}\)(?:\s+|$)")
_NULL = "NULL"
_HINT = "is it a GIZA++ A3.final file, and complete?"

_SORTED_AT_ONCE = 1 << 26  # bytes of pairs that are out of order
_MOST_MISSING = 100
"""Numbers without a pair for each pair that is there, as in one of many parts that mgiza writes; more are a slip."""

_Triple = tuple[int, int, list[bytes]]  # the number of a pair, the line of its comment, and its lines


class A3Pair(NamedTuple):
    """A sentence pair with the links GIZA++ found; the source is the side that has the NULL word."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: PairLinks  # all sure; links of NULL are left out
    line: int  # 1-based, of its comment

    @property
    def text(self) -> tuple[int, bytes, bytes]:
        """The line, and the sentences."""
        return self.line, " ".join(self.source).encode(), " ".join(self.target).encode()

    def unless_missing(self, reverse: "A3Pair") -> "A3Pair":
        """Return the pair, or the words of the pair of the other direction, if its own is missing."""
        return self if any(self[:2]) else A3Pair(reverse.target, reverse.source, NO_LINKS, self.line)


def parse_a3(lines: Iterable[bytes], path: StrPath, **_: object) -> Iterator[A3Pair]:
    """The pairs of an A3 file in the order of their numbers, from 1 on, or from 0 on if one has it.

    A number without a pair gets a pair without words, with the line of the next one; a warning says how many. ``path``
    is for errors: CorpusError on anything that does not add up, and on a number that comes twice.
    """
    following, missing = -1, 0
    for number, line, triple in _in_order(_triples(lines, path), path):
        following = min(number, 1) if following < 0 else following
        if number < following:
            what = f"sentence pair ({number}) is there already" if number else "sentence pair (0) comes after (1)"
            raise CorpusError(path, line, what, hint="give each file of a run once, and the files of one run only")
        yield from repeat(A3Pair((), (), NO_LINKS, line), number - following)
        missing += number - following
        following = number + 1
        yield _pair(triple, path, line)
    if missing:
        warn_of_left_out(path, {"sentence pairs whose numbers are missing (their lines are empty)": missing})


def _triples(lines: Iterable[bytes], path: StrPath) -> Iterator[_Triple]:
    stream = iter(lines)
    line = 1
    while triple := list(islice(stream, 3)):
        comment = COMMENT.fullmatch(triple[0].strip())
        if comment is None:
            raise CorpusError(path, line, "not a '# Sentence pair' comment", hint=_HINT)
        if len(triple) < 3:
            raise CorpusError(path, line + len(triple) - 1, "the file ends inside a pair", hint=_HINT)
        yield int(comment[1]), line, triple
        line += 3


def _in_order(triples: Iterator[_Triple], path: StrPath) -> Iterator[_Triple]:
    """The pairs sorted by number and line; from the first that is out of order on in spill files, as of a pipe, too."""
    pairs, following = 0, -1
    for last in triples:
        following = min(last[0], 1) if following < 0 else following
        if last[0] != following:
            break
        pairs, following = pairs + 1, following + 1
        yield last
    else:
        return
    with ExitStack() as files:
        runs: list[Iterable[_Triple]] = []
        batch: list[_Triple] = []
        size = 0
        for triple in chain([last], triples):
            pairs, last, size = pairs + 1, max(last, triple), size + sum(map(len, triple[2]))
            batch.append(triple)
            if size > _SORTED_AT_ONCE:
                runs.append(_read(_write(sorted(batch), files.enter_context(spill_file("pairs")))))
                batch, size = [], 0
        if last[0] > _MOST_MISSING * (pairs + 10):
            what = f"sentence pair ({last[0]}), but the file has {pairs} pairs"
            raise CorpusError(path, last[1], what, hint=_HINT)
        yield from merge(*runs, sorted(batch))


def _write(triples: Iterable[_Triple], file: IO[bytes]) -> IO[bytes]:
    file.writelines(b"%d %d\n%b\n" % (number, line, b"\n".join(lines)) for number, line, lines in triples)
    file.seek(0)
    return file


def _read(file: IO[bytes]) -> Iterator[_Triple]:
    for head in file:
        number, line = map(int, head.split())
        yield number, line, [file.readline()[:-1] for _ in range(3)]


def _pair(triple: list[bytes], path: StrPath, line: int) -> A3Pair:
    lengths = COMMENT.fullmatch(triple[0].strip())
    assert lengths is not None
    target = _words(triple[1].split(), path, line + 1)
    if len(target) != int(lengths[3]):
        what = f"{len(target)} target words, but the comment says {int(lengths[3])}"
        raise CorpusError(path, line + 1, what, hint=_HINT)
    source, links = _source_line(triple[2], len(target), path, line + 2)
    if len(source) != int(lengths[2]):
        what = f"{len(source)} source words, but the comment says {int(lengths[2])}"
        raise CorpusError(path, line + 2, what, hint=_HINT)
    return A3Pair(source, target, PairLinks(frozenset(links)), line)


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


def write_a3(stream: BinaryIO, pairs: Iterable[WordPair]) -> None:
    """Write (source words, target words, links) as an A3 file, with 1 for every score.

    Links are all sure: the format has no other.  Target words without one go to NULL.
    """
    for number, (source, target, links) in enumerate(pairs, 1):
        words = [_NULL, *source]
        positions: list[list[int]] = [[] for _ in words]
        positions[0] += sorted({*range(len(target))} - {position for _, position in links.sure})
        for index, position in sorted(links.sure):
            positions[index + 1].append(position)
        entries = " ".join(
            f"{word} ({{ {''.join(f'{j + 1} ' for j in ends)}}})" for word, ends in zip(words, positions, strict=True)
        )
        comment = (
            f"# Sentence pair ({number}) source length {len(words) - 1} target length {len(target)} alignment score : 1"
        )
        stream.write(f"{comment}\n{' '.join(target)}\n{entries}\n".encode())


FORMATS = [
    Format(
        "giza",
        parse_a3,
        write_a3,
        knows=lambda lines, _: lines and COMMENT.fullmatch(lines[0].strip()),
        corpus="GIZA++ A3.final file, the side with NULL = source",
        base=1,
        sure_only=True,
    )
]
