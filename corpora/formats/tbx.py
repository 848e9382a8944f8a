"""Termbases in TBX of ISO 30042: that of 2008 and of 2019 are read, TBX-Basic of 2008 is written."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import IO
from xml.sax.saxutils import escape, quoteattr

from corpora.files import READ_ERRORS, StrPath, open_bytes
from corpora.formats.markup import Unit, read_units

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE martif SYSTEM "TBXBasiccoreStructV02.dtd">
<martif type="TBX-Basic" xml:lang={}>
<martifHeader><fileDesc><sourceDesc><p>{}</p></sourceDesc></fileDesc>
<encodingDesc><p type="XCSURI">TBXBasicXCSV02.xcs</p></encodingDesc></martifHeader>
<text><body>
"""

NOT_USED = ""
"""In place of the language of a term that is deprecated or superseded."""

Language = tuple[str, Sequence[str]]  # a code of a language, and the terms of a concept in it, the preferred one first


def write_tbx(stream: IO[bytes], about: str, language: str, concepts: Iterable[Sequence[Language]]) -> None:
    """Write an entry for each concept.  about: where they come from.  language: of what is said about them."""
    stream.write(_HEAD.format(quoteattr(language), _text(about)).encode())
    for number, concept in enumerate(concepts, 1):
        sets = "".join(
            f"<langSet xml:lang={quoteattr(code)}>{''.join(f'<tig><term>{_text(term)}</term></tig>' for term in terms)}"
            "</langSet>"
            for code, terms in concept
        )
        stream.write(f'<termEntry id="c{number}">{sets}</termEntry>\n'.encode())
    stream.write(b"</body></text>\n</martif>\n")


def _text(text: str) -> str:
    """Escaped, with a mark in place of each character that XML cannot have."""
    return escape(_NO_XML.sub("\ufffd", text))


def is_tbx(path: StrPath) -> bool:
    """Whether a file begins as a termbase."""
    with suppress(*READ_ERRORS), open_bytes(path, text=False) as stream:  # who reads it tells what is wrong
        return re.search(rb"<([\w.-]+:)?(martif|tbx)[\s>]", stream.peek().replace(b"\0", b"")) is not None
    return False


def read_tbx(path: StrPath) -> Iterator[dict[str, list[str]]]:
    """The terms of each concept, by the language as it is spelt there, or NOT_USED.

    Raises CorpusError on a damaged file.
    """
    for unit in read_units(path, "TBX", _TermReader):
        yield {language: terms.decode().split("\n") for language, terms in unit.items()}


class _TermReader:
    """What is known at a place in a termbase."""

    def __init__(self) -> None:
        self.done, self.concept = list[Unit](), dict[str, list[str]]()
        self.language, self.element, self.parts, self.term, self.status = "", "", list[str](), "", ""

    def start(self, name: str, values: dict[str, str]) -> None:
        if name in ("termEntry", "conceptEntry"):
            self.concept = {}
        elif name in ("langSet", "langSec"):
            self.language = values.get("xml:lang") or values.get("lang") or "?"
        elif name in ("tig", "ntig", "termSec"):
            self.term = self.status = ""
        elif name == "term" or "administrativeStatus" in (name, values.get("type")):
            self.element, self.parts = name, []

    def end(self, name: str) -> None:
        if name == self.element:
            text = " ".join("".join(self.parts).split())
            self.term, self.status = (text, self.status) if name == "term" else (self.term, text)
            self.element = ""
        elif name in ("tig", "ntig", "termSec"):
            language = NOT_USED if self.status.startswith(("deprecated", "superseded")) else self.language
            if self.term:
                self.concept.setdefault(language, []).append(self.term)
        elif name in ("termEntry", "conceptEntry"):
            self.done.append({language: "\n".join(terms).encode() for language, terms in self.concept.items()})

    def read(self, text: str) -> None:
        if self.element:
            self.parts.append(text)
