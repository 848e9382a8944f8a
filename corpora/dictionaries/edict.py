"""Japanese and Chinese words with English glosses between slashes: EDICT, EDICT2 and CC-CEDICT."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from corpora.corpus import Languages
from corpora.dictionaries.entries import Entry, Format, Found, entry_of
from corpora.dictionaries.glosses import translations
from corpora.errors import NO_UTF8, BrokenLine, quoted
from corpora.files import UTF8_BOM, StrPath, open_bytes, read_lines

_EDICT = re.compile(r"([^\s\[/]+)\s+(?:\[([^\]]*)\]\s*)?/(.*)")
_CEDICT = re.compile(r"([^\[\]/\s]+\s+[^\[\]/]+?)\s+\[([^\]]*)\]\s*/(.*)")
_ABOUT = "？？？"  # the headword of the line with the file's date
_NUMBER = "EntL"  # what the number of an entry begins with, which stands after its glosses
_MARK = re.compile(r"\([^()]*\)")  # as (ik), of a headword


def _is(row: re.Pattern[str], head: bytes) -> bool:
    """Whether the first line that is no comment is an entry."""
    line = next((line for line in head.splitlines() if line.strip() and not line.startswith(b"#")), b"")
    return row.fullmatch(line.removeprefix(UTF8_BOM).decode(_encoding(head), "replace").strip()) is not None


def _encoding(head: bytes) -> str:
    """UTF-8, or EUC-JP, in which the oldest of these files are."""
    try:
        head[: head.rfind(b"\n") + 1].decode()
    except UnicodeDecodeError:
        return "euc_jp"
    return "utf-8"


def _read_edict(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    def entries() -> Iterator[Entry]:
        for forms, readings, glosses in _rows(path, _EDICT, "KANJI [kana] /gloss/"):
            if not forms.startswith(_ABOUT):
                # Latin letters are full-width there.
                headwords = unicodedata.normalize("NFKC", _MARK.sub("", f"{forms};{readings or ''}"))
                yield from _entry(headwords.split(";"), glosses, left_out)

    return ("ja", "en"), entries()


def _read_cedict(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    def entries() -> Iterator[Entry]:
        for forms, _, glosses in _rows(path, _CEDICT, "TRADITIONAL SIMPLIFIED [pin1 yin1] /gloss/"):
            yield from _entry(forms.split(), glosses, left_out)

    return ("zh", "en"), entries()


def _entry(headwords: Sequence[str], glosses: str, left_out: Counter[str]) -> Iterator[Entry]:
    found = [gloss for gloss in glosses.split("/") if not gloss.startswith(_NUMBER)]
    words = chain.from_iterable([translations(gloss, left_out) for gloss in found])
    return entry_of(filter(None, headwords), words, left_out)


def _rows(path: StrPath, row: re.Pattern[str], form: str) -> Iterator[Sequence[str]]:
    """The forms, the readings and the glosses of each line that is no comment."""
    with open_bytes(path) as stream:
        encoding = _encoding(stream.peek())
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or line.startswith(b"#"):
            continue
        try:
            found = row.fullmatch(line.decode(encoding).strip())
        except UnicodeDecodeError:
            raise BrokenLine(path, number, "not valid UTF-8 or EUC-JP", hint=NO_UTF8) from None
        if found is None:
            raise BrokenLine(path, number, f"{quoted(line)} is no entry", hint=f"an entry is {form}")
        yield found.groups()


FORMATS = (
    Format("EDICT", lambda head, path: _is(_EDICT, head), _read_edict),
    Format("CC-CEDICT", lambda head, path: _is(_CEDICT, head), _read_cedict),
)
