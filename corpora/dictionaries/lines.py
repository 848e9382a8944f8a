"""Dictionaries of lines: ``source TAB target`` or ``source ||| target``, and perhaps a weight; exports of dict.cc."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import dropwhile

from corpora.corpus import Languages
from corpora.dictionaries.entries import Entry, Format, Found, entry_of
from corpora.dictionaries.glosses import translations
from corpora.dictionaries.names import code_of, languages_of_name
from corpora.errors import NO_UTF8, BrokenLine, quoted
from corpora.files import StrPath, read_lines

HEAVIEST = 1e6

MOST_WORDS = 64
"""Words of a side of an entry: each may count with each of the other side."""

_HINT = f"an entry is source TAB target or source ||| target, and perhaps a weight above 0, at most {HEAVIEST:g}"
TOO_LONG = f"entries of more than {MOST_WORDS} words on a side (give sentences as text)"
_DICT_CC = re.compile(rb"(?:\xef\xbb\xbf)?# ([A-Z]{2})-([A-Z]{2}) vocabulary database")


def plain(text: str) -> str:
    """The text of a number.  Raises ValueError for the underscores and digits that Python alone takes for one."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is no number")
    return text


def without_head(path: StrPath) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers, without comments above them: lines that begin with # and have no separator."""
    lines = enumerate(read_lines(path), 1)
    return dropwhile(lambda line: line[1].startswith(b"#") and b"\t" not in line[1] and b"|||" not in line[1], lines)


def _read(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    return languages_of_name(path), _entries(path, left_out)


def _entries(path: StrPath, left_out: Counter[str]) -> Iterator[Entry]:
    for place, line in without_head(path):
        try:
            text = line.decode()
            if not text.strip():
                continue
            source, target, *more = map(str.strip, text.split("\t" if "\t" in text else "|||"))
            (weight,) = map(float, map(plain, more or ("1",)))
            if not (source and target and 0.0 < weight <= HEAVIEST):
                raise ValueError
        except ValueError:
            raise BrokenLine(path, place, f"{quoted(line)} is no entry of a dictionary", hint=_HINT) from None
        if max(len(source.split()), len(target.split())) > MOST_WORDS:
            left_out[TOO_LONG] += 1
        else:
            yield Entry((source,), (target,), weight)


def _read_dict_cc(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    first = _DICT_CC.match(next(read_lines(path), b""))
    sides = (code_of(first[1].decode()), code_of(first[2].decode())) if first else (None, None)
    return sides, _of_dict_cc(path, left_out)


def _of_dict_cc(path: StrPath, left_out: Counter[str]) -> Iterator[Entry]:
    for place, line in enumerate(read_lines(path), 1):
        if not line.strip() or line.startswith(b"#"):
            continue
        try:
            source, target, *_ = line.decode().split("\t")
        except UnicodeDecodeError:
            raise BrokenLine(path, place, "not valid UTF-8", hint=NO_UTF8) from None
        except ValueError:
            hint = "an entry is source TAB target, and perhaps its class after another tab"
            raise BrokenLine(path, place, f"{quoted(line)} is no entry of dict.cc", hint=hint) from None
        yield from entry_of(translations(source, left_out), translations(target, left_out), left_out)


FORMATS = (
    Format("dict.cc", lambda head, path: _DICT_CC.match(head) is not None, _read_dict_cc),
    Format("lines", lambda head, path: True, _read),
)
