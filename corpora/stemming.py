"""Words by their lemmas or stems, of which little text has more occurrences."""

from dataclasses import replace

from corpora import SettingError
from corpora.corpus import Corpus
from corpora.dictionaries.names import code_of
from corpora.errors import CorpusError
from corpora.formats.joint import listed
from corpora.lemmas import find_lemmatizer
from corpora.normalize import LEMMAS, SNOWBALL_CODES, Normalizers

_STEMS_FIRST = frozenset(["ar"])
"""Languages whose words carry an article, conjunctions and prepositions, which stemmers take off but lemmatisers do
not: AER of 200 pairs 38.6, with lemmas 38.7, with stems 35.1.
"""


def stemming(normalizers: Normalizers, corpus: Corpus) -> Normalizers:
    """The same normalizers that count a corpus' words by lemmas where a lemmatiser knows the language, else by stems.

    The words of a language that has neither stay whole.
    Raises CorpusError where the languages are not known, SettingError where neither of them has any.
    """
    languages = [language for language in corpus.languages if language]
    if len(languages) < 2:
        raise CorpusError(corpus.name, 0, "its languages are not known", hint="give `source` and `target` for `stem`")
    stems = [_stem_of(code_of(language)) for language in languages]
    if not any(stems):
        what = f"there are no lemmas and no stems of {' and '.join(languages)}"
        raise SettingError(f"{what} (stems: {listed(sorted(SNOWBALL_CODES))}; lemmas: install aligner[lemmas])")
    source, target = (replace(side, stem=stem) for side, stem in zip(normalizers, stems, strict=True))
    return source, target


def describe_stems(normalizers: Normalizers) -> str:
    """Say by what words are counted, such as lemmas of en and stems of ar."""
    stems = [side.stem for side in normalizers if side.stem]
    said = (f"lemmas of {one.removeprefix(LEMMAS)}" if one.startswith(LEMMAS) else f"stems of {one}" for one in stems)
    return f"words are counted by {' and '.join(said)}"


def _stem_of(language: str) -> str | None:
    if language not in _STEMS_FIRST and find_lemmatizer(language) is not None:
        return LEMMAS + language
    return language if language in SNOWBALL_CODES else None
