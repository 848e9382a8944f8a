"""Translation memories and files of translators: TMX and XLIFF."""

import re
from collections.abc import Callable, Iterable
from typing import BinaryIO

from corpora.errors import CorpusError
from corpora.files import StrPath
from corpora.formats.joint import subtags
from corpora.formats.markup import Place, Texts, one_line, parse
from corpora.formats.pharaoh import format_links
from corpora.links import WordPair

SIDES = "source", "target"
"""Elements of XLIFF, and names of languages that a file does not name."""

LINKS = "x-links"
"""The type of the property of a unit of TMX that has its links, ``i-j``, from its first language to its second."""

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # in XML

CODES = {"bpt", "ept", "it", "ph", "ut"}
"""Inline elements whose content is markup of the document, not text."""

_BLANKS = {"ph", "x"}
"""Inline elements that stand for a blank: what they are of, a picture or a number, parts words. Others are in pairs."""

_PARENTS = {"seg": ("tuv",), **dict.fromkeys([*SIDES, "seg-source"], ("trans-unit", "segment", "ignorable"))}
"""Elements with text by those that they are in: within others they are other translations, and older ones."""

_UNITS = {"trans-unit", "segment", "ignorable"}
_INHERIT = {"xliff", "file", "group", "unit", *_UNITS}
"""Elements of XLIFF within which it is said what is not to be translated."""

_DELETED = re.compile(r"(.+[-:_])?del(et(e|ed|ion))?", re.IGNORECASE)
"""Kinds of text that a reviser deleted, such as x-sdl-deleted."""

_UNTRANSLATED = {"new", "needs-translation", "initial", "notstarted", "x-gettext-domain-header"}
"""States, and kinds of units, whose target is no translation."""


class MemoryReader:
    """What is known at a place in a file of TMX or XLIFF.

    untranslated: whether targets count that the file says are no translations.  where: called for the byte that is
    read, where that is asked for.
    """

    def __init__(self, untranslated: bool = False, where: Callable[[], int] = int) -> None:
        self.done = list[Texts]()
        self.is_open, self.is_second = False, False  # whether a unit is, and whether XLIFF is of version 2
        self._untranslated, self._where, self._began = untranslated, where, 0
        self.identity, self._outer = "", ""  # what the file calls the unit, and what is around segments of XLIFF 2
        self._around, self._translate = [""], [True]  # elements that are open, but for those in a text
        self._of_file = self._of_all = "", ""  # languages of XLIFF
        self._begin()
        self._language, self._segmented = "", False  # of a text of TMX, and whether that has begun
        self._element, self._parts = "", list[str]()  # the element whose text is being read, and what was read
        self._inline = list[bool]()  # whether each element open in it hides its text
        self._hidden = 0
        self._mark: tuple[str, int, int, int] | None = None  # the open segment: its name, depth, first part, and place
        self._after = 0  # the first part after the last segment

    def _begin(self) -> None:
        """Begin a unit."""
        self._places, self._of_marks = dict[str, Place](), dict[tuple[str, str], Place]()  # by element, and segment
        self._of_named = list[Place]()
        self._named, self._left_out = list[tuple[str, bytes]](), list[str]()
        self._links: bytes | None = None
        self._whole: dict[str, bytes] = {}  # texts of XLIFF by their elements
        self._own: dict[str, str] = {}  # languages that they name themselves
        self._segments: dict[str, dict[str, list[str]]] = {}  # of texts in XLIFF: parts by name
        self._between = list[str]()
        self._open = False

    def start(self, name: str, values: dict[str, str]) -> None:
        if self._element:
            self._start_inline(name, values)
            return
        around = self._around[-1]
        self._around.append(name)
        if name in _INHERIT:
            self._translate.append({"yes": True, "no": False}.get(values.get("translate", ""), self._translate[-1]))
        if name == "tu" or name in _UNITS:
            self._begin()
            self.is_open, self._open = True, _is_untranslated(values)
            self.identity = f"{self._outer} {values.get('id', values.get('tuid', ''))}".strip()
        elif name == "unit":
            self._outer = values.get("id", "")
        elif name == "tuv":
            self._language, self._segmented = _language(values) or "?", False
        elif around in _PARENTS.get(name, ()) or (name == "prop" and around == "tu" and values.get("type") == LINKS):
            self._element, self._parts, self._after, self._began = name, [], 0, self._where()
            self._own[name] = _language(values)
            self._open |= name == "target" and _is_untranslated(values)
        elif name == "xliff":
            self.is_second = values.get("version", "").startswith("2")
            self._of_file = self._of_all = values.get("srcLang", ""), values.get("trgLang", "")
        elif name == "file":
            named = values.get("source-language", "").strip(), values.get("target-language", "").strip()
            self._of_file = named[0] or self._of_all[0], named[1] or self._of_all[1]

    def _start_inline(self, name: str, values: dict[str, str]) -> None:
        if name in _BLANKS and not self._hidden:
            self._parts.append(" ")
        if name == "mrk" and values.get("mtype") == "seg" and "mid" in values and self._mark is None:
            self._mark = values["mid"], len(self._inline), len(self._parts), self._where()
        if name == "sub" and self._hidden:
            self._left_out.append("texts within codes of the document")
        self._inline.append(name in CODES or _is_deleted(name, values))
        self._hidden += self._inline[-1]

    def read(self, text: str) -> None:
        if self._element and not self._hidden:
            self._parts.append(text)

    def end(self, name: str) -> None:
        if self._inline:
            self._hidden -= self._inline.pop()
            if self._mark and len(self._inline) == self._mark[1]:
                self._end_mark(*self._mark)
            return
        self._around.pop()
        if self._element:
            self._end_text(name, one_line(*self._parts))
            self._element = ""
        elif name == "tuv" and not self._segmented:
            self._left_out.append("tuv elements without a seg")
        elif name == "tu":
            self.done.append(Texts(self._named, self._left_out, self._links, self._of_named, self.identity))
        elif name in _UNITS and (name != "ignorable" or any(self._whole.values())):
            self._end_unit()
        self.is_open &= name != "tu" and name not in _UNITS
        if name in _INHERIT:
            self._translate.pop()

    def _end_mark(self, mark: str, _: int, first: int, place: int) -> None:
        """Keep the segment that has ended, after its first part if it has two."""
        parts = self._segments.setdefault(self._element, {}).setdefault(mark, [])
        between = self._parts[self._after : first]
        if parts:
            parts += between
        elif one_line(*between):
            self._between.append("texts between segments")
        parts += self._parts[first:]
        self._of_marks.setdefault((self._element, mark), (place, self._where()))
        self._mark, self._after = None, len(self._parts)

    def _end_text(self, name: str, text: bytes) -> None:
        if name == "prop":
            self._links = text
        elif name == "seg":
            self._segmented = True
            self._named.append((self._language, text))
            self._of_named.append((self._began, self._where()))
        elif name in self._whole:
            self._left_out.append(f"second {name} elements of a unit")
        else:
            self._whole[name] = text
            self._places[name] = self._began, self._where()
        if name in self._segments and one_line(*self._parts[self._after :]):
            self._between.append("texts between segments")

    def _end_unit(self) -> None:
        """Keep a unit of XLIFF, or each of its segments."""
        pairs = [(self._whole.get("source", b""), self._whole.get("target", b""))]
        places = [[self._places.get(side, (0, 0)) for side in SIDES]]
        source, target = self._segments.get("seg-source"), self._segments.get("target")
        if source and target:
            self._left_out += self._between
            pairs = [
                (one_line(*source.get(mark, ())), one_line(*target.get(mark, ()))) for mark in {**source, **target}
            ]
            sides = "seg-source", "target"
            places = [[self._of_marks.get((side, mark), (0, 0)) for side in sides] for mark in {**source, **target}]
        languages = [
            of_file or self._own.get(name, "") or name for of_file, name in zip(self._of_file, SIDES, strict=True)
        ]
        if subtags(languages[0]) == subtags(languages[1]):
            languages = [*SIDES]
        for (first, second), own in zip(pairs, places, strict=True):
            named = [(languages[0], first)]
            copied = first == second and not self._translate[-1]
            if second and not self._untranslated and (self._open or copied):
                self._left_out.append("targets that are not translated, which `untranslated` takes")
                second = b""
            if second or languages[1] != SIDES[1]:
                named.append((languages[1], second))
            self.done.append(Texts(named, self._left_out, places=own[: len(named)], identity=self.identity))
            self._left_out = []


def languages_of_memory(path: StrPath) -> tuple[list[str], str]:
    """The languages of a file of TMX in order of appearance, and the one that its header calls the source.

    Raises CorpusError on a damaged file, and on one whose texts are not where they are to be.
    """
    names, language, source = dict[str, None](), "", ""

    def start(name: str, values: dict[str, str]) -> None:
        nonlocal language, source
        if name == "tuv":
            language = _language(values) or "?"
        elif name == "seg":
            names[language] = None
        elif name == "header":
            source = values.get("srclang", "")

    for _ in parse(path, "TMX", start):
        pass
    if language and not names:
        raise CorpusError(path, 0, "has tuv elements without a seg, which has the text", hint="export the memory again")
    return [*names], source


def _language(values: dict[str, str]) -> str:
    return (values.get("xml:lang") or values.get("lang") or "").strip()


def _is_untranslated(values: dict[str, str]) -> bool:
    return any(
        value.lower() in _UNTRANSLATED
        for key, value in values.items()
        if key in ("state", "restype") or key.endswith(":status")  # the last one of memoQ
    )


def _is_deleted(name: str, values: dict[str, str]) -> bool:
    kinds = (value for key, value in values.items() if key.rpartition(":")[2] in ("mtype", "type", "tctype"))
    return any(map(_DELETED.fullmatch, (name, *kinds)))


def write_tmx(stream: BinaryIO, pairs: Iterable[WordPair], languages: tuple[str, str]) -> None:
    """Write pairs as units of TMX 1.4, with their links as a property LINKS.  Words have no FORBIDDEN characters."""
    from xml.sax.saxutils import escape, quoteattr  # seldom needed, and slow to import

    header = f"""<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4">
<header creationtool="aligner" creationtoolversion="1" segtype="sentence" o-tmf="text" adminlang="en"
 srclang={quoteattr(languages[0])} datatype="plaintext"/>
<body>
"""
    stream.write(header.encode())
    for number, (*sides, links) in enumerate(pairs, 1):
        texts = "".join(
            f"<tuv xml:lang={quoteattr(language)}><seg>{escape(' '.join(words))}</seg></tuv>"
            for language, words in zip(languages, sides, strict=True)
        )
        unit = f'<tu tuid="{number}"><prop type="{LINKS}">{format_links(links)}</prop>{texts}</tu>\n'
        stream.write(unit.encode())
    stream.write(b"</body>\n</tmx>\n")
