"""Translation memories and files of translators: TMX and XLIFF."""

import re
from collections.abc import Iterable
from typing import BinaryIO
from xml.sax.saxutils import escape, quoteattr

from corpora.alignment import WordPair
from corpora.formats.markup import Unit, one_line
from corpora.formats.pharaoh import format_links

_CODES = {"bpt", "ept", "it", "ph", "ut"}
"""Inline elements whose content is markup of the document, not text."""

_BLANKS = {"ph", "x"}
"""Inline elements that stand for a blank: what they are of, a picture or a number, parts words."""

_TEXTS = {"seg", "source", "seg-source", "target"}
"""Elements with text."""

_OTHERS = {"alt-trans", "match"}
"""Elements of XLIFF with other translations than that of the unit."""

LINKS = "x-links"
"""The type of the property of a unit of TMX that has its links, ``i-j``, from its first language to its second."""

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # in XML


class MemoryReader:
    """What is known at a place in a file of TMX or XLIFF."""

    def __init__(self) -> None:
        self.done = list[Unit]()
        self.languages = "source", "target"  # of XLIFF
        self.language = ""  # of a text of TMX
        self.texts: Unit = {}  # of the unit, by language in TMX, by element in XLIFF
        self.segments: dict[str, dict[str, bytes]] = {}  # the same of segments of XLIFF, by element and name
        self.element, self.parts = "", list[str]()  # the element whose text is being read, and what was read
        self.marks: list[tuple[str | None, int]] = []  # that are open in it: their names, and where they began
        self.codes = self.others = 0

    def start(self, name: str, values: dict[str, str]) -> None:
        if self.element:
            self.codes += name in _CODES
            self.parts += [" "] if name in _BLANKS else []
            if name == "mrk":
                self.marks.append((values.get("mid") if values.get("mtype") == "seg" else None, len(self.parts)))
        elif name in ("xliff", "file"):
            source = values.get("source-language") or values.get("srcLang") or self.languages[0]
            target = values.get("target-language") or values.get("trgLang") or self.languages[1]
            self.languages = (source, target) if source != target else ("source", "target")
        elif name in ("tu", "trans-unit", "segment"):
            self.texts, self.segments = {}, {}
        elif name == "tuv":
            self.language = values.get("xml:lang") or values.get("lang") or "?"
        elif name in _OTHERS:
            self.others += 1
        elif name == "prop" and values.get("type") == LINKS:
            self.element, self.language, self.parts, self.marks, self.codes = name, LINKS, [], [], 0
        elif name in _TEXTS and not self.others:
            self.element, self.parts, self.marks, self.codes = name, [], [], 0

    def read(self, text: str) -> None:
        if self.element and not self.codes:
            self.parts.append(text)

    def end(self, name: str) -> None:
        if self.element:
            self.codes -= name in _CODES
            if name == "mrk":
                mark, first = self.marks.pop()
                if mark is not None:
                    self.segments.setdefault(self.element, {})[mark] = one_line(*self.parts[first:])
            elif name == self.element:
                self.texts.setdefault(self.language if name in ("seg", "prop") else name, one_line(*self.parts))
                self.element = ""
        elif name in _OTHERS:
            self.others -= 1
        elif name == "tu":
            self.done.append(self.texts)
        elif name in ("trans-unit", "segment"):
            source, target = self.segments.get("seg-source"), self.segments.get("target")
            pairs = [(self.texts.get("source", b""), self.texts.get("target", b""))]
            if source and target:
                pairs = [(source.get(mark, b""), target.get(mark, b"")) for mark in {**source, **target}]
            self.done += [dict(zip(self.languages, pair, strict=True)) for pair in pairs]


def write_tmx(stream: BinaryIO, pairs: Iterable[WordPair], languages: tuple[str, str]) -> None:
    """Write pairs as units of TMX 1.4, with their links as a property LINKS.  Words have no FORBIDDEN characters."""
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
