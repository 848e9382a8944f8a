"""Lemmas: what dictionaries list in place of the inflected words of a text, by simplemma or a package of one's own."""

from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import NamedTuple

_INFINITIVES = {"tr": ("mek", "mak")}
"""Endings by language with which dictionaries list verbs, where lemmas are stems."""


class Lemmatizer(NamedTuple):
    """The name of a lemmatiser, and a function that yields what a dictionary may list a word as."""

    name: str
    lemmas: Callable[[str], Iterable[str]]


def find_lemmatizer(language: str | None) -> Lemmatizer | None:
    """The lemmatiser of a language, by its code, or None.

    That of a package, by an entry point of the group ``aligner.lemmas`` with the code as its name, comes before
    simplemma, which knows some 50 languages.
    """
    if language is None:
        return None
    for point in entry_points(group="aligner.lemmas", name=language):
        return Lemmatizer(point.value.partition(":")[0], point.load())
    if find_spec("simplemma") is None:
        return None
    from simplemma import lemmatize

    try:
        lemmatize("a", lang=language)
    except ValueError:  # of languages that it does not know
        return None

    def lemmas(word: str) -> Iterator[str]:
        # Lemmas are no fixed points, and some are wrong: it is for the dictionary to decide (2.0.0: lovak, lova, ló).
        lemma = lemmatize(word, lang=language).lower()
        for one in (lemma, lemmatize(lemma, lang=language).lower()):
            yield one
            yield from (one + ending for ending in _INFINITIVES.get(language, ()))

    return Lemmatizer("simplemma", lemmas)
