"""Texts with labels, whatever the file that has them: spans of characters, and rows of words."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from corpora.formats.conll import Sentence, tags_of

Place = tuple[int, int]
"""The first character of something in a text, and the end."""

_WORD = re.compile("[^ \t\n\r\v\f]+")
_NO_EDGE = "%‰#&@*/\\_-"
"""Signs that belong to the word they are written to, such as 10% or #name."""


class Mark(NamedTuple):
    """A label of a run of characters.  key: what its file calls it; marks with the same key are parts of one."""

    start: int
    end: int
    name: str
    key: tuple[str, ...] = ()

    @property
    def column(self) -> str:
        """The name without spaces, for formats that divide columns there."""
        return "_".join(self.name.split()) or "_"


@dataclass(frozen=True)
class Labelled:
    """A text with labels.

    line: of its file, or its number there.  words: where they are in the text.  marks: None if it has labels of words
    alone.  sentence: with the labels of words, if there are any, or with the comments of a sentence with marks.
    """

    line: int
    text: str
    words: Sequence[Place]
    marks: Sequence[Mark] | None = None
    sentence: Sentence | None = None

    @property
    def spans(self) -> list[tuple[int, int, Mark]]:
        """The first word and the end of those that each mark has a character of, in the order of the text."""
        starts, ends = zip(*self.words, strict=True) if self.words else ((), ())
        found = [(bisect_right(ends, mark.start), bisect_left(starts, mark.end), mark) for mark in self.marks or ()]
        return sorted((span for span in found if span[0] < span[1]), key=lambda span: (span[0], -span[1]))

    @property
    def tokens(self) -> list[str]:
        if self.sentence is not None and self.sentence.is_conllu:
            return self.sentence.words
        return [self.text[start:end] for start, end in self.words]

    @property
    def by_tokens(self) -> "Labelled":
        """The text with `tokens` of its sentence as words, where they may be of several words of CoNLL-U."""
        if self.sentence is None or not self.sentence.is_conllu:
            return self
        words = [(self.words[start][0], self.words[end - 1][1]) for start, end, _ in self.sentence.tokens]
        return replace(self, words=words, sentence=self.sentence.by_tokens)

    def places(self, in_words: bool) -> set[tuple[int, int, str]]:
        """Start, end and name of each span, in words or in characters."""
        found = self.spans if in_words else [(mark.start, mark.end, mark) for mark in self.marks or ()]
        return {(start, end, mark.name) for start, end, mark in found}

    def without_keys(self) -> "Labelled":
        return replace(self, marks=[mark._replace(key=()) for mark in self.marks or ()])

    @property
    def rows(self) -> Sentence:
        """The sentence in columns of word and tag, or with its own rows.  ValueError where marks overlap."""
        empty = Sentence(self.line, [])
        if self.marks is None:
            return self.sentence or empty
        spans, before = self.spans, 0
        for start, end, mark in spans:
            if start < before:
                raise ValueError(f"the {mark.name} overlaps another label")
            before = end
        tags = tags_of([(start, end, mark.column) for start, end, mark in spans], len(self.words))
        return (self.sentence or empty).with_rows([*map(list, zip(self.tokens, tags, strict=True))])


def words_of(text: str) -> list[Place]:
    """Where the words of a text are, which end at ASCII white space, as where links are made."""
    return [found.span() for found in _WORD.finditer(text)]


def joined(words: Iterable[str]) -> tuple[str, list[Place]]:
    """The text of words with blanks between them, and where they are in it."""
    words = list(words)
    ends = accumulate(len(word) + 1 for word in words)
    return " ".join(words), [(end - len(word) - 1, end - 1) for word, end in zip(words, ends, strict=True)]


def place_of(span: str, text: str, first: Place, last: Place) -> Place:
    """The place of a run of words, the first and the last one, without punctuation that is written to its ends.

    span: the text that it has the label of; it keeps the punctuation that this has, too.
    """
    start, end = first[0], last[1]
    if not _is_edge(span[-1:]):
        while end > last[0] and _is_edge(text[end - 1]):
            end -= 1
    if not _is_edge(span[:1]):
        while start < first[1] and _is_edge(text[start]):
            start += 1
    return (start if start < min(end, first[1]) else first[0]), (end if end > max(start, last[0]) else last[1])


def _is_edge(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] == "P" and character not in _NO_EDGE
