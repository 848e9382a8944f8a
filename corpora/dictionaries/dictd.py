"""Dictionaries of dictd, such as FreeDict's: an index of places, and beside it the text of the entries.

The index finds entries by keys that are mostly no headwords, being in lower case and without marks, and several of
which lead to one entry. The headword is what the text of an entry begins with; of texts that do not begin so, as
PyGlossary writes them, the keys are the headwords.
"""

import re
import unicodedata
from binascii import a2b_base64
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from corpora.corpus import Languages
from corpora.dictionaries.bodies import glosses_of, text_at
from corpora.dictionaries.entries import Entry, Format, Found, entry_of
from corpora.dictionaries.glosses import translations
from corpora.dictionaries.names import languages_of_name
from corpora.errors import BrokenLine, CorpusError, quoted
from corpora.files import StrPath, read_lines

_ROW = re.compile(rb"([^\t]*)\t([A-Za-z0-9+/]{1,8})\t([A-Za-z0-9+/]{1,8})(?:\t.*)?")
_JUDGED = 200  # rows of an index that show whether texts begin with the headwords
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
    first = _keys(islice(_rows(index), _JUDGED))
    contents = text_at(text, _places(islice(_rows(index), _JUDGED)).items())
    heads = [_plain(content.decode(errors="ignore").partition("\n")[0]) for content in contents]
    begin = 0
    for place, head in zip(sorted(first), heads, strict=True):
        begin += any(key in head for key in filter(None, map(_plain, first[place])))
    keys = {} if 2 * begin >= len(heads) else _keys(_rows(index))
    return languages_of_name(path), _entries(text, _places(_rows(index)), keys, left_out)


def _plain(text: str) -> str:
    """A text as keys are written: letters and digits alone, in lower case and without marks."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text).casefold()))


def _rows(index: Path) -> Iterator[re.Match[bytes]]:
    """The key, the start and the size of each entry."""
    for number, row in enumerate(read_lines(index), 1):
        found = _ROW.fullmatch(row)
        if found is None:
            hint = "a row is key TAB start TAB size, in base 64"
            raise BrokenLine(index, number, f"{quoted(row)} is no row of an index", hint=hint)
        if not row.startswith(_ABOUT):
            yield found


def _places(rows: Iterable[re.Match[bytes]]) -> dict[int, int]:
    """Sizes of entries by where they begin, in the order of the text."""
    digits = bytearray()
    for row in rows:
        digits += row[2].rjust(8, b"A") + row[3].rjust(8, b"A")
    numbers = np.zeros((len(digits) // 8, 8), np.uint8)  # all at once: one by one they take longer than all the rest
    numbers[:, 2:] = np.frombuffer(a2b_base64(digits), np.uint8).reshape(-1, 6)
    pairs = numbers.view(">i8").reshape(-1, 2)
    starts, first = np.unique(pairs[:, 0], return_index=True)
    return dict(zip(starts.tolist(), pairs[first, 1].tolist(), strict=True))


def _keys(rows: Iterable[re.Match[bytes]]) -> dict[int, list[str]]:
    """The keys of entries by where they begin."""
    found = defaultdict[int, list[str]](list)
    for row in rows:
        found[int.from_bytes(a2b_base64(row[2].rjust(8, b"A")), "big")].append(row[1].decode(errors="replace"))
    return found


def _entries(text: Path, places: dict[int, int], keys: dict[int, list[str]], left_out: Counter[str]) -> Iterator[Entry]:
    """keys: of the entries whose texts do not begin with the headword."""
    for place, content in zip(places, text_at(text, places.items()), strict=True):
        try:
            lines = content.decode().split("\n")
        except UnicodeDecodeError:
            what = f"is not valid UTF-8: {quoted(content)}"
            raise CorpusError(text, 0, what, hint="get a dictionary in UTF-8") from None
        heads = keys.get(place) or [lines.pop(0)]
        headwords = [one for head in heads for one in translations(head, left_out)]
        yield from entry_of(headwords, glosses_of(lines, left_out, every=bool(keys)), left_out)


FORMAT = Format("dictd", _knows, _read)
