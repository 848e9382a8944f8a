"""Bilingual dictionaries of Apertium in XML, before they are compiled: ``.dix``.

A restriction to one direction is none to what translates what.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element

from corpora.corpus import Languages
from corpora.dictionaries.elements import elements, first_element
from corpora.dictionaries.entries import NO_TRANSLATION, Entry, Format, Found
from corpora.dictionaries.names import languages_of_name
from corpora.errors import CorpusError
from corpora.files import StrPath

Pair = tuple[str, str]

_MOST_FORMS = 256
"""Pairs of an entry: a paradigm of paradigms could have any number."""

_PATTERNS = "entries of patterns, or of paradigms with too many forms"


def _read(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    return languages_of_name(path), _entries(path, left_out)


def _entries(path: StrPath, left_out: Counter[str]) -> Iterator[Entry]:
    paradigms = dict[str, Sequence[Pair]]()
    for element in elements(path, "Apertium", {"pardef", "e"}):
        if element.tag == "pardef":
            pairs = [_pairs(entry, paradigms) for entry in element.iter("e")]
            paradigms[element.get("n", "")] = [*dict.fromkeys(pair for some in pairs for pair in some)]
        elif element.get("lm") is not None:
            what = "is a dictionary of one language, whose entries have lemmas"
            raise CorpusError(path, 0, what, hint="give the one of two languages, such as apertium-eng-spa.eng-spa.dix")
        elif element.get("i") == "yes":
            left_out["entries that are to be ignored"] += 1
        elif found := _pairs(element, paradigms):
            yield from _entry(found, left_out)
        else:
            left_out[_PATTERNS] += 1


def _entry(pairs: Sequence[Pair], left_out: Counter[str]) -> Iterator[Entry]:
    """An entry for each translation, since each form of a paradigm has its own."""
    words = defaultdict[str, dict[str, None]](dict)
    for left, right in pairs:
        if left and right:
            words[right][left] = None
        else:
            left_out[NO_TRANSLATION] += 1
    for right, headwords in words.items():
        yield Entry([*headwords], [right])


def _pairs(entry: Element, paradigms: Mapping[str, Sequence[Pair]]) -> Sequence[Pair]:
    """The texts of both sides, for all forms of the paradigms; none of an entry that is a pattern."""
    found: Sequence[Pair] = [("", "")]
    for part in entry:
        if part.tag == "par":
            more = paradigms.get(part.get("n", ""), [("", "")])
        elif part.tag == "i":
            more = [(_text(part), _text(part))]
        elif part.tag == "p":
            more = [(_text(part.find("l")), _text(part.find("r")))]
        else:  # <re>
            return []
        found = [*dict.fromkeys((left + one, right + other) for left, right in found for one, other in more)]
        if len(found) > _MOST_FORMS:
            return []
    return [(left.strip(), right.strip()) for left, right in found]


def _text(side: Element | None) -> str:
    """The text without tags; a blank is an element."""
    if side is None:
        return ""
    parts = [side.text or ""]
    for inner in side:
        parts += " " if inner.tag in ("b", "j") else "", _text(inner) if inner.tag == "g" else "", inner.tail or ""
    return "".join(parts)


def _knows(head: bytes, path: StrPath) -> bool:
    return first_element(head) == b"dictionary" and any(one in head for one in (b"<sdef", b"<pardef", b"<section"))


FORMAT = Format("Apertium", _knows, _read)
