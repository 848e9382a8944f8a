"""StarDict: words and places in ``.idx``, texts in ``.dict``, further words in ``.syn``, and what ``.ifo`` says."""

import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from corpora.corpus import Languages
from corpora.dictionaries.bodies import glosses_of, text_at
from corpora.dictionaries.entries import Entry, Format, Found, entry_of
from corpora.dictionaries.glosses import translations
from corpora.dictionaries.names import languages_of_name
from corpora.errors import CorpusError
from corpora.files import StrPath, read_lines, read_whole

_MAGIC = b"StarDict's dict ifo file"
_PARTS = ".idx", ".idx.gz", ".dict", ".dict.dz", ".syn", ".syn.dz"
_TEXTS, _MARKED_UP = "mlgxhw", "gxh"  # kinds of texts, and those with elements
_UNSEEN = re.compile(r"(?s)<(k|tr|ex|co|abr|pos|ref|kref|script|style)\b[^<>]*>.*?</\1>")  # no translation is in them
_LINE_END = re.compile(r"</?(?:br|p|div|li|ol|ul|def|dtrn|tr|blockquote)\b[^<>]*>")
_ELEMENT = re.compile(r"</?[a-zA-Z][^<>]*>")
_HINT = "get all files of one version"


def _ifo(path: StrPath) -> Path:
    name = Path(path).name
    end = next((end for end in _PARTS if name.endswith(end)), ".ifo")
    return Path(path).with_name(f"{name.removesuffix(end)}.ifo")


def _knows(head: bytes, path: StrPath) -> bool:
    return head.startswith(_MAGIC) or (Path(path).name.endswith(_PARTS) and _ifo(path).is_file())


def _part(ifo: Path, *ends: str) -> Path:
    found = [ifo.with_suffix(end) for end in ends]
    part = next((one for one in found if one.is_file()), None)
    if part is None:
        what = f"has no {' or '.join(one.name for one in found)} beside it"
        raise CorpusError(ifo, 0, what, hint="a dictionary of StarDict is several files: .ifo, .idx and .dict")
    return part


def _read(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    ifo = _ifo(path)
    lines = (line.decode(errors="replace").partition("=") for line in read_lines(ifo))
    said = {name.strip(): value.strip() for name, _, value in lines}
    index, text = _part(ifo, ".idx", ".idx.gz"), _part(ifo, ".dict.dz", ".dict")
    known = languages_of_name(ifo)
    return known if known[0] else languages_of_name(said.get("bookname", "")), _entries(
        ifo, index, text, said, left_out
    )


def _entries(ifo: Path, index: Path, text: Path, said: dict[str, str], left_out: Counter[str]) -> Iterator[Entry]:
    words = [*_words(index, 8 if said.get("idxoffsetbits") == "64" else 4, 4)]
    others = defaultdict[int, list[str]](list)
    for part in (one for one in (ifo.with_suffix(".syn"), ifo.with_suffix(".syn.dz")) if one.is_file()):
        for word, place, _ in _words(part, 4, 0):
            others[place].append(word)
    kinds = said.get("sametypesequence", "")
    places = sorted((start, size, number) for number, (_, start, size) in enumerate(words))
    contents = text_at(text, ((start, size) for start, size, _ in places))
    for (_, _, number), content in zip(places, contents, strict=True):
        found = list[str]()
        for kind, body in _fields(content, kinds):
            if kind in _TEXTS:
                lines = _plain(body.decode(errors="replace"), kind).split("\n")
                found += glosses_of(lines, left_out, every=True)
        headwords = [one for word in (words[number][0], *others[number]) for one in translations(word, left_out)]
        yield from entry_of(headwords, found, left_out)


def _words(path: Path, *sizes: int) -> Iterator[tuple[str, int, int]]:
    """Each word, and the numbers after it, of so many bytes."""
    data = read_whole(path, text=False)
    place, middle = 0, sizes[0]
    while place < len(data):
        end = data.find(b"\0", place) + 1
        numbers = data[end : end + sum(sizes)]
        if not end or len(numbers) < sum(sizes):
            raise CorpusError(path, 0, "ends within an entry", hint=_HINT)
        word = data[place : end - 1].decode(errors="replace")
        yield word, int.from_bytes(numbers[:middle], "big"), int.from_bytes(numbers[middle:], "big")
        place = end + sum(sizes)


def _fields(content: bytes, kinds: str) -> Iterator[tuple[str, bytes]]:
    """The kinds and contents of the fields of an entry; the kinds of all entries do not stand in them.

    A lower-case kind ends at a zero byte, any other one has its size before it; the last of known kinds has neither.
    """
    place, number = 0, 0
    while place < len(content) and (number < len(kinds) or not kinds):
        kind, is_last = (kinds[number], number + 1 == len(kinds)) if kinds else (chr(content[place]), False)
        place, number = place + (not kinds), number + 1
        if is_last:
            end = after = len(content)
        elif kind.islower():
            end = content.find(b"\0", place) % (len(content) + 1)
            after = end + 1
        else:
            size = int.from_bytes(content[place : place + 4], "big")
            place, end = place + 4, place + 4 + size
            after = end
        yield kind, content[place:end]
        place = after


def _plain(text: str, kind: str) -> str:
    if kind in _MARKED_UP:
        return html.unescape(_ELEMENT.sub("", _LINE_END.sub("\n", _UNSEEN.sub("", text))))
    return text


FORMAT = Format("StarDict", _knows, _read)
