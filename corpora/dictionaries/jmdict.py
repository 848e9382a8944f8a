"""JMdict: Japanese words with glosses in one or several languages."""

from collections import Counter
from collections.abc import Iterator

from corpora.corpus import Languages
from corpora.dictionaries.elements import elements, text_of
from corpora.dictionaries.entries import Entry, Format, Found, entry_of
from corpora.dictionaries.glosses import DEFINITIONS, translations
from corpora.dictionaries.names import code_of
from corpora.files import StrPath

_LANGUAGE = "xml:lang"


def _read(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    others = [code_of(one) for one in languages[::-1] if one and code_of(one) != "ja"]
    language = others[0] if others else "en"
    return ("ja", language), _entries(path, language, left_out)


def _entries(path: StrPath, language: str, left_out: Counter[str]) -> Iterator[Entry]:
    for entry in elements(path, "JMdict", {"entry"}, entities=True):
        words = list[str]()
        for gloss in entry.iter("gloss"):
            if code_of(gloss.get(_LANGUAGE, "eng")) != language:
                left_out["glosses in other languages"] += 1
            elif gloss.get("g_type") == "expl":
                left_out[DEFINITIONS] += 1
            else:
                words += translations(text_of(gloss), left_out)
        headwords = [text_of(form) for name in ("keb", "reb") for form in entry.iter(name)]
        yield from entry_of(filter(None, headwords), words, left_out)


FORMAT = Format("JMdict", lambda head, path: b"<!DOCTYPE JMdict" in head or b"<JMdict>" in head, _read)
