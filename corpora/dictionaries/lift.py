"""LIFT, by which FLEx and other programs of linguists exchange dictionaries: words with glosses in some languages."""

from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from corpora.corpus import Languages
from corpora.dictionaries.elements import elements, first_element, text_of
from corpora.dictionaries.entries import Entry, Format, Found, entry_of
from corpora.dictionaries.glosses import translations
from corpora.dictionaries.names import language_among
from corpora.files import StrPath
from corpora.formats.joint import within

_FORMS = "lexical-unit", "citation", "variant"
_PHONETIC = "fonipa"  # in the names of writing systems that are no text


def _read(path: StrPath, languages: Languages, left_out: Counter[str]) -> Found:
    words, glosses = dict[str, None](), dict[str, None]()
    for entry in _elements(path):
        words |= {form.get("lang", ""): None for form in _forms(entry, "lexical-unit")}
        glosses |= {gloss.get("lang", ""): None for sense in _senses(entry) for gloss in _glosses(sense)}
    word = next(iter(words), None)
    if not glosses:
        return (word, None), iter(())
    others = [one if one and not (word and within(word, one)) else None for one in languages]
    language = language_among(path, [*glosses], (others[0], others[1]))
    return (word, language), _entries(path, language, left_out)


def _elements(path: StrPath) -> Iterator[Element]:
    return elements(path, "LIFT", {"entry"})


def _forms(entry: Element, *names: str) -> Iterator[Element]:
    for part in entry:
        if part.tag in names:
            yield from (form for form in part.findall("form") if _PHONETIC not in form.get("lang", "").lower())


def _senses(entry: Element) -> Iterator[Element]:
    for name in ("sense", "subsense"):
        yield from entry.iter(name)


def _glosses(sense: Element) -> list[Element]:
    return [*sense.findall("gloss"), *sense.findall("definition/form")]


def _entries(path: StrPath, language: str, left_out: Counter[str]) -> Iterator[Entry]:
    for entry in _elements(path):
        found = list[str]()
        for sense in _senses(entry):
            texts = [text_of(gloss.find("text")) for gloss in _glosses(sense) if gloss.get("lang", "") == language]
            for text in texts:
                found += translations(text, left_out)
            if not texts:
                left_out[f"senses without a gloss in {language}"] += 1
        headwords = [translations(text_of(form.find("text")), left_out) for form in _forms(entry, *_FORMS)]
        yield from entry_of([word for words in headwords for word in words], found, left_out)


FORMAT = Format("LIFT", lambda head, path: first_element(head) == b"lift", _read)
