"""The same text in two tokenisations: which tokens of both share characters."""

import os
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from html import unescape
from itertools import accumulate, pairwise, product

from corpora.errors import quoted
from corpora.normalize import SPACE

Span = tuple[int, int]
"""First and last character of a token, and one beyond, in the visible characters of its sentence."""

Sides = tuple[list[Span], list[Span]]  # of our tokens, and of the others

# What subword-nmt, XLM, WordPiece and OpenNMT's Tokenizer write into tokens, and what it stands for.
_MARKS: Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(pattern), by)
    for pattern, by in (
        ("@@$|</w>$", ""),
        ("^##", ""),
        ("￨.*", ""),
        ("^￭", ""),
        ("￭$", ""),
        ("｟mrk_[^｠]*｠", ""),
        (r"^@(\W)@$", r"\1"),
        ("％([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16))),
        ("&.*", lambda found: unescape(found[0])),
    )
]

_MOSES = str.maketrans(
    {
        "&": "&amp;",
        "|": "&#124;",
        "<": "&lt;",
        ">": "&gt;",
        "'": "&apos;",
        '"': "&quot;",
        "[": "&#91;",
        "]": "&#93;",
    }
)
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


def _unmarked(text: str, tokens: Sequence[str], seen: Callable[[str], str]) -> tuple[list[Span] | None, int, int]:
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


def places_of(text: str, tokens: Sequence[str]) -> list[Span]:
    """The first character and the end of each token in a text; of one without visible characters, where it stands.

    >>> places_of("don't  go", ["do", "n't", "go"])
    [(0, 2), (2, 5), (7, 9)]

    Raises ValueError as `compare`.
    """
    found, end = list[Span](), 0
    for own in shared(*compare(text, tokens)[::-1]):
        start, end = (own[0], own[-1] + 1) if own else (end, end)
        found.append((start, end))
    return found
