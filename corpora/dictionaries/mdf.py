r"""MDF, in which Toolbox and Shoebox have dictionaries: a record begins at ``\lx``, a subentry in it at ``\se``."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from corpora.corpus import Languages
from corpora.dictionaries.entries import Entry, Format, Found, entry_of
from corpora.dictionaries.glosses import translations
from corpora.dictionaries.names import code_of
from corpora.errors import NO_UTF8, BrokenLine, CorpusError
from corpora.files import StrPath, read_lines

_FIELD = re.compile(r"\\(\S+)\s*(.*)")
_LEXEME = re.compile(rb"(?m)^\\lx[ \t]")
_FORMS = "lx", "se", "lc", "va", "a"
_LANGUAGES = "e", "n", "r"
"""Of glosses: English, national, regional, as `ge`, `gn` and `gr`; definitions are `de`, `dn`, `dr`."""

Record = list[tuple[str, str]]  # names and texts of fields


def _read(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    there = {name for record in _records(path) for name, text in record if text}
    has = [one for one in _LANGUAGES if not there.isdisjoint((f"g{one}", f"d{one}"))]
    if not has:
        raise CorpusError(path, 0, r"has no glosses \ge, \gn or \gr", hint="mark them so, as MDF does")
    known = [code_of(one) for one in languages if one]
    if len(known) == 2 and "en" not in known:
        has.sort(key=lambda one: one == "e")  # which is the last resort
    return (None, "en" if has[0] == "e" else None), _entries(path, has[0], left_out)


def _records(path: StrPath) -> Iterator[Record]:
    record = Record()
    lines = (line for packed in read_lines(path) for line in packed.split(b"\r"))  # which ends lines of old systems
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode().strip()
        except UnicodeDecodeError:
            raise BrokenLine(path, number, "not valid UTF-8", hint=NO_UTF8) from None
        if field := _FIELD.match(text):
            if field[1] in ("lx", "se") and record:
                yield record
                record = Record()
            record.append((field[1], field[2]))
        elif record and text:  # the line before goes on
            record[-1] = record[-1][0], f"{record[-1][1]} {text}".lstrip()
    yield record


def _entries(path: StrPath, language: str, left_out: Counter[str]) -> Iterator[Entry]:
    for record in _records(path):
        if any(name in ("lx", "se") for name, _ in record):
            glosses = _texts(record, (f"g{language}", *(["re"] if language == "e" else [])), left_out)
            found = glosses or _texts(record, (f"d{language}",), left_out)
            yield from entry_of(_texts(record, _FORMS, left_out), found, left_out)


def _texts(record: Record, names: Iterable[str], left_out: Counter[str]) -> list[str]:
    texts = [text.replace("_", " ") for name, text in record if name in names]
    return [word for text in texts for word in translations(text, left_out)]


FORMAT = Format(
    "MDF", lambda head, path: head[:4].lstrip(b"\xef\xbb\xbf")[:1] == b"\\" and bool(_LEXEME.search(head)), _read
)
