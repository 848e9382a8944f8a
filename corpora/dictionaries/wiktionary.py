"""Extracts of Wiktionary as wiktextract and kaikki.org have them: a JSON object a line, for each word and class.

The English edition has translations of English words, and English glosses of the words of all other languages.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

from corpora.corpus import Languages
from corpora.dictionaries.entries import Entry, Format, Found, entry_of
from corpora.dictionaries.glosses import translations
from corpora.dictionaries.names import code_of, language_among
from corpora.errors import BrokenLine, quoted
from corpora.files import StrPath, read_lines
from corpora.strict_json import parse_json

_NAMES = rb'"word"\s*:', rb'"lang_code"\s*:'
_EDITION = "en"
_HEAD = 1000
"""Lines by which the languages are known where the user does not name them."""

_NO_FORM = {"table-tags", "inflection-template", "romanization", "auxiliary", "transliteration", "class"}
_NO_GLOSS = {"form-of", "alt-of"}

Word = Mapping[str, Any]


def _read(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    head = [*islice(_words(path), _HEAD)]
    own = next((code_of(word["lang_code"]) for word in head), _EDITION)
    wanted = [code_of(one) if one else None for one in languages]
    if own != _EDITION:
        other = _EDITION
    else:
        names = [*dict.fromkeys(_code(one) for word in head for one in _translations(word))]
        others = (wanted[0] if wanted[0] != own else None, wanted[1] if wanted[1] != own else None)
        other = next(filter(None, others[::-1]), None) or language_among(path, names or [own], languages)
    source, target = wanted if None not in wanted else (own, other)
    return (source, target), _entries(path, (str(source), str(target)), left_out)


def _words(path: StrPath) -> Iterator[Word]:
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            word = parse_json(line)
            if "redirect" not in word:
                _ = word["word"], word["lang_code"]
                yield word
        except (KeyError, TypeError, ValueError):
            hint = "a line is an object with word and lang_code, as wiktextract writes them"
            raise BrokenLine(path, number, f"{quoted(line)} is no word of Wiktionary", hint=hint) from None


def _translations(word: Word) -> Iterator[Word]:
    for one in chain([word], word.get("senses", ())):
        yield from one.get("translations", ())


def _code(translation: Word) -> str:
    return code_of(translation.get("lang_code") or translation.get("code") or translation.get("lang") or "")


def _entries(path: StrPath, pair: tuple[str, str], left_out: Counter[str]) -> Iterator[Entry]:
    for word in _words(path):
        own = code_of(word["lang_code"])
        if own not in pair:
            left_out["words of other languages"] += 1
            continue
        other = pair[own == pair[0]]
        found = [one.get("word") or "" for one in _translations(word) if _code(one) == other]
        if other == _EDITION:
            for sense in word.get("senses", ()):
                if _NO_GLOSS.isdisjoint(sense.get("tags", ())):
                    found += sense.get("glosses", ())[-1:]  # those before it say what several senses share
        words = [part for text in found for part in translations(text, left_out)]
        sides = _forms(word), words
        yield from entry_of(*(sides if own == pair[0] else sides[::-1]), left_out)


def _forms(word: Word) -> list[str]:
    """The word and its inflected forms of as many words."""
    spaces = word["word"].count(" ")
    forms = (one["form"] for one in word.get("forms", ()) if one.get("tags") and _NO_FORM.isdisjoint(one["tags"]))
    return [word["word"], *(form for form in forms if form.count(" ") == spaces and form.strip("-—"))]


def _knows(head: bytes, path: StrPath) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \n")[:1] == b"{" and all(re.search(name, head) for name in _NAMES)


FORMAT = Format("Wiktionary", _knows, _read)
