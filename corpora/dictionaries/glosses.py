"""Glosses: what a dictionary says of a word, taken apart into what a translator would write for it."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

MOST_WORDS, MOST_LETTERS = 6, 60
"""Of a translation: what is longer explains the word."""

_LONGEST_OF_LIST = 4  # words between commas: longer ones are clauses

NOTES = "notes and references to other entries"
DEFINITIONS = f"glosses of more than {MOST_WORDS} words, which explain the word"

_CJK = "\u2e80-\u9fff\U00020000-\U0003ffff"
_SOMEBODY = r"\b(?:sb|sth|smb|smth|sg|sy|jdn|jdm|jds|jd|etw|v[mk]i\w{0,5}|somebody|something|someone)\b\.?(?:['’]s\b)?"
_MARK = re.compile(r"[^\w '’-]")
_BEGINNINGS = "to ", "or ", "see ", "surname ", " "
_WORDS_FOR = {
    one + end
    for one in "sb sth smb smth sg sy jdn jdm jds jd etw somebody something someone".split()
    for end in ("", "'s", "’s")
}
_TAG = re.compile(r"\s*(?<!\S)\([^()]*\)(?=[\s,;]|$)|\s*<[^<>]*>(?=[\s,;]|$)|(?<!\S)\[[^\[\]]*\]\s+")
_NOTE = re.compile(
    r"\s*(?:CL:|(?:Synonym|Antonym|Note|see|See)s?:|(?:\w+ ){0,3}variant of |abbr\. |also (?:written|pr\.)"
    r"|(?:Taiwan )?pr\. |cf\. |(?:see|same as|used in|equivalent to|erhua of)(?: also)? [^\x00-\x7f{])"
)
_STRESS = re.compile("(?<=[\u0400-\u052f])\u0301|(?<=[\u0400-\u052f][\u0300-\u036f])\u0301")
_GLUED = re.compile(r"<[^<>]*>(?=[^\s,;<\[(])")  # as between a translation and its abbreviation
_OPTIONAL = re.compile(r"(?<=\w)\(([^\W\d]{1,4})\)|(?<!\S)\(([^\W\d]{1,4})\)(?=\w)")
_LABEL = re.compile(
    rf"<[^<>]*>|\{{[^{{}}]*\}}|[{_CJK}|·]*\[[^\[\]]*\]|\([^()]*\)|（[^（）]*）"
    r"|(?<!\S)/{1,2}[^/\n]+/{1,2}(?=[\s,;<\[]|$)"  # pronunciation
)
_SENTENCE = re.compile(r"(?<=\w{4})[.!?](?:\s.*)?$|(?<=\w{3})\.$", re.DOTALL)  # shorter ones are abbreviations
_SEPARATOR = re.compile(r"[;；、|]|(?<!\S)/(?!\S)")
_ALTERNATIVES = re.compile(r"[^\W\d_]{2,}(?:/[^\W\d_]{2,})+")
_COMMA = re.compile(r"[,，،](?!\d)(?:\s*or\s)?")
_COMMA_OR = re.compile(rf"{_COMMA.pattern}|\sor\s")
_BEFORE = re.compile(
    r"\d{1,2}[.)]\s+|to\s+|surname\s+(?=[A-Z])|(?:fig|lit|esp|i\.e|e\.g)\.\s+"
    r"|(?:n|pl|v|vt|vi|a|adj|ad|adv|prep|conj|pron|num|int|interj|aux|art|abbr)\.\s+"  # classes of words
)
_AFTER = re.compile(r"\s\d{1,2}\.$")
_UNCLOSED = re.compile(r"^.*[)\]}>）]|[(\[{<（].*$", re.DOTALL)
_PLACEHOLDER = re.compile(rf"{_SOMEBODY}(?:\s?/\s?{_SOMEBODY})*|[~～〜]")
_ENDS = ' \t\r\n….!?,;:"“”„«»*=…·~～〜'
_ABBREVIATION = re.compile(r"\w{1,2}\.|.*\.\w+\.|\w{1,5}\. \w{1,5}\.")


def translations(gloss: str, left_out: Counter[str] | None = None) -> Sequence[str]:
    """The words and phrases in a gloss that translate the word; none in a note or a long definition, which are counted.

    >>> translations("1. (of a machine) to operate sth. <v>, to run; colo(u)r")
    ('operate', 'run', 'color', 'colour')
    """
    found, missed = _taken_apart(gloss)
    if missed and left_out is not None:
        left_out.update(missed)
    return found


@lru_cache(1 << 16)  # more than half of the glosses of a large dictionary stand there more than once
def _taken_apart(gloss: str) -> tuple[Sequence[str], Mapping[str, int]]:
    """What translates the word, and how much of what does not is in a gloss."""
    if _is_plain(gloss, MOST_WORDS):
        return (gloss,) if gloss else (), {}
    if _NOTE.match(gloss):
        return (), {NOTES: 1}
    # Most glosses have no other marks than tags, which saves half of the time.
    listed = _TAG.sub("", gloss).strip().removeprefix("to ").split(", ")
    is_list = all(one and " or " not in one and _is_plain(one, _LONGEST_OF_LIST) for one in listed)
    if is_list and not listed[-1].startswith("and "):
        return tuple(dict.fromkeys(listed)), {}
    found, missed = dict[str, None](), Counter[str]()
    for text in _without_labels(gloss):
        for part in _parts(text):
            if words := _clean(part):
                if words.count(" ") < MOST_WORDS and len(words) <= MOST_LETTERS:
                    found[words] = None
                else:
                    missed[DEFINITIONS] += 1
    return tuple(found), missed


def _is_plain(text: str, most: int) -> bool:
    """Whether a gloss is as a translator would write it, of at most so many words."""
    return (
        _MARK.search(text) is None
        and text.count(" ") < most
        and len(text) <= MOST_LETTERS
        and "  " not in text
        and not text.startswith(_BEGINNINGS)
        and not text.endswith(" ")
        and _WORDS_FOR.isdisjoint(text.split(" "))
        and "vmi" not in text
        and "vki" not in text
    )


def _without_labels(gloss: str) -> list[str]:
    """The gloss without labels; twice where letters in parentheses may be there or not."""
    if "\u0301" in gloss:  # of Cyrillic a mark of stress; composed first, as Macedonian letters have it, too
        gloss = _STRESS.sub("", unicodedata.normalize("NFC", gloss))
    if "<" in gloss:
        gloss = _GLUED.sub(", ", gloss)
    texts = [gloss]
    if "(" in gloss and _OPTIONAL.search(gloss):
        texts = [_OPTIONAL.sub("", gloss), _OPTIONAL.sub(lambda found: found[1] or found[2], gloss)]
    return [_UNCLOSED.sub("", _nested(text)).strip() for text in texts]


def _nested(text: str) -> str:
    while (found := _LABEL.sub(" ", text)) != text:
        text = found
    return text


def _parts(text: str) -> Iterator[str]:
    """What separators separate: commas only where each part is short, as they divide clauses, too."""
    if not _ABBREVIATION.fullmatch(text):
        text = _SENTENCE.sub("", text)
    for part in map(str.strip, _SEPARATOR.split(text)):
        if "," not in part and "，" not in part and "،" not in part:
            yield from part.split("/") if "/" in part and _ALTERNATIVES.fullmatch(part) else (part,)
            continue
        pieces = (_COMMA_OR if " or " in part else _COMMA).split(part)
        is_list = all(len(piece.split()) <= _LONGEST_OF_LIST for piece in pieces)
        yield from (part,) if not is_list or pieces[-1].lstrip().startswith("and ") else pieces


def _clean(part: str) -> str:
    """Without what dictionaries write before and after words, and for somebody or something."""
    part = part.strip()
    while before := _BEFORE.match(part):
        part = part[before.end() :]
    part = _AFTER.sub("", part)
    bare = " ".join(_PLACEHOLDER.sub(" ", part).split()) if _PLACEHOLDER.search(part) else " ".join(part.split())
    kept = bare or part
    if not _ABBREVIATION.fullmatch(kept):
        kept = kept.strip(_ENDS)
    return kept if any(map(str.isalnum, kept)) else ""
