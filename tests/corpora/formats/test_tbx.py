"""Termbases: what is written is XML, and holds all terms."""

import io
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from corpora.formats.tbx import write_tbx

TERMS = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")), min_size=1)


@given(st.lists(st.tuples(TERMS, TERMS)))
def test_terms_come_back(concepts: list[tuple[list[str], list[str]]]) -> None:
    stream, name = io.BytesIO(), 'a "b" & <c>'
    write_tbx(stream, name, "en", ([("en", one), ("fr", [*other, "a\x00b\x1f"])] for one, other in concepts))
    root = ET.fromstring(stream.getvalue())
    assert root.findtext("martifHeader/fileDesc/sourceDesc/p") == name
    found = [
        {
            side.get("{http://www.w3.org/XML/1998/namespace}lang"): [term.text or "" for term in side.iter("term")]
            for side in entry.iter("langSet")
        }
        for entry in root.iter("termEntry")
    ]
    assert found == [{"en": one, "fr": [*other, "a\ufffdb\ufffd"]} for one, other in concepts]
