"""Termbases in TBX-Basic of ISO 30042:2008, which termbase programs import."""

import re
from collections.abc import Iterable, Sequence
from typing import IO
from xml.sax.saxutils import escape, quoteattr

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE martif SYSTEM "TBXBasiccoreStructV02.dtd">
<martif type="TBX-Basic" xml:lang={}>
<martifHeader><fileDesc><sourceDesc><p>{}</p></sourceDesc></fileDesc>
<encodingDesc><p type="XCSURI">TBXBasicXCSV02.xcs</p></encodingDesc></martifHeader>
<text><body>
"""

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
