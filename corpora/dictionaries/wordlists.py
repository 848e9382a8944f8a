"""Lists of pairs of words: MUSE's, lexicons of Moses with a probability, and lexicons with counts of this program."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from corpora.corpus import Languages
from corpora.dictionaries.entries import Entry, Format, Found
from corpora.dictionaries.lines import plain
from corpora.dictionaries.names import languages_of_name
from corpora.errors import BrokenLine, quoted
from corpora.files import StrPath, read_lines
from corpora.link_counts import NULL
from corpora.paths import HEAD_LINES, plain_name

_COUNTS = b"source\ttarget\tcount\tp(target|source)\tp(source|target)"
_PAIR, _TRIPLE = (
    re.compile(rb"[^\s|]+[ \t][^\s|]+" + end) for end in (rb"\s*", rb" (?:0?\.\d+|[01](?:\.0*)?|\d.*e-\d+)\s*")
)
_REVERSED = re.compile(r"(?:^|\.)(?:f2e|s2t)$")  # of target words first, each given the source word after it

Row = tuple[str, str, float]


def _pair(fields: list[str]) -> Row:
    source, target = fields
    return source, target, 1.0


def _triple(is_reversed: bool, fields: list[str]) -> Row:
    first, second, probability = fields
    return (second, first, float(plain(probability))) if is_reversed else (first, second, float(plain(probability)))


def _counted(fields: list[str]) -> Row:
    source, target, _, probability, _ = fields
    return source, target, float(plain(probability))


def _read(split: Callable[[list[str]], Row], path: StrPath, left_out: Counter[str], above: int = 0) -> Found:
    def entries() -> Iterator[Entry]:
        for place, line in enumerate(read_lines(path, above), above + 1):
            if not line.strip():
                continue
            try:
                source, target, weight = split(line.decode().split())
            except ValueError:
                hint = "each line has two words, and in a lexicon their probability"
                raise BrokenLine(path, place, f"{quoted(line)} is no line of this list", hint=hint) from None
            if NULL in (source, target):
                left_out["lines of words without a translation"] += 1
            elif weight > 0.0:
                yield Entry((source,), (target,), min(weight, 1.0))
            else:
                left_out["lines of a probability of 0"] += 1

    return languages_of_name(path), entries()


def _all(line: re.Pattern[bytes], head: bytes) -> bool:
    lines = [one for one in head.removeprefix(b"\xef\xbb\xbf").splitlines()[:HEAD_LINES] if one.strip()]
    return bool(lines) and all(map(line.fullmatch, lines)) and b" " in lines[0]


def _read_triples(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    return _read(partial(_triple, _REVERSED.search(plain_name(path)) is not None), path, left_out)


FORMATS = (
    Format("lexicon", lambda head, path: head.startswith(_COUNTS), lambda p, _, out: _read(_counted, p, out, 1)),
    Format("Moses lexicon", lambda head, path: _all(_TRIPLE, head), _read_triples),
    Format("MUSE", lambda head, path: _all(_PAIR, head), lambda path, _, left_out: _read(_pair, path, left_out)),
)
