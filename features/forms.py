"""Forms: the words of a text that a word of a dictionary stands for there, by spelling, lemmas or shared beginnings."""

import math
import os
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from corpora.lemmas import find_lemmatizer

LEAST, SHARE = 4, 0.65
"""Letters that words have in common at their beginning, at least, and their share of a dictionary's word."""

SHARE_OF_FORM = 0.5
"""Their share of the word in the text: a longer one is a compound rather than a form."""

MOST = 50
"""Words of a text that share a beginning: more are no forms of one word."""

_MARKED = re.compile("[\u0300-\u036f\u0400-\u06ff]")
_MARKS = re.compile("[\u0301\u0591-\u05c7\u0640\u064b-\u0652\u0670]")
_ARTICLE = re.compile("\u0627\u0644(?=.{3})")
_LETTERS = str.maketrans("ёأإآٱىة", "еاااايه")


def spellings(word: str) -> Iterator[str]:
    """Yield a word as it is looked up: without marks that text mostly leaves out, letters that vary as one.

    Those are marks of vowels in Arabic and Hebrew, stress in Cyrillic, ё, and the alefs, ya and ta marbuta at a word's
    end; an Arabic word stands without its article, too.

    >>> [*spellings("ещё")], [*spellings("الكِتَابَة")]
    (['еще'], ['الكتابه', 'كتابه'])
    """
    if _MARKED.search(word):
        word = _MARKS.sub("", word).translate(_LETTERS)
    yield word
    if found := _ARTICLE.match(word):
        yield word[found.end() :]


class Forms:
    """The words of a vocabulary by what a dictionary may list them as.

    words: normalised, each once.  language: a code, for lemmas.
    """

    def __init__(self, words: Collection[str], language: str | None = None) -> None:
        self.lemmatizer = find_lemmatizer(language)
        self._words, self._sorted = words, sorted(words)
        self._beginnings = {word[:LEAST] for word in self._sorted}
        self._listed: defaultdict[str, list[str]] = defaultdict(list)
        self._found: dict[str, Sequence[str]] = {}
        for word in words:
            lemmas = () if self.lemmatizer is None else self.lemmatizer.lemmas(word)
            for listed in dict.fromkeys(one for lemma in (word, *lemmas) for one in spellings(lemma)):
                if listed != word:
                    self._listed[listed].append(word)

    def of(self, word: str) -> Sequence[str]:
        """The other words of the vocabulary that are forms of a word: by spelling and lemma, else by beginning."""
        found = self._found.get(word)
        if found is None:
            listed = (form for one in spellings(word) for form in (one, *self._listed.get(one, ())))
            alike = [form for form in dict.fromkeys(listed) if form != word and form in self._words]
            found = alike or self._beginning_like(word)
            if found:  # a dictionary has far more words without
                self._found[word] = found
        return found

    def _beginning_like(self, word: str) -> Sequence[str]:
        if len(word) < LEAST or word[:LEAST] not in self._beginnings:
            return ()
        begin = word[: max(LEAST, math.ceil(SHARE * len(word)))]
        first = bisect_left(self._sorted, begin)
        end = bisect_left(self._sorted, begin + "\U0010ffff", first)
        if end - first > MOST:
            return ()
        shared = ((form, len(os.path.commonprefix([form, word]))) for form in self._sorted[first:end] if form != word)
        return [form for form, letters in shared if letters >= SHARE_OF_FORM * len(form)]
