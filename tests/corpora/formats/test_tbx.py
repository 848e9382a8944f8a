"""Termbases: what is written is XML, and holds all terms."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from corpora.formats.tbx import write_tbx

TERMS = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")), min_size=1)


@given(st.lists(st.tuples(TERMS, TERMS)))
def test_terms_come_back(concepts: list[tuple[list[str], list[str]]]) -> None:
    stream = io.BytesIO()
    write_tbx(stream, 'a "b" & <c>', "en", ([("en", one), ("fr", other)] for one, other in concepts))
    root = ET.fromstring(stream.getvalue())
    assert root.findtext("martifHeader/fileDesc/sourceDesc/p") == 'a "b" & <c>'
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    found = [
        [(side.get(language), [term.text or "" for term in side.iter("term")]) for side in entry.iter("langSet")]
        for entry in root.iter("termEntry")
    ]
    assert found == [[("en", one), ("fr", other)] for one, other in concepts]


def test_what_no_xml_can_have_is_marked() -> None:
    stream = io.BytesIO()
    write_tbx(stream, "x", "en", [[("en", ["a\x00b\x1f"])]])
    assert ET.fromstring(stream.getvalue()).findtext(".//term") == "a\ufffdb\ufffd"
