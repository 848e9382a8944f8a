"""Dictionaries of dictd, such as FreeDict's: an index of places, and beside it the text of the entries.

The index finds entries by keys that are no headwords, being in lower case and without marks, and several of which lead
to one entry. The headword is what the text of an entry begins with.
"""

import re
from binascii import a2b_base64
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from corpora.corpus import Languages
from corpora.dictionaries.bodies import glosses_of, text_at
from corpora.dictionaries.entries import Entry, Format, Found, entry_of
from corpora.dictionaries.glosses import translations
from corpora.dictionaries.names import languages_of_name
from corpora.errors import BrokenLine, CorpusError, quoted
from corpora.files import StrPath, read_lines

_ROW = re.compile(rb"[^\t]*\t([A-Za-z0-9+/]{1,8})\t([A-Za-z0-9+/]{1,8})(?:\t.*)?")
_ABOUT = b"00database", b"00-database"  # keys of what is said about the whole


def _knows(head: bytes, path: StrPath) -> bool:
    """By the name, as an index may look like a table of words; a text alone may be anything but what dictzip packs."""
    name = Path(path)
    if name.name.endswith(".dict.dz"):
        return True
    return (name.suffix == ".index" and b"\t" in head) or (
        name.suffix == ".dict" and name.with_suffix(".index").is_file()
    )


def _partner(path: Path) -> tuple[Path, Path]:
    """The index and the text, of which one is given."""
    name = path.name.removesuffix(".dz").removesuffix(".index").removesuffix(".dict")
    if path.name.endswith((".dict", ".dict.dz")):
        found, wanted = [path.with_name(f"{name}.index")], path
    else:
        found, wanted = [path.with_name(f"{name}{end}") for end in (".dict.dz", ".dict")], path
    partner = next((one for one in found if one.is_file()), None)
    if partner is None:
        what = f"has no {' or '.join(one.name for one in found)} beside it"
        raise CorpusError(wanted, 0, what, hint="a dictionary of dictd is two files, the index and the text")
    return (partner, path) if found[0].suffix == ".index" else (path, partner)


def _read(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    index, text = _partner(Path(path))
    return languages_of_name(path), _entries(text, _places(index), left_out)


def _places(index: Path) -> dict[int, int]:
    """Sizes of entries by where they begin, in the order of the text."""
    digits = bytearray()
    for number, row in enumerate(read_lines(index), 1):
        found = _ROW.fullmatch(row)
        if found is None:
            hint = "a row is key TAB start TAB size, in base 64"
            raise BrokenLine(index, number, f"{quoted(row)} is no row of an index", hint=hint)
        if not row.startswith(_ABOUT):
            digits += found[1].rjust(8, b"A") + found[2].rjust(8, b"A")
    numbers = np.zeros((len(digits) // 8, 8), np.uint8)  # all at once: one by one they take longer than all the rest
    numbers[:, 2:] = np.frombuffer(a2b_base64(digits), np.uint8).reshape(-1, 6)
    pairs = numbers.view(">i8").reshape(-1, 2)
    starts, first = np.unique(pairs[:, 0], return_index=True)
    return dict(zip(starts.tolist(), pairs[first, 1].tolist(), strict=True))


def _entries(text: Path, places: dict[int, int], left_out: Counter[str]) -> Iterator[Entry]:
    for content in text_at(text, places.items()):
        try:
            head, *lines = content.decode().split("\n")
        except UnicodeDecodeError:
            what = f"is not valid UTF-8: {quoted(content)}"
            raise CorpusError(text, 0, what, hint="get a dictionary in UTF-8") from None
        yield from entry_of(translations(head, left_out), glosses_of(lines, left_out), left_out)


FORMAT = Format("dictd", _knows, _read)
