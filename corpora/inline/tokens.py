"""Tokens fine enough for spans: markup begins and ends at punctuation, within compounds, and between scripts."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u17b4-\u17d3\u17dd\u3099\u309a"
_LETTERS = (
    "\u0e01-\u0e33\u0e40-\u0e46\u0e81-\u0eb3\u0ec0-\u0ec6\u0edc-\u0edf\u1780-\u17b3"
    "\u3005-\u3007\u3041-\u3096\u309d-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
UNSPACED = re.compile(f"[{_LETTERS}](?:\u17d2.|[{_MARKS}])*")
"""Matches a character, with its marks, of scripts without spaces between words: Han, Kana, Thai, Lao, Khmer."""

_HIRAGANA = "\u3041-\u3096\u309d-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

_CYRILLIC = "[\u0400-\u052f]"

_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+\}"  # messages of ICU within arguments of ICU
PLACEHOLDER = re.compile(
    rf"\{{\{{[^{{}}]*+\}}\}}|[$%#]?{_BRACES}|%\(\w+\)[a-zA-Z]"
    r"|(?<![\d%])%(?:(?:\d+\$)?[-+0#]*\d*(?:\.\d+)?(?:hh?|ll?|[Lzjtq])?[diouxXeEfFgGcsSpn@]|L?\d{1,2}(?!\d))"
)
"""Matches what a program puts a value in for: ``{name}``, ``{{x}}``, ``${x}``, ``%1$s``, ``%(name)s``, of Qt ``%1``.

An argument of ICU with its messages, and ``{ -term }`` and ``{ $variable }`` of Fluent, are one each.
"""

_NAME = re.compile(r"(?:[A-Z]+\()?\s*([$-]?[A-Za-z_][\w.-]*|\d+)")


def identifier(placeholder: str) -> str:
    """What a placeholder stands for, without its parameters, which differ between languages, and without spaces.

    >>> identifier('{ -brand(case: "x") }'), identifier("{n, plural, one {day} other {days}}"), identifier("%1$s")
    ('{-brand}', '{n}', '%1$s')
    """
    inner = placeholder.lstrip("$%#").strip("{}").strip()
    found = _NAME.match(inner) if "{" in placeholder else None
    return "{" + found[1] + "}" if found else "".join(placeholder.split())


@cache
def _words(spaced: bool) -> re.Pattern[str]:
    """Matches a token.  spaced: of text without letters of scripts without spaces, which takes half the time."""
    signs = re.escape("".join(c for c in map(chr, range(33, 0x3040)) if unicodedata.category(c)[0] in "PS"))
    others = rf"\s_\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65{signs}"
    letter = f"[^{others}]" if spaced else rf"(?:(?!{UNSPACED.pattern})[^{others}])"
    within = rf"[._]|(?<=\d)[,:](?=\d)|(?<={_CYRILLIC})['’](?={_CYRILLIC})"
    runs = "" if spaced else rf"[{_HIRAGANA}]+|[{_KATAKANA}]+|[{_HAN}]+|{UNSPACED.pattern}|"
    return re.compile(rf"{runs}{letter}+(?:(?:{within}){letter}+)*|\S")


def fine_tokens(text: str) -> list[str]:
    """The tokens of a text without markup, without spaces in placeholders."""
    whole = [found.span() for found in PLACEHOLDER.finditer(text)]
    return ["".join(text[start:end].split()) for start, end in spans_of_tokens(text, whole=whole)]


def spans_of_tokens(
    text: str, cuts: Iterable[int] = (), whole: Iterable[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """The first character and the end of each token.

    A token is a run of letters and digits with full stops and underscores between them, of Hiragana, of Katakana or of
    Han, one other character of scripts without spaces, or any other sign.
    cuts: places where tokens end, too.  whole: characters, from first to end, that are one token.
    """
    ends = sorted({0, *cuts, *(end for one in whole for end in one), len(text)})
    kept, find = {*whole}, _words(text.isascii() or not UNSPACED.search(text)).finditer
    found = list[tuple[int, int]]()
    for start, end in pairwise(ends):
        found += [(start, end)] if (start, end) in kept else [one.span() for one in find(text, start, end)]
    return found
