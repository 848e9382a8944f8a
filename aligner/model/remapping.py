"""Move links to another tokenisation of the text, by the characters that tokens of both share."""

import os
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from html import unescape
from itertools import accumulate, chain, islice, pairwise, product, tee

import numpy as np

from aligner.model.decoding import Alignment, Alignments
from aligner.model.streaming import Normalizers
from corpora.alignment import Link, Links
from corpora.corpus import Corpus, TextLine
from corpora.errors import CorpusError, quoted
from corpora.normalize import PLAIN, SPACE

Span = tuple[int, int]
"""First and last character of a token, and one beyond, in the visible characters of its sentence."""

Sides = tuple[list[Span], list[Span]]  # of our tokens, and of the others

_SAME = "each line must be the same text as the line that is aligned, in other tokens"

# What subword-nmt, XLM, WordPiece and OpenNMT's Tokenizer write into tokens, and what it stands for.
_MARKS: Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(pattern), by)
    for pattern, by in (
        ("@@$|</w>$", ""), ("^##", ""), ("￨.*", ""), ("^￭", ""), ("￭$", ""), ("｟mrk_[^｠]*｠", ""),
        (r"^@(\W)@$", r"\1"),
        ("％([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16))), ("&.*", lambda found: unescape(found[0])),
    )
]  # fmt: skip

_MOSES = str.maketrans({
    "&": "&amp;", "|": "&#124;", "<": "&lt;", ">": "&gt;", "'": "&apos;", '"': "&quot;", "[": "&#91;", "]": "&#93;",
})  # fmt: skip
"""What Moses' tokeniser writes for characters, which pieces of words may divide."""

_BYTE = re.compile("<0x([0-9A-Fa-f]{2})>")
"""Matches a byte as a piece of SentencePiece."""

# GPT-2 writes bytes as characters: those of Latin-1 that are visible as themselves, others as 256, 257 and so on.
_SHOWN = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_BYTE_OF = {chr(byte): byte for byte in _SHOWN}
_BYTE_OF |= {chr(256 + i): byte for i, byte in enumerate(byte for byte in range(256) if byte not in {*_SHOWN})}


@lru_cache(1 << 16)
def visible(token: str) -> str:
    """The visible characters of a token, decomposed (NFKD) and case folded, as tokenisers may change both."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", token).casefold())
    return "".join(c for c in folded if c.isprintable() and c not in (" ", SPACE))


def _bare(token: str) -> str:
    """The visible characters without marks such as accents, as of models without case."""
    return "".join(c for c in visible(token) if not unicodedata.combining(c))


def compare(tokens: Sequence[str], others: Sequence[str]) -> Sides:
    """Where the visible characters of tokens are in a sentence, and those of its tokens in another tokenisation.

    Marks that tokenisers write into tokens are no text, unless the sentence has them there: @@, ##, ￭, ▁, </w>, Moses'
    escapes; nor are bytes that stand for characters, <0xE2> or Ġ.
    Raises ValueError, with the first difference, if these are not the same text.
    """
    ours, theirs = list(map(visible, tokens)), list(map(visible, others))
    text = "".join(ours)
    if text == "".join(theirs):
        return _spans(ours), _spans(theirs)
    found, furthest, token = _unmarked(text, others, visible)
    found = found or _of_bytes(text, others)
    if found is None and "&" in "".join(others):
        ours = [visible(token.translate(_MOSES)) for token in tokens]
        found = _unmarked("".join(ours), others, visible)[0]
    if found is None:
        ours = list(map(_bare, tokens))
        found = _unmarked("".join(ours), others, _bare)[0]
    if found is None:
        rest = text[furthest:], "".join(theirs[token:])
        first = len(os.path.commonprefix(rest))
        shown = [quoted(one[first : first + 20].encode()) for one in rest]
        raise ValueError(f"{shown[1]} in place of {shown[0]}")
    return _spans(ours), found


def _spans(parts: Iterable[str]) -> list[Span]:
    return list(pairwise(accumulate(map(len, parts), initial=0)))


@lru_cache(1 << 16)
def _readings(token: str) -> list[str]:
    """What a token may stand for: without all marks first, the token itself last."""
    found = [token]
    for mark, by in _MARKS:
        found += [mark.sub(by, one) for one in found if mark.search(one)]
    return found[::-1]


def _unmarked(
    text: str, tokens: Sequence[str], seen: Callable[[str], str]
) -> tuple[list[Span] | None, int, int]:  # fmt: skip
    """The spans of tokens with marks in a text, None if it is another; how far it is the same, and at which token.

    seen: the characters of a token as they are in the text.
    """
    ways: list[dict[int, Span]] = [{} for _ in range(len(tokens) + 1)]  # by position: from which token and position
    ways[0][0] = 0, 0
    furthest = 0, 0
    for i, token in enumerate(tokens):
        steps = [(i + 1, seen(reading)) for reading in _readings(token)]
        steps += [(i + length, seen(character)) for length, character in _character(tokens, i)]
        for position, (end, part) in product(ways[i], steps):
            if text.startswith(part, position):
                ways[end].setdefault(position + len(part), (i, position))
                furthest = max(furthest, (position + len(part), end))
    if len(text) not in ways[-1]:
        return None, *furthest
    spans, end, position = [(0, 0)] * len(tokens), len(tokens), len(text)
    while end:
        first, start = ways[end][position]
        spans[first:end] = [(start, position)] * (end - first)
        end, position = first, start
    return spans, *furthest


def _character(tokens: Sequence[str], first: int) -> Iterator[tuple[int, str]]:
    """Yield how many pieces from this one on are the bytes of one character, and the character, if they are."""
    content = bytearray()
    for token in tokens[first : first + 4]:
        if (byte := _BYTE.fullmatch(token)) is None:
            return
        content.append(int(byte[1], 16))
        with suppress(UnicodeDecodeError):
            yield len(content), content.decode()
            return


def _of_bytes(text: str, tokens: Sequence[str]) -> list[Span] | None:
    """The spans of tokens whose characters are bytes, as GPT-2 has them, None if they are not those of the text."""
    try:
        parts = [bytes(_BYTE_OF[c] for c in token) for token in tokens]
        written = b"".join(parts).decode()
    except (KeyError, UnicodeDecodeError):
        return None
    if unicodedata.normalize("NFKD", text) != visible(written):
        return None
    ends = [0, *accumulate(len(visible(c)) for c in written)]
    of_byte = [place for place, c in enumerate(written) for _ in c.encode()]  # the character that each is a byte of
    bounds = pairwise(accumulate(map(len, parts), initial=0))
    return [(ends[of_byte[a]], ends[of_byte[b - 1] + 1]) if b > a else (0, 0) for a, b in bounds]


def shared(ours: Sequence[Span], theirs: Sequence[Span]) -> list[list[int]]:
    """For each token, the tokens of another tokenisation of the text that have a character in common with it.

    >>> shared(*compare(["don't", "go"], ["do", "n't", "go"]))
    [[0, 1], [2]]
    """
    places = [i for i, (start, end) in enumerate(theirs) if end > start]
    starts, ends = [theirs[i][0] for i in places], [theirs[i][1] for i in places]
    return [places[bisect_right(ends, start) : bisect_left(starts, end)] if end > start else [] for start, end in ours]


@dataclass(frozen=True)
class Retokenized:
    """A corpus, tokenised by normalizers, and the same text in other tokens, divided by spaces."""

    corpus: Corpus
    normalizers: Normalizers
    other: Corpus

    def check(self) -> None:
        """Raise CorpusError for the first line whose text is not the same, if both can be read twice."""
        if self.corpus.can_be_read_twice and self.other.can_be_read_twice:
            for _ in self._compared(self.corpus.texts()):
                pass

    def remapped(
        self, parts: Iterable[tuple[Sequence[TextLine], Alignments]]
    ) -> Iterator[tuple[list[TextLine], Alignments]]:
        """Turn texts of the corpus and their alignments into the other tokens and their alignments.

        If tokens are linked, all other tokens that share characters with them are, with the highest of the scores.  A
        pair that was left empty stays empty.  Raises CorpusError if the text is not the same.
        """
        one, two = tee(parts)
        every = self._compared(chain.from_iterable(texts for texts, _ in one))
        for _, found in two:
            pairs = list(islice(every, len(found)))
            scores = [_on_others(alignment, *sides) for alignment, (_, sides) in zip(found, pairs, strict=True)]
            shapes = np.array([[len(side.split()) for side in text[1:]] for text, _ in pairs], np.int64).reshape(-1, 2)
            values = np.array([of_pair[link] for of_pair in scores for link in sorted(of_pair)], np.float64)
            alignments = Alignments.of(Links.from_sets(scores), values, shapes)
            yield [text for text, _ in pairs], replace(alignments, fit=found.fit)
        next(every, None)  # there is none, or a complaint

    def _compared(self, texts: Iterable[TextLine]) -> Iterator[tuple[TextLine, list[Sides]]]:
        """For each line, the other text, and where both texts' tokens are in it, for both sides."""
        others, line = self.other.texts(), 0
        for _, *ours in texts:
            if (other := next(others, None)) is None:
                raise CorpusError(self.other.source_file, line, "ends here, but the text goes on", hint=_SAME)
            line = other[0]
            if not any(ours):
                other = line, b"", b""
            self.other.check_utf8([other])
            files = self.other.source_file, self.other.target_file
            sides = []
            for file, normalizer, our, its in zip(files, self.normalizers, ours, other[1:], strict=True):
                try:
                    sides.append(compare(normalizer.tokens(our), PLAIN[0].tokens(its)))
                except ValueError as error:
                    raise CorpusError(file, line, f"is not the text that is aligned: {error}", hint=_SAME) from error
            yield other, sides
        if (other := next(others, None)) is not None:
            raise CorpusError(self.other.source_file, other[0], "goes on, but the text has ended", hint=_SAME)


def _on_others(alignment: Alignment, *sides: Sides) -> dict[Link, float]:
    scores: dict[Link, float] = {}
    sources, targets = (shared(*side) for side in sides)
    for (j, k), score in zip(alignment.links, alignment.scores, strict=True):
        for link in product(sources[j], targets[k]):
            scores[link] = max(score, scores.get(link, score))
    return scores
