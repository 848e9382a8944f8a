"""Counts of the word pairs that dictionaries give a text: links of other text, see `priors`."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product

from corpora.bitext import Bitext
from corpora.corpus import Languages
from corpora.dictionaries import Dictionary
from corpora.dictionaries.lines import MOST_WORDS, TOO_LONG
from corpora.dictionaries.names import CODES, code_of
from corpora.left_out import warn_of_left_out
from corpora.normalize import Normalizer, Normalizers
from features.forms import Forms

COUNT = 0.5
"""Links that an entry of weight 1 stands for: it decides where the text says little, and fades where it says more."""

FORM = 0.5
"""Share of the count for a word that stands in the text in another form than in the dictionary."""

PHRASE = 0.5
"""Share of the count for words of a phrase: which one translates which is for the text to say."""

MOST_FORMS = 8
"""Words of a phrase whose forms are looked for."""

LEAST_FIT, JUDGED = 0.02, 100
"""Entries with both sides in the text for one with one side, at least: a dictionary of another language has fewer, and
its other entries would teach wrong pieces.  Below so many entries with one side it is not judged.
"""

MOST_ONE = 3000
"""About so many entries with one side in the text count, evenly chosen: what they teach is how pieces of words are
translated, for which these suffice.
"""

EXAMPLES = 10

Counts = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Fit:
    """How a dictionary fits a text.

    entries: pairs of a headword and a translation.  both, forms, one: how many stand in the text with both sides, of
    these some word in another form only, and with one side.  turned: whether its headwords are of the target.
    lemmatizers: the names of those of source and target, where there is one.  examples: entries with both sides, or of
    those that count without the text the first ones.
    """

    dictionary: Dictionary
    turned: bool
    entries: int = 0
    both: int = 0
    forms: int = 0
    one: int = 0
    lemmatizers: tuple[str | None, str | None] = (None, None)
    examples: Sequence[tuple[str, str]] = ()

    @property
    def languages(self) -> str:
        return "-".join(language or "?" for language in self.dictionary.languages)

    @property
    def lemmas(self) -> str:
        """The names of the lemmatisers, each once."""
        return " and ".join(name for name in dict.fromkeys(self.lemmatizers) if name)

    @property
    def fits(self) -> bool:
        """Whether entries count that have not both sides in the text."""
        return self.one < JUDGED or self.both >= LEAST_FIT * self.one

    def __str__(self) -> str:
        known = f", {self.languages}" if any(self.dictionary.languages) else ""
        turned = ", headwords of the target" if self.turned else ""
        by = f", lemmas by {self.lemmas}" if self.lemmas else ""
        inflected = f" ({self.forms:,} inflected)" if self.forms else ""
        counts = f"{self.entries:,} entries, {self.both:,} of them in the text{inflected}, {self.one:,} with one side"
        few = "" if self.fits else "; too few for one of these languages: only entries with both sides count"
        return f"{self.dictionary.path}: {self.dictionary.form}{known}{turned}: {counts}{by}{few}"


def count_entries(
    dictionaries: Sequence[Dictionary], text: Bitext, normalizers: Normalizers, *, whole: bool = False
) -> tuple[Counts, list[Fit]]:
    """Count the word pairs of dictionaries for a text, normalised, and say how each dictionary fits it.

    Of a phrase each word counts with each of the other side. A word stands for its `Forms` in the text, too. Entries
    with at least one side in the text count: what the other side teaches is how pieces of words are translated.
    whole: the others count, too, for other text.

    Which side of a dictionary is which say its languages, else its words.
    Raises CorpusError for what is broken in a dictionary, and warns of what is left out of it.
    """
    vocabularies = text.source.vocabulary.index, text.target.vocabulary.index
    languages = _code(text.source.language), _code(text.target.language)
    oriented = [_oriented(one, languages, vocabularies) for one in dictionaries]
    for one, turned in oriented:
        theirs = one.languages[:: -1 if turned else 1]
        known = [ours if ours in CODES else its or ours for ours, its in zip(languages, theirs, strict=True)]
        languages = known[0], known[1]
    sides = [_Side(*side) for side in zip(normalizers, vocabularies, languages, strict=True)]
    counter = _Counter(sides)
    fits = [_add(counter, one, turned, sides, whole) for one, turned in oriented]
    return counter.counts, fits


def _code(language: str | None) -> str | None:
    return language and code_of(language)


def _oriented(
    dictionary: Dictionary, languages: Languages, vocabularies: tuple[Collection[str], Collection[str]]
) -> tuple[Dictionary, bool]:
    """The dictionary, to be iterated, and whether its headwords are of the target."""
    for known, turned in ((languages, False), (languages[::-1], True)):
        same = [one == other for one, other in zip(known, dictionary.languages, strict=True) if one and other]
        if same and all(same):
            return dictionary, turned
    entries = list(dictionary.entries)
    headwords = {headword.casefold() for entry in entries for headword in entry.headwords}
    translations = {translation.casefold() for entry in entries for translation in entry.translations}

    def in_text(sides: tuple[Collection[str], Collection[str]]) -> int:
        return sum(word in sides[0] for word in headwords) + sum(word in sides[1] for word in translations)

    return replace(dictionary, entries=entries), in_text(vocabularies[::-1]) > in_text(vocabularies)


Options = list[tuple[str, float]]  # words for one of a phrase, with their share of its count
_Entry = tuple[tuple[str, ...], tuple[str, ...]]  # the normalised words of both sides


class _Side:
    """How phrases of a dictionary stand in one side of a text."""

    def __init__(self, normalizer: Normalizer, vocabulary: Collection[str], language: str | None) -> None:
        self._normalizer, self._vocabulary = normalizer, vocabulary
        self.forms = Forms(vocabulary, language)
        self._found: dict[str, bool] = {}  # by token

    def knows(self, phrase: str) -> bool:
        """Whether the text has each word of a phrase, in some form."""
        found = self._found.get(phrase)  # most are one word
        return all(map(self._has, self.tokens(phrase))) if found is None else found

    def tokens(self, phrase: str) -> list[str]:
        return self._normalizer.tokens(phrase) if self._normalizer.tokenize else phrase.split()

    def options(self, phrase: str) -> tuple[list[Options], bool]:
        """For each word of a phrase what stands for it, the word first; whether the text has all as they are."""
        words = [*map(self._normalizer.word, self.tokens(phrase))]
        forms = [self.forms.of(word) if len(words) <= MOST_FORMS else () for word in words]
        options = [[(word, 1.0), *((form, FORM) for form in its)] for word, its in zip(words, forms, strict=True)]
        return options, all(word in self._vocabulary for word in words)

    def _has(self, token: str) -> bool:
        found = self._found.get(token)
        if found is None:
            word = self._normalizer.word(token)
            found = self._found[token] = word in self._vocabulary or bool(self.forms.of(word))
        return found


class _Counter:
    """Counts of word pairs; of an entry that is there again the heaviest counts."""

    def __init__(self, sides: Sequence[_Side]) -> None:
        self.counts: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._sides = sides
        self._weights: dict[_Entry, float] = {}

    def add(self, source: str, target: str, weight: float) -> bool:
        """Count the words of an entry; whether the text has all of them as they are."""
        (ones, exact), (others, its_exact) = self._sides[0].options(source), self._sides[1].options(target)
        most = max(len(ones), len(others))
        entry = tuple(words[0][0] for words in ones), tuple(words[0][0] for words in others)
        more = weight - self._weights.get(entry, 0.0)
        if more > 0.0:
            self._weights[entry] = weight
            count = COUNT * more * (PHRASE if most > 1 else 1.0) / most
            for one, other in product(ones, others):
                for (word, share), (translation, its_share) in product(one, other):
                    self.counts[word, translation] += count * min(share, its_share)
        return exact and its_exact


def _add(counter: _Counter, dictionary: Dictionary, turned: bool, sides: Sequence[_Side], whole: bool) -> Fit:
    """Add the counts of a dictionary."""
    entries, inflected, left_out = 0, 0, Counter[str]()
    weights: tuple[dict[tuple[str, str], float], ...] = {}, {}, {}  # of entries with so many sides in the text
    for headwords, translations, weight in dictionary.entries:
        entries += len(headwords) * len(translations)
        pair = (translations, headwords) if turned else (headwords, translations)
        found = [[(one, side.knows(one)) for one in phrases] for side, phrases in zip(sides, pair, strict=True)]
        for (source, known), (target, its_known) in product(*found):
            if not (known or its_known or whole):
                continue
            fewest, most = sorted((len(sides[0].tokens(source)), len(sides[1].tokens(target))))
            if most > MOST_WORDS:  # as words of the text, where it is tokenised
                left_out[TOO_LONG] += 1
            elif fewest:
                of_these = weights[known + its_known]
                of_these[source, target] = max(of_these.get((source, target), 0.0), weight)
    none, one, both = weights
    for (source, target), weight in both.items():
        inflected += not counter.add(source, target, weight)
    used = [side.forms.lemmatizer and side.forms.lemmatizer.name for side in sides]
    examples = [*islice(both or none, EXAMPLES)]
    fit = Fit(dictionary, turned, entries, len(both), inflected, len(one), (used[0], used[1]), examples)
    step = 1 if whole else max(1, len(one) // MOST_ONE)
    for (source, target), weight in islice(chain(one.items(), none.items()), 0, None, step) if fit.fits else ():
        counter.add(source, target, weight)
    warn_of_left_out(dictionary.path, left_out)
    return fit
