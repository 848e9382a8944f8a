"""Text and inline markup apart: what is a tag in HTML, XLIFF 1.2 and 2, and TMX, and what a placeholder is.

To add a kind: a row of KINDS.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape, unescape
from itertools import pairwise

from corpora import SettingError
from corpora.formats.memories import CODES
from corpora.inline.tokens import PLACEHOLDER, identifier, spans_of_tokens
from corpora.threads import shared_property

_VOID = set("area base br col embed hr img input link meta param source track wbr".split())
"""Elements of HTML that have no end."""

TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)|<[?!][^>]*+>"
    r"|<(?P<end>/?)(?P<name>[A-Za-z_][^\s<>/\"']*+)(?P<values>(?:[^<>\"']|\"[^\"]*+\"|'[^']*+')*+)>",
    re.DOTALL,
)
_ANGULAR = re.compile(r"(START|CLOSE)_(\w+?)(_\d+)?")
"""Matches the id of an ``<x/>`` of Angular's XLIFF that begins or ends an element."""

_SPECIAL = re.compile("[<&{%]")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);")
_VALUE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


@dataclass(frozen=True)
class Kind:
    """A kind of inline markup.

    begins, ends: codes of which two belong together, by their elements: the values that name the pair, of which the
    first that is there counts.  alone: elements that are one code with all that is in them.  Other elements are tags
    around words.
    """

    name: str
    begins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ends: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    alone: frozenset[str] = frozenset()
    has_tags: bool = True
    has_void: bool = False

    @property
    def is_xml(self) -> bool:
        return self.has_tags and not self.has_void


_ALONE = frozenset(CODES)
_TMX = Kind("tmx", {"bpt": ("i",)}, {"ept": ("i",)}, _ALONE)
_XLIFF = Kind("xliff", {"bpt": ("rid", "id"), "bx": ("rid", "id")}, {"ept": ("rid", "id"), "ex": ("rid", "id")}, _ALONE)
_XLIFF2 = Kind("xliff2", {"sc": ("id",), "sm": ("id",)}, {"ec": ("startRef", "id"), "em": ("startRef", "id")}, _ALONE)
KINDS = {
    kind.name: kind
    for kind in (Kind("html", has_void=True), _XLIFF, _XLIFF2, _TMX, Kind("placeholders", has_tags=False))
}
"""By name.  Placeholders are known in all of them."""


def check_kind(name: str) -> None:
    """Raise SettingError for a kind of markup that there is not."""
    if name not in KINDS:
        raise SettingError(f"unknown `markup` {name!r} (choose from {', '.join(KINDS)})")


@dataclass(eq=False)
class Tag:
    """A tag around words, start < end; or a code at a place, such as ``<br/>``, which has no closing.

    name: of the element, or "placeholder".  key: equal for tags that are the same in two texts.  start, end: characters
    of the text.  parent: the tag that it is in.  first: of two codes that belong together, but stand around what is
    no whole, the one that comes first.
    """

    name: str
    key: str
    opening: str
    start: int
    end: int
    closing: str = ""
    parent: "Tag | None" = None
    first: "Tag | None" = None
    is_pair: bool = False


@dataclass(frozen=True, eq=False)
class Marked:
    """A text and its markup.

    text: without tags, entities decoded; placeholders are part of it.  raw: of each character, as it is written, and at
    last what is written after all.  tags: in the order in which they begin.  placeholders: characters, from first to
    end, of those without tags in them.  at_capitals: whether capitals after small letters begin tokens.
    """

    text: str
    raw: Sequence[str]
    tags: Sequence[Tag]
    placeholders: Sequence[tuple[int, int]]
    at_capitals: bool = False

    @shared_property
    def tokens(self) -> list[tuple[int, int]]:
        """The first character and the end of each token; tags end tokens, but ``<wbr>`` does not."""
        cuts = [place for tag in self.tags if tag.name != "wbr" for place in (tag.start, tag.end)]
        if self.at_capitals:
            small = pairwise(self.text)
            cuts += [n for n, (one, other) in enumerate(small, 1) if one.islower() and other.isupper()]
        return spans_of_tokens(self.text, cuts, self.placeholders)

    def name_of(self, place: tuple[int, int]) -> str:
        """What the placeholder at a place stands for."""
        return identifier(self.text[slice(*place)])

    @shared_property
    def words(self) -> list[str]:
        """The tokens as they are aligned: of placeholders what they stand for."""
        names = {one: self.name_of(one) for one in self.placeholders}
        return [names.get(one) or self.text[slice(*one)] for one in self.tokens]

    def ends_in_words(self) -> bool:
        """Whether a tag begins or ends between two letters, as of two keys that are pressed together."""
        places = (place for tag in self.tags if tag.is_pair for place in (tag.start, tag.end))
        return any(self.text[max(0, place - 1) : place + 1].isalnum() for place in places if 0 < place < len(self.text))


def read_plain(text: str, kind: str, source: Marked) -> Marked:
    """A translation of a source without markup of a kind, as it is written among such."""
    raw = [escape(c, quote=False) for c in text] if KINDS[kind].has_tags else [*text]
    return _like(Marked(text, [*raw, ""], [], _placeholders(text)), source)


def read_marked(content: str, kind: str) -> Marked:
    """Read a text with inline markup of a kind, one of KINDS.

    What is no markup, such as a lone ``<``, is text. A tag without its other half is a code at a place.
    """
    if not _SPECIAL.search(content):  # most texts have none
        return Marked(content, [*content, ""], [], [])
    return _Reader(KINDS[kind]).read(content)


def read_target(content: str, kind: str, source: Marked) -> Marked:
    """Read a translation of a source that may have codes already, which stay where they are."""
    found = read_marked(content, kind)
    if found.tags:
        raw = [*found.raw]
        for tag in reversed(found.tags):
            if not tag.is_pair:
                raw[tag.start] = tag.opening + raw[tag.start]
        found = replace(found, raw=raw)
    return _like(found, source)


def _like(target: Marked, source: Marked) -> Marked:
    """The target in tokens like those of its source: others than its placeholders are text, as messages with tags."""
    names = {source.name_of(one) for one in source.placeholders}
    known = [one for one in target.placeholders if target.name_of(one) in names]
    at_capitals = source.ends_in_words()
    same = known == target.placeholders and not at_capitals
    return target if same else replace(target, placeholders=known, at_capitals=at_capitals)


def _placeholders(text: str, tags: Sequence[Tag] = ()) -> list[tuple[int, int]]:
    cuts = sorted(place for tag in tags for place in (tag.start, tag.end))
    found = (one.span() for one in PLACEHOLDER.finditer(text))
    return [(start, end) for start, end in found if bisect_right(cuts, start) == bisect_left(cuts, end)]


_ELEMENT = "element"
_Code = tuple[Tag, tuple[str, str], int]
"""A code, the key of its pair, and whether it begins, 1, or ends it, -1, or is alone, 0."""


class _Reader:
    """text, raw: see `Marked`."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.text, self.raw = list[str](), list[str]()
        self.codes = list[_Code]()

    def read(self, content: str) -> Marked:
        last, inside, depth = 0, "", 0
        for found in TAG.finditer(content) if self.kind.has_tags else ():
            name, values = (found["name"] or "").rpartition(":")[2], found["values"] or ""
            if depth:  # within a code that is one with all that is in it
                depth += 0 if not name or values.endswith("/") else -1 if found["end"] else 1
                if depth == 0:
                    self._add(inside, content[last : found.end()], "")
                    last = found.end()
                continue
            self._read_text(content[last : found.start()])
            last = found.end()
            if found["data"] is not None:
                self._read_letters(map(escape, found["data"]), found["data"])
            elif name in self.kind.alone and not values.endswith("/") and not found["end"]:
                inside, depth, last = name, 1, found.start()
            else:
                self._add(name or "comment", found[0], found["end"] or "")
        self._read_text(content[last:])
        text, tags = "".join(self.text), _nested(self.codes)
        return Marked(text, [*self.raw, ""], tags, _placeholders(text, tags))

    def _read_text(self, content: str) -> None:
        last = 0
        for found in _ENTITY.finditer(content) if self.kind.has_tags else ():
            letters = unescape(found[0])
            if letters != found[0]:
                self._read_letters(content[last : found.start()], content[last : found.start()])
                self._read_letters([found[0], *[""] * (len(letters) - 1)], letters)
                last = found.end()
        self._read_letters(content[last:], content[last:])

    def _read_letters(self, raw: Iterable[str], text: str) -> None:
        self.raw += raw
        self.text.append(text)

    def _add(self, name: str, raw: str, end: str) -> None:
        kind, values = self.kind, {one[1]: one[2] or one[3] or one[4] or "" for one in _VALUE.finditer(raw)}
        number = next((values[key] for key in ("id", "x", "i", "startRef", "rid") if key in values), raw)
        key = raw if kind.has_void else f"{name} {number}"
        place, role, pair = len(self.raw), 0, (_ELEMENT, name.lower() if kind.has_void else name)
        for sides, sign in ((kind.begins, 1), (kind.ends, -1)):
            if name in sides:
                role, pair = sign, ("code", next((values[one] for one in sides[name] if one in values), ""))
        angular = _ANGULAR.fullmatch(values.get("id", "")) if name == "x" else None
        if angular is not None:
            role, pair = 1 if angular[1] == "START" else -1, ("code", angular[2])
        if not role and not raw.endswith("/>") and raw[1] not in "!?" and name not in kind.alone:
            role = -1 if end else 1
        self.codes.append((Tag(name, key, raw, place, place), pair, role))


def _nested(codes: Sequence[_Code]) -> list[Tag]:
    """Make tags around words of the codes that belong together and nest; others stay codes at a place."""
    closings = _closings(codes)
    openings = {closing: opening for opening, closing in closings.items()}
    crossed = _crossed(codes, closings, openings)
    tags, around = list[Tag](), list[Tag]()
    for tag, *_ in codes:
        opening = openings.get(tag)
        if opening is not None and opening not in crossed:
            opening.closing, opening.end = tag.opening, tag.start
            around.pop()
            continue
        tag.first, tag.parent = opening, around[-1] if around else None
        tags.append(tag)
        if tag in closings and tag not in crossed:
            tag.is_pair = True
            around.append(tag)
    return tags


def _closings(codes: Sequence[_Code]) -> dict[Tag, Tag]:
    """The code that ends what another one begins: the last one of its pair that is open."""
    found, open_ = dict[Tag, Tag](), defaultdict[tuple[str, str], list[Tag]](list)
    for tag, pair, role in codes:
        if role > 0:
            open_[pair].append(tag)
        elif role < 0 and open_[pair]:
            found[open_[pair].pop()] = tag
    return found


def _crossed(codes: Sequence[_Code], closings: Mapping[Tag, Tag], openings: Mapping[Tag, Tag]) -> set[Tag]:
    """The first codes of pairs that cannot be around words: of two that cross, the later one, but never an element."""
    elements = {tag for tag, pair, _ in codes if pair[0] == _ELEMENT}
    crossed, around = set[Tag](), list[Tag]()
    for tag, *_ in codes:
        if tag in closings:
            around.append(tag)
        opening = openings.get(tag)
        if opening is None or opening in crossed:
            continue
        while (later := around.pop()) is not opening:
            if later in elements and opening not in elements:
                around.append(later)
                around.remove(opening)
                crossed.add(opening)
                break
            crossed.add(later)
    return crossed
